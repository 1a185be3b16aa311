//===- OtherPhase.h - Prefill beside decode ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_PRICE_OTHERPHASE_H
#define AUTOPAR_LIB_TRANSFORMS_PRICE_OTHERPHASE_H

#include "Estimator.h"

namespace autopar::transforms {

/// Returns the report of the other phase for the same sequences and plan: for a
/// prefill, the decode step after its context; for a decode step, its prefill.
/// Returns nothing for services and training, or if that step cannot be priced.
std::optional<report::Report>
estimateOtherPhase(mlir::ModuleOp module, const TargetAnalysis &target,
                   const estimation::ReportDetail &detail);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_PRICE_OTHERPHASE_H

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

/// The report of a step in which the same sequences, under the same plan, are
/// in the other phase: of a prefill, the decode step behind its context; of a
/// decode step, the prefill of it. Nothing of services, of training, and where
/// that step cannot be priced.
std::optional<report::Report>
estimateOtherPhase(mlir::ModuleOp module, const TargetAnalysis &target,
                   const estimation::ReportDetail &detail);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_PRICE_OTHERPHASE_H

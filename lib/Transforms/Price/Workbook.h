//===- Workbook.h - Modules as workbooks ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_PRICE_WORKBOOK_H
#define AUTOPAR_LIB_TRANSFORMS_PRICE_WORKBOOK_H

#include "autopar/Transforms/Price/Estimate.h"

namespace autopar::transforms {

/// Returns the bytes of an .xlsx file with the formulas of a step of `module`.
/// Emits errors: a step without formulas, a deployment.
mlir::FailureOr<std::string>
writeModuleWorkbook(mlir::ModuleOp module,
                    const analysis::CostProgramAnalysis &analysis,
                    const TargetAnalysis &target);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_PRICE_WORKBOOK_H

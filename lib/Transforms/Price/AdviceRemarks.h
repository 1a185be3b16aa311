//===- AdviceRemarks.h - Advice of a report as remarks ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_PRICE_ADVICEREMARKS_H
#define AUTOPAR_LIB_TRANSFORMS_PRICE_ADVICEREMARKS_H

#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Report/Report.h"

#include "mlir/IR/BuiltinOps.h"

namespace autopar::transforms {

/// Emits the warnings with advice as remarks of the category "autopar-advice",
/// each at its subject: the op of a record of the cost program, the mesh, or
/// the module. They are not shown unless `--remarks-filter` selects them.
void emitAdvice(mlir::ModuleOp module, const analysis::ProgramOps &ops,
                const std::vector<report::Warning> &warnings);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_PRICE_ADVICEREMARKS_H

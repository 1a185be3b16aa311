//===- ModelFacts.h - Facts that modules have of models ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_MODELFACTS_H
#define AUTOPAR_LIB_ANALYSIS_MODELFACTS_H

#include "autopar/Program/CostProgram.h"

#include "mlir/IR/BuiltinOps.h"

namespace autopar::analysis {

/// Returns the name of the outermost named module around `module`; "model" if
/// none has a name. Bytes that are not text become "?".
std::string nameOfModel(mlir::ModuleOp module);

/// Returns the positions that the model supports, from the module, its position
/// tables and its rotary angles.
program::Positions positionsOf(mlir::ModuleOp module);

/// Returns the element type of the checkpoint if runtimes convert it when they
/// load weights.
std::optional<ElementType> castOf(mlir::ModuleOp module);

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_MODELFACTS_H

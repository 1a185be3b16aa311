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

/// The name of the outermost named module around this one; "model" without any.
/// Bytes that are no text become "?".
std::string nameOfModel(mlir::ModuleOp module);

/// The positions of the model, from the module, its tables and rotary angles.
program::Positions positionsOf(mlir::ModuleOp module);

/// The checkpoint's element type if engines cast it.
std::optional<ElementType> castOf(mlir::ModuleOp module);

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_MODELFACTS_H

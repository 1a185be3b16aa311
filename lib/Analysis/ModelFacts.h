//===- ModelFacts.h - What modules say of their models ----------*- C++ -*-===//
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

/// A module inside others is a part of what the outermost that has a name is;
/// "model" without one. Of what is not text, "?" for a byte.
std::string nameOfModel(mlir::ModuleOp module);

/// What the module and its tables and rotary angles say of positions.
program::Positions positionsOf(mlir::ModuleOp module);

/// The element type of the checkpoint that engines cast, where they do.
std::optional<ElementType> castOf(mlir::ModuleOp module);

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_MODELFACTS_H

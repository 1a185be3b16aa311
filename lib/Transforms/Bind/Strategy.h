//===- Strategy.h - Records of a plan in a module ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_BIND_STRATEGY_H
#define AUTOPAR_LIB_TRANSFORMS_BIND_STRATEGY_H

#include "autopar/Dialect/Parallel/Parallel.h"

namespace autopar::transforms {

/// Returns the op of `module` that records the choices of its split; creates it
/// if needed.
parallel::StrategyOp getStrategy(mlir::ModuleOp module);

/// Records the value of the flag `name`, unless types or ops show it. The value
/// is a number, a text, or a unit for a flag without a value.
void stateKnob(mlir::ModuleOp module, llvm::StringRef name,
               mlir::Attribute value);

/// Returns a builder that inserts after the existing ops that describe the
/// whole `module`.
mlir::OpBuilder builderOfFacts(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_BIND_STRATEGY_H

//===- Strategy.h - What passes note of a plan ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_BIND_STRATEGY_H
#define AUTOPAR_LIB_TRANSFORMS_BIND_STRATEGY_H

#include "autopar/Dialect/Parallel/Parallel.h"

namespace autopar::transforms {

/// The op of `module` that has the choices that it was split by, made where
/// there is none.
parallel::StrategyOp getStrategy(mlir::ModuleOp module);

/// Notes that `module` was made with the knob of the flag `name`, where neither
/// types nor ops show it. Values are a number, a text, or a unit of one that is
/// set alone.
void stateKnob(mlir::ModuleOp module, llvm::StringRef name,
               mlir::Attribute value);

/// Where an op belongs that says something of all of `module`: behind those
/// that are there.
mlir::OpBuilder builderOfFacts(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_BIND_STRATEGY_H

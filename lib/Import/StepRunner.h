//===- StepRunner.h - From the steps of a family to IR ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_IMPORT_STEPRUNNER_H
#define AUTOPAR_LIB_IMPORT_STEPRUNNER_H

#include "ModelBuilder.h"
#include "autopar/Model/Stack.h"

namespace autopar::importer {

/// Runs the steps of families: names of blocks, stacks and parts, and
///
///   {"residual": [steps]}        x + steps(x)
///   {"hyper_connection": "block", "around": [steps]}
///                                the streams x, to which is added what steps
///                                make of what the block mixes of them
///   {"sum": [[steps], [steps]]}  steps(x) + steps(x)
///   {"layer": "stack"}           a layer of another stack, as a part of this
///   {"save": "name"}             keeps x under a name
///   {"save": "name", "of": [steps]}  keeps steps(x), goes on with x
///   {"load": "name"}             goes on with what was kept
///   {"when": expression, "then": [steps]}
///
class StepRunner {
public:
  explicit StepRunner(ModelBuilder &model) : model(model) {}

  /// Applies the steps "model" of a family to `x`. Its "stored" parts become
  /// functions that no step runs. Returns null after an error.
  mlir::Value runModel(model::Scope &scope, mlir::Value x);
  /// Applies `steps` to `x` and returns the result; null after an error.
  mlir::Value run(model::Scope &scope, const model::JsonValue &steps,
                  mlir::Value x);

  /// The values that steps have saved, by name.
  llvm::StringMap<mlir::Value> saved;

private:
  mlir::Value runStep(model::Scope &scope, const model::JsonValue &step,
                      mlir::Value x);
  mlir::Value runNamed(model::Scope &scope, const std::string &name,
                       mlir::Value x);
  mlir::Value runCombined(model::Scope &scope, const model::JsonValue &step,
                          mlir::Value x);
  mlir::Value runHyperConnection(model::Scope &scope, const std::string &name,
                                 const model::JsonValue &steps, mlir::Value x);
  mlir::Value runLayer(model::Scope &scope, const std::string &stack,
                       mlir::Value x);
  mlir::Value runBlock(model::Scope &scope, const std::string &name,
                       mlir::Value x);
  mlir::Value runPart(model::Scope &scope, const std::string &name,
                      mlir::Value x);
  void buildStored(model::Scope &scope, const std::string &name,
                   const model::JsonValue &stored);
  mlir::Value add(model::Scope &scope, mlir::Value a, mlir::Value b);
  mlir::Value fail(model::Scope &scope, std::string message);

  ModelBuilder &model;
};

} // namespace autopar::importer

#endif // AUTOPAR_LIB_IMPORT_STEPRUNNER_H

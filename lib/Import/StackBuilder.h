//===- StackBuilder.h - Layers as functions and repeats ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_IMPORT_STACKBUILDER_H
#define AUTOPAR_LIB_IMPORT_STACKBUILDER_H

#include "LayerRuns.h"
#include "StepRunner.h"

namespace autopar::importer {

/// Builds one function per kind of layer of a stack, and the repeats that call
/// these functions.
class StackBuilder {
public:
  StackBuilder(ModelBuilder &model, StepRunner &runner, model::Scope &scope,
               std::string name)
      : model(model), runner(runner), scope(scope), name(std::move(name)),
        description(*scope.family().find("stacks", this->name)),
        functions(model.layerFunctions[&description]) {}

  /// Applies all layers of the stack to `x`.
  mlir::Value build(mlir::Value x);
  /// Applies one layer of the stack to `x`, as a part of the current layer.
  mlir::Value buildLayer(mlir::Value x);

private:
  void findShared();
  uint32_t kindOf(const model::StackLayer &layer);
  uint32_t variantOf(const model::StackLayer &layer, uint32_t kind,
                     mlir::Value x, const std::string &prefix);
  llvm::SmallVector<const model::Format *> formatsOf(uint32_t kind,
                                                     const std::string &prefix);
  mlir::func::FuncOp buildFunction(const model::StackLayer &layer,
                                   uint32_t kind, mlir::TypeRange inputs,
                                   const std::string &prefix);
  llvm::SmallVector<mlir::Value> inputsOf(mlir::Value x);
  mlir::func::CallOp call(uint32_t variant, mlir::Value x);
  mlir::Value repeat(int64_t count, mlir::StringAttr prefix, int64_t first,
                     mlir::Value init,
                     llvm::function_ref<mlir::Value(mlir::Value)> body);
  mlir::Value runsOf(const LayerPattern &pattern, mlir::Value x);

  ModelBuilder &model;
  StepRunner &runner;
  model::Scope &scope;
  std::string name;
  const model::JsonValue &description;
  LayerFunctions &functions;
  /// Values from outside of the stack that its layers use, such as the result
  /// of an encoder.
  llvm::SmallVector<mlir::Value> shared;
};

} // namespace autopar::importer

#endif // AUTOPAR_LIB_IMPORT_STACKBUILDER_H

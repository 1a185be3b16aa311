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

namespace autopar {

/// Builds one function per kind of layer, and the repeats that call them.
class StackBuilder {
public:
  StackBuilder(ModelBuilder &model, StepRunner &runner, Scope &scope,
               std::string name)
      : model(model), runner(runner), scope(scope), name(std::move(name)),
        description(*scope.family().find("stacks", this->name)) {}

  mlir::Value build(mlir::Value x);

private:
  /// A function of a kind of layers and of the formats of their weights.
  struct Variant {
    uint32_t kind;
    mlir::func::FuncOp function;
    llvm::SmallVector<const Format *> formats;
  };
  /// What the formats of a kind's layers depend on.
  struct WeightName {
    std::string name;
    WeightRole role;
  };

  uint32_t variantOf(const Stack &stack, size_t layer, mlir::Type stream);
  llvm::SmallVector<const Format *> formatsOf(uint32_t kind,
                                              const std::string &prefix);
  mlir::func::FuncOp buildLayer(const StackLayer &kind, mlir::Type stream,
                                const std::string &prefix,
                                std::vector<WeightName> &weights);
  mlir::Value call(uint32_t variant, mlir::Value x);
  mlir::Value repeat(int64_t count, mlir::StringAttr prefix, int64_t first,
                     mlir::Value init,
                     llvm::function_ref<mlir::Value(mlir::Value)> body);
  mlir::Value runsOf(const LayerPattern &pattern, mlir::Value x);

  ModelBuilder &model;
  StepRunner &runner;
  Scope &scope;
  std::string name;
  const JsonValue &description;
  std::vector<Variant> variants;
  /// By kind.
  std::vector<std::vector<WeightName>> weights;
  /// Values from outside that the layers use (an encoder's result).
  llvm::SmallVector<mlir::Value> shared;
};

} // namespace autopar

#endif // AUTOPAR_LIB_IMPORT_STACKBUILDER_H

//===- Stack.h - The layers of a model by kind ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_STACK_H
#define AUTOPAR_MODEL_STACK_H

#include "autopar/Model/Scope.h"

namespace autopar::model {

/// Layers whose variables are equal.
struct StackLayer {
  /// "decoder", or as much more as tells the kinds apart: "sliding_decoder".
  std::string name;
  std::map<std::string, JsonValue> variables;
};

/// A stack of a family: layers in order of execution.
struct Stack {
  /// Tensors of layer i are called <prefix>.<first + i>.<name>.
  std::string prefix;
  int64_t first = 0;
  std::vector<StackLayer> kinds;
  /// Index into `kinds`, by layer.
  std::vector<uint32_t> layers;
};

Result<Stack> readStack(Scope &scope, const std::string &name);

/// The layer of the stack `name` whose variables have the values that they have
/// in the layer which `scope` is in.
Result<StackLayer> readLayer(Scope &scope, const std::string &name);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_STACK_H

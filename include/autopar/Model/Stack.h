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

/// A kind of layer: layers whose variables have equal values.
struct StackLayer {
  /// The kind's name: "decoder", or a longer one if it must be told from
  /// others, "sliding_decoder".
  std::string name;
  std::map<std::string, JsonValue> variables;
};

/// The layers of a model in execution order.
struct Stack {
  /// The tensors of layer i are called <prefix>.<first + i>.<name>.
  std::string prefix;
  int64_t first = 0;
  std::vector<StackLayer> kinds;
  /// For each layer the index of its kind in `kinds`.
  std::vector<uint32_t> layers;
};

Result<Stack> readStack(Scope &scope, const std::string &name);

/// Returns the layer of the stack `name` whose variables have the same values
/// as in the current layer of `scope`.
Result<StackLayer> readLayer(Scope &scope, const std::string &name);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_STACK_H

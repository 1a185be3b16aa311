//===- Shrink.h - Small models of the same structure ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_SHRINK_H
#define AUTOPAR_MODEL_SHRINK_H

#include "autopar/Model/Model.h"

namespace autopar::model {

/// Sizes of a small model.
struct SmallSizes {
  /// Minimum number of layers of a stack; more if its kinds need them.
  int64_t layers = 2;
  int64_t experts = 8;
  /// No other size: an axis that is taken for another is seen.
  int64_t headDim = 12;
};

/// Returns the config of `model` with small sizes. Blocks determine how small
/// each field may be. It keeps the first layers, as many as have all kinds. The
/// import decides whether the result is a model.
JsonValue shrinkConfig(const Model &model, const SmallSizes &sizes);

/// The config of `model` without settings of quantization.
JsonValue plainConfig(const Model &model);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_SHRINK_H

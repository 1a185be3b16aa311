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

/// The sizes that a small model gets.
struct SmallSizes {
  /// Least number of layers of a stack; it gets more if it has more kinds of
  /// layers.
  int64_t layers = 2;
  int64_t experts = 8;
  /// No other dimension has this size, so that a test notices a dimension that
  /// is taken for another.
  int64_t headDim = 12;
};

/// Returns the config of `model` with small sizes. The model's blocks determine
/// how small each field may be. Of the layers it keeps the first ones, as many
/// as are needed to have all kinds. The import decides whether the result is a
/// valid model.
JsonValue shrinkConfig(const Model &model, const SmallSizes &sizes);

/// Returns the config of `model` without its quantisation settings.
JsonValue plainConfig(const Model &model);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_SHRINK_H

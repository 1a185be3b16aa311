//===- DraftTensors.h - Tensors of a layer by their words -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_CHECKPOINT_DRAFTTENSORS_H
#define AUTOPAR_LIB_CHECKPOINT_DRAFTTENSORS_H

#include "LayerKinds.h"

#include <functional>

namespace autopar::checkpoint {

std::string lastOf(const std::string &name);
std::string parentOf(const std::string &name);
bool contains(const std::string &text, const char *part);
/// Whether a name is one of attention to what an encoder has read.
bool readsEncoder(const std::string &stem);
/// The name with "N" for each number between dots.
std::string maskNumbers(const std::string &name);
/// "layers 0, 4 and 8 to 11", with "..." for many.
std::string formatLayers(const std::vector<int64_t> &layers);

/// The tensors of a layer, found by the last words of stems. A stem is a name
/// without ".weight", or one that has no such end.
class LayerTensors {
public:
  /// Of `dtype`, or of an 8-bit float that a quantized config says, are the
  /// tensors of blocks.
  LayerTensors(TensorGroups &groups, std::string dtype)
      : groups(groups), dtype(std::move(dtype)) {}

  using Accepts = std::function<bool(const std::string &stem)>;
  /// The stem of the first tensor that is not taken yet, whose last word `part`
  /// may have, in order of the words, and that `accepts` takes; "" where there
  /// is none. Attention to an encoder is passed over.
  std::string find(const std::string &part, const Accepts &accepts = {}) const;
  /// Marks the tensors of a stem as those of a block; whether it has a bias. Of
  /// "" nothing.
  bool take(const std::string &stem);

  const TensorGroup *groupOf(const std::string &stem) const;
  /// A dimension; 0 where there is none.
  int64_t size(const std::string &stem, size_t dim) const;
  bool isMatrix(const std::string &stem, int64_t rows, int64_t columns) const;

  TensorGroups &all() { return groups; }
  const TensorGroups &all() const { return groups; }

private:
  bool isOfModel(const TensorGroup &group) const;

  TensorGroups &groups;
  std::string dtype;
};

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_DRAFTTENSORS_H

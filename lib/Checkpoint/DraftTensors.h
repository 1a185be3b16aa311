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
/// Whether a name belongs to attention to the output of an encoder (cross
/// attention).
bool readsEncoder(const std::string &stem);
/// Returns the name with each number between dots replaced by "N".
std::string maskNumbers(const std::string &name);
/// Returns a list of layers as text: "layers 0, 4 and 8 to 11", with "..." if
/// there are many.
std::string formatLayers(const std::vector<int64_t> &layers);

/// The tensors of a layer, which are found by the last words of their stems. A
/// stem is a tensor's name without ".weight" at the end.
class LayerTensors {
public:
  /// Takes the tensors of a layer. Only those of `dtype`, or of an 8-bit float
  /// if the config states quantisation, can be used in blocks.
  LayerTensors(TensorGroups &groups, std::string dtype)
      : groups(groups), dtype(std::move(dtype)) {}

  using Accepts = std::function<bool(const std::string &stem)>;
  /// Returns the stem of the first tensor that is not taken yet, whose last
  /// word is one of those for the role `part` (in the order of these words),
  /// and for which `accepts` returns true; "" if there is none. Attention to an
  /// encoder is skipped.
  std::string find(const std::string &part, const Accepts &accepts = {}) const;
  /// Marks the tensors of a stem as used by a block; does nothing for "".
  /// Returns whether there is a bias.
  bool take(const std::string &stem);

  const TensorGroup *groupOf(const std::string &stem) const;
  /// Returns the size of a tensor's dimension; 0 if it has no such dimension.
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

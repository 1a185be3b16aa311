//===- StoredElements.h - Elements in the checkpoint ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_STOREDELEMENTS_H
#define AUTOPAR_LIB_INTERPRETER_STOREDELEMENTS_H

#include "autopar/Dialect/Transformer/Transformer.h"

#include <string>
#include <vector>

namespace autopar::interpreter {

/// An element of a checkpoint tensor.
struct StoredElement {
  /// Index of the tensor that the `*` of the name stands for, else 0.
  int64_t copy = 0;
  /// Offset in row-major order.
  int64_t offset = 0;
};

/// The places of a weight's elements in its checkpoint tensors, according to
/// its storage. Quantised weights use the plain tensor that the format
/// replaces.
class StoredElements {
public:
  explicit StoredElements(transformer::WeightOp weight);

  /// The tensors in `layer` ("model.layers.3", or ""), one per copy.
  std::vector<std::string> names(const std::string &layer) const;
  /// Number of dimensions of each tensor.
  size_t rank() const { return groups.size(); }
  /// The place of the weight's element `offset`, in row-major order.
  StoredElement find(int64_t offset) const;

private:
  int64_t indexIn(transformer::StorageGroupAttr group,
                  llvm::ArrayRef<int64_t> indices) const;
  int64_t offsetOf(llvm::ArrayRef<int64_t> indices) const;

  std::string name;
  llvm::SmallVector<int64_t> shape, storedShape;
  llvm::SmallVector<transformer::StorageGroupAttr> groups;
  std::optional<int64_t> spread;
  /// Offset of the first element, and additional offsets by dimension and
  /// index; the offset of an element is their sum.
  int64_t first = 0;
  llvm::SmallVector<std::vector<int64_t>> further;
};

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_STOREDELEMENTS_H

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

/// The position of an element in a checkpoint tensor.
struct StoredElement {
  /// If the tensor's name has a `*`, the number that stands for it; else 0.
  int64_t copy = 0;
  /// The row-major offset of the element in the checkpoint tensor.
  int64_t offset = 0;
};

/// Where the elements of a weight are in its checkpoint tensors, according to
/// its storage. For a quantised weight, this is the unquantised tensor that the
/// format replaces.
class StoredElements {
public:
  explicit StoredElements(transformer::WeightOp weight);

  /// Returns the names of the tensors in `layer` ("model.layers.3", or ""), one
  /// per copy.
  std::vector<std::string> names(const std::string &layer) const;
  /// Returns the number of dimensions of each tensor.
  size_t rank() const { return groups.size(); }
  /// Returns the position of the weight's element with row-major offset
  /// `offset`.
  StoredElement find(int64_t offset) const;

private:
  int64_t indexIn(transformer::StorageGroupAttr group,
                  llvm::ArrayRef<int64_t> indices) const;
  int64_t offsetOf(llvm::ArrayRef<int64_t> indices) const;

  std::string name;
  llvm::SmallVector<int64_t> shape, storedShape;
  llvm::SmallVector<transformer::StorageGroupAttr> groups;
  std::optional<int64_t> spread;
  /// The offset of the first element, and for each dimension and index an
  /// additional offset; the offset of an element is their sum.
  int64_t first = 0;
  llvm::SmallVector<std::vector<int64_t>> further;
};

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_STOREDELEMENTS_H

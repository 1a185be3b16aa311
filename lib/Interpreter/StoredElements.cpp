//===- StoredElements.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoredElements.h"

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::transformer;
using namespace mlir;

StoredElements::StoredElements(WeightOp weight)
    : name(weight.getName()), groups(getStorageGroups(weight)),
      spread(getSpreadDim(weight)) {
  ArrayRef<int64_t> own = TensorView(weight.getResult()).getType().getShape();
  shape.assign(own.begin(), own.end());
  storedShape = getStoredTensor(weight).shape;
  SmallVector<int64_t> indices(shape.size());
  first = offsetOf(indices);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<int64_t> &own = further.emplace_back();
    for (indices[dim] = 0; indices[dim] < shape[dim]; ++indices[dim])
      own.push_back(offsetOf(indices) - first);
    indices[dim] = 0;
  }
}

std::vector<std::string> StoredElements::names(const std::string &layer) const {
  std::string prefix = layer.empty() ? "" : layer + ".";
  size_t star = name.find('*');
  if (!spread || star == std::string::npos)
    return {prefix + name};
  std::vector<std::string> all;
  for (int64_t i = 0; i < shape[*spread]; ++i)
    all.push_back(prefix + name.substr(0, star) + std::to_string(i) +
                  name.substr(star + 1));
  return all;
}

/// The indices of the factors are the digits of the index, outermost first,
/// counted within the range of the factor.
int64_t StoredElements::indexIn(StorageGroupAttr group,
                                ArrayRef<int64_t> indices) const {
  int64_t index = 0;
  for (const StorageFactor &factor : group.getFactors()) {
    if (factor.dim == StorageFactor::noDim) {
      index = index * factor.total + factor.offset;
      continue;
    }
    int64_t extent = shape[factor.dim], digit = indices[factor.dim];
    if (factor.total) {
      int64_t each = extent / factor.outer;
      digit = digit / each * factor.total + factor.offset + digit % each;
      extent = factor.outer * factor.total;
    }
    index = index * extent + digit;
  }
  return group.getTotal() ? group.getOffset() + index : index;
}

int64_t StoredElements::offsetOf(ArrayRef<int64_t> indices) const {
  int64_t offset = 0;
  for (auto [group, extent] : llvm::zip_equal(groups, storedShape))
    offset = offset * extent + indexIn(group, indices);
  return offset;
}

StoredElement StoredElements::find(int64_t offset) const {
  StoredElement element;
  element.offset = first;
  for (size_t dim = shape.size(); dim-- > 0;) {
    int64_t index = offset % shape[dim];
    offset /= shape[dim];
    element.offset += further[dim][index];
    if (spread && dim == size_t(*spread))
      element.copy = index;
  }
  return element;
}

//===- StoredElements.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoredElements.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

StoredElements::StoredElements(WeightOp weight)
    : name(weight.getName()), groups(getStorageGroups(weight)),
      spread(getSpreadDim(weight)) {
  ArrayRef<int64_t> own = TensorView(weight.getResult()).getType().getShape();
  shape.assign(own.begin(), own.end());
  storedShape = getStoredTensor(weight).shape;
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

/// Factors are digits of the index, outermost first; the range lies around.
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

StoredElement StoredElements::find(int64_t offset) const {
  SmallVector<int64_t> indices(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    indices[dim] = offset % shape[dim];
    offset /= shape[dim];
  }
  StoredElement element;
  element.copy = spread ? indices[*spread] : 0;
  for (auto [group, extent] : llvm::zip_equal(groups, storedShape))
    element.offset = element.offset * extent + indexIn(group, indices);
  return element;
}

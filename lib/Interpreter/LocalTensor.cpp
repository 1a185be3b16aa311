//===- LocalTensor.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/LocalTensor.h"

#include <limits>

using namespace autopar;
using namespace autopar::interpreter;

LocalTensor::LocalTensor(std::vector<int64_t> given, double value)
    : shape(std::move(given)) {
  data.assign(extent(0, shape.size()), value);
}

int64_t LocalTensor::extent(size_t begin, size_t end) const {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i)
    product *= shape[i];
  return product;
}

Strides::Strides(const std::vector<int64_t> &shape, size_t dim)
    : extent(shape[dim]) {
  for (size_t i = 0; i < shape.size(); ++i)
    (i < dim ? outer : inner) *= i == dim ? 1 : shape[i];
}

LocalTensor LocalTensor::select(size_t dim,
                                const std::vector<int64_t> &indices) const {
  LocalTensor chosen;
  chosen.shape = shape;
  chosen.shape[dim] = static_cast<int64_t>(indices.size());
  Strides from(shape, dim);
  for (int64_t outer = 0; outer < from.outer; ++outer)
    for (int64_t index : indices)
      for (int64_t inner = 0; inner < from.inner; ++inner) {
        bool isPadding = index < 0;
        int64_t at = isPadding ? 0 : from.at(outer, index, inner);
        chosen.data.push_back(
            isPadding ? std::numeric_limits<double>::quiet_NaN() : data[at]);
        if (!experts.empty())
          chosen.experts.push_back(isPadding ? -1 : experts[at]);
      }
  if (dim == 0 && !rows.empty())
    for (int64_t index : indices)
      chosen.rows.push_back(rows[index]);
  else
    chosen.rows = rows;
  return chosen;
}

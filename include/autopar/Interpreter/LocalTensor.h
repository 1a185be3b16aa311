//===- LocalTensor.h - One device's part of a tensor ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERPRETER_LOCALTENSOR_H
#define AUTOPAR_INTERPRETER_LOCALTENSOR_H

#include <cstdint>
#include <vector>

namespace autopar::interpreter {

/// A row of a set of routed tokens: the `slot`-th choice of token `token` of
/// the batch, sent to `expert`.
struct RoutedRow {
  int64_t token = 0;
  int32_t slot = 0, expert = 0;

  bool operator==(const RoutedRow &other) const {
    return token == other.token && slot == other.slot;
  }
  bool operator<(const RoutedRow &other) const {
    return token != other.token ? token < other.token : slot < other.slot;
  }
};

/// A tensor on one device: elements in row-major order, in double precision
/// whatever the number format.
struct LocalTensor {
  std::vector<int64_t> shape;
  std::vector<double> data;
  /// For the result of a router: the expert to which each element, a routing
  /// weight, belongs.
  std::vector<int32_t> experts;
  /// For a set of routed tokens: its rows, in the order of their tokens.
  std::vector<RoutedRow> rows;

  LocalTensor() = default;
  explicit LocalTensor(std::vector<int64_t> shape, double value = 0);

  int64_t size() const { return static_cast<int64_t>(data.size()); }
  /// Returns the product of the dimensions from `begin` up to, but without,
  /// `end`.
  int64_t extent(size_t begin, size_t end) const;
  int64_t extentFrom(size_t begin) const { return extent(begin, shape.size()); }

  /// Returns the elements with the given `indices` along `dim`, in that order;
  /// NaN for index -1.
  LocalTensor select(size_t dim, const std::vector<int64_t> &indices) const;
};

/// The results of an op on one device.
using LocalTensors = std::vector<LocalTensor>;

/// Computes offsets of elements along dimension `dim` of a tensor: the indices
/// before the dimension, and those after it, are each combined into one.
struct Strides {
  Strides(const std::vector<int64_t> &shape, size_t dim);
  /// Returns the offset of element (outer, index, inner).
  int64_t at(int64_t outer, int64_t index, int64_t inner) const {
    return (outer * extent + index) * this->inner + inner;
  }
  int64_t outer = 1, extent = 1, inner = 1;
};

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_LOCALTENSOR_H

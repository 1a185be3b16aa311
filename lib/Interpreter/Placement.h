//===- Placement.h - Places of a device's elements in the whole -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_PLACEMENT_H
#define AUTOPAR_LIB_INTERPRETER_PLACEMENT_H

#include "autopar/Interpreter/DeviceGrid.h"
#include "autopar/Interpreter/LocalTensor.h"

namespace autopar::interpreter {

/// Maps the elements of a device's part of a tensor to their offsets in the
/// whole tensor.
class Placement {
public:
  Placement(const TensorView &type, const DeviceGrid &grid, int64_t device) {
    for (unsigned dim = 0; dim < type.rank(); ++dim) {
      indices.push_back(grid.indicesOf(type, dim, device));
      extents.push_back(grid.extentOf(type, dim));
    }
  }
  /// Maps the elements of a part of a set of routed tokens, whose rows have the
  /// numbers `rows`.
  Placement(const TensorView &type, const DeviceGrid &grid, int64_t device,
            std::vector<int64_t> rows)
      : Placement(type, grid, device) {
    indices.front() = std::move(rows);
  }

  /// Returns the map for one index of dimension `dim`, without that dimension.
  Placement without(unsigned dim) const {
    Placement rest = *this;
    rest.indices.erase(rest.indices.begin() + dim);
    rest.extents.erase(rest.extents.begin() + dim);
    return rest;
  }

  const std::vector<int64_t> &wholeShape() const { return extents; }
  std::vector<int64_t> shape() const {
    std::vector<int64_t> sizes;
    for (const auto &all : indices)
      sizes.push_back(static_cast<int64_t>(all.size()));
    return sizes;
  }

  /// Calls `visit(local offset, whole offset)` for each element; padding has
  /// the whole offset -1.
  template <typename Visit>
  void forEach(Visit visit) const {
    int64_t local = 0;
    visitFrom(0, 0, local, visit);
  }

private:
  /// Visits the dimensions from `dim` on; `before` is the whole offset of the
  /// earlier ones, or -1 for padding.
  template <typename Visit>
  void visitFrom(size_t dim, int64_t before, int64_t &local,
                 Visit &visit) const {
    if (dim == indices.size())
      return visit(local++, before);
    for (int64_t index : indices[dim]) {
      bool isPadding = before < 0 || index < 0;
      int64_t at = isPadding ? -1 : before * extents[dim] + index;
      if (dim + 1 == indices.size())
        visit(local++, at);
      else
        visitFrom(dim + 1, at, local, visit);
    }
  }

  std::vector<std::vector<int64_t>> indices;
  std::vector<int64_t> extents;
};

/// Maps the elements of a microbatch's tensor to offsets in the tensor of the
/// batch, which is divided along `dim`. A tensor without such a dimension is
/// the same for all microbatches.
class InBatch {
public:
  InBatch(std::vector<int64_t> shape, std::optional<unsigned> dim,
          int64_t number, int64_t count)
      : batch(std::move(shape)), number(dim ? number : 0) {
    if (!dim)
      return;
    stride = Strides(batch, *dim).inner * batch[*dim];
    this->count = count;
    batch[*dim] *= count;
  }

  int64_t operator()(int64_t at) const {
    return (at / stride * count + number) * stride + at % stride;
  }
  const std::vector<int64_t> &shapeOfBatch() const { return batch; }

private:
  std::vector<int64_t> batch;
  int64_t number, count = 1, stride = 1;
};

/// Returns the bytes of a device's part of `value`, or of its KV cache.
int64_t bytesOf(mlir::Value value, const LocalTensor &local);

/// Joins the tensors of all microbatches to the tensor of the batch.
LocalTensor joinBatch(llvm::ArrayRef<LocalTensor> parts,
                      std::optional<unsigned> dim);

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_PLACEMENT_H

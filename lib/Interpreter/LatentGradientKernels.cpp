//===- LatentGradientKernels.cpp - Latent attention in training -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "autopar/Dialect/Transformer/Training.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

static LocalResult run(ConcatSharedOp op, Device &device) {
  const LocalTensor &x = device(op.getX()), &shared = device(op.getShared());
  size_t dim = x.shape.size() - 2;
  int64_t heads = x.shape[dim], own = x.shape[dim + 1];
  int64_t common = shared.shape.back(), rows = x.extent(0, dim) * heads;
  if (shared.extent(0, dim) != x.extent(0, dim))
    return op.emitError("a device has other tokens of what heads share");
  std::vector<int64_t> shape(x.shape);
  shape.back() = own + common;
  LocalTensor result(shape);
  for (int64_t row = 0; row < rows; ++row) {
    double *y = &result.data[row * (own + common)];
    std::copy_n(&x.data[row * own], own, y);
    std::copy_n(&shared.data[row / heads * common], common, y + own);
  }
  return result;
}

/// Each of the devices that have the same heads adds its share of the sum.
static LocalResults run(ConcatSharedBackwardOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy());
  size_t dim = dy.shape.size() - 2;
  int64_t heads = dy.shape[dim], all = dy.shape.back();
  int64_t own = tensorOf(op.getDx().getType()).getDimSize(dim + 1);
  auto copies =
      double(copiesOf(TensorView(op.getDy()), unsigned(dim), device.grid()));
  std::vector<int64_t> shape(dy.shape), sharedShape(dy.shape);
  shape.back() = own;
  sharedShape.pop_back();
  sharedShape.back() = all - own;
  LocalTensor dx(shape), shared(sharedShape);
  for (int64_t row = 0; row < dy.extent(0, dim + 1); ++row) {
    const double *from = &dy.data[row * all];
    std::copy_n(from, own, &dx.data[row * own]);
    for (int64_t i = 0; i < all - own; ++i)
      shared.data[row / heads * (all - own) + i] += from[own + i] / copies;
  }
  return LocalTensors{std::move(dx), std::move(shared)};
}

void autopar::attachLatentGradientKernels(MLIRContext *context) {
  attach<ConcatSharedOp, run>(context);
  attach<ConcatSharedBackwardOp, run>(context);
}

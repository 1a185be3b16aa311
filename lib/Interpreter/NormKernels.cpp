//===- NormKernels.cpp - Norms and their backwards ------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "autopar/Dialect/Training/Training.h"

#include <cmath>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// Normalises tokens (or groups of their elements) in a norm or its backward.
struct Norm {
  template <typename Op>
  Norm(Op op, const LocalTensor &x, bool centers, int64_t groups)
      : width(x.extentFrom(x.shape.size() - op.getOver()) / groups),
        centers(centers), eps(op.getEps().convertToDouble()) {}

  /// Normalises `x` in place, and returns the factor by which it was
  /// multiplied.
  double apply(double *x) const {
    double mean = 0, square = 0;
    for (int64_t h = 0; centers && h < width; ++h)
      mean += x[h] / double(width);
    for (int64_t h = 0; h < width; ++h)
      square += (x[h] - mean) * (x[h] - mean) / double(width);
    double factor = 1 / std::sqrt(square + eps);
    for (int64_t h = 0; h < width; ++h)
      x[h] = (x[h] - mean) * factor;
    return factor;
  }

  int64_t width;
  bool centers;
  double eps;
};

} // namespace

/// Normalises each of `groups` parts of the last `over` dimensions; `centers`
/// says whether the mean is subtracted.
template <typename NormOp>
static LocalResult normalize(NormOp op, Device &device, bool centers,
                             double offset, int64_t groups) {
  LocalTensor result = device(op.getX());
  const LocalTensor *weight =
      op.getWeight() ? &device(op.getWeight()) : nullptr;
  const LocalTensor *bias = op.getBias() ? &device(op.getBias()) : nullptr;
  Norm norm(op, result, centers, groups);
  for (int64_t row = 0; row < result.size(); row += norm.width)
    norm.apply(&result.data[row]);
  for (int64_t at = 0; at < result.size(); ++at) {
    if (weight)
      result.data[at] *= offset + weight->data[at % weight->size()];
    if (bias)
      result.data[at] += bias->data[at % bias->size()];
  }
  return result;
}

/// Returns, for each index of a norm's first dimension on `device`, to which of
/// `groups` groups it belongs.
static std::vector<int64_t> groupsOf(Value x, unsigned first, int64_t groups,
                                     Device &device) {
  std::vector<int64_t> all = device.indices(x, first);
  int64_t extent = device.grid().extentOf(TensorView(x), first);
  for (int64_t &index : all)
    index = index * groups / extent;
  return all;
}

static LocalResult run(SquareSumOp op, Device &device) {
  const LocalTensor &x = device(op.getX());
  auto groups = static_cast<int64_t>(op.getGroups().value_or(1));
  size_t first = x.shape.size() - op.getOver();
  std::vector<int64_t> groupOf = groupsOf(op.getX(), first, groups, device);
  double copies = 1;
  for (size_t dim = first; dim < x.shape.size(); ++dim)
    copies *= double(copiesOf(TensorView(op.getX()), dim, device.grid()));
  std::vector<int64_t> shape(x.shape.begin(), x.shape.begin() + first);
  shape.push_back(groups);
  LocalTensor result(shape);
  int64_t inner = x.extentFrom(first + 1);
  for (int64_t at = 0; at < x.size(); ++at) {
    int64_t index = at / inner % x.shape[first];
    int64_t row = at / inner / x.shape[first];
    result.data[row * groups + groupOf[index]] +=
        x.data[at] * x.data[at] / copies;
  }
  return result;
}

/// Scales tokens by sums of squares that are given as an operand.
static LocalResult scale(RMSNormOp op, Device &device) {
  LocalTensor result = device(op.getX());
  const LocalTensor &sums = device(op.getSums());
  int64_t groups = sums.shape.back();
  size_t first = result.shape.size() - op.getOver();
  std::vector<int64_t> groupOf = groupsOf(op.getX(), first, groups, device);
  TensorView type(op.getX());
  double elements = 1;
  for (size_t dim = first; dim < type.rank(); ++dim)
    elements *= double(device.grid().extentOf(type, dim));
  int64_t inner = result.extentFrom(first + 1);
  for (int64_t at = 0; at < result.size(); ++at) {
    int64_t index = at / inner % result.shape[first];
    int64_t row = at / inner / result.shape[first];
    double mean =
        sums.data[row * groups + groupOf[index]] * double(groups) / elements;
    double factor = op.getUnitOffset() ? 1 : 0;
    if (!op.getWeight())
      factor = 1;
    else if (const LocalTensor &weight = device(op.getWeight()); weight.size())
      factor += weight.data[at % weight.size()];
    result.data[at] *= factor / std::sqrt(mean + op.getEps().convertToDouble());
    if (op.getBias())
      result.data[at] +=
          device(op.getBias()).data[at % device(op.getBias()).size()];
  }
  return result;
}

static LocalResult run(RMSNormOp op, Device &device) {
  if (op.getSums())
    return scale(op, device);
  return normalize(op, device, /*centers=*/false, op.getUnitOffset() ? 1 : 0,
                   int64_t(op.getGroups().value_or(1)));
}

static LocalResult run(LayerNormOp op, Device &device) {
  return normalize(op, device, /*centers=*/true, 0, /*groups=*/1);
}

//===----------------------------------------------------------------------===//
// Backwards of norms
//===----------------------------------------------------------------------===//

static LocalResult run(NormBackwardOp op, Device &device) {
  LocalTensor n = device(op.getX()), result = device(op.getDy());
  Norm norm(op, n, op.getCentered(), int64_t(op.getGroups().value_or(1)));
  if (op.getWeight()) {
    const LocalTensor &weight = device(op.getWeight());
    double offset = op.getUnitOffset() ? 1 : 0;
    for (int64_t at = 0; at < result.size(); ++at)
      result.data[at] *= offset + weight.data[at % weight.size()];
  }
  for (int64_t row = 0; row < result.size(); row += norm.width) {
    double *g = &result.data[row], *own = &n.data[row];
    double factor = norm.apply(own), mean = 0, along = 0;
    for (int64_t h = 0; h < norm.width; ++h) {
      mean += norm.centers ? g[h] / double(norm.width) : 0;
      along += g[h] * own[h] / double(norm.width);
    }
    for (int64_t h = 0; h < norm.width; ++h)
      g[h] = factor * (g[h] - mean - own[h] * along);
  }
  return result;
}

static LocalResult run(NormGradientOp op, Device &device) {
  LocalTensor n = device(op.getX());
  const LocalTensor &dy = device(op.getDy());
  Norm norm(op, n, op.getCentered(), int64_t(op.getGroups().value_or(1)));
  for (int64_t row = 0; row < n.size(); row += norm.width)
    norm.apply(&n.data[row]);
  LocalTensor result(device(op.getWeight()).shape);
  for (int64_t at = 0; at < n.size(); ++at)
    result.data[at % result.size()] += dy.data[at] * n.data[at];
  return result;
}

void autopar::interpreter::attachNormKernels(MLIRContext *context) {
  attach<RMSNormOp, run>(context);
  attach<SquareSumOp, run>(context);
  attach<LayerNormOp, run>(context);
}

void interpreter::attachNormGradientKernels(MLIRContext *context) {
  attach<NormBackwardOp, run>(context);
  attach<NormGradientOp, run>(context);
}

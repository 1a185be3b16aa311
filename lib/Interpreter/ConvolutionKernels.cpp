//===- ConvolutionKernels.cpp - Neighbouring tokens -----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens outside of the sequence or the plane are 0.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <cmath>
#include <type_traits>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// The columns of a convolution's plane: how many its input and its result
/// have, and how many its kernel spans.
struct Columns {
  int64_t before = 1, after = 1, kernel = 1;
  /// Returns the input column that element `k` of the kernel reads for column
  /// `c` of the result; -1 if it is outside.
  int64_t read(int64_t c, int64_t k) const {
    int64_t column = before / after * c + k - (kernel - 1) / 2;
    return column < before ? column : -1;
  }
};

/// The contribution of one kernel element to channel `o` of the result: from
/// all channels of a token or, if `own`, from channel `o` alone.
struct Weights {
  const LocalTensor &w;
  int64_t in, out, places;
  bool own;

  template <typename Op>
  Weights(Op op, const LocalTensor &w)
      : w(w), in(w.shape.front()), out(w.shape.back()),
        own(std::is_same_v<Op, ChannelConvolutionOp>) {
    places = w.extent(1, w.shape.size() - (own ? 0 : 1));
    if (own)
      out = in;
  }

  double times(const double *x, int64_t place, int64_t o) const {
    if (own)
      return x[o] * w.data[o * places + place];
    double sum = 0;
    for (int64_t i = 0; i < in; ++i)
      sum += x[i] * w.data[(i * places + place) * out + o];
    return sum;
  }
};

} // namespace

/// Convolves square planes whose rows follow each other, and writes the result
/// to `result`.
static LocalResult convolveSquare(Operation *op, const LocalTensor &x,
                                  const Weights &w, const LocalTensor *bias,
                                  LocalTensor result) {
  auto sideOf = [](int64_t tokens) {
    return int64_t(std::lround(std::sqrt(double(tokens))));
  };
  int64_t before = sideOf(x.shape[1]), after = sideOf(result.shape[1]);
  if (before * before != x.shape[1] || after * after != result.shape[1])
    return op->emitError() << x.shape[1] << " tokens are no square plane";
  int64_t kernel = w.w.shape[1];
  Columns line = {before, after, kernel};
  double *place = result.data.data();
  for (int64_t b = 0; b < x.shape[0]; ++b)
    for (int64_t r = 0; r < after; ++r)
      for (int64_t c = 0; c < after; ++c)
        for (int64_t o = 0; o < w.out; ++o) {
          double sum = bias ? bias->data[o] : 0;
          for (int64_t j = 0; j < kernel; ++j)
            for (int64_t k = 0; k < kernel; ++k) {
              int64_t row = line.read(r, j), column = line.read(c, k);
              if (row >= 0 && column >= 0)
                sum += w.times(
                    &x.data[((b * before + row) * before + column) * w.in],
                    j * kernel + k, o);
            }
          *place++ = sum;
        }
  return result;
}

template <typename Op>
static LocalResult convolve(Op op, Device &device) {
  const LocalTensor &x = device(op.getX());
  const LocalTensor *bias = op.getBias() ? &device(op.getBias()) : nullptr;
  Weights w(op, device(op.getWeight()));
  std::vector<int64_t> from = device.indices(op.getX(), 1);
  std::vector<int64_t> to = device.indices(op.getResult(), 1);
  // A step may have no encoder input; its earlier result is then cached.
  int64_t after = device.grid().extentOf(TensorView(op.getResult()), 1);
  int64_t stride =
      after ? device.grid().extentOf(TensorView(op.getX()), 1) / after : 1;
  // A row of tokens counts as a plane of one column.
  bool hasColumns = x.shape.size() == 4;
  size_t kernels = w.w.shape.size() - (w.own ? 1 : 2);
  Columns columns;
  if (hasColumns)
    columns = {x.shape[2],
               device.grid().extentOf(TensorView(op.getResult()), 2),
               w.w.shape[2]};
  if (x.shape.back() != w.in)
    return op.emitError("channels differ on a device");
  std::vector<int64_t> shape = {x.shape[0], int64_t(to.size())};
  if (hasColumns)
    shape.push_back(columns.after);
  shape.push_back(w.out);
  LocalTensor result(shape);
  if (!hasColumns && kernels == 2)
    return convolveSquare(op, x, w, bias, std::move(result));
  double *place = result.data.data();
  for (int64_t b = 0; b < x.shape[0]; ++b)
    for (int64_t token : to)
      for (int64_t c = 0; c < columns.after; ++c)
        for (int64_t o = 0; o < w.out; ++o) {
          double sum = bias ? bias->data[o] : 0;
          for (int64_t j = 0, kernel = w.w.shape[1]; j < kernel; ++j) {
            int64_t at = find(from, stride * token + j - (kernel - 1) / 2);
            for (int64_t k = 0; at >= 0 && k < columns.kernel; ++k)
              if (int64_t column = columns.read(c, k); column >= 0)
                sum += w.times(
                    &x.data[((b * x.shape[1] + at) * columns.before + column) *
                            w.in],
                    j * columns.kernel + k, o);
          }
          *place++ = sum;
        }
  return result;
}

static LocalResult run(ConvolutionOp op, Device &device) {
  return convolve(op, device);
}
static LocalResult run(ChannelConvolutionOp op, Device &device) {
  return convolve(op, device);
}

void autopar::interpreter::attachConvolutionKernels(MLIRContext *context) {
  attach<ConvolutionOp, run>(context);
  attach<ChannelConvolutionOp, run>(context);
}

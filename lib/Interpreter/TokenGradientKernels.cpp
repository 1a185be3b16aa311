//===- TokenGradientKernels.cpp - Backwards of what moves tokens ----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "autopar/Dialect/Training/Training.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

/// The inserted tokens are the first tokens of the sequence.
static LocalResults run(InsertBackwardOp op, Device &device) {
  LocalTensor dx = device(op.getDz());
  std::vector<int64_t> tokens = device.indices(op.getDz(), 1);
  int64_t width = dx.extentFrom(2), own = dx.shape[1];
  int64_t count = device.grid().extentOf(TensorView(op.getDInserted()), 1);
  LocalTensor inserted({dx.shape[0], count, width});
  for (int64_t b = 0; b < dx.shape[0]; ++b)
    for (size_t t = 0; t < tokens.size(); ++t) {
      if (tokens[t] >= count)
        continue;
      double *from = &dx.data[(b * own + int64_t(t)) * width];
      std::copy_n(from, width, &inserted.data[(b * count + tokens[t]) * width]);
      std::fill_n(from, width, 0);
    }
  return LocalTensors{std::move(dx), std::move(inserted)};
}

static LocalResult run(MergeTokensBackwardOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy());
  TensorView view(op.getResult());
  int64_t tokens = device.grid().extentOf(view, 1);
  int64_t merged = dy.shape[1], wide = dy.extentFrom(2);
  // Without an image there are no merged tokens.
  int64_t n = merged == 0 ? 1 : tokens / merged;
  int64_t width = op.getMean() ? wide : wide / n;
  LocalTensor result({dy.shape[0], tokens, width});
  for (int64_t at = 0; at < result.size(); ++at) {
    int64_t row = at / width, i = at % width;
    result.data[at] = op.getMean()
                          ? dy.data[row / n * wide + i] / double(n)
                          : dy.data[row / n * wide + row % n * width + i];
  }
  return result;
}

void autopar::interpreter::attachTokenGradientKernels(MLIRContext *context) {
  attach<InsertBackwardOp, run>(context);
  attach<MergeTokensBackwardOp, run>(context);
}

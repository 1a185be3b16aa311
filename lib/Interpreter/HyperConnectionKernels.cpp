//===- HyperConnectionKernels.cpp - Several residual streams --------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::transformer;
using namespace mlir;

static LocalResult run(HyperExpandOp op, Device &device) {
  const LocalTensor &x = device(op.getX());
  int64_t streams = TensorView(op.getResult()).getType().getDimSize(2);
  int64_t width = x.shape[2];
  LocalTensor result({x.shape[0], x.shape[1], streams, width});
  for (int64_t i = 0; i < result.size(); ++i)
    result.data[i] = x.data[i / (streams * width) * width + i % width];
  return result;
}

//===----------------------------------------------------------------------===//
// Mixing streams before a block
//===----------------------------------------------------------------------===//

namespace {

/// Computes the coefficients of a hyper-connection, one token at a time.
class Coefficients {
public:
  Coefficients(HyperPreOp op, Device &device)
      : op(op), weight(device(op.getWeight())), base(device(op.getBase())),
        scale(device(op.getScale())), streams(weight.shape[0]),
        elements(weight.shape[0] * weight.shape[1]), count(weight.shape[2]),
        eps(op.getEps().convertToDouble()),
        gateEps(op.getGateEps().convertToDouble()) {}

  /// Computes the coefficients of the token whose streams are `x`.
  void find(const double *x) {
    double squares = 0;
    found.assign(count, 0);
    for (int64_t i = 0; i < elements; ++i) {
      squares += x[i] * x[i];
      for (int64_t j = 0; j < count; ++j)
        found[j] += x[i] * weight.data[i * count + j];
    }
    double norm = 1 / std::sqrt(squares / double(elements) + eps);
    for (int64_t j = 0; j < count; ++j)
      found[j] =
          norm * found[j] * scale.data[std::min<int64_t>(j / streams, 2)] +
          base.data[j];
  }

  double pre(int64_t stream) const { return sigmoid(found[stream]) + gateEps; }

  double post(int64_t stream) const {
    double gate =
        op.getMagnitude()->convertToDouble() * sigmoid(found[streams + stream]);
    return op.getSinkhorn() ? gate : gate + gateEps;
  }

  /// Writes the `[streams, streams]` matrix that mixes the residual streams to
  /// `matrix`.
  void residual(double *matrix) const {
    for (int64_t s = 0; s < streams; ++s) {
      const double *scores = &found[streams * (2 + s)];
      double most = *std::max_element(scores, scores + streams), sum = 0;
      for (int64_t k = 0; k < streams; ++k)
        sum += std::exp(scores[k] - most);
      for (int64_t k = 0; k < streams; ++k)
        matrix[s * streams + k] = std::exp(scores[k] - most) / sum + gateEps;
    }
    divide(matrix, 1, streams);
    for (int64_t i = 1; i < int64_t(*op.getSinkhorn()); ++i) {
      divide(matrix, streams, 1);
      divide(matrix, 1, streams);
    }
  }

private:
  /// Divides each line (row or column) of the matrix by its sum. Lines begin
  /// `line` elements apart; the elements of a line are `next` apart.
  void divide(double *matrix, int64_t line, int64_t next) const {
    for (int64_t i = 0; i < streams; ++i) {
      double sum = gateEps;
      for (int64_t j = 0; j < streams; ++j)
        sum += matrix[i * line + j * next];
      for (int64_t j = 0; j < streams; ++j)
        matrix[i * line + j * next] /= sum;
    }
  }

  /// The op is mutable because MLIR's accessors are not const.
  mutable HyperPreOp op;
  const LocalTensor &weight, &base, &scale;
  int64_t streams, elements, count;
  double eps, gateEps;
  std::vector<double> found;
};

} // namespace

static LocalResults run(HyperPreOp op, Device &device) {
  const LocalTensor &x = device(op.getStreams());
  int64_t batch = x.shape[0], tokens = x.shape[1], streams = x.shape[2],
          width = x.shape[3];
  LocalTensors results;
  results.emplace_back(std::vector<int64_t>{batch, tokens, width});
  if (op.getPost())
    results.emplace_back(std::vector<int64_t>{batch, tokens, streams});
  if (op.getResidual())
    results.emplace_back(std::vector<int64_t>{batch, tokens, streams, streams});
  Coefficients coefficients(op, device);
  for (int64_t t = 0; t < batch * tokens; ++t) {
    const double *token = &x.data[t * streams * width];
    coefficients.find(token);
    for (int64_t s = 0; s < streams; ++s) {
      for (int64_t h = 0; h < width; ++h)
        results[0].data[t * width + h] +=
            coefficients.pre(s) * token[s * width + h];
      if (op.getPost())
        results[1].data[t * streams + s] = coefficients.post(s);
    }
    if (op.getResidual())
      coefficients.residual(&results[2].data[t * streams * streams]);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Mixing streams after a block
//===----------------------------------------------------------------------===//

static LocalResult run(HyperPostOp op, Device &device) {
  const LocalTensor &x = device(op.getStreams()), &y = device(op.getY()),
                    &post = device(op.getPost());
  int64_t streams = x.shape[2], width = x.shape[3];
  LocalTensor result(x.shape);
  for (int64_t row = 0; row < post.size(); ++row) {
    int64_t token = row / streams, k = row % streams;
    double *z = &result.data[row * width];
    for (int64_t h = 0; h < width; ++h)
      z[h] = post.data[row] * y.data[token * width + h];
    for (int64_t s = 0; s < streams; ++s) {
      double share = s == k;
      if (op.getResidual())
        share =
            device(op.getResidual()).data[(token * streams + s) * streams + k];
      for (int64_t h = 0; h < width; ++h)
        z[h] += share * x.data[(token * streams + s) * width + h];
    }
  }
  return result;
}

void autopar::interpreter::attachHyperConnectionKernels(MLIRContext *context) {
  attach<HyperExpandOp, run>(context);
  attach<HyperPreOp, run>(context);
  attach<HyperPostOp, run>(context);
}

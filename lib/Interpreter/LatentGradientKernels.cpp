//===- LatentGradientKernels.cpp - Latent attention in training -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include "Kernels.h"

#include "autopar/Dialect/Training/Training.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::training;
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

/// Computes the gradients of a concatenation with a part that all heads share.
/// Devices with the same heads each add their share of the sum.
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

//===----------------------------------------------------------------------===//
// Backward of attention to latents of the step
//===----------------------------------------------------------------------===//

namespace {

/// A weight with a matrix per head, `[latent, heads, width]`.
struct HeadWeight {
  explicit HeadWeight(const LocalTensor &tensor)
      : tensor(tensor), heads(tensor.shape[1]), width(tensor.shape[2]) {}

  int64_t at(int64_t l, int64_t head, int64_t i) const {
    return (l * heads + head) * width + i;
  }
  /// Returns the product of a latent and the matrix of a head.
  std::vector<double> expand(const double *latent, int64_t head) const {
    std::vector<double> row(width);
    for (int64_t l = 0; l < tensor.shape[0]; ++l)
      for (int64_t i = 0; i < width; ++i)
        row[i] += latent[l] * tensor.data[at(l, head, i)];
    return row;
  }
  /// Adds the gradients of a latent and of the weight, from the gradient `row`
  /// of their product.
  void addGradients(const std::vector<double> &row, const double *latent,
                    int64_t head, double *dLatent, LocalTensor &dWeight) const {
    for (int64_t l = 0; l < tensor.shape[0]; ++l)
      for (int64_t i = 0; i < width; ++i) {
        dLatent[l] += row[i] * tensor.data[at(l, head, i)];
        dWeight.data[at(l, head, i)] += row[i] * latent[l];
      }
  }

  const LocalTensor &tensor;
  int64_t heads, width;
};

/// The query heads and tokens of a device, with the latents to which they
/// attend.
template <typename Op>
class LatentPairs {
public:
  LatentPairs(Op op, Device &device)
      : query(device(op.getQuery())), latent(device(op.getLatent())),
        rope(device(op.getKeyRope())), keys(device(op.getKeyWeight())),
        selected(op.getSelected() ? &device(op.getSelected()) : nullptr),
        positions(device.positions(op.getQuery(), 1)) {
    visibility.causal = op.getCausal();
  }

  /// One query head at one token: the row of its query, and the number of its
  /// token.
  struct Query {
    int64_t batch, token, head, row;
  };
  template <typename Visit>
  void forEachQuery(Visit visit) const {
    for (int64_t b = 0; b < query.shape[0]; ++b)
      for (int64_t t = 0; t < query.shape[1]; ++t)
        for (int64_t a = 0; a < query.shape[2]; ++a) {
          int64_t token = b * query.shape[1] + t;
          visit(Query{b, token, a, token * query.shape[2] + a});
        }
  }
  /// Calls `visit(row in the tensor of latents)` for each token to which the
  /// query attends.
  template <typename Visit>
  void forEachKey(const Query &own, Visit visit) const {
    int64_t position = positions[own.token % query.shape[1]];
    for (int64_t c = 0; c < latent.shape[1]; ++c)
      if (visibility.sees(position, c) && isSelected(selected, own.token, c))
        visit(own.batch * latent.shape[1] + c);
  }

  const double *queryOf(const Query &own) const {
    return &query.data[own.row * query.shape[3]];
  }
  const double *latentOf(int64_t row) const {
    return &latent.data[row * latent.shape[2]];
  }
  const double *ropeOf(int64_t row) const {
    return &rope.data[row * rope.shape[2]];
  }
  double factor() const { return 1 / std::sqrt(double(query.shape[3])); }
  /// Returns the score of a query and the token with latent `row`; `key` is the
  /// head's own part of the key.
  double score(const Query &own, const std::vector<double> &key,
               int64_t row) const {
    const double *asked = queryOf(own);
    return factor() * (dot(asked, key.data(), keys.width) +
                       dot(asked + keys.width, ropeOf(row), rope.shape[2]));
  }

  const LocalTensor &query, &latent, &rope;
  HeadWeight keys;

private:
  const LocalTensor *selected;
  std::vector<int64_t> positions;
  Visibility visibility;
};

} // namespace

static LocalResult run(LatentNormaliserOp op, Device &device) {
  LatentPairs<LatentNormaliserOp> pairs(op, device);
  const std::vector<int64_t> &shape = pairs.query.shape;
  LocalTensor result({shape[0], shape[1], shape[2]});
  pairs.forEachQuery([&](const auto &own) {
    Softmax softmax;
    pairs.forEachKey(own, [&](int64_t row) {
      softmax.add(
          row, pairs.score(
                   own, pairs.keys.expand(pairs.latentOf(row), own.head), row));
    });
    softmax.finish(std::nullopt);
    result.data[own.row] = softmax.normaliser();
  });
  return result;
}

static LocalResults run(LatentAttentionBackwardOp op, Device &device) {
  LatentPairs<LatentAttentionBackwardOp> pairs(op, device);
  HeadWeight values(device(op.getValueWeight()));
  if (pairs.keys.heads != pairs.query.shape[2] ||
      values.heads != pairs.keys.heads)
    return op.emitError("a device has other heads of weights than of queries");
  const LocalTensor &dy = device(op.getDy()), &y = device(op.getY()),
                    &normaliser = device(op.getNormaliser());
  LocalTensor dQuery(pairs.query.shape), dLatent(pairs.latent.shape),
      dRope(pairs.rope.shape), dKeys(pairs.keys.tensor.shape),
      dValues(values.tensor.shape);
  int64_t nope = pairs.keys.width, rope = pairs.rope.shape[2];
  pairs.forEachQuery([&](const auto &own) {
    const double *query = pairs.queryOf(own),
                 *given = &dy.data[own.row * values.width];
    double mean = dot(given, &y.data[own.row * values.width], values.width);
    double *dq = &dQuery.data[own.row * pairs.query.shape[3]];
    pairs.forEachKey(own, [&](int64_t row) {
      const double *latent = pairs.latentOf(row);
      double *dl = &dLatent.data[row * pairs.latent.shape[2]];
      std::vector<double> key = pairs.keys.expand(latent, own.head),
                          value = values.expand(latent, own.head);
      double p =
          std::exp(pairs.score(own, key, row) - normaliser.data[own.row]);
      double ds =
          p * (dot(given, value.data(), values.width) - mean) * pairs.factor();
      for (int64_t i = 0; i < nope; ++i)
        dq[i] += ds * key[i];
      for (int64_t i = 0; i < rope; ++i) {
        dq[nope + i] += ds * pairs.ropeOf(row)[i];
        dRope.data[row * rope + i] += ds * query[nope + i];
      }
      for (int64_t i = 0; i < nope; ++i)
        key[i] = ds * query[i];
      for (int64_t i = 0; i < values.width; ++i)
        value[i] = p * given[i];
      pairs.keys.addGradients(key, latent, own.head, dl, dKeys);
      values.addGradients(value, latent, own.head, dl, dValues);
    });
  });
  LocalTensors results;
  for (LocalTensor *result : {&dQuery, &dLatent, &dRope, &dKeys, &dValues})
    results.push_back(std::move(*result));
  return results;
}

void autopar::interpreter::attachLatentGradientKernels(MLIRContext *context) {
  attach<ConcatSharedOp, run>(context);
  attach<ConcatSharedBackwardOp, run>(context);
  attach<LatentNormaliserOp, run>(context);
  attach<LatentAttentionBackwardOp, run>(context);
}

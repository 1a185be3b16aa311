//===- AttentionGradientKernels.cpp - Attention, both ways ----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include "Kernels.h"
#include "Placement.h"
#include "SharedHeads.h"

#include "autopar/Dialect/Training/Training.h"

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// The query heads and tokens of a device, with the keys to which they attend.
/// A row is the last dimension of a tensor shaped like the queries, or like the
/// keys.
class QueryKeyPairs {
public:
  QueryKeyPairs(Value query, Value key, Device &device)
      : shape(shapeOf(query, device)), keyShape(shapeOf(key, device)),
        positions(device.positions(query, 1)) {
    const DeviceGrid &grid = device.grid();
    std::vector<int64_t> kvHeads = device.indices(key, 2);
    visibility.keys = grid.extentOf(TensorView(key), 1);
    visibility.queries = grid.extentOf(TensorView(query), 1);
    int64_t group =
        grid.extentOf(TensorView(query), 2) / grid.extentOf(TensorView(key), 2);
    allHeads = grid.extentOf(TensorView(query), 2);
    heads = device.indices(query, 2);
    for (int64_t head : heads)
      groups.push_back(find(kvHeads, head / group));
  }

  /// Emits an error if a query head has no key head on the device.
  LogicalResult verify(Operation *op) const {
    if (!llvm::is_contained(groups, -1))
      return success();
    return op->emitError("a device has a query head without its key head");
  }

  void restrict(bool causal, std::optional<int64_t> window,
                std::optional<int64_t> chunk = std::nullopt) {
    visibility.causal = causal;
    visibility.window = window;
    visibility.chunk = chunk;
  }

  /// A query head at a token of a sequence.
  struct Query {
    int64_t batch, token, head;
    /// The index of the query's row in the tensor of queries (`row`), and in
    /// that of probabilities (`ofProbabilities`).
    int64_t row, ofProbabilities;
  };
  template <typename Visit>
  void forEachQuery(Visit visit) const {
    int64_t tokens = shape[1], heads = shape[2];
    for (int64_t b = 0; b < shape[0]; ++b)
      for (int64_t t = 0; t < tokens; ++t)
        for (int64_t a = 0; a < heads; ++a)
          visit(Query{b, t, a, (b * tokens + t) * heads + a,
                      (b * heads + a) * tokens + t});
  }
  /// Calls `visit(token, row in the tensor of keys)` for each token to which
  /// the query attends.
  template <typename Visit>
  void forEachKey(const Query &own, Visit visit) const {
    int64_t tokens = keyShape[1], heads = keyShape[2];
    for (int64_t c = 0; c < tokens; ++c)
      if (visibility.sees(positions[own.token], c))
        visit(c, (own.batch * tokens + c) * heads + groups[own.head]);
  }

  /// Returns what ALiBi subtracts from the score of a token, which grows with
  /// its distance.
  double distancePenalty(const Query &own, int64_t token) const {
    return alibiSlope(heads[own.head], allHeads) *
           double(std::abs(positions[own.token] - token));
  }

  int64_t keys() const { return keyShape[1]; }
  /// Returns the offset of the probability of `token` in the tensor of
  /// probabilities.
  int64_t probabilityAt(const Query &own, int64_t token) const {
    return own.ofProbabilities * keys() + token;
  }
  std::vector<int64_t> probabilityShape() const {
    return {shape[0], shape[2], shape[1], keys()};
  }

private:
  static std::vector<int64_t> shapeOf(Value value, Device &device) {
    return Placement(TensorView(value), device.grid(), device.id).shape();
  }

  std::vector<int64_t> shape, keyShape, positions, groups, heads;
  int64_t allHeads = 1;
  Visibility visibility;
};

} // namespace

using Query = QueryKeyPairs::Query;

/// Adds `factor` times row `from` of `x` to row `to` of `y`.
static void addRow(LocalTensor &y, int64_t to, double factor,
                   const LocalTensor &x, int64_t from) {
  int64_t width = x.shape.back();
  for (int64_t i = 0; i < width; ++i)
    y.data[to * width + i] += factor * x.data[from * width + i];
}

static double dotRows(const LocalTensor &x, int64_t a, const LocalTensor &y,
                      int64_t b) {
  int64_t width = x.shape.back();
  return dot(&x.data[a * width], &y.data[b * width], width);
}

/// Returns the factor by which products of queries and keys are multiplied.
template <typename Op>
static double factorOf(Op op) {
  int64_t width = tensorOf(op.getQuery().getType()).getDimSize(3);
  return op.getScale() ? op.getScale()->convertToDouble()
                       : 1 / std::sqrt(double(width));
}

namespace {

/// Turns the product of a query and a key into a score.
struct ScoreRule {
  template <typename Op>
  explicit ScoreRule(Op op)
      : factor(factorOf(op)), isByDistance(op.getAlibi()) {}
  template <typename Op>
  static ScoreRule capped(Op op) {
    ScoreRule rule(op);
    if (op.getSoftcap())
      rule.cap = op.getSoftcap()->convertToDouble();
    return rule;
  }

  /// Returns the score for a product; `penalty` is what ALiBi subtracts for the
  /// distance.
  double score(double product, double penalty) const {
    double score = product * factor;
    score = cap ? *cap * std::tanh(score / *cap) : score;
    return isByDistance ? score - penalty : score;
  }
  /// Returns the derivative of the score with respect to the product.
  double slope(double product) const {
    double bend = cap ? std::tanh(product * factor / *cap) : 0;
    return factor * (1 - bend * bend);
  }

  double factor;
  std::optional<double> cap = std::nullopt;
  bool isByDistance;
};

} // namespace

/// Returns the softmax of a query over the tokens to which it attends.
template <typename Op>
static Softmax scoresOf(Op op, const ScoreRule &rule,
                        const QueryKeyPairs &pairs, const Query &own,
                        Device &device) {
  const LocalTensor &query = device(op.getQuery()), &key = device(op.getKey());
  Softmax softmax;
  pairs.forEachKey(own, [&](int64_t token, int64_t row) {
    softmax.add(token, rule.score(dotRows(query, own.row, key, row),
                                  pairs.distancePenalty(own, token)));
  });
  return softmax;
}

//===----------------------------------------------------------------------===//
// Attention that keeps its probabilities to itself
//===----------------------------------------------------------------------===//

static LocalResult run(AttentionNormaliserOp op, Device &device) {
  QueryKeyPairs pairs(op.getQuery(), op.getKey(), device);
  pairs.restrict(op.getCausal(), op.getWindow(), op.getChunk());
  if (failed(pairs.verify(op)))
    return failure();
  std::vector<int64_t> shape = device(op.getQuery()).shape;
  shape.pop_back();
  LocalTensor result(shape);
  ScoreRule rule = ScoreRule::capped(op);
  pairs.forEachQuery([&](const Query &own) {
    Softmax softmax = scoresOf(op, rule, pairs, own, device);
    softmax.finish(op.getSinks()
                       ? std::optional(device(op.getSinks()).data[own.head])
                       : std::nullopt);
    result.data[own.row] = softmax.normaliser();
  });
  return result;
}

static LocalResults compute(AttentionBackwardOp op, Device &device) {
  QueryKeyPairs pairs(op.getQuery(), op.getKey(), device);
  pairs.restrict(op.getCausal(), op.getWindow(), op.getChunk());
  if (failed(pairs.verify(op)))
    return failure();
  ScoreRule rule = ScoreRule::capped(op);
  const LocalTensor &query = device(op.getQuery()), &key = device(op.getKey()),
                    &value = device(op.getValue()), &dy = device(op.getDy()),
                    &y = device(op.getY()),
                    &normaliser = device(op.getNormaliser());
  LocalTensor dQuery(query.shape), dKey(key.shape), dValue(value.shape);
  pairs.forEachQuery([&](const Query &own) {
    double mean = dotRows(dy, own.row, y, own.row);
    pairs.forEachKey(own, [&](int64_t token, int64_t row) {
      double product = dotRows(query, own.row, key, row);
      double score = rule.score(product, pairs.distancePenalty(own, token));
      double p = std::exp(score - normaliser.data[own.row]);
      double ds =
          p * (dotRows(dy, own.row, value, row) - mean) * rule.slope(product);
      addRow(dQuery, own.row, ds, key, row);
      addRow(dKey, row, ds, query, own.row);
      addRow(dValue, row, p, dy, own.row);
    });
  });
  return LocalTensors{std::move(dQuery), std::move(dKey), std::move(dValue)};
}

static LocalResult run(SinkGradientOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy()), &y = device(op.getY()),
                    &normaliser = device(op.getNormaliser()),
                    &sinks = device(op.getSinks());
  LocalTensor result(sinks.shape);
  for (int64_t row = 0; row < normaliser.size(); ++row) {
    int64_t head = row % result.size();
    result.data[head] -= std::exp(sinks.data[head] - normaliser.data[row]) *
                         dotRows(dy, row, y, row);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Attention that writes its probabilities
//===----------------------------------------------------------------------===//

static LocalResult run(AttentionProbabilitiesOp op, Device &device) {
  QueryKeyPairs pairs(op.getQuery(), op.getKey(), device);
  pairs.restrict(op.getCausal(), op.getWindow());
  if (failed(pairs.verify(op)))
    return failure();
  ScoreRule rule(op);
  LocalTensor result(pairs.probabilityShape());
  pairs.forEachQuery([&](const Query &own) {
    Softmax softmax = scoresOf(op, rule, pairs, own, device);
    softmax.finish(std::nullopt);
    for (auto [token, weight] : softmax.scores)
      result.data[pairs.probabilityAt(own, token)] = weight / softmax.total;
  });
  return result;
}

static LocalResult run(AttendOp op, Device &device) {
  QueryKeyPairs pairs(op.getResult(), op.getValue(), device);
  if (failed(pairs.verify(op)))
    return failure();
  const LocalTensor &p = device(op.getProbabilities()),
                    &value = device(op.getValue());
  LocalTensor result({p.shape[0], p.shape[2], p.shape[1], value.shape[3]});
  pairs.forEachQuery([&](const Query &own) {
    pairs.forEachKey(own, [&](int64_t token, int64_t row) {
      addRow(result, own.row, p.data[pairs.probabilityAt(own, token)], value,
             row);
    });
  });
  return result;
}

static LocalResults compute(AttendBackwardOp op, Device &device) {
  QueryKeyPairs pairs(op.getDy(), op.getValue(), device);
  if (failed(pairs.verify(op)))
    return failure();
  const LocalTensor &p = device(op.getProbabilities()),
                    &value = device(op.getValue()), &dy = device(op.getDy());
  LocalTensor dProbabilities(p.shape), dValue(value.shape);
  pairs.forEachQuery([&](const Query &own) {
    pairs.forEachKey(own, [&](int64_t token, int64_t row) {
      int64_t at = pairs.probabilityAt(own, token);
      dProbabilities.data[at] = dotRows(dy, own.row, value, row);
      addRow(dValue, row, p.data[at], dy, own.row);
    });
  });
  return LocalTensors{std::move(dProbabilities), std::move(dValue)};
}

/// Tokens to which a query does not attend have probability 0, and thus no
/// gradient.
static LocalResults compute(AttentionProbabilitiesBackwardOp op,
                            Device &device) {
  QueryKeyPairs pairs(op.getQuery(), op.getKey(), device);
  if (failed(pairs.verify(op)))
    return failure();
  double factor = factorOf(op);
  const LocalTensor &query = device(op.getQuery()), &key = device(op.getKey()),
                    &p = device(op.getProbabilities()),
                    &dp = device(op.getDProbabilities());
  LocalTensor dQuery(query.shape), dKey(key.shape);
  pairs.forEachQuery([&](const Query &own) {
    double mean = dotRows(dp, own.ofProbabilities, p, own.ofProbabilities);
    pairs.forEachKey(own, [&](int64_t token, int64_t row) {
      int64_t at = pairs.probabilityAt(own, token);
      double ds = p.data[at] * (dp.data[at] - mean) * factor;
      addRow(dQuery, own.row, ds, key, row);
      addRow(dKey, row, ds, query, own.row);
    });
  });
  return LocalTensors{std::move(dQuery), std::move(dKey)};
}

//===----------------------------------------------------------------------===//
// Heads that several devices share
//===----------------------------------------------------------------------===//

bool autopar::interpreter::hasHeadsLike(Value result, Value key) {
  TensorView view(result);
  if (view.rank() != TensorView(key).rank())
    return false;
  DimRef own = view.dim(2), wanted = TensorView(key).dim(2);
  return own.axes == wanted.axes && own.rule == wanted.rule;
}

static LocalResults run(AttentionBackwardOp op, Device &device) {
  return addUpHeads(op, op.getKey(), device, compute);
}
static LocalResults run(AttendBackwardOp op, Device &device) {
  return addUpHeads(op, op.getValue(), device, compute);
}
static LocalResults run(AttentionProbabilitiesBackwardOp op, Device &device) {
  return addUpHeads(op, op.getKey(), device, compute);
}

void autopar::interpreter::attachAttentionGradientKernels(
    MLIRContext *context) {
  attach<AttentionNormaliserOp, run>(context);
  attach<AttentionBackwardOp, run>(context);
  attach<SinkGradientOp, run>(context);
  attach<AttentionProbabilitiesOp, run>(context);
  attach<AttendOp, run>(context);
  attach<AttendBackwardOp, run>(context);
  attach<AttentionProbabilitiesBackwardOp, run>(context);
}

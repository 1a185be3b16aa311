//===- AttentionKernels.cpp - Tokens that see each other ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include "CompressedRows.h"
#include "Kernels.h"
#include "Turn.h"

#include "autopar/Dialect/Training/Training.h"

#include <algorithm>
#include <cmath>
#include <deque>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Rotation of positions
//===----------------------------------------------------------------------===//

/// Rotates `x` by the angles of its positions or, with a `sign` of -1, back.
template <typename Rope>
static LocalTensor turn(Rope op, Value x, double sign, Device &device) {
  LocalTensor result = device(x);
  std::vector<int64_t> positions = device.positions(x, 1);
  int64_t width = result.shape.back(), heads = result.extentFrom(2) / width;
  for (int64_t b = 0; b < result.shape[0]; ++b)
    for (size_t t = 0; t < positions.size(); ++t)
      for (int64_t head = 0; head < heads; ++head) {
        int64_t row = (b * result.shape[1] + int64_t(t)) * heads + head;
        turnElements(op, &result.data[row * width], width, positions[t], sign);
      }
  return result;
}

static LocalResult run(RopeOp op, Device &device) {
  return turn(op, op.getX(), op.getInverse() ? -1 : 1, device);
}

static LocalResult run(RopeBackwardOp op, Device &device) {
  return turn(op, op.getDy(), -1, device);
}

//===----------------------------------------------------------------------===//
// Updates of KV caches
//===----------------------------------------------------------------------===//

/// Returns how the tokens of a KV cache, or of keys, are split over devices.
static DimRef tokensOf(Value value) { return TensorView(value).dim(1); }

/// Whether a device also sees tokens of other devices.
static bool isRing(const DimRef &tokens) {
  return tokens.rule == SplitRule::ring;
}

/// Appends one row `[batch, ..]` per token of this step to a KV cache: the
/// tokens that the device has or, if all devices among which the cache is split
/// have all tokens, its share of these.
static LogicalResult append(Operation *op, Device &device, Value cache,
                            Value tokens,
                            llvm::function_ref<LocalTensor(int64_t)> rowOf) {
  CachedTokens *rows = device.run.cacheOf(cache, device.id);
  if (!rows)
    return op->emitError("the cache is moved before it is updated: the update "
                         "goes to a copy");
  DimRef kept = tokensOf(cache);
  bool isWhole = tokensOf(tokens).axes.empty();
  int64_t parts = isWhole ? device.grid().sizeOf(kept.axes) : 1;
  int64_t place = isWhole ? device.grid().placeOf(device.id, kept.axes) : 0;
  std::vector<int64_t> positions = device.positions(tokens, 1);
  for (size_t t = 0; t < positions.size(); ++t)
    if (positions[t] % parts == place)
      (*rows)[positions[t]] = rowOf(int64_t(t));
  return success();
}

/// Returns token `t` of all tensors, side by side: `[batch, heads, width]`.
static LocalTensor joinToken(ArrayRef<const LocalTensor *> tensors, int64_t t) {
  const LocalTensor &first = *tensors.front();
  std::vector<int64_t> shape = {first.shape[0]};
  shape.insert(shape.end(), first.shape.begin() + 2, first.shape.end());
  shape.back() = 0;
  for (const LocalTensor *tensor : tensors)
    shape.back() += tensor->shape.back();
  LocalTensor row(shape);
  int64_t wide = shape.back(), heads = first.extentFrom(2) / first.shape.back();
  int64_t before = 0;
  for (const LocalTensor *tensor : tensors) {
    int64_t width = tensor->shape.back();
    for (int64_t b = 0; b < first.shape[0]; ++b)
      for (int64_t head = 0; head < heads; ++head)
        for (int64_t i = 0; i < width; ++i)
          row.data[(b * heads + head) * wide + before + i] =
              tensor->data[((b * tensor->shape[1] + t) * heads + head) * width +
                           i];
    before += width;
  }
  return row;
}

namespace {

/// The tokens of a KV cache that a device attends to (`own`), and all tokens
/// that count for the sum by which scores are divided (`all`).
struct SeenTokens {
  std::map<int64_t, const LocalTensor *> own, all;
};

} // namespace

/// Returns the tokens of a cache that a device sees. Emits an error unless all
/// devices together have each of `count` tokens once.
static FailureOr<SeenTokens> seenTokens(Operation *op, Device &device,
                                        Value cache, int64_t count) {
  DimRef tokens = tokensOf(cache);
  SeenTokens seen;
  for (int64_t member : device.grid().groupOf(device.id, tokens.axes)) {
    CachedTokens *kept = device.run.cacheOf(cache, member);
    if (!kept)
      return op->emitError("the cache is moved before it is read");
    for (const auto &[token, row] : *kept) {
      if (!seen.all.emplace(token, &row).second)
        return op->emitError("two parts of the cache have token ") << token;
      if (member == device.id || isRing(tokens))
        seen.own.emplace(token, &row);
    }
  }
  for (int64_t token = 0; token < count; ++token)
    if (!seen.all.count(token))
      return op->emitError("device ")
             << device.id << " never sees token " << token << " of " << count;
  return seen;
}

/// Returns the tokens of this step, if nothing is cached: for each token all
/// `parts` side by side, stored in `rows`.
static SeenTokens tokensOfStep(ArrayRef<Value> parts, Device &device,
                               std::deque<LocalTensor> &rows) {
  Value first = parts.front();
  DimRef tokens = tokensOf(first);
  SeenTokens seen;
  SmallVector<int64_t> members = {device.id};
  if (!isRing(tokens))
    members = llvm::to_vector(device.grid().groupOf(device.id, tokens.axes));
  for (int64_t member : members) {
    SmallVector<const LocalTensor *> tensors;
    for (Value part : parts)
      tensors.push_back(&device.of(member, part));
    std::vector<int64_t> indices =
        device.grid().indicesOf(TensorView(first), 1, member);
    for (size_t t = 0; t < indices.size(); ++t) {
      const LocalTensor &row =
          rows.emplace_back(joinToken(tensors, int64_t(t)));
      seen.all.emplace(indices[t], &row);
      if (member == device.id)
        seen.own.emplace(indices[t], &row);
    }
  }
  return seen;
}

//===----------------------------------------------------------------------===//
// Attention over keys and values
//===----------------------------------------------------------------------===//

static LogicalResult update(AttentionOp op, Device &device) {
  if (!op.getCache())
    return success();
  const LocalTensor *keys[] = {&device(op.getKey()), &device(op.getValue())};
  return append(op, device, op.getCache(), op.getKey(),
                [&](int64_t t) { return joinToken(keys, t); });
}

namespace {

/// The scores of one query head at one token.
struct Scores {
  /// The op is mutable because MLIR's accessors are not const.
  mutable AttentionOp op;
  int64_t position, head, heads;

  /// Returns the score for a product of query and key; `bias` is the head's
  /// column of the table of biases.
  double of(double product, int64_t token, const LocalTensor *bias,
            int64_t column) const {
    double score = product;
    if (op.getSoftcap()) {
      double cap = op.getSoftcap()->convertToDouble();
      score = cap * std::tanh(score / cap);
    }
    if (op.getAlibi())
      score -= alibiSlope(head, heads) * double(std::abs(position - token));
    if (bias) {
      int64_t row = bucketOf(token - position, bias->shape[0]);
      score += bias->data[row * bias->shape[1] + column];
    }
    return score;
  }

private:
  /// Returns the bucket of a relative position as in T5 (arXiv:1910.10683), by
  /// default of 32 buckets for distances up to 128: one row for each distance
  /// up to 7 in both directions, or up to 15 in one.
  int64_t bucketOf(int64_t ahead, int64_t rows) const {
    int64_t first = 0, buckets = rows, distance = std::max<int64_t>(-ahead, 0);
    if (!op.getCausal()) {
      buckets = rows / 2;
      first = ahead > 0 ? buckets : 0;
      distance = std::abs(ahead);
    }
    int64_t exact = buckets / 2;
    if (distance < exact)
      return first + distance;
    auto most = static_cast<double>(*op.getMaxDistance());
    double beyond = std::log(double(distance) / double(exact)) /
                    std::log(most / double(exact)) * double(buckets - exact);
    return first + std::min(buckets - 1, exact + static_cast<int64_t>(beyond));
  }
};

} // namespace

/// Returns what the relative row and column in a plane add to the score of a
/// query and a key.
static double planeScore(AttentionOp op, Device &device, const double *query,
                         int64_t position, int64_t token) {
  if (!op.getDown())
    return 0;
  const LocalTensor &down = device(op.getDown()),
                    &across = device(op.getAcross());
  int64_t width = down.shape[1], side = (down.shape[0] + 1) / 2;
  auto rowOf = [&](int64_t at) { return at % (side * side) / side; };
  int64_t rows = rowOf(position) - rowOf(token) + side - 1;
  int64_t columns = position % side - token % side + side - 1;
  return dot(query, &down.data[rows * width], width) +
         dot(query, &across.data[columns * width], width);
}

/// Returns what the relative distance adds to the score of a query and a key.
static double distanceScore(AttentionOp op, Device &device, const double *query,
                            int64_t distance) {
  if (!op.getDistances())
    return 0;
  const LocalTensor &table = device(op.getDistances());
  int64_t width = table.shape[1], most = table.shape[0] / 2;
  int64_t row = std::clamp(distance, -most, most) + most;
  return dot(query, &table.data[row * width], width);
}

/// Whether `token` is in one of the blocks that were selected for a group of
/// heads; `at` is the index of the query token and the group. True if nothing
/// was selected.
static bool isInSelected(AttentionOp op, Device &device, int64_t at,
                         int64_t token) {
  return !op.getSelected() ||
         isSelected(&device(op.getSelected()), at,
                    token / static_cast<int64_t>(*op.getBlock()));
}

/// Returns the additional score of a head's sink; nothing if there is none.
template <typename Op>
static std::optional<double> sinkOf(Op op, int64_t head, Device &device) {
  return op.getSinks() ? std::optional(device(op.getSinks()).data[head])
                       : std::nullopt;
}

/// Adds to `result` the values, `offset` elements into each row, by the weights
/// of a softmax; of a split cache those that the device has.
static void addValues(const Softmax &softmax, const SeenTokens &seen,
                      int64_t offset, int64_t width, double *result) {
  for (auto [token, weight] : softmax.scores)
    if (auto row = seen.own.find(token); row != seen.own.end())
      for (int64_t i = 0; i < width; ++i)
        result[i] += weight / softmax.total * row->second->data[offset + i];
}

static LocalResult run(AttentionOp op, Device &device) {
  const LocalTensor &query = device(op.getQuery());
  std::deque<LocalTensor> rows;
  FailureOr<SeenTokens> seen = SeenTokens();
  const Workload &step = device.grid().workload();
  if (op.getCache()) {
    bool isContext = tokensOf(op.getCache()).extent.is("context");
    seen = seenTokens(op, device, op.getCache(),
                      isContext ? step.context : step.crossTokens);
  } else {
    seen = tokensOfStep({op.getKey(), op.getValue()}, device, rows);
  }
  if (failed(seen))
    return failure();
  std::vector<int64_t> heads = device.indices(op.getQuery(), 2);
  std::vector<int64_t> kvHeads = device.indices(op.getKey(), 2);
  int64_t allHeads = device.grid().extentOf(TensorView(op.getQuery()), 2);
  int64_t group = allHeads / device.grid().extentOf(TensorView(op.getKey()), 2);
  std::vector<int64_t> positions = device.positions(op.getQuery(), 1);
  int64_t width = query.shape[3], values = device(op.getValue()).shape[3];
  const LocalTensor *bias = op.getBias() ? &device(op.getBias()) : nullptr;
  double scale = op.getScale() ? op.getScale()->convertToDouble()
                               : 1 / std::sqrt(double(width));
  auto tokens = [&](Value x) {
    return op.getCache() ? 1 : device.grid().extentOf(TensorView(x), 1);
  };
  Visibility visibility{op.getCausal(), op.getWindow(), op.getChunk(),
                        tokens(op.getKey()), tokens(op.getQuery())};
  LocalTensor result({query.shape[0], query.shape[1], query.shape[2], values});
  for (int64_t b = 0; b < query.shape[0]; ++b)
    for (size_t t = 0; t < positions.size(); ++t)
      for (size_t a = 0; a < heads.size(); ++a) {
        int64_t g = find(kvHeads, heads[a] / group);
        if (heads[a] < 0 || g < 0)
          return op.emitError("device ") << device.id << " has query head "
                                         << heads[a] << " without its key head";
        int64_t at =
            (b * query.shape[1] + int64_t(t)) * query.shape[2] + int64_t(a);
        Scores scores{op, positions[t], heads[a], allHeads};
        Softmax softmax;
        int64_t offset = (b * int64_t(kvHeads.size()) + g) * (width + values);
        const double *asked = &query.data[at * width];
        int64_t choice =
            (b * query.shape[1] + int64_t(t)) * int64_t(kvHeads.size()) + g;
        for (auto [token, row] : seen->all)
          if (visibility.sees(positions[t], token) &&
              isInSelected(op, device, choice, token))
            softmax.add(
                token,
                scores.of(dot(asked, &row->data[offset], width) * scale, token,
                          bias, int64_t(a)) +
                    planeScore(op, device, asked, positions[t], token) +
                    distanceScore(op, device, asked, positions[t] - token) *
                        scale);
        softmax.finish(sinkOf(op, int64_t(a), device));
        addValues(softmax, *seen, offset + width, values,
                  &result.data[at * values]);
      }
  return result;
}

static LocalResult run(SharedAttentionOp op, Device &device) {
  const LocalTensor &query = device(op.getQuery());
  FailureOr<SeenTokens> seen =
      seenTokens(op, device, op.getCache(), device.grid().workload().context);
  if (failed(seen))
    return failure();
  const DeviceGrid &grid = device.grid();
  std::vector<int64_t> heads = device.indices(op.getQuery(), 2);
  std::vector<int64_t> kvHeads = device.indices(op.getCache(), 2);
  int64_t group = grid.extentOf(TensorView(op.getQuery()), 2) /
                  grid.extentOf(TensorView(op.getCache()), 2);
  std::vector<int64_t> positions = device.positions(op.getQuery(), 1);
  int64_t width = query.shape[3];
  int64_t values = tensorOf(op.getResult().getType()).getDimSize(3);
  double scale = op.getScale() ? op.getScale()->convertToDouble()
                               : 1 / std::sqrt(double(width));
  Visibility visibility{/*causal=*/true, op.getWindow(), std::nullopt};
  auto tokens = static_cast<int64_t>(positions.size());
  LocalTensor result({query.shape[0], tokens, query.shape[2], values});
  for (int64_t at = 0; at * width < query.size(); ++at) {
    int64_t head = heads[at % query.shape[2]];
    int64_t token = at / query.shape[2], b = token / tokens;
    int64_t g = find(kvHeads, head / group);
    if (head < 0 || g < 0)
      return op.emitError("device ") << device.id << " has query head " << head
                                     << " without its key head";
    int64_t offset = (b * int64_t(kvHeads.size()) + g) * (width + values);
    Softmax softmax;
    for (auto [other, row] : seen->all)
      if (visibility.sees(positions[token % tokens], other))
        softmax.add(other, scale * dot(&query.data[at * width],
                                       &row->data[offset], width));
    softmax.finish(std::nullopt);
    addValues(softmax, *seen, offset + width, values,
              &result.data[at * values]);
  }
  return result;
}

static LocalResult run(ChannelAttentionOp op, Device &device) {
  const LocalTensor &query = device(op.getQuery()), &key = device(op.getKey()),
                    &value = device(op.getValue());
  LocalTensor result(query.shape);
  int64_t tokens = query.shape[1], heads = query.shape[2], d = query.shape[3];
  for (int64_t b = 0; b < query.shape[0]; ++b)
    for (int64_t a = 0; a < heads; ++a)
      for (int64_t i = 0; i < d; ++i) {
        auto at = [&](int64_t t, int64_t c) {
          return ((b * tokens + t) * heads + a) * d + c;
        };
        Softmax softmax;
        for (int64_t j = 0; j < d; ++j) {
          double score = 0;
          for (int64_t t = 0; t < tokens; ++t)
            score += query.data[at(t, i)] * key.data[at(t, j)];
          softmax.add(j, score / std::sqrt(double(tokens)));
        }
        softmax.finish(std::nullopt);
        for (auto [j, weight] : softmax.scores)
          for (int64_t t = 0; t < tokens; ++t)
            result.data[at(t, i)] +=
                weight / softmax.total * value.data[at(t, j)];
      }
  return result;
}

//===----------------------------------------------------------------------===//
// Attention over latents
//===----------------------------------------------------------------------===//

static LogicalResult update(LatentAttentionOp op, Device &device) {
  if (!op.getCache())
    return success();
  const LocalTensor *keys[] = {&device(op.getLatent()),
                               &device(op.getKeyRope())};
  return append(op, device, op.getCache(), op.getLatent(),
                [&](int64_t t) { return joinToken(keys, t); });
}

/// Returns the tokens that a device sees: those of the cache or, without a
/// cache, those of this step with the given `parts`.
template <typename Op>
static FailureOr<SeenTokens> seenTokens(Op op, ArrayRef<Value> parts,
                                        Device &device,
                                        std::deque<LocalTensor> &rows) {
  if (!op.getCache())
    return tokensOfStep(parts, device, rows);
  return seenTokens(op, device, op.getCache(),
                    device.grid().workload().context);
}

static LocalResult run(LatentAttentionOp op, Device &device) {
  const LocalTensor &query = device(op.getQuery());
  const LocalTensor &keyWeight = device(op.getKeyWeight());
  const LocalTensor &valueWeight = device(op.getValueWeight());
  std::deque<LocalTensor> rows;
  FailureOr<SeenTokens> seen =
      seenTokens(op, {op.getLatent(), op.getKeyRope()}, device, rows);
  if (failed(seen))
    return failure();
  const LocalTensor *selected =
      op.getSelected() ? &device(op.getSelected()) : nullptr;
  std::vector<int64_t> positions = device.positions(op.getQuery(), 1);
  int64_t latent = keyWeight.shape[0], heads = query.shape[2];
  int64_t nope = keyWeight.shape[2], values = valueWeight.shape[2];
  int64_t width = query.shape[3], rope = width - nope;
  if (keyWeight.shape[1] != heads || valueWeight.shape[1] != heads)
    return op.emitError("a device has other heads of weights than of queries");
  auto expand = [&](const double *row, const LocalTensor &weight, int64_t head,
                    int64_t i) {
    double sum = 0;
    for (int64_t l = 0; l < latent; ++l)
      sum += row[l] * weight.data[(l * heads + head) * weight.shape[2] + i];
    return sum;
  };
  LocalTensor result({query.shape[0], query.shape[1], heads, values});
  for (int64_t b = 0; b < query.shape[0]; ++b)
    for (size_t t = 0; t < positions.size(); ++t)
      for (int64_t head = 0; head < heads; ++head) {
        int64_t token = b * query.shape[1] + int64_t(t);
        int64_t at = token * heads + head;
        Softmax softmax;
        for (auto [seenToken, row] : seen->all) {
          if ((op.getCausal() && seenToken > positions[t]) ||
              !isSelected(selected, token, seenToken))
            continue;
          const double *cached = &row->data[b * (latent + rope)];
          double product =
              dot(&query.data[at * width + nope], cached + latent, rope);
          for (int64_t i = 0; i < nope; ++i)
            product +=
                query.data[at * width + i] * expand(cached, keyWeight, head, i);
          softmax.add(seenToken, product / std::sqrt(double(width)));
        }
        softmax.finish(sinkOf(op, head, device));
        for (auto [seenToken, weight] : softmax.scores)
          if (auto row = seen->own.find(seenToken); row != seen->own.end())
            for (int64_t i = 0; i < values; ++i)
              result.data[at * values + i] +=
                  weight / softmax.total *
                  expand(&row->second->data[b * (latent + rope)], valueWeight,
                         head, i);
      }
  return result;
}

//===----------------------------------------------------------------------===//
// The indexer, which selects tokens
//===----------------------------------------------------------------------===//

static LogicalResult update(IndexerOp op, Device &device) {
  if (!op.getCache())
    return success();
  if (op.getRatio() > 1)
    return appendWindows(op, device, op.getCache(), op.getKey(), op.getRatio());
  const LocalTensor *keys[] = {&device(op.getKey())};
  return append(op, device, op.getCache(), op.getKey(),
                [&](int64_t t) { return joinToken(keys, t); });
}

namespace {

/// The keys of a sequence that are scored for a query, by token number (or by
/// number of compressed row).
using ScoredKeys = std::vector<std::pair<int64_t, std::vector<double>>>;

} // namespace

/// Returns the keys that the query at `position` may select: one per token, or
/// one per several tokens.
static FailureOr<ScoredKeys> keysSeen(IndexerOp op, Device &device,
                                      const SeenTokens &tokens, int64_t b,
                                      int64_t position) {
  ScoredKeys keys;
  if (op.getRatio() == 1) {
    for (auto [token, row] : tokens.own) {
      if (token > position)
        break;
      int64_t width = row->shape.back();
      auto first = row->data.begin() + b * width;
      keys.emplace_back(token, std::vector(first, first + width));
    }
    return keys;
  }
  const CachedTokens *rows = findRows(op, device, op.getCache());
  for (int64_t c = 0; rows && c < (position + 1) / op.getRatio(); ++c) {
    FailureOr<std::vector<double>> key =
        readWindow(op, *rows, c, op.getRatio(), b);
    if (failed(key))
      return failure();
    keys.emplace_back(c, std::move(*key));
  }
  return keys;
}

/// Selects the tokens with the largest scores; of equal scores, the later
/// token. Missing tokens are -1.
static LocalResult run(IndexerOp op, Device &device) {
  const LocalTensor &query = device(op.getQuery());
  const LocalTensor &weights = device(op.getWeight());
  std::deque<LocalTensor> rows;
  FailureOr<SeenTokens> seen = SeenTokens();
  if (op.getRatio() == 1)
    seen = seenTokens(op, {op.getKey()}, device, rows);
  if (failed(seen))
    return failure();
  std::vector<int64_t> positions = device.positions(op.getQuery(), 1);
  int64_t heads = query.shape[2], width = query.shape[3];
  auto most = static_cast<int64_t>(op.getTopK());
  LocalTensor result({query.shape[0], query.shape[1], most}, -1);
  for (int64_t b = 0; b < query.shape[0]; ++b)
    for (size_t t = 0; t < positions.size(); ++t) {
      int64_t token = b * query.shape[1] + int64_t(t);
      std::vector<std::pair<double, int64_t>> scores;
      FailureOr<ScoredKeys> keys = keysSeen(op, device, *seen, b, positions[t]);
      if (failed(keys))
        return failure();
      for (const auto &[other, key] : *keys) {
        double score = 0;
        for (int64_t head = 0; head < heads; ++head) {
          int64_t at = token * heads + head;
          score += weights.data[at] * std::max(0.0, dot(&query.data[at * width],
                                                        key.data(), width));
        }
        scores.emplace_back(-score, -other);
      }
      std::sort(scores.begin(), scores.end());
      for (int64_t i = 0; i < std::min(most, int64_t(scores.size())); ++i)
        result.data[token * most + i] = double(-scores[i].second);
    }
  return result;
}

void autopar::interpreter::attachAttentionKernels(MLIRContext *context) {
  attach<RopeOp, run>(context);
  attach<AttentionOp, update, run>(context);
  attach<SharedAttentionOp, run>(context);
  attach<ChannelAttentionOp, run>(context);
  attach<LatentAttentionOp, update, run>(context);
  attach<IndexerOp, update, run>(context);
}

void interpreter::attachRopeGradientKernels(MLIRContext *context) {
  attach<RopeBackwardOp, run>(context);
}

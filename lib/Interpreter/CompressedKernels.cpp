//===- CompressedKernels.cpp - Rows of several tokens, and blocks ---------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include "CompressedRows.h"
#include "Kernels.h"
#include "Turn.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// KV caches that are not split
//===----------------------------------------------------------------------===//

CachedTokens *interpreter::findRows(Operation *op, Device &device,
                                    Value cache) {
  CachedTokens *rows = device.run.cacheOf(cache, device.id);
  if (!rows)
    op->emitError("the cache is moved before it is updated: the update goes to "
                  "a copy");
  return rows;
}

/// Returns the elements `[at, at + count)` of token `t` in each sequence of
/// `tokens`.
static LocalTensor rowPartOf(const LocalTensor &tokens, int64_t t, int64_t at,
                             int64_t count) {
  int64_t width = tokens.shape.back();
  LocalTensor row({tokens.shape[0], count});
  for (int64_t b = 0; b < tokens.shape[0]; ++b)
    std::copy_n(&tokens.data[(b * tokens.shape[1] + t) * width + at], count,
                &row.data[b * count]);
  return row;
}

LogicalResult interpreter::appendWindows(Operation *op, Device &device,
                                         Value cache, Value tokens,
                                         int64_t ratio) {
  CachedTokens *rows = findRows(op, device, cache);
  if (!rows)
    return failure();
  const LocalTensor &made = device(tokens);
  int64_t part = made.shape.back() / ratio;
  std::vector<int64_t> positions = device.positions(tokens, 1);
  for (size_t t = 0; t < positions.size(); ++t)
    if ((positions[t] + 1) % ratio == 0)
      for (int64_t j = 0; j < ratio; ++j)
        (*rows)[positions[t] - ratio + 1 + j] =
            rowPartOf(made, int64_t(t), j * part, part);
  return success();
}

FailureOr<std::vector<double>>
interpreter::readWindow(Operation *op, const CachedTokens &rows, int64_t window,
                        int64_t ratio, int64_t batch) {
  std::vector<double> whole;
  for (int64_t token = window * ratio; token < (window + 1) * ratio; ++token) {
    auto row = rows.find(token);
    if (row == rows.end())
      return op->emitError("sees row ") << window << " before it was made";
    int64_t part = row->second.shape.back();
    auto first = row->second.data.begin() + batch * part;
    whole.insert(whole.end(), first, first + part);
  }
  return whole;
}

//===----------------------------------------------------------------------===//
// Kernels that compress tokens
//===----------------------------------------------------------------------===//

static LogicalResult update(CompressOp op, Device &device) {
  CachedTokens *states = findRows(op, device, op.getStates());
  if (!states)
    return failure();
  const LocalTensor &value = device(op.getValue()),
                    &gate = device(op.getGate()), &bias = device(op.getBias());
  int64_t width = value.shape.back();
  std::vector<int64_t> positions = device.positions(op.getValue(), 1);
  for (size_t t = 0; t < positions.size(); ++t) {
    LocalTensor row({value.shape[0], 2 * width});
    int64_t place = positions[t] % op.getRatio();
    for (int64_t b = 0; b < value.shape[0]; ++b)
      for (int64_t i = 0; i < width; ++i) {
        int64_t at = (b * value.shape[1] + int64_t(t)) * width + i;
        row.data[b * 2 * width + i] = value.data[at];
        row.data[(b * 2 + 1) * width + i] =
            gate.data[at] + bias.data[place * width + i];
      }
    (*states)[positions[t]] = std::move(row);
  }
  return success();
}

/// Returns the compressed row of the window that ends at `position` in sequence
/// `b`: for each element, the sum of the window's values, weighted by the
/// softmax of their gates.
static FailureOr<std::vector<double>>
pool(CompressOp op, const CachedTokens &states, int64_t position, int64_t b) {
  int64_t ratio = op.getRatio();
  int64_t width = TensorView(op.getValue()).getType().getDimSize(2);
  int64_t own = TensorView(op.getResult()).getType().getDimSize(2);
  int64_t first = position - (op.overlaps() ? 2 : 1) * ratio + 1;
  std::vector<Softmax> gates(own);
  std::vector<std::vector<double>> values(own);
  for (int64_t c = std::max<int64_t>(first, 0); c <= position; ++c) {
    auto state = states.find(c);
    if (state == states.end())
      return op.emitError("the state of token ") << c << " was never kept";
    bool isBefore = op.overlaps() && c <= position - ratio;
    int64_t at = b * 2 * width + (op.overlaps() && !isBefore ? own : 0);
    for (int64_t h = 0; h < own; ++h) {
      gates[h].add(int64_t(values[h].size()),
                   state->second.data[at + width + h]);
      values[h].push_back(state->second.data[at + h]);
    }
  }
  std::vector<double> sums(own);
  for (int64_t h = 0; h < own; ++h) {
    gates[h].finish(std::nullopt);
    for (auto [c, weight] : gates[h].scores)
      sums[h] += weight / gates[h].total * values[h][c];
  }
  return sums;
}

static LocalResult run(CompressOp op, Device &device) {
  const CachedTokens *states = findRows(op, device, op.getStates());
  if (!states)
    return failure();
  const LocalTensor &weight = device(op.getWeight());
  int64_t own = weight.shape[0], ratio = op.getRatio();
  std::vector<int64_t> positions = device.positions(op.getValue(), 1);
  int64_t sequences = device(op.getValue()).shape[0];
  LocalTensor result({sequences, int64_t(positions.size()), own});
  double eps = op.getEps().convertToDouble();
  for (int64_t b = 0; b < sequences; ++b)
    for (size_t t = 0; t < positions.size(); ++t) {
      if ((positions[t] + 1) % ratio != 0)
        continue;
      FailureOr<std::vector<double>> sums = pool(op, *states, positions[t], b);
      if (failed(sums))
        return failure();
      double squares = dot(sums->data(), sums->data(), own);
      double scale = 1 / std::sqrt(squares / double(own) + eps);
      int64_t at = (b * int64_t(positions.size()) + int64_t(t)) * own;
      for (int64_t h = 0; h < own; ++h)
        result.data[at + h] = (*sums)[h] * scale * weight.data[h];
      turnElements(op, &result.data[at], own, positions[t] - ratio + 1, 1);
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Attention over compressed tokens
//===----------------------------------------------------------------------===//

static LogicalResult update(CompressedAttentionOp op, Device &device) {
  CachedTokens *rows = findRows(op, device, op.getCache());
  if (!rows)
    return failure();
  const LocalTensor &made = device(op.getRow());
  std::vector<int64_t> positions = device.positions(op.getRow(), 1);
  for (size_t t = 0; t < positions.size(); ++t)
    (*rows)[positions[t]] = rowPartOf(made, int64_t(t), 0, made.shape.back());
  if (!op.getRows())
    return success();
  return appendWindows(op, device, op.getRows(), op.getCompressed(),
                       op.getRatio());
}

/// Returns the rows to which the token at `position` of sequence `b` attends:
/// those of its window, then compressed ones. `token` is its number among the
/// tokens of the device.
static FailureOr<std::vector<std::vector<double>>>
rowsSeen(CompressedAttentionOp op, Device &device, int64_t b, int64_t token,
         int64_t position) {
  std::vector<std::vector<double>> seen;
  const CachedTokens *own = findRows(op, device, op.getCache());
  if (!own)
    return failure();
  auto first = position - static_cast<int64_t>(op.getWindow()) + 1;
  for (int64_t c = std::max<int64_t>(first, 0); c <= position; ++c) {
    FailureOr<std::vector<double>> row = readWindow(op, *own, c, 1, b);
    if (failed(row))
      return failure();
    seen.push_back(std::move(*row));
  }
  if (!op.getRows())
    return seen;
  const CachedTokens *rows = findRows(op, device, op.getRows());
  const LocalTensor *selected =
      op.getSelected() ? &device(op.getSelected()) : nullptr;
  for (int64_t c = 0; rows && c < (position + 1) / op.getRatio(); ++c) {
    if (!isSelected(selected, token, c))
      continue;
    FailureOr<std::vector<double>> row =
        readWindow(op, *rows, c, op.getRatio(), b);
    if (failed(row))
      return failure();
    seen.push_back(std::move(*row));
  }
  return seen;
}

static LocalResult run(CompressedAttentionOp op, Device &device) {
  const LocalTensor &query = device(op.getQuery());
  std::vector<int64_t> positions = device.positions(op.getQuery(), 1);
  int64_t heads = query.shape[2], width = query.shape[3];
  LocalTensor result(query.shape);
  for (int64_t b = 0; b < query.shape[0]; ++b)
    for (size_t t = 0; t < positions.size(); ++t) {
      int64_t token = b * query.shape[1] + int64_t(t);
      auto seen = rowsSeen(op, device, b, token, positions[t]);
      if (failed(seen))
        return failure();
      for (int64_t head = 0; head < heads; ++head) {
        int64_t at = (token * heads + head) * width;
        Softmax softmax;
        for (auto [c, row] : llvm::enumerate(*seen))
          softmax.add(int64_t(c), dot(&query.data[at], row.data(), width) /
                                      std::sqrt(double(width)));
        softmax.finish(op.getSinks()
                           ? std::optional(device(op.getSinks()).data[head])
                           : std::nullopt);
        for (auto [c, weight] : softmax.scores)
          for (int64_t i = 0; i < width; ++i)
            result.data[at + i] += weight / softmax.total * (*seen)[c][i];
      }
    }
  return result;
}

static LocalResult run(GroupedLinearOp op, Device &device) {
  const LocalTensor &x = device(op.getX()), &w = device(op.getWeight());
  int64_t groups = w.shape[0], inner = w.shape[1], out = w.shape[2];
  std::vector<int64_t> shape = x.shape;
  shape[shape.size() - 2] = groups;
  shape.back() = out;
  if (x.shape[x.shape.size() - 2] * x.shape.back() != groups * inner)
    return op.emitError("a device has the heads of other groups");
  LocalTensor result(shape);
  for (int64_t row = 0; row * inner < x.size(); ++row)
    for (int64_t o = 0; o < out; ++o)
      for (int64_t i = 0; i < inner; ++i)
        result.data[row * out + o] +=
            x.data[row * inner + i] *
            w.data[(row % groups * inner + i) * out + o];
  return result;
}

//===----------------------------------------------------------------------===//
// Selection of blocks of tokens
//===----------------------------------------------------------------------===//

static LogicalResult update(BlockIndexerOp op, Device &device) {
  CachedTokens *rows = findRows(op, device, op.getCache());
  if (!rows)
    return failure();
  const LocalTensor &keys = device(op.getKey());
  std::vector<int64_t> positions = device.positions(op.getKey(), 1);
  for (size_t t = 0; t < positions.size(); ++t)
    (*rows)[positions[t]] = rowPartOf(keys, int64_t(t), 0, keys.shape.back());
  return success();
}

/// Returns the best score of each block up to `position`; the last `local`
/// blocks come before all others.
static std::vector<double> scoreBlocks(BlockIndexerOp op, const double *query,
                                       const CachedTokens &rows, int64_t b,
                                       int64_t position) {
  auto size = static_cast<int64_t>(op.getBlock());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> best(position / size + 1, -infinity);
  for (const auto &[token, row] : rows) {
    if (token > position)
      break;
    int64_t width = row.shape.back();
    double &score = best[token / size];
    score = std::max(score, dot(query, &row.data[b * width], width));
  }
  auto local = std::min<int64_t>(op.getLocal(), int64_t(best.size()));
  std::fill(best.end() - local, best.end(), infinity);
  return best;
}

static LocalResult run(BlockIndexerOp op, Device &device) {
  const LocalTensor &query = device(op.getQuery());
  const CachedTokens *rows = findRows(op, device, op.getCache());
  if (!rows)
    return failure();
  std::vector<int64_t> positions = device.positions(op.getQuery(), 1);
  int64_t groups = query.shape[2], width = query.shape[3];
  auto most = static_cast<int64_t>(op.getTopK());
  LocalTensor result({query.shape[0], query.shape[1], groups, most}, -1);
  for (int64_t row = 0; row * width < query.size(); ++row) {
    int64_t token = row / groups;
    std::vector<double> best =
        scoreBlocks(op, &query.data[row * width], *rows, token / query.shape[1],
                    positions[token % query.shape[1]]);
    std::vector<std::pair<double, int64_t>> order;
    for (auto [block, score] : llvm::enumerate(best))
      order.emplace_back(-score, -int64_t(block));
    llvm::sort(order);
    for (int64_t i = 0; i < std::min(most, int64_t(order.size())); ++i)
      result.data[row * most + i] = double(-order[i].second);
  }
  return result;
}

void interpreter::attachCompressedKernels(MLIRContext *context) {
  attach<CompressOp, update, run>(context);
  attach<CompressedAttentionOp, update, run>(context);
  attach<GroupedLinearOp, run>(context);
  attach<BlockIndexerOp, update, run>(context);
}

//===- ExpertKernels.cpp - Mixtures of experts ----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "autopar/Dialect/Training/Training.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Choosing experts for tokens
//===----------------------------------------------------------------------===//

/// Excludes all expert groups except the `keep` best, which are those with the
/// largest sum of their two best scores (DeepSeek-V3, arXiv:2412.19437, section
/// 2.1.2).
static void keepGroups(std::vector<double> &scores, int64_t groups,
                       int64_t keep) {
  int64_t each = int64_t(scores.size()) / groups;
  std::vector<std::pair<double, int64_t>> best;
  for (int64_t g = 0; g < groups; ++g) {
    std::vector<double> own(scores.begin() + g * each,
                            scores.begin() + (g + 1) * each);
    std::sort(own.rbegin(), own.rend());
    best.emplace_back(-own[0] - (each > 1 ? own[1] : 0), g);
  }
  std::sort(best.begin(), best.end());
  for (size_t i = keep; i < best.size(); ++i)
    for (int64_t e = 0; e < each; ++e)
      scores[best[i].second * each + e] =
          -std::numeric_limits<double>::infinity();
}

static bool hasSqrtSoftplus(RouterOp op) { return op.getSqrtSoftplus(); }
static bool hasSqrtSoftplus(RouterScoresOp) { return false; }

/// Returns the score of each expert for the token in row `row`.
template <typename Op>
static std::vector<double> scoresOf(Op op, int64_t row, Device &device) {
  const LocalTensor &x = device(op.getX()), &w = device(op.getWeight());
  int64_t hidden = w.shape[0], experts = w.shape[1];
  std::vector<double> scores(experts);
  for (int64_t e = 0; e < experts; ++e) {
    scores[e] = op.getBias() ? device(op.getBias()).data[e] : 0;
    for (int64_t h = 0; h < hidden; ++h)
      scores[e] += x.data[row * hidden + h] * w.data[h * experts + e];
  }
  if (hasSqrtSoftplus(op)) {
    for (double &score : scores)
      score = std::sqrt(softplus(score));
    return scores;
  }
  double largest = *std::max_element(scores.begin(), scores.end()), sum = 0;
  for (double &score : scores)
    sum += score = op.getSigmoid() ? sigmoid(score) : std::exp(score - largest);
  for (double &score : scores)
    score /= op.getSigmoid() ? 1 : sum;
  return scores;
}

static LocalResult run(RouterScoresOp op, Device &device) {
  std::vector<int64_t> shape = device(op.getX()).shape;
  shape.back() = device(op.getWeight()).shape[1];
  LocalTensor result(shape);
  for (int64_t row = 0; row * shape.back() < result.size(); ++row)
    llvm::copy(scoresOf(op, row, device), &result.data[row * shape.back()]);
  return result;
}

/// Moves the experts to the front that the table has for the token id of row
/// `row`. In a table of random numbers from -1 to 1, a number stands for a
/// position in the list of experts; the experts of one id are neighbours from
/// there on, so that they are all different.
static void lookUp(RouterOp op, int64_t row, Device &device,
                   std::vector<int64_t> &order) {
  const LocalTensor &table = device(op.getTable());
  auto word = static_cast<int64_t>(device(op.getIds()).data[row]);
  auto experts = static_cast<int64_t>(order.size());
  double number = table.data[word % table.shape[0] * table.shape[1]];
  auto first = static_cast<int64_t>((number + 1) / 2 * double(experts));
  for (int64_t e = 0; e < experts; ++e)
    order[e] = (first + e) % experts;
}

static LocalResult run(RouterOp op, Device &device) {
  const LocalTensor &x = device(op.getX()), &w = device(op.getWeight());
  int64_t hidden = w.shape[0], experts = w.shape[1];
  auto most = static_cast<int64_t>(op.getTopK());
  std::vector<int64_t> shape = x.shape;
  if (shape.back() != hidden)
    return op.emitError("contracted dimensions differ on a device");
  shape.back() = most;
  LocalTensor result(shape);
  result.experts.resize(result.data.size());
  for (int64_t row = 0; row * hidden < x.size(); ++row) {
    std::vector<double> scores = scoresOf(op, row, device);
    std::vector<double> ranked = scores;
    for (int64_t e = 0; op.getCorrection() && e < experts; ++e)
      ranked[e] += device(op.getCorrection()).data[e];
    if (op.getGroups())
      keepGroups(ranked, int64_t(*op.getGroups()), int64_t(*op.getKeep()));
    std::vector<int64_t> order(experts);
    for (int64_t e = 0; e < experts; ++e)
      order[e] = e;
    // Of experts with equal scores, the first is preferred.
    if (op.getTable())
      lookUp(op, row, device, order);
    else
      llvm::sort(order, [&](int64_t a, int64_t b) {
        return std::pair(-ranked[a], a) < std::pair(-ranked[b], b);
      });
    double weight = op.getScale() ? op.getScale()->convertToDouble() : 1;
    if (op.getNormalized()) {
      double all = 0;
      for (int64_t j = 0; j < most; ++j)
        all += scores[order[j]];
      weight /= all;
    }
    for (int64_t j = 0; j < most; ++j) {
      result.data[row * most + j] = weight * scores[order[j]];
      result.experts[row * most + j] = static_cast<int32_t>(order[j]);
    }
  }
  return result;
}

std::vector<int64_t> autopar::interpreter::tokensOf(Device &device, Value x,
                                                    size_t dims) {
  std::vector<int64_t> tokens = {0};
  for (unsigned dim = 0; dim < dims; ++dim) {
    std::vector<int64_t> wider;
    int64_t extent = device.grid().extentOf(TensorView(x), dim);
    for (int64_t token : tokens)
      for (int64_t index : device.indices(x, dim))
        wider.push_back(token * extent + index);
    tokens = std::move(wider);
  }
  return tokens;
}

static LocalResult run(DispatchOp op, Device &device) {
  const LocalTensor &x = device(op.getX());
  const LocalTensor &routing = device(op.getRouting());
  std::vector<int64_t> tokens = tokensOf(device, op.getX(), x.shape.size() - 1);
  int64_t most = routing.shape.back(), width = x.shape.back();
  if (int64_t(tokens.size()) * most != routing.size() ||
      routing.experts.size() != routing.data.size())
    return op.emitError("a device has the routing of other tokens");
  LocalTensor result({routing.size(), width});
  for (size_t t = 0; t < tokens.size(); ++t)
    for (int64_t j = 0; j < most; ++j) {
      int64_t at = int64_t(t) * most + j;
      result.rows.push_back({tokens[t], int32_t(j), routing.experts[at]});
      std::copy_n(&x.data[int64_t(t) * width], width, &result.data[at * width]);
    }
  return result;
}

static LocalResult run(ExpertsOp op, Device &device) {
  const LocalTensor &x = device(op.getX()), &w = device(op.getWeight());
  std::vector<int64_t> own = device.indices(op.getWeight(), 0);
  int64_t in = w.shape[1], out = w.shape[2];
  if (x.shape[1] != in)
    return op.emitError("contracted dimensions differ on a device");
  LocalTensor result({x.shape[0], out});
  result.rows = x.rows;
  for (int64_t row = 0; row < x.shape[0]; ++row) {
    int64_t expert = find(own, x.rows[row].expert);
    if (expert < 0)
      return op.emitError("device ")
             << device.id << " has a token for expert " << x.rows[row].expert
             << ", which it does not have";
    for (int64_t o = 0; o < out; ++o) {
      double sum =
          op.getBias() ? device(op.getBias()).data[expert * out + o] : 0;
      for (int64_t i = 0; i < in; ++i)
        sum += x.data[row * in + i] * w.data[(expert * in + i) * out + o];
      result.data[row * out + o] = sum;
    }
  }
  return result;
}

static LocalResult run(CombineOp op, Device &device) {
  const LocalTensor &x = device(op.getX());
  const LocalTensor &routing = device(op.getRouting());
  std::vector<int64_t> tokens =
      tokensOf(device, op.getRouting(), routing.shape.size() - 1);
  std::map<int64_t, int64_t> places;
  for (size_t t = 0; t < tokens.size(); ++t)
    places[tokens[t]] = int64_t(t);
  int64_t most = routing.shape.back(), width = x.shape[1];
  std::vector<int64_t> shape = routing.shape;
  shape.back() = width;
  LocalTensor result(shape);
  for (int64_t row = 0; row < x.shape[0]; ++row) {
    auto place = places.find(x.rows[row].token);
    if (place == places.end())
      return op.emitError("device ")
             << device.id << " has a row of token " << x.rows[row].token
             << ", which is another device's";
    double weight = routing.data[place->second * most + x.rows[row].slot];
    for (int64_t h = 0; h < width; ++h)
      result.data[place->second * width + h] +=
          weight * x.data[row * width + h];
  }
  return result;
}

static LocalResult run(AddExpertBiasOp op, Device &device) {
  LocalTensor result = device(op.getX());
  const LocalTensor &routing = device(op.getRouting());
  const LocalTensor &bias = device(op.getBias());
  std::vector<int64_t> own = device.indices(op.getBias(), 0);
  int64_t most = routing.shape.back(), width = result.shape.back();
  if (routing.experts.size() != routing.data.size() ||
      routing.size() / most * width != result.size())
    return op.emitError("a device has the routing of other tokens");
  for (int64_t at = 0; at < routing.size(); ++at) {
    int64_t expert = find(own, routing.experts[at]);
    if (expert < 0)
      return op.emitError("a device lacks the bias of an expert");
    for (int64_t h = 0; h < width; ++h)
      result.data[at / most * width + h] +=
          routing.data[at] * bias.data[expert * width + h];
  }
  return result;
}

void autopar::interpreter::attachExpertKernels(MLIRContext *context) {
  attach<RouterOp, run>(context);
  attach<DispatchOp, run>(context);
  attach<ExpertsOp, run>(context);
  attach<CombineOp, run>(context);
  attach<AddExpertBiasOp, run>(context);
}

void interpreter::attachRouterGradientKernels(MLIRContext *context) {
  attach<RouterScoresOp, run>(context);
}

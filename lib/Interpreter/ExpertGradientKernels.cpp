//===- ExpertGradientKernels.cpp - Backwards of experts -------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include "Kernels.h"

#include "autopar/Dialect/Training/Training.h"

#include <map>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Backwards of routing
//===----------------------------------------------------------------------===//

/// Returns, for each token of a device, its position in the device's dense
/// tensors.
static std::map<int64_t, int64_t> placesOf(Device &device, Value routing) {
  std::map<int64_t, int64_t> places;
  size_t dims = TensorView(routing).rank() - 1;
  for (auto [place, token] : llvm::enumerate(tokensOf(device, routing, dims)))
    places[token] = static_cast<int64_t>(place);
  return places;
}

/// Calls `visit(row of the set, position of the token, number of the choice)`
/// for each row; fails if the device does not have the token of a row.
template <typename Visit>
static LogicalResult forEachRow(Operation *op, Value set, Value routing,
                                Device &device, Visit visit) {
  std::map<int64_t, int64_t> places = placesOf(device, routing);
  int64_t most = device(routing).shape.back();
  for (auto [row, own] : llvm::enumerate(device(set).rows)) {
    auto place = places.find(own.token);
    if (place == places.end())
      return op->emitError("device ") << device.id << " has a row of token "
                                      << own.token << ", which is another's";
    visit(int64_t(row), place->second, place->second * most + own.slot);
  }
  return success();
}

/// Computes the gradient of the chosen experts' scores from the gradient `d` of
/// a token's routing weights, in place.
static void backOfWeights(RouterBackwardOp op, ArrayRef<double> chosen,
                          MutableArrayRef<double> d) {
  double scale = op.getScale() ? op.getScale()->convertToDouble() : 1;
  double sum = 0, along = 0;
  for (auto [score, own] : llvm::zip_equal(chosen, d)) {
    own *= scale;
    sum += score;
    along += own * score;
  }
  if (op.getNormalized())
    for (double &own : d)
      own = (own - along / sum) / sum;
}

static LocalResult run(RouterBackwardOp op, Device &device) {
  const LocalTensor &scores = device(op.getScores()),
                    &routing = device(op.getRouting()),
                    &dy = device(op.getDy());
  if (routing.experts.size() != routing.data.size())
    return op.emitError("the routing has lost the numbers of experts");
  int64_t most = routing.shape.back(), experts = scores.shape.back();
  LocalTensor result(scores.shape);
  for (int64_t row = 0; row * experts < result.size(); ++row) {
    const double *s = &scores.data[row * experts];
    const int32_t *expert = &routing.experts[row * most];
    std::vector<double> chosen, d;
    for (int64_t j = 0; j < most; ++j) {
      chosen.push_back(s[expert[j]]);
      d.push_back(dy.data[row * most + j]);
    }
    backOfWeights(op, chosen, d);
    double along = dot(d.data(), chosen.data(), most);
    double *dl = &result.data[row * experts];
    for (int64_t j = 0; j < most; ++j)
      dl[expert[j]] += d[j];
    for (int64_t e = 0; e < experts; ++e)
      dl[e] =
          op.getSigmoid() ? dl[e] * s[e] * (1 - s[e]) : s[e] * (dl[e] - along);
  }
  return result;
}

static LocalResult run(RoutingGradientOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy()), &x = device(op.getX());
  LocalTensor result(device(op.getRouting()).shape);
  int64_t width = x.shape[1];
  LogicalResult done =
      forEachRow(op, op.getX(), op.getRouting(), device,
                 [&](int64_t row, int64_t place, int64_t choice) {
                   result.data[choice] = dot(&dy.data[place * width],
                                             &x.data[row * width], width);
                 });
  if (failed(done))
    return failure();
  return result;
}

static LocalResult run(CombineBackwardOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy()),
                    &routing = device(op.getRouting());
  std::vector<int64_t> tokens =
      tokensOf(device, op.getDy(), dy.shape.size() - 1);
  int64_t most = routing.shape.back(), width = dy.shape.back();
  if (int64_t(tokens.size()) * most != routing.size() ||
      routing.experts.size() != routing.data.size())
    return op.emitError("a device has the routing of other tokens");
  LocalTensor result({routing.size(), width});
  for (int64_t at = 0; at < routing.size(); ++at) {
    int64_t place = at / most;
    result.rows.push_back(
        {tokens[place], int32_t(at % most), routing.experts[at]});
    for (int64_t h = 0; h < width; ++h)
      result.data[at * width + h] =
          routing.data[at] * dy.data[place * width + h];
  }
  return result;
}

static LocalResult run(DispatchBackwardOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy());
  std::vector<int64_t> shape = device(op.getRouting()).shape;
  int64_t width = shape.back() = dy.shape[1];
  LocalTensor result(shape);
  LogicalResult done = forEachRow(op, op.getDy(), op.getRouting(), device,
                                  [&](int64_t row, int64_t place, int64_t) {
                                    for (int64_t h = 0; h < width; ++h)
                                      result.data[place * width + h] +=
                                          dy.data[row * width + h];
                                  });
  if (failed(done))
    return failure();
  return result;
}

static LocalResult run(WeighGradientOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy()), &x = device(op.getX()),
                    &weights = device(op.getWeights());
  LocalTensor result(weights.shape);
  int64_t each = weights.size() ? x.size() / weights.size() : 0;
  for (int64_t i = 0; i < weights.size(); ++i)
    result.data[i] = derivative(op.getFunction(), weights.data[i]) *
                     dot(&dy.data[i * each], &x.data[i * each], each);
  return result;
}

//===----------------------------------------------------------------------===//
// Gradients of matmuls of experts
//===----------------------------------------------------------------------===//

/// Returns the position on the device of the expert to which row `row` belongs;
/// emits an error if the expert is elsewhere.
static FailureOr<int64_t> expertOf(Operation *op, const LocalTensor &set,
                                   int64_t row, const std::vector<int64_t> &own,
                                   Device &device) {
  int64_t expert = find(own, set.rows[row].expert);
  if (expert >= 0)
    return expert;
  return op->emitError("device ")
         << device.id << " has a token for expert " << set.rows[row].expert
         << ", which it does not have";
}

static LocalResult run(ExpertsBackwardOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy()), &w = device(op.getWeight());
  std::vector<int64_t> own = device.indices(op.getWeight(), 0);
  int64_t in = w.shape[1], out = w.shape[2];
  if (dy.shape[1] != out)
    return op.emitError("contracted dimensions differ on a device");
  LocalTensor result({dy.shape[0], in});
  result.rows = dy.rows;
  for (int64_t row = 0; row < dy.shape[0]; ++row) {
    FailureOr<int64_t> expert = expertOf(op, dy, row, own, device);
    if (failed(expert))
      return failure();
    for (int64_t i = 0; i < in; ++i)
      result.data[row * in + i] =
          dot(&dy.data[row * out], &w.data[(*expert * in + i) * out], out);
  }
  return result;
}

static LocalResult run(ExpertsGradientOp op, Device &device) {
  const LocalTensor &x = device(op.getX()), &dy = device(op.getDy());
  std::vector<int64_t> own = device.indices(op.getWeight(), 0);
  if (x.rows != dy.rows)
    return op.emitError("a device has other rows than their gradients");
  LocalTensor result(device(op.getWeight()).shape);
  int64_t in = x.shape[1], out = dy.shape[1];
  for (int64_t row = 0; row < x.shape[0]; ++row) {
    FailureOr<int64_t> expert = expertOf(op, x, row, own, device);
    if (failed(expert))
      return failure();
    for (int64_t i = 0; i < in; ++i)
      for (int64_t o = 0; o < out; ++o)
        result.data[(*expert * in + i) * out + o] +=
            x.data[row * in + i] * dy.data[row * out + o];
  }
  return result;
}

static LocalResult run(SumExpertsOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy());
  std::vector<int64_t> own = device.indices(op.getBias(), 0);
  LocalTensor result(device(op.getBias()).shape);
  int64_t out = dy.shape[1];
  for (int64_t row = 0; row < dy.shape[0]; ++row) {
    FailureOr<int64_t> expert = expertOf(op, dy, row, own, device);
    if (failed(expert))
      return failure();
    for (int64_t o = 0; o < out; ++o)
      result.data[*expert * out + o] += dy.data[row * out + o];
  }
  return result;
}

void autopar::interpreter::attachExpertGradientKernels(MLIRContext *context) {
  attach<RouterBackwardOp, run>(context);
  attach<RoutingGradientOp, run>(context);
  attach<CombineBackwardOp, run>(context);
  attach<DispatchBackwardOp, run>(context);
  attach<WeighGradientOp, run>(context);
  attach<ExpertsBackwardOp, run>(context);
  attach<ExpertsGradientOp, run>(context);
  attach<SumExpertsOp, run>(context);
}

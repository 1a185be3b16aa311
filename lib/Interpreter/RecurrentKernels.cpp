//===- RecurrentKernels.cpp - Tokens that see a state ---------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recurrences.h"

#include <cmath>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::transformer;
using namespace mlir;

/// Returns the state that an op updates, which must have the given shape;
/// `zeros` if the op has no state.
static FailureOr<LocalTensor *> stateOf(Operation *op, Device &device,
                                        Value state,
                                        const std::vector<int64_t> &shape,
                                        LocalTensor &zeros) {
  if (!state) {
    zeros = LocalTensor(shape);
    return &zeros;
  }
  LocalTensor *kept = device.run.stateOf(state, device.id);
  if (!kept)
    return op->emitError("the state is moved before it is updated: the update "
                         "goes to a copy");
  if (kept->shape != shape)
    return op->emitError("device ")
           << device.id << " keeps a state of ["
           << llvm::ArrayRef<int64_t>(kept->shape) << "], expected ["
           << llvm::ArrayRef<int64_t>(shape) << "]";
  return kept;
}

LogicalResult autopar::interpreter::hasAllTokens(Operation *op, Device &device,
                                                 Value x) {
  auto tokens = static_cast<int64_t>(device.indices(x, 1).size());
  if (tokens != device.grid().extentOf(TensorView(x), 1))
    return op->emitError("device ")
           << device.id << " walks over a part of the tokens";
  return success();
}

/// Computes a short convolution; the last channel dimension varies fastest.
static LocalResult run(ShortConvOp op, Device &device) {
  const LocalTensor &x = device(op.getX()), &w = device(op.getWeight());
  int64_t batch = x.shape[0], tokens = x.shape[1], channels = x.extentFrom(2);
  int64_t kernel = w.shape.back(), before = kernel - 1;
  if (failed(hasAllTokens(op, device, op.getX())))
    return failure();
  if (w.size() != channels * kernel)
    return op.emitError("a device has other channels than weights");
  std::vector<int64_t> shape = {batch};
  shape.insert(shape.end(), x.shape.begin() + 2, x.shape.end());
  shape.push_back(before);
  LocalTensor zeros;
  FailureOr<LocalTensor *> state =
      stateOf(op, device, op.getState(), shape, zeros);
  if (failed(state))
    return failure();
  LocalTensor result(x.shape);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t c = 0; c < channels; ++c) {
      double *past = &(*state)->data[(b * channels + c) * before];
      std::vector<double> line(past, past + before);
      for (int64_t t = 0; t < tokens; ++t)
        line.push_back(x.data[(b * tokens + t) * channels + c]);
      for (int64_t t = 0; t < tokens; ++t) {
        double sum = op.getBias() ? device(op.getBias()).data[c] : 0;
        for (int64_t j = 0; j < kernel; ++j)
          sum += w.data[c * kernel + j] * line[t + j];
        result.data[(b * tokens + t) * channels + c] =
            op.getFunction() ? apply(*op.getFunction(), sum) : sum;
      }
      std::copy(line.end() - before, line.end(), past);
    }
  return result;
}

static LocalResult run(StateSpaceOp op, Device &device) {
  const LocalTensor &x = device(op.getX()), &dt = device(op.getDt());
  const LocalTensor &in = device(op.getInput());
  const LocalTensor &out = device(op.getOutput()), &a = device(op.getA());
  int64_t batch = x.shape[0], tokens = x.shape[1], heads = x.shape[2];
  int64_t width = x.shape[3], groups = in.shape[2], n = in.shape[3];
  LocalTensor zeros;
  FailureOr<LocalTensor *> state =
      stateOf(op, device, op.getState(), {batch, heads, width, n}, zeros);
  if (failed(state) || failed(hasAllTokens(op, device, op.getX())))
    return failure();
  if (groups == 0 || heads % groups != 0 || a.shape[0] != heads)
    return op.emitError("a device has heads without their groups");
  LocalTensor result(x.shape);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t h = 0; h < heads; ++h) {
        int64_t token = b * tokens + t, head = token * heads + h;
        int64_t group = (token * groups + h / (heads / groups)) * n;
        double bias = op.getDtBias() ? device(op.getDtBias()).data[h] : 0;
        double step = softplus(dt.data[head] + bias);
        for (int64_t p = 0; p < width; ++p) {
          double input = x.data[head * width + p];
          double sum = op.getD() ? device(op.getD()).data[h] * input : 0;
          for (int64_t i = 0; i < n; ++i) {
            double decay = a.shape.size() == 1 ? a.data[h] : a.data[h * n + i];
            double &kept =
                (*state)->data[((b * heads + h) * width + p) * n + i];
            kept = std::exp(-std::exp(decay) * step) * kept +
                   step * in.data[group + i] * input;
            sum += out.data[group + i] * kept;
          }
          result.data[head * width + p] = sum;
        }
      }
  return result;
}

double autopar::interpreter::lengthOf(const double *row, int64_t n) {
  double square = 0;
  for (int64_t i = 0; i < n; ++i)
    square += row[i] * row[i];
  return std::sqrt(square + 1e-6);
}

std::vector<double> autopar::interpreter::unit(const double *row, int64_t n) {
  std::vector<double> scaled(row, row + n);
  double length = lengthOf(row, n);
  for (double &element : scaled)
    element /= length;
  return scaled;
}

std::vector<double> DeltaDecay::keptOf(int64_t head, int64_t h) const {
  std::vector<double> kept(channels);
  for (int64_t i = 0; i < channels; ++i)
    kept[i] = std::exp(-std::exp(rate.data[h]) * softplus(inputAt(head, h, i)));
  return kept;
}

static LocalResult run(GatedDeltaRuleOp op, Device &device) {
  const LocalTensor &query = device(op.getQuery()), &key = device(op.getKey());
  const LocalTensor &value = device(op.getValue());
  const LocalTensor &beta = device(op.getBeta());
  int64_t batch = value.shape[0], tokens = value.shape[1];
  int64_t heads = value.shape[2], dv = value.shape[3];
  int64_t keyHeads = key.shape[2], dk = key.shape[3];
  DeltaDecay decay(device(op.getDecay()), device(op.getALog()),
                   device(op.getDtBias()), dk);
  LocalTensor zeros;
  FailureOr<LocalTensor *> state =
      stateOf(op, device, op.getState(), {batch, heads, dk, dv}, zeros);
  if (failed(state) || failed(hasAllTokens(op, device, op.getValue())))
    return failure();
  if (keyHeads == 0 || heads % keyHeads != 0 || decay.rate.size() != heads)
    return op.emitError("a device has value heads without their key heads");
  LocalTensor result(value.shape);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t h = 0; h < heads; ++h) {
        int64_t token = b * tokens + t, head = token * heads + h;
        int64_t row = (token * keyHeads + h / (heads / keyHeads)) * dk;
        std::vector<double> q = unit(&query.data[row], dk);
        std::vector<double> k = unit(&key.data[row], dk);
        std::vector<double> keep = decay.keptOf(head, h);
        double learn = sigmoid(beta.data[head]);
        double *kept = &(*state)->data[(b * heads + h) * dk * dv];
        for (int64_t j = 0; j < dv; ++j) {
          double known = 0, sum = 0;
          for (int64_t i = 0; i < dk; ++i)
            known += k[i] * (kept[i * dv + j] *= keep[i]);
          double missing = learn * (value.data[head * dv + j] - known);
          for (int64_t i = 0; i < dk; ++i) {
            kept[i * dv + j] += k[i] * missing;
            sum += q[i] * kept[i * dv + j];
          }
          result.data[head * dv + j] = sum / std::sqrt(double(dk));
        }
      }
  return result;
}

double autopar::interpreter::decayOf(int64_t head, int64_t heads,
                                     double share) {
  return std::exp(-std::exp2(-8.0 * double(head + 1) / double(heads)) * share);
}

FailureOr<double>
autopar::interpreter::shareOfDecay(Operation *op, std::optional<int64_t> layers,
                                   Device &device) {
  if (!layers)
    return 1.0;
  std::optional<int64_t> layer = device.run.getLayerNumber();
  if (!layer)
    return op->emitError("is in no layer, but its decay depends on which");
  return 1 - double(*layer) / (double(*layers) - 1 + 1e-5) + 1e-5;
}

static LocalResult run(LinearAttentionOp op, Device &device) {
  const LocalTensor &query = device(op.getQuery()), &key = device(op.getKey());
  const LocalTensor &value = device(op.getValue());
  int64_t batch = query.shape[0], tokens = query.shape[1];
  int64_t heads = query.shape[2], width = query.shape[3];
  LocalTensor zeros;
  FailureOr<LocalTensor *> state =
      stateOf(op, device, op.getState(), {batch, heads, width, width}, zeros);
  FailureOr<double> share = shareOfDecay(op, op.getLayers(), device);
  if (failed(state) || failed(share) ||
      failed(hasAllTokens(op, device, op.getQuery())))
    return failure();
  std::vector<int64_t> numbers = device.indices(op.getQuery(), 2);
  int64_t all = device.grid().extentOf(TensorView(op.getQuery()), 2);
  LocalTensor result(query.shape);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t h = 0; h < heads; ++h) {
        int64_t row = ((b * tokens + t) * heads + h) * width;
        double keep = decayOf(numbers[h], all, *share);
        double *kept = &(*state)->data[(b * heads + h) * width * width];
        for (int64_t j = 0; j < width; ++j)
          for (int64_t i = 0; i < width; ++i) {
            double &element = kept[i * width + j];
            element = keep * element + key.data[row + i] * value.data[row + j];
            result.data[row + j] += query.data[row + i] * element;
          }
      }
  return result;
}

void autopar::interpreter::attachRecurrentKernels(MLIRContext *context) {
  attach<ShortConvOp, run>(context);
  attach<StateSpaceOp, run>(context);
  attach<GatedDeltaRuleOp, run>(context);
  attach<LinearAttentionOp, run>(context);
}

//===- ElementwiseKernels.cpp - Each element by itself, or almost ---------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Placement.h"

#include "autopar/Dialect/Training/Training.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

/// Returns the tensor of `f(x, y)` for equal-shaped tensors, element by
/// element.
template <typename Function>
static LocalResult zip(Operation *op, const LocalTensor &x,
                       const LocalTensor &y, Function f) {
  if (x.data.size() != y.data.size() || x.rows.size() != y.rows.size())
    return op->emitError("operands differ in shape on a device");
  LocalTensor result = x;
  for (size_t i = 0; i < x.data.size(); ++i)
    result.data[i] = f(x.data[i], y.data[i]);
  return result;
}

template <typename Function>
static LocalTensor map(const LocalTensor &x, Function f) {
  LocalTensor result = x;
  for (double &element : result.data)
    element = f(element);
  return result;
}

static LocalResult run(AddOp op, Device &device) {
  return zip(op, device(op->getOperand(0)), device(op->getOperand(1)),
             [](double a, double b) { return a + b; });
}

static LocalResult run(ActivationOp op, Device &device) {
  return map(device(op.getX()),
             [&](double x) { return apply(op.getFunction(), x); });
}

namespace {

/// The limits of a gate and of the gated value, from the attributes of an op.
struct Limits {
  template <typename Op>
  explicit Limits(Op op)
      : most(op.getLimit() ? op.getLimit()->convertToDouble()
                           : std::numeric_limits<double>::infinity()),
        offset(op.getUnitOffset() ? 1 : 0) {}

  double gate(double x) const { return std::min(x, most); }
  double factor(double up) const {
    return std::clamp(up, -most, most) + offset;
  }
  bool holdsGate(double x) const { return x > most; }
  bool holdsUp(double up) const { return std::abs(up) > most; }

  double most, offset;
};

} // namespace

static LocalResult run(GatedOp op, Device &device) {
  Limits limits(op);
  return zip(op, device(op.getGate()), device(op.getUp()),
             [&](double gate, double up) {
               return apply(op.getFunction(), limits.gate(gate)) *
                      limits.factor(up);
             });
}

static LocalResult run(ScaleOp op, Device &device) {
  double factor = op.getFactor().convertToDouble();
  return map(device(op.getX()), [&](double x) { return factor * x; });
}

static LocalResult run(SoftcapOp op, Device &device) {
  double cap = op.getCap().convertToDouble();
  return map(device(op.getX()),
             [&](double x) { return cap * std::tanh(x / cap); });
}

/// Returns the tensor of `f(x, y)`, where `y` has the trailing dimensions of
/// `x`, or one element.
template <typename Function>
static LocalResult broadcast(Operation *op, const LocalTensor &x,
                             const LocalTensor &y, Function f) {
  if (x.size() == 0)
    return x;
  if (y.size() == 0 || x.size() % y.size() != 0)
    return op->emitError("operands do not fit on a device");
  LocalTensor result = x;
  for (int64_t i = 0; i < x.size(); ++i)
    result.data[i] = f(x.data[i], y.data[i % y.size()]);
  return result;
}

static LocalResult run(MultiplyOp op, Device &device) {
  return broadcast(op, device(op.getX()), device(op.getFactors()),
                   [](double x, double factor) { return x * factor; });
}

static LocalResult run(AddBiasOp op, Device &device) {
  return broadcast(op, device(op.getX()), device(op.getBias()),
                   [](double x, double bias) { return x + bias; });
}

static LocalResult run(SoftmaxOp op, Device &device) {
  LocalTensor result = device(op.getX());
  int64_t width = result.shape.back();
  for (int64_t row = 0; row < result.size(); row += width) {
    double *x = &result.data[row];
    double most = *std::max_element(x, x + width), sum = 0;
    for (int64_t i = 0; i < width; ++i)
      sum += x[i] = std::exp(x[i] - most);
    for (int64_t i = 0; i < width; ++i)
      x[i] /= sum;
  }
  return result;
}

static LocalResult run(BatchNormOp op, Device &device) {
  LocalTensor result = device(op.getX());
  double eps = op.getEps().convertToDouble();
  const LocalTensor &mean = device(op.getMean()),
                    &variance = device(op.getVariance()),
                    &weight = device(op.getWeight()),
                    &bias = device(op.getBias());
  if (mean.size() == 0 || result.size() % mean.size() != 0)
    return op.emitError("operands do not fit on a device");
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t c = i % mean.size();
    // The absolute value is taken because random weights may be negative,
    // unlike variances.
    double deviation = std::sqrt(std::abs(variance.data[c]) + eps);
    result.data[i] =
        (result.data[i] - mean.data[c]) / deviation * weight.data[c] +
        bias.data[c];
  }
  return result;
}

static LocalResult run(WeighOp op, Device &device) {
  LocalTensor result = device(op.getX());
  const LocalTensor &weights = device(op.getWeights());
  if (result.size() == 0)
    return result;
  if (weights.size() == 0 || result.size() % weights.size() != 0)
    return op->emitError("operands do not fit on a device");
  int64_t each = result.size() / weights.size();
  for (int64_t i = 0; i < result.size(); ++i)
    result.data[i] *= apply(op.getFunction(), weights.data[i / each]);
  return result;
}

//===----------------------------------------------------------------------===//
// Backwards of elementwise ops
//===----------------------------------------------------------------------===//

static LocalResult run(CastOp op, Device &device) { return device(op.getX()); }

static LocalResult run(ActivationBackwardOp op, Device &device) {
  return zip(op, device(op.getDy()), device(op.getX()),
             [&](double dy, double x) {
               return dy * derivative(op.getFunction(), x);
             });
}

static LocalResult run(SoftcapBackwardOp op, Device &device) {
  double cap = op.getCap().convertToDouble();
  return zip(op, device(op.getDy()), device(op.getX()),
             [&](double dy, double x) {
               double y = std::tanh(x / cap);
               return dy * (1 - y * y);
             });
}

static LocalResults run(GatedBackwardOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy()), &gates = device(op.getGate()),
                    &ups = device(op.getUp());
  if (dy.size() != gates.size() || dy.size() != ups.size())
    return op.emitError("operands differ in shape on a device");
  Limits limits(op);
  LocalTensor dGate = dy, dUp = dy;
  for (int64_t i = 0; i < dy.size(); ++i) {
    double gate = gates.data[i], up = ups.data[i];
    dGate.data[i] *=
        limits.holdsGate(gate)
            ? 0
            : derivative(op.getFunction(), gate) * limits.factor(up);
    dUp.data[i] *=
        limits.holdsUp(up) ? 0 : apply(op.getFunction(), limits.gate(gate));
  }
  return LocalTensors{std::move(dGate), std::move(dUp)};
}

//===----------------------------------------------------------------------===//
// Kernels of dropout
//===----------------------------------------------------------------------===//

/// Decides the mask by the random number of "<layer> dropout <seed>" and the
/// element's offset in the tensor of the batch.
static LocalResult run(DropoutMaskOp op, Device &device) {
  std::string name =
      device.run.layerName() + " dropout " + std::to_string(op.getSeed());
  double probability = op.getProbability().convertToDouble();
  TensorView type(op.getResult());
  Placement placement(type, device.grid(), device.id);
  InBatch place(placement.wholeShape(), device.grid().batchDimOf(type),
                device.run.microbatchNumber(), device.run.microbatchCount());
  LocalTensor mask(placement.shape());
  placement.forEach([&](int64_t local, int64_t at) {
    mask.data[local] =
        (randomNumber(name, place(at)) + 1) / 2 < probability ? 0 : 1;
  });
  return mask;
}

static LocalResult run(DropoutOp op, Device &device) {
  double kept = 1 - op.getProbability().convertToDouble();
  return zip(op, device(op.getX()), device(op.getMask()),
             [&](double x, double mask) { return x * mask / kept; });
}

void autopar::interpreter::attachElementwiseKernels(MLIRContext *context) {
  attach<AddOp, run>(context);
  attach<ActivationOp, run>(context);
  attach<GatedOp, run>(context);
  attach<ScaleOp, run>(context);
  attach<SoftcapOp, run>(context);
  attach<MultiplyOp, run>(context);
  attach<AddBiasOp, run>(context);
  attach<WeighOp, run>(context);
  attach<BatchNormOp, run>(context);
  attach<SoftmaxOp, run>(context);
  attach<CastOp, run>(context);
}

void interpreter::attachElementwiseGradientKernels(MLIRContext *context) {
  attach<ActivationBackwardOp, run>(context);
  attach<SoftcapBackwardOp, run>(context);
  attach<GatedBackwardOp, run>(context);
  attach<DropoutMaskOp, run>(context);
  attach<DropoutOp, run>(context);
}

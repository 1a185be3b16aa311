//===- TokenKernels.cpp - Products, norms, elementwise --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

int64_t autopar::find(const std::vector<int64_t> &indices, int64_t index) {
  auto found = std::find(indices.begin(), indices.end(), index);
  return found == indices.end() ? -1 : found - indices.begin();
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

double autopar::sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double autopar::softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double autopar::apply(FunctionKind function, double x) {
  switch (function) {
  case FunctionKind::silu:
    return x * sigmoid(x);
  case FunctionKind::gelu:
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  case FunctionKind::gelu_tanh:
    return x / 2 *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case FunctionKind::relu:
    return std::max(x, 0.0);
  case FunctionKind::relu2:
    return std::max(x, 0.0) * std::max(x, 0.0);
  case FunctionKind::sigmoid:
    return sigmoid(x);
  case FunctionKind::tanh:
    return std::tanh(x);
  case FunctionKind::quick_gelu:
    return x * sigmoid(1.702 * x);
  case FunctionKind::softplus:
    return softplus(x);
  case FunctionKind::exp:
    return std::exp(x);
  case FunctionKind::relu6:
    return std::clamp(x, 0.0, 6.0);
  case FunctionKind::leaky_relu:
    return x < 0 ? 0.01 * x : x;
  case FunctionKind::hardswish:
    return x * std::clamp(x + 3, 0.0, 6.0) / 6;
  case FunctionKind::mish:
    return x * std::tanh(softplus(x));
  case FunctionKind::identity:
    break;
  }
  return x;
}

/// `f` of each element of `x` and the one of `y` in its place.
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

static LocalResult run(GatedOp op, Device &device) {
  return zip(op, device(op.getGate()), device(op.getUp()),
             [&](double gate, double up) {
               return apply(op.getFunction(), gate) * up;
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

/// `f(x, y)` where `y` has the trailing dimensions of `x`, or one element.
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
// Weights
//===----------------------------------------------------------------------===//

/// As far from zero as keeps activations of small models near one.
static constexpr double weightScale = 0.3;

static LocalResult run(WeightOp op, Device &device) {
  std::string name = device.run.layerName() + "/" + op.getName().str();
  llvm::raw_string_ostream os(name);
  if (Attribute storage = op.getStorageAttr())
    os << storage;
  TensorView type(op.getResult());
  std::vector<std::vector<int64_t>> indices;
  std::vector<int64_t> shape;
  for (unsigned dim = 0; dim < type.rank(); ++dim) {
    indices.push_back(device.indices(op.getResult(), dim));
    shape.push_back(static_cast<int64_t>(indices.back().size()));
  }
  LocalTensor weight(shape);
  for (int64_t at = 0; at < weight.size(); ++at) {
    int64_t rest = at, whole = 0, stride = 1;
    bool isPadding = false;
    for (size_t dim = shape.size(); dim-- > 0;) {
      int64_t index = indices[dim][rest % shape[dim]];
      isPadding |= index < 0;
      whole += index * stride;
      stride *= type.getType().getDimSize(dim);
      rest /= shape[dim];
    }
    weight.data[at] =
        isPadding ? std::nan("") : weightScale * randomNumber(name, whole);
  }
  return weight;
}

static LocalResult run(KVCacheOp, Device &) { return LocalTensor(); }
static LocalResult run(StateOp, Device &) { return LocalTensor(); }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// `x` [rows, in] times `w` [in, out], with `bias` [out] where there is one.
static LocalResult multiply(Operation *op, const LocalTensor &x,
                            size_t numContracted, const LocalTensor &w,
                            const LocalTensor *bias) {
  size_t kept = x.shape.size() - numContracted;
  int64_t rows = x.extent(0, kept), in = x.extentFrom(kept);
  int64_t out = w.extentFrom(numContracted);
  if (in != w.extent(0, numContracted) || (bias && bias->size() != out))
    return op->emitError("contracted dimensions differ on a device");
  std::vector<int64_t> shape(x.shape.begin(), x.shape.begin() + kept);
  shape.insert(shape.end(), w.shape.begin() + numContracted, w.shape.end());
  LocalTensor result(shape);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t o = 0; o < out; ++o) {
      double sum = bias ? bias->data[o] : 0;
      for (int64_t i = 0; i < in; ++i)
        sum += x.data[row * in + i] * w.data[i * out + o];
      result.data[row * out + o] = sum;
    }
  return result;
}

static LocalResult run(LinearOp op, Device &device) {
  const LocalTensor *bias = op.getBias() ? &device(op.getBias()) : nullptr;
  return multiply(op, device(op.getX()), op.getNumContracted(),
                  device(op.getWeight()), bias);
}

static LocalResult run(LogitsOp op, Device &device) {
  const LocalTensor &x = device(op.getX()), &table = device(op.getTable());
  LocalTensor turned({table.shape[1], table.shape[0]});
  for (int64_t v = 0; v < table.shape[0]; ++v)
    for (int64_t h = 0; h < table.shape[1]; ++h)
      turned.data[h * table.shape[0] + v] = table.data[v * table.shape[1] + h];
  return multiply(op, x, 1, turned, nullptr);
}

/// Tokens outside of the sequence are 0.
static LocalResult run(ConvolutionOp op, Device &device) {
  const LocalTensor &x = device(op.getX()), &w = device(op.getWeight());
  std::vector<int64_t> from = device.indices(op.getX(), 1);
  std::vector<int64_t> to = device.indices(op.getResult(), 1);
  int64_t stride = device.grid().extentOf(TensorView(op.getX()), 1) /
                   device.grid().extentOf(TensorView(op.getResult()), 1);
  int64_t in = w.shape[0], kernel = w.shape[1], out = w.shape[2];
  if (x.shape[2] != in)
    return op.emitError("contracted dimensions differ on a device");
  LocalTensor result({x.shape[0], int64_t(to.size()), out});
  for (int64_t b = 0; b < x.shape[0]; ++b)
    for (size_t t = 0; t < to.size(); ++t)
      for (int64_t o = 0; o < out; ++o) {
        double sum = op.getBias() ? device(op.getBias()).data[o] : 0;
        for (int64_t j = 0; j < kernel; ++j) {
          int64_t at = find(from, stride * to[t] + j - (kernel - 1) / 2);
          for (int64_t i = 0; at >= 0 && i < in; ++i)
            sum += x.data[(b * x.shape[1] + at) * in + i] *
                   w.data[(i * kernel + j) * out + o];
        }
        result.data[(b * int64_t(to.size()) + int64_t(t)) * out + o] = sum;
      }
  return result;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Rows that the device does not have are 0: others add them.
static LocalResult run(EmbeddingOp op, Device &device) {
  const LocalTensor &ids = device(op.getIds()), &table = device(op.getTable());
  std::vector<int64_t> rows = device.indices(op.getTable(), 0);
  int64_t width = table.extentFrom(1);
  std::vector<int64_t> shape = ids.shape;
  shape.push_back(width);
  LocalTensor result(shape);
  for (int64_t i = 0; i < ids.size(); ++i) {
    int64_t row = find(rows, static_cast<int64_t>(ids.data[i]));
    for (int64_t h = 0; row >= 0 && h < width; ++h)
      result.data[i * width + h] = table.data[row * width + h];
  }
  return result;
}

/// Where another device has the last token it is 0: that one adds it.
static LocalResult run(LastTokenOp op, Device &device) {
  const LocalTensor &x = device(op.getX());
  std::vector<int64_t> tokens = device.indices(op.getX(), 1);
  int64_t last = device.grid().extentOf(TensorView(op.getX()), 1) - 1;
  int64_t at = find(tokens, last), width = x.extentFrom(2);
  std::vector<int64_t> shape = x.shape;
  shape.erase(shape.begin() + 1);
  LocalTensor result(shape);
  for (int64_t b = 0; at >= 0 && b < x.shape[0]; ++b)
    for (int64_t h = 0; h < width; ++h)
      result.data[b * width + h] = x.data[(b * x.shape[1] + at) * width + h];
  return result;
}

/// Tables in another shape hold their rows one after the other.
static LocalResult run(PositionEmbeddingOp op, Device &device) {
  LocalTensor result = device(op.getX());
  const LocalTensor &table = device(op.getTable());
  std::vector<int64_t> positions = device.positions(op.getX(), 1);
  int64_t width = result.extentFrom(2);
  int64_t rows = table.size() / std::max<int64_t>(1, width);
  if (rows * width != table.size() || rows == 0)
    return op.emitError("the table has no rows of this width on a device");
  for (int64_t b = 0; b < result.shape[0]; ++b)
    for (size_t t = 0; t < positions.size(); ++t)
      for (int64_t h = 0; h < width; ++h)
        result.data[(b * result.shape[1] + int64_t(t)) * width + h] +=
            table.data[positions[t] % rows * width + h];
  return result;
}

/// The first tokens of the sequence are those that are encoded.
static LocalResult run(InsertOp op, Device &device) {
  LocalTensor result = device(op.getX());
  const LocalTensor &y = device(op.getY());
  std::vector<int64_t> tokens = device.indices(op.getX(), 1);
  std::vector<int64_t> encoded = device.indices(op.getY(), 1);
  int64_t width = result.extentFrom(2);
  int64_t all = device.grid().extentOf(TensorView(op.getY()), 1);
  for (int64_t b = 0; b < result.shape[0]; ++b)
    for (size_t t = 0; t < tokens.size(); ++t) {
      if (tokens[t] >= all)
        continue;
      int64_t at = find(encoded, tokens[t]);
      if (at < 0)
        return op.emitError("an encoded token is on another device");
      for (int64_t h = 0; h < width; ++h)
        result.data[(b * result.shape[1] + int64_t(t)) * width + h] =
            y.data[(b * y.shape[1] + at) * width + h];
    }
  return result;
}

static LocalResult run(MergeTokensOp op, Device &device) {
  const LocalTensor &x = device(op.getX());
  std::vector<int64_t> from = device.indices(op.getX(), 1);
  std::vector<int64_t> to = device.indices(op.getResult(), 1);
  int64_t merged = device.grid().extentOf(TensorView(op.getResult()), 1);
  int64_t wide = device.grid().extentOf(TensorView(op.getResult()), 2);
  // Without an image there are no tokens to merge.
  if (merged == 0)
    return LocalTensor({x.shape[0], 0, wide});
  int64_t n = device.grid().extentOf(TensorView(op.getX()), 1) / merged;
  int64_t width = x.extentFrom(2);
  LocalTensor result({x.shape[0], int64_t(to.size()), wide});
  for (int64_t b = 0; b < x.shape[0]; ++b)
    for (size_t t = 0; t < to.size(); ++t)
      for (int64_t j = 0; j < n; ++j) {
        int64_t at = find(from, to[t] * n + j);
        if (at < 0)
          return op.emitError("a merged token is on another device");
        for (int64_t h = 0; h < width; ++h) {
          double value = x.data[(b * x.shape[1] + at) * width + h];
          int64_t place = op.getMean() ? h : j * width + h;
          result.data[(b * int64_t(to.size()) + int64_t(t)) * wide + place] +=
              op.getMean() ? value / double(n) : value;
        }
      }
  return result;
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Over the last `over` dimensions; the mean is subtracted or not.
template <typename NormOp>
static LocalResult normalize(NormOp op, Device &device, bool centers,
                             double offset) {
  LocalTensor result = device(op.getX());
  int64_t width = result.extentFrom(result.shape.size() - op.getOver());
  const LocalTensor *weight =
      op.getWeight() ? &device(op.getWeight()) : nullptr;
  const LocalTensor *bias = op.getBias() ? &device(op.getBias()) : nullptr;
  double eps = op.getEps().convertToDouble();
  for (int64_t row = 0; row * width < result.size(); ++row) {
    double *x = &result.data[row * width];
    double mean = 0, square = 0;
    for (int64_t h = 0; centers && h < width; ++h)
      mean += x[h] / double(width);
    for (int64_t h = 0; h < width; ++h)
      square += (x[h] - mean) * (x[h] - mean) / double(width);
    for (int64_t h = 0; h < width; ++h) {
      int64_t at = row * width + h;
      double scale = weight ? offset + weight->data[at % weight->size()] : 1;
      double added = bias ? bias->data[at % bias->size()] : 0;
      x[h] = (x[h] - mean) / std::sqrt(square + eps) * scale + added;
    }
  }
  return result;
}

static LocalResult run(RMSNormOp op, Device &device) {
  return normalize(op, device, /*centers=*/false, op.getUnitOffset() ? 1 : 0);
}

static LocalResult run(LayerNormOp op, Device &device) {
  return normalize(op, device, /*centers=*/true, 0);
}

void autopar::attachTokenKernels(MLIRContext *context) {
  attach<AddOp, run>(context);
  attach<ActivationOp, run>(context);
  attach<GatedOp, run>(context);
  attach<ScaleOp, run>(context);
  attach<SoftcapOp, run>(context);
  attach<MultiplyOp, run>(context);
  attach<AddBiasOp, run>(context);
  attach<WeighOp, run>(context);
  attach<WeightOp, run>(context);
  attach<KVCacheOp, run>(context);
  attach<StateOp, run>(context);
  attach<LinearOp, run>(context);
  attach<LogitsOp, run>(context);
  attach<ConvolutionOp, run>(context);
  attach<EmbeddingOp, run>(context);
  attach<LastTokenOp, run>(context);
  attach<PositionEmbeddingOp, run>(context);
  attach<InsertOp, run>(context);
  attach<MergeTokensOp, run>(context);
  attach<RMSNormOp, run>(context);
  attach<LayerNormOp, run>(context);
}

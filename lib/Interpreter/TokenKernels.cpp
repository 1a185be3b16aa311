//===- TokenKernels.cpp - Products, norms, elementwise --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Placement.h"
#include "StoredElements.h"

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
  double limit = op.getLimit() ? op.getLimit()->convertToDouble()
                               : std::numeric_limits<double>::infinity();
  double offset = op.getUnitOffset() ? 1 : 0;
  return zip(op, device(op.getGate()), device(op.getUp()),
             [&](double gate, double up) {
               return apply(op.getFunction(), std::min(gate, limit)) *
                      (std::clamp(up, -limit, limit) + offset);
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
    // Random weights have a sign, which no variance has.
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
// Weights
//===----------------------------------------------------------------------===//

/// The rule of Execution.h.
static LocalResult run(WeightOp op, Device &device) {
  StoredElements stored(op);
  std::vector<std::string> names = stored.names(device.run.layerName());
  double scale = stored.rank() == 1 ? 1 : matrixScale;
  Placement placement(TensorView(op.getResult()), device.grid(), device.id);
  LocalTensor weight(placement.shape());
  placement.forEach([&](int64_t local, int64_t at) {
    StoredElement element = stored.find(std::max<int64_t>(at, 0));
    weight.data[local] =
        at < 0 ? std::nan("")
               : scale * randomNumber(names[element.copy], element.offset);
  });
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

static LocalResult run(LayerPartOp op, Device &device) {
  const LocalTensor &x = device(op.getX());
  std::optional<int64_t> layer = device.grid().expertSlots().number();
  size_t dim = x.shape.size() - 2;
  if (!layer || *layer >= x.shape[dim])
    return op.emitError("runs in no layer that the operand has a part for");
  std::vector<int64_t> shape(x.shape);
  int64_t layers = shape[dim], width = shape.back();
  shape.erase(shape.end() - 2);
  LocalTensor result(shape);
  for (int64_t i = 0; i < result.size(); ++i)
    result.data[i] = x.data[(i / width * layers + *layer) * width + i % width];
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
  auto first = static_cast<int64_t>(op.getFirst().value_or(0));
  for (int64_t b = 0; b < result.shape[0]; ++b)
    for (size_t t = 0; t < positions.size(); ++t) {
      int64_t row = op.getSame() ? 0 : (positions[t] + first) % rows;
      for (int64_t h = 0; h < width; ++h)
        result.data[(b * result.shape[1] + int64_t(t)) * width + h] +=
            table.data[row * width + h];
    }
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
  TensorView view(op.getResult());
  std::vector<int64_t> inside;
  int64_t wide = 1;
  for (int64_t d = 2; d < view.rank(); ++d) {
    inside.push_back(device.grid().extentOf(view, d));
    wide *= inside.back();
  }
  auto shaped = [&](int64_t tokens) {
    std::vector<int64_t> shape = {x.shape[0], tokens};
    shape.insert(shape.end(), inside.begin(), inside.end());
    return LocalTensor(shape);
  };
  // Without an image there are no tokens to merge.
  if (merged == 0)
    return shaped(0);
  int64_t n = device.grid().extentOf(TensorView(op.getX()), 1) / merged;
  int64_t width = x.extentFrom(2);
  LocalTensor result = shaped(to.size());
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

/// Over each of `groups` parts of the last `over` dimensions; the mean is
/// subtracted or not.
template <typename NormOp>
static LocalResult normalize(NormOp op, Device &device, bool centers,
                             double offset, int64_t groups) {
  LocalTensor result = device(op.getX());
  int64_t width =
      result.extentFrom(result.shape.size() - op.getOver()) / groups;
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

/// The number of devices that have the same elements of a dimension.
static int64_t copiesOf(const TensorView &view, unsigned dim,
                        const DeviceGrid &grid) {
  DimRef ref = view.dim(dim);
  int64_t devices = grid.sizeOf(ref.axes), extent = grid.extentOf(view, dim);
  return ref.rule == SplitRule::cap && devices > extent ? devices / extent : 1;
}

/// The group, of `groups`, that each index of the first dimension of a norm
/// that `device` has is in.
static std::vector<int64_t> groupsOf(Value x, unsigned first, int64_t groups,
                                     Device &device) {
  std::vector<int64_t> all = device.indices(x, first);
  int64_t extent = device.grid().extentOf(TensorView(x), first);
  for (int64_t &index : all)
    index = index * groups / extent;
  return all;
}

static LocalResult run(SquareSumOp op, Device &device) {
  const LocalTensor &x = device(op.getX());
  auto groups = static_cast<int64_t>(op.getGroups().value_or(1));
  size_t first = x.shape.size() - op.getOver();
  std::vector<int64_t> groupOf = groupsOf(op.getX(), first, groups, device);
  double copies = 1;
  for (size_t dim = first; dim < x.shape.size(); ++dim)
    copies *= double(copiesOf(TensorView(op.getX()), dim, device.grid()));
  std::vector<int64_t> shape(x.shape.begin(), x.shape.begin() + first);
  shape.push_back(groups);
  LocalTensor result(shape);
  int64_t inner = x.extentFrom(first + 1);
  for (int64_t at = 0; at < x.size(); ++at) {
    int64_t index = at / inner % x.shape[first];
    int64_t row = at / inner / x.shape[first];
    result.data[row * groups + groupOf[index]] +=
        x.data[at] * x.data[at] / copies;
  }
  return result;
}

/// A norm whose sums of squares are given.
static LocalResult scale(RMSNormOp op, Device &device) {
  LocalTensor result = device(op.getX());
  const LocalTensor &sums = device(op.getSums());
  int64_t groups = sums.shape.back();
  size_t first = result.shape.size() - op.getOver();
  std::vector<int64_t> groupOf = groupsOf(op.getX(), first, groups, device);
  TensorView type(op.getX());
  double elements = 1;
  for (size_t dim = first; dim < type.rank(); ++dim)
    elements *= double(device.grid().extentOf(type, dim));
  int64_t inner = result.extentFrom(first + 1);
  for (int64_t at = 0; at < result.size(); ++at) {
    int64_t index = at / inner % result.shape[first];
    int64_t row = at / inner / result.shape[first];
    double mean =
        sums.data[row * groups + groupOf[index]] * double(groups) / elements;
    double factor = op.getUnitOffset() ? 1 : 0;
    if (!op.getWeight())
      factor = 1;
    else if (const LocalTensor &weight = device(op.getWeight()); weight.size())
      factor += weight.data[at % weight.size()];
    result.data[at] *= factor / std::sqrt(mean + op.getEps().convertToDouble());
    if (op.getBias())
      result.data[at] +=
          device(op.getBias()).data[at % device(op.getBias()).size()];
  }
  return result;
}

static LocalResult run(RMSNormOp op, Device &device) {
  if (op.getSums())
    return scale(op, device);
  return normalize(op, device, /*centers=*/false, op.getUnitOffset() ? 1 : 0,
                   int64_t(op.getGroups().value_or(1)));
}

static LocalResult run(LayerNormOp op, Device &device) {
  return normalize(op, device, /*centers=*/true, 0, /*groups=*/1);
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
  attach<BatchNormOp, run>(context);
  attach<SoftmaxOp, run>(context);
  attach<EmbeddingOp, run>(context);
  attach<LastTokenOp, run>(context);
  attach<LayerPartOp, run>(context);
  attach<PositionEmbeddingOp, run>(context);
  attach<InsertOp, run>(context);
  attach<MergeTokensOp, run>(context);
  attach<RMSNormOp, run>(context);
  attach<SquareSumOp, run>(context);
  attach<LayerNormOp, run>(context);
}

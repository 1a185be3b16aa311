//===- OptimizerKernels.cpp - Updates of weights --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Placement.h"
#include "StoredElements.h"

#include "autopar/Dialect/Training/Training.h"
#include "autopar/Interfaces/Interfaces.h"

#include <cmath>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

static constexpr double rate = 0.001;
/// What Adafactor adds to means of squares: more than the rounding errors of
/// gradients that should be 0.
static constexpr double leastSquare = 1e-12;

//===----------------------------------------------------------------------===//
// Optimizers that update each element by itself
//===----------------------------------------------------------------------===//

namespace {

/// One step of an optimizer on one element and its states.
struct OptimizerStep {
  OptimizerKind kind;
  bool hasMomentum;
  double iteration;

  double operator()(double weight, double gradient, double &first,
                    double &second) const {
    constexpr double b1 = 0.9, b2 = 0.999, eps = 1e-8;
    if (kind == OptimizerKind::sgd && !hasMomentum)
      return weight - rate * gradient;
    if (kind == OptimizerKind::sgd) {
      first = b1 * first + gradient;
      return weight - rate * first;
    }
    first = b1 * first + (1 - b1) * gradient;
    second = b2 * second + (1 - b2) * gradient * gradient;
    double m = first / (1 - std::pow(b1, iteration));
    double v = second / (1 - std::pow(b2, iteration));
    return weight - rate * m / (std::sqrt(v) + eps);
  }
};

} // namespace

/// Returns the optimizer states of `device` for a tensor of this shape,
/// initially 0.
static LocalTensor &keptBy(Device &device, DeviceTensors &all,
                           const std::vector<int64_t> &shape) {
  all.resize(device.grid().size());
  LocalTensor &own = all[device.id];
  if (own.shape.empty())
    own = LocalTensor(shape);
  return own;
}

//===----------------------------------------------------------------------===//
// Access to the matrices of a tensor
//===----------------------------------------------------------------------===//

namespace {

/// A tensor seen as a stack of matrices; the range `rows` of an op states which
/// dimensions are rows.
struct Matrices {
  Matrices(const LocalTensor &tensor, ArrayRef<int64_t> rows)
      : count(tensor.extent(0, rows[0])), rows(tensor.extent(rows[0], rows[1])),
        columns(tensor.extentFrom(rows[1])) {}

  int64_t size() const { return rows * columns; }

  int64_t count, rows, columns;
};

} // namespace

//===----------------------------------------------------------------------===//
// The optimizer Adafactor
//===----------------------------------------------------------------------===//

/// Returns, for each index of dimension `dim`, whether it belongs to the tensor
/// instead of padding.
static std::vector<bool> realIndices(Value x, unsigned dim, Device &device) {
  std::vector<bool> real;
  for (int64_t index : device.indices(x, dim))
    real.push_back(index >= 0);
  return real;
}

/// Returns this device's part of a sum over all devices that yields a mean;
/// padding is left out.
static LocalResult run(MeanOp op, Device &device) {
  const LocalTensor &x = device(op.getX());
  TensorView view(op.getX());
  auto begin = static_cast<size_t>(op.getOver()[0]),
       end = static_cast<size_t>(op.getOver()[1]);
  LocalTensor result;
  result.shape.assign(x.shape.begin(), x.shape.begin() + begin);
  result.shape.insert(result.shape.end(), x.shape.begin() + end, x.shape.end());
  result = LocalTensor(result.shape);
  std::vector<bool> isCounted(x.size(), true);
  double count = 1;
  for (size_t dim = begin; dim < end; ++dim) {
    count *= double(device.grid().extentOf(view, dim)) *
             double(copiesOf(view, dim, device.grid()));
    std::vector<bool> real = realIndices(op.getX(), dim, device);
    int64_t inner = x.extentFrom(dim + 1);
    for (int64_t at = 0; at < x.size(); ++at)
      isCounted[at] = isCounted[at] && real[at / inner % x.shape[dim]];
  }
  int64_t inner = x.extentFrom(end), middle = x.extent(begin, end);
  for (int64_t at = 0; at < x.size(); ++at) {
    if (!isCounted[at])
      continue;
    double value = op.getSquared() ? x.data[at] * x.data[at] : x.data[at];
    result.data[at / inner / middle * inner + at % inner] += value / count;
  }
  return result;
}

static LocalResult run(MovingMeanOp op, Device &device) {
  MeanOp mean = op.findMean();
  LocalTensor result = device(op.getInput());
  auto &[first, second] =
      device.run.training().moments[keyOf(mean.getWeight(), device)];
  // A matrix has two means; the one over its columns has an element per row.
  bool isOfRows =
      mean.getOver()[1] == tensorOf(mean.getX().getType()).getRank();
  LocalTensor &kept = keptBy(device, isOfRows ? first : second, result.shape);
  if (kept.shape != result.shape)
    return op.emitError("what is kept is of another shape on a device");
  double share = 1 - std::pow(double(device.run.training().iteration), -0.8);
  for (int64_t i = 0; i < result.size(); ++i)
    kept.data[i] = result.data[i] =
        share * kept.data[i] + (1 - share) * (result.data[i] + leastSquare);
  return result;
}

static LocalResult run(PreconditionOp op, Device &device) {
  LocalTensor result = device(op.getGradient());
  const LocalTensor &first = device(op.getMeans().front());
  if (!op.getRows()) {
    for (int64_t i = 0; i < result.size(); ++i)
      result.data[i] /= std::sqrt(first.data[i]);
    return result;
  }
  Matrices matrices(result, *op.getRows());
  const LocalTensor &ofColumns = device(op.getMeans()[1]),
                    &ofAll = device(op.getMeans()[2]);
  for (int64_t at = 0; at < result.size(); ++at) {
    int64_t matrix = at / matrices.size(), row = at / matrices.columns,
            column = matrix * matrices.columns + at % matrices.columns;
    result.data[at] /= std::sqrt(first.data[row] * ofColumns.data[column] /
                                 ofAll.data[matrix]);
  }
  return result;
}

static LocalResult runAdafactor(UpdateOp op, Device &device) {
  LocalTensor result = device(op.getWeight());
  const LocalTensor &step = device(op.getGradient());
  double clip =
      std::max(1.0, std::sqrt(device(op.getMeanSquare()).data.front()));
  for (int64_t i = 0; i < result.size(); ++i)
    result.data[i] -= rate * step.data[i] / clip;
  return result;
}

static LocalResult run(UpdateOp op, Device &device) {
  if (op.getOptimizer() == OptimizerKind::adafactor)
    return runAdafactor(op, device);
  TrainingMemory &memory = device.run.training();
  LocalTensor result = device(op.getWeight());
  const LocalTensor &gradient = device(op.getGradient());
  auto &[first, second] = memory.moments[keyOf(op.getWeight(), device)];
  LocalTensor &m = keptBy(device, first, result.shape),
              &v = keptBy(device, second, result.shape);
  if (gradient.shape != result.shape || m.shape != result.shape)
    return op.emitError("the gradient, or what is kept, is of another shape on "
                        "a device");
  OptimizerStep step{op.getOptimizer(), op.getNumMoments() > 0,
                     double(memory.iteration)};
  for (int64_t i = 0; i < result.size(); ++i)
    result.data[i] =
        step(result.data[i], gradient.data[i], m.data[i], v.data[i]);
  return result;
}

//===----------------------------------------------------------------------===//
// The optimizer Muon
//===----------------------------------------------------------------------===//

static LocalResult run(MomentumOp op, Device &device) {
  constexpr double share = 0.95;
  LocalTensor result = device(op.getGradient());
  auto &moments = device.run.training().moments[keyOf(op.getWeight(), device)];
  LocalTensor &kept = keptBy(device, moments.first, result.shape);
  if (kept.shape != result.shape)
    return op.emitError("what is kept is of another shape on a device");
  for (int64_t i = 0; i < result.size(); ++i) {
    kept.data[i] = share * kept.data[i] + result.data[i];
    result.data[i] += share * kept.data[i];
  }
  return result;
}

namespace {

/// A matrix in row-major order.
struct Matrix {
  int64_t rows, columns;
  std::vector<double> data;

  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), data(rows * columns) {}

  Matrix transposed() const {
    Matrix turned(columns, rows);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        turned.data[j * rows + i] = data[i * columns + j];
    return turned;
  }
  Matrix operator*(const Matrix &other) const {
    Matrix product(rows, other.columns);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < columns; ++k)
        for (int64_t j = 0; j < other.columns; ++j)
          product.data[i * other.columns + j] +=
              data[i * columns + k] * other.data[k * other.columns + j];
    return product;
  }
  /// Sets this matrix to a * this + b * other.
  void blend(double a, double b, const Matrix &other) {
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = a * data[i] + b * other.data[i];
  }
};

} // namespace

/// Orthogonalises a matrix with no more rows than columns, by `steps`
/// Newton-Schulz iterations.
static Matrix orthogonalize(Matrix x, int64_t steps) {
  constexpr double a = 3.4445, b = -4.775, c = 2.0315, least = 1e-7;
  double norm = 0;
  for (double value : x.data)
    norm += value * value;
  norm = std::sqrt(norm) + least;
  for (double &value : x.data)
    value /= norm;
  for (int64_t i = 0; i < steps; ++i) {
    Matrix square = x * x.transposed();
    Matrix quartic = square * square;
    square.blend(b, c, quartic);
    x.blend(a, 1, square * x);
  }
  return x;
}

static LocalResult run(OrthogonalizeOp op, Device &device) {
  LocalTensor result = device(op.getInput());
  Matrices matrices(result, op.getRows());
  bool isTurned = matrices.rows > matrices.columns;
  double scale = std::sqrt(
      std::max(1.0, double(matrices.rows) / double(matrices.columns)));
  for (int64_t n = 0; n < matrices.count; ++n) {
    auto begin = result.data.begin() + n * matrices.size();
    Matrix x(matrices.rows, matrices.columns);
    std::copy_n(begin, matrices.size(), x.data.begin());
    auto steps = static_cast<int64_t>(op.getSteps());
    x = isTurned ? orthogonalize(x.transposed(), steps).transposed()
                 : orthogonalize(std::move(x), steps);
    for (int64_t i = 0; i < matrices.size(); ++i)
      begin[i] = scale * x.data[i];
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Writing updated elements
//===----------------------------------------------------------------------===//

static LogicalResult run(AssignOp op, Device &device) {
  StoredElements stored(findWeight(op.getWeight()));
  std::vector<std::string> names = stored.names(device.run.layerName());
  const LocalTensor &value = device(op.getValue());
  Placement placement(TensorView(op.getValue()), device.grid(), device.id);
  placement.forEach([&](int64_t local, int64_t at) {
    if (at < 0)
      return;
    auto [copy, offset] = stored.find(at);
    device.run.training().next[names[copy]][offset] = value.data[local];
  });
  return success();
}

void autopar::interpreter::attachOptimizerKernels(MLIRContext *context) {
  attach<UpdateOp, run>(context);
  attach<MeanOp, run>(context);
  attach<MovingMeanOp, run>(context);
  attach<PreconditionOp, run>(context);
  attach<MomentumOp, run>(context);
  attach<OrthogonalizeOp, run>(context);
  attach<AssignOp, run>(context);
}

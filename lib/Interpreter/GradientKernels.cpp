//===- GradientKernels.cpp - Gradients of products, tables, losses --------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include "Kernels.h"

#include "autopar/Dialect/Training/Training.h"

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

namespace {

/// The scores of tokens, in all parts of the vocabulary.
class VocabularyScores {
public:
  VocabularyScores(Value x, Device &device) {
    TensorView type(x);
    unsigned last = type.rank() - 1;
    for (int64_t member : device.grid().groupOf(device.id, type.dim(last).axes))
      parts.push_back(
          {&device.of(member, x), device.grid().indicesOf(type, last, member)});
  }

  /// The logarithm of the sum that makes scores of token `row` probabilities.
  double normaliser(int64_t row) const {
    Softmax softmax;
    for (const auto &[x, entries] : parts)
      for (size_t i = 0; i < entries.size(); ++i)
        if (entries[i] >= 0)
          softmax.add(entries[i],
                      x->data[row * int64_t(entries.size()) + int64_t(i)]);
    softmax.finish(std::nullopt);
    return softmax.normaliser();
  }
  /// That of `entry` for token `row`; none where no part has it.
  std::optional<double> score(int64_t row, int64_t entry) const {
    for (const auto &[x, entries] : parts)
      if (int64_t at = find(entries, entry); at >= 0)
        return x->data[row * int64_t(entries.size()) + at];
    return std::nullopt;
  }

private:
  std::vector<std::pair<const LocalTensor *, std::vector<int64_t>>> parts;
};

} // namespace

static LocalResult run(CrossEntropyOp op, Device &device) {
  const LocalTensor &labels = device(op.getLabels());
  VocabularyScores scores(op.getX(), device);
  LocalTensor result(labels.shape);
  for (int64_t row = 0; row < result.size(); ++row) {
    auto label = static_cast<int64_t>(labels.data[row]);
    std::optional<double> own = scores.score(row, label);
    if (!own)
      return op.emitError("no device of the group has the score of label ")
             << label;
    result.data[row] = scores.normaliser(row) - *own;
  }
  return result;
}

static LocalResult run(CrossEntropyBackwardOp op, Device &device) {
  LocalTensor result = device(op.getX());
  const LocalTensor &labels = device(op.getLabels());
  VocabularyScores scores(op.getX(), device);
  std::vector<int64_t> entries =
      device.indices(op.getX(), TensorView(op.getX()).rank() - 1);
  auto width = static_cast<int64_t>(entries.size());
  for (int64_t row = 0; row < labels.size(); ++row) {
    double normaliser = scores.normaliser(row);
    for (int64_t i = 0; i < width; ++i) {
      double &element = result.data[row * width + i];
      element = std::exp(element - normaliser) -
                (double(entries[i]) == labels.data[row] ? 1 : 0);
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The dimensions of `a` from `begin` to `end`, then those of `b` from `from`.
static std::vector<int64_t> joinShapes(const LocalTensor &a, size_t begin,
                                       size_t end, const LocalTensor &b,
                                       size_t from, size_t to) {
  std::vector<int64_t> shape(a.shape.begin() + begin, a.shape.begin() + end);
  shape.insert(shape.end(), b.shape.begin() + from, b.shape.begin() + to);
  return shape;
}

/// Each of the devices that have the same heads adds its share of a sum.
static LocalResult run(LinearBackwardOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy()), &weight = device(op.getWeight());
  size_t rows = dy.shape.size() - op.getNumContracted();
  size_t inner = weight.shape.size() - op.getNumContracted();
  int64_t in = weight.extent(0, inner), out = weight.extentFrom(inner);
  if (dy.extentFrom(rows) != out)
    return op.emitError("contracted dimensions differ on a device");
  double copies = 1;
  for (size_t dim = rows; dim < dy.shape.size(); ++dim)
    copies *= double(copiesOf(TensorView(op.getDy()), dim, device.grid()));
  LocalTensor result(joinShapes(dy, 0, rows, weight, 0, inner));
  for (int64_t at = 0; at < result.size(); ++at)
    result.data[at] =
        dot(&dy.data[at / in * out], &weight.data[at % in * out], out) / copies;
  return result;
}

/// Of what pads the vocabulary nothing is added.
static LocalResult run(LogitsBackwardOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy()), &table = device(op.getTable());
  std::vector<int64_t> entries = device.indices(op.getTable(), 0);
  int64_t width = table.shape[1], count = table.shape[0];
  size_t last = dy.shape.size() - 1;
  if (dy.shape[last] != count)
    return op.emitError("contracted dimensions differ on a device");
  LocalTensor result(joinShapes(dy, 0, last, table, 1, 2));
  for (int64_t row = 0; row < dy.size() / std::max<int64_t>(1, count); ++row)
    for (int64_t v = 0; v < count; ++v)
      for (int64_t h = 0; entries[v] >= 0 && h < width; ++h)
        result.data[row * width + h] +=
            dy.data[row * count + v] * table.data[v * width + h];
  return result;
}

static LocalResult run(ProductGradientOp op, Device &device) {
  const LocalTensor &a = device(op.getA()), &b = device(op.getB());
  size_t leading = op.getNumTokenDims();
  int64_t tokens = a.extent(0, leading);
  int64_t in = a.extentFrom(leading), out = b.extentFrom(leading);
  if (b.extent(0, leading) != tokens)
    return op.emitError("tokens differ on a device");
  LocalTensor result(
      joinShapes(a, leading, a.shape.size(), b, leading, b.shape.size()));
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t i = 0; i < in; ++i)
      for (int64_t o = 0; o < out; ++o)
        result.data[i * out + o] += a.data[t * in + i] * b.data[t * out + o];
  return result;
}

static LocalResult run(SumTokensOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy());
  LocalTensor result(device(op.getBias()).shape);
  for (int64_t at = 0; at < dy.size(); ++at)
    result.data[at % result.size()] += dy.data[at];
  return result;
}

static LocalResult run(FactorGradientOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy()), &x = device(op.getX());
  LocalTensor result(device(op.getFactors()).shape);
  for (int64_t at = 0; at < dy.size(); ++at)
    result.data[at % result.size()] += dy.data[at] * x.data[at];
  return result;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Rows that the device does not have are others'.
static LocalResult run(EmbeddingGradientOp op, Device &device) {
  const LocalTensor &ids = device(op.getIds()), &dy = device(op.getDy());
  std::vector<int64_t> rows = device.indices(op.getTable(), 0);
  LocalTensor result(device(op.getTable()).shape);
  int64_t width = result.extentFrom(1);
  for (int64_t i = 0; i < ids.size(); ++i) {
    int64_t row = find(rows, static_cast<int64_t>(ids.data[i]));
    for (int64_t h = 0; row >= 0 && h < width; ++h)
      result.data[row * width + h] += dy.data[i * width + h];
  }
  return result;
}

static LocalResult run(PositionGradientOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy());
  LocalTensor result(device(op.getTable()).shape);
  PositionRows rows(op, op.getDy(), result.size(), device);
  if (!rows)
    return op.emitError("the table has no rows of this width on a device");
  for (int64_t at = 0; at < dy.size(); ++at)
    result.data[rows.placeOf(at)] += dy.data[at];
  return result;
}

void autopar::interpreter::attachGradientKernels(MLIRContext *context) {
  attach<CrossEntropyOp, run>(context);
  attach<CrossEntropyBackwardOp, run>(context);
  attach<LinearBackwardOp, run>(context);
  attach<LogitsBackwardOp, run>(context);
  attach<ProductGradientOp, run>(context);
  attach<SumTokensOp, run>(context);
  attach<FactorGradientOp, run>(context);
  attach<EmbeddingGradientOp, run>(context);
  attach<PositionGradientOp, run>(context);
}

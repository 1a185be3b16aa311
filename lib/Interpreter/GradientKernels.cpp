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
// Kernels of losses
//===----------------------------------------------------------------------===//

namespace {

/// The scores of all tokens of a device, in all parts of the vocabulary.
class VocabularyScores {
public:
  VocabularyScores(Value x, Device &device) {
    TensorView type(x);
    unsigned last = type.rank() - 1;
    for (int64_t member : device.grid().groupOf(device.id, type.dim(last).axes))
      parts.push_back(
          {&device.of(member, x), device.grid().indicesOf(type, last, member)});
  }

  /// Returns the logarithm of the sum by which the scores of token `row` become
  /// probabilities.
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
  /// Returns the score of the vocabulary's `entry` for token `row`; nothing if
  /// no part has it.
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
// Gradients of matmuls
//===----------------------------------------------------------------------===//

namespace {

/// A tensor as a matrix: one index runs over the dimensions that a matmul
/// contracts, the other over those that it keeps.
struct Factor {
  Factor(const LocalTensor &tensor, size_t count, bool isLast)
      : data(tensor.data.data()),
        first(isLast ? tensor.shape.size() - count : 0),
        contracted(tensor.extent(first, first + count)),
        kept(tensor.size() / std::max<int64_t>(1, contracted)),
        keptStride(isLast ? contracted : 1), stride(isLast ? 1 : kept) {
    shape = tensor.shape;
    shape.erase(shape.begin() + first, shape.begin() + first + count);
  }

  const double *data;
  /// The number of the first contracted dimension.
  size_t first;
  int64_t contracted, kept, keptStride, stride;
  /// The sizes of the kept dimensions.
  std::vector<int64_t> shape;
};

} // namespace

/// Executes the gradient of a matmul. Padding of the vocabulary adds nothing;
/// devices that have the same elements each add their share of a sum.
static LocalResult run(ProductGradientOp op, Device &device) {
  size_t count = op.getNumContracted();
  Factor a(device(op.getLhs()), count, op.contractsLastOfLhs());
  Factor b(device(op.getRhs()), count, op.contractsLastOfRhs());
  if (a.contracted != b.contracted)
    return op.emitError("contracted dimensions differ on a device");
  double copies = 1;
  for (size_t dim = a.first; dim < a.first + count; ++dim)
    copies *= double(copiesOf(TensorView(op.getLhs()), dim, device.grid()));
  std::vector<int64_t> entries(a.contracted);
  if (op.getRole() == ProductRole::states)
    entries = device.indices(op.getRhs(), 0);
  std::vector<int64_t> shape = a.shape;
  shape.insert(shape.end(), b.shape.begin(), b.shape.end());
  LocalTensor result(shape);
  for (int64_t c = 0; c < a.contracted; ++c)
    for (int64_t i = 0; entries[c] >= 0 && i < a.kept; ++i)
      for (int64_t j = 0; j < b.kept; ++j)
        result.data[i * b.kept + j] += a.data[i * a.keptStride + c * a.stride] *
                                       b.data[j * b.keptStride + c * b.stride];
  for (double &element : result.data)
    element /= copies;
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
// Gradients of embedding tables
//===----------------------------------------------------------------------===//

/// Sums the gradients of the rows that the device has; other devices sum those
/// of the other rows.
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
  attach<ProductGradientOp, run>(context);
  attach<SumTokensOp, run>(context);
  attach<FactorGradientOp, run>(context);
  attach<EmbeddingGradientOp, run>(context);
  attach<PositionGradientOp, run>(context);
}

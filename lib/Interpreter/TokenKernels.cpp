//===- TokenKernels.cpp - Weights, products, tokens -----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Placement.h"
#include "StoredElements.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::transformer;
using namespace mlir;

int64_t autopar::interpreter::find(const std::vector<int64_t> &indices,
                                   int64_t index) {
  auto found = std::find(indices.begin(), indices.end(), index);
  return found == indices.end() ? -1 : found - indices.begin();
}

/// Returns the number of devices that have the same elements of a dimension.
int64_t autopar::interpreter::copiesOf(const TensorView &view, unsigned dim,
                                       const DeviceGrid &grid) {
  DimRef ref = view.dim(dim);
  int64_t devices = grid.sizeOf(ref.axes), extent = grid.extentOf(view, dim);
  return ref.rule == SplitRule::cap && devices > extent ? devices / extent : 1;
}

//===----------------------------------------------------------------------===//
// Reading elements of weights
//===----------------------------------------------------------------------===//

namespace {

/// The elements of a weight: random ones by the rule of Execution.h, or those
/// after updates.
class WeightElements {
public:
  WeightElements(WeightOp op, Device &device)
      : memory(device.run.training()), stored(op),
        names(stored.names(device.run.layerName())),
        scale(stored.rank() == 1 ? 1 : matrixScale) {
    for (const std::string &name : names) {
      auto found = memory.given.find(name);
      given.push_back(found == memory.given.end() ? nullptr : &found->second);
    }
  }

  double operator()(int64_t at) const {
    auto [copy, offset] = stored.find(at);
    return begin(copy, offset) + memory.nudgeOf(names[copy], offset);
  }

private:
  double begin(int64_t copy, int64_t offset) const {
    if (given[copy])
      if (auto own = given[copy]->find(offset); own != given[copy]->end())
        return own->second;
    return scale * randomNumber(names[copy], offset);
  }

  const TrainingMemory &memory;
  StoredElements stored;
  std::vector<std::string> names;
  double scale;
  /// The updated elements of each tensor; null for a tensor without updates.
  std::vector<const std::map<int64_t, double> *> given;
};

} // namespace

static LocalResult run(WeightOp op, Device &device) {
  WeightElements elements(op, device);
  Placement placement(TensorView(op.getResult()), device.grid(), device.id);
  LocalTensor weight(placement.shape());
  placement.forEach([&](int64_t local, int64_t at) {
    weight.data[local] = at < 0 ? std::nan("") : elements(at);
  });
  return weight;
}

static LocalResult run(KVCacheOp, Device &) { return LocalTensor(); }
static LocalResult run(StateOp, Device &) { return LocalTensor(); }

//===----------------------------------------------------------------------===//
// Kernels of matmuls
//===----------------------------------------------------------------------===//

/// Multiplies `x` [rows, in] by `w` [in, out], and adds `bias` [out] if there
/// is one.
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
// Kernels that select or move tokens
//===----------------------------------------------------------------------===//

/// Looks token ids up. Rows that the device does not have are 0, because other
/// devices add them.
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

/// Returns the last token; if another device has it, 0, because that device
/// adds it.
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

static LocalResult run(PositionEmbeddingOp op, Device &device) {
  LocalTensor result = device(op.getX());
  const LocalTensor &table = device(op.getTable());
  PositionRows rows(op, op.getX(), table.size(), device);
  if (!rows)
    return op.emitError("the table has no rows of this width on a device");
  for (int64_t at = 0; at < result.size(); ++at)
    result.data[at] += table.data[rows.placeOf(at)];
  return result;
}

/// The encoded tokens are the first tokens of the sequence.
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

void autopar::interpreter::attachTokenKernels(MLIRContext *context) {
  attach<WeightOp, run>(context);
  attach<KVCacheOp, run>(context);
  attach<StateOp, run>(context);
  attach<LinearOp, run>(context);
  attach<LogitsOp, run>(context);
  attach<EmbeddingOp, run>(context);
  attach<LastTokenOp, run>(context);
  attach<LayerPartOp, run>(context);
  attach<PositionEmbeddingOp, run>(context);
  attach<InsertOp, run>(context);
  attach<MergeTokensOp, run>(context);
}

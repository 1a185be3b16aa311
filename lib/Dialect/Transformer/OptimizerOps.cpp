//===- OptimizerOps.cpp - What updates make of weights --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Training.h"

#include "Factors.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

/// Values of an 8-bit state that share a scale (bitsandbytes, blockwise
/// optimizers).
static constexpr int64_t valuesPerScale = 256;

static LogicalResult verifyStates(Operation *op, ArrayRef<Type> states) {
  for (Type state : states)
    if (!toElementType(state))
      return op->emitOpError()
             << "keeps numbers of " << state << ", expected formats";
  return success();
}

/// `rows` are some of the dimensions of a tensor, and columns follow.
static LogicalResult verifyRows(Operation *op, ArrayRef<int64_t> rows,
                                int64_t rank) {
  if (rows.size() == 2 && rows[0] >= 0 && rows[0] < rows[1] && rows[1] < rank)
    return success();
  return op->emitOpError() << "has rows in dimensions [" << rows << "] of "
                           << rank
                           << ", expected the first and the one behind the "
                              "last, with columns behind them";
}

//===----------------------------------------------------------------------===//
// UpdateOp
//===----------------------------------------------------------------------===//

/// How many states an optimizer keeps beside a master copy: least and most.
static std::pair<unsigned, unsigned> momentsOf(UpdateOp op) {
  switch (op.getOptimizer()) {
  case OptimizerKind::adamw:
    return {2, 2};
  case OptimizerKind::sgd:
    return {0, 1};
  case OptimizerKind::adafactor:
    return op.getRows() ? std::pair(2U, 2U) : std::pair(1U, 1U);
  }
  llvm_unreachable("covered switch");
}

LogicalResult UpdateOp::verify() {
  SmallVector<Type> states =
      llvm::to_vector(getStates().getAsValueRange<TypeAttr>());
  if (failed(verifyStates(*this, states)))
    return failure();
  if (getRows() && getOptimizer() != OptimizerKind::adafactor)
    return emitOpError("has rows, which adafactor alone keeps numbers of");
  if (getRows() && failed(verifyRows(*this, *getRows(), rankOf(getWeight()))))
    return failure();
  unsigned copies = getMaster() ? 1 : 0;
  auto [least, most] = momentsOf(*this);
  if (states.size() >= least + copies && states.size() <= most + copies)
    return success();
  return emitOpError() << "keeps " << states.size()
                       << " numbers of each parameter, expected "
                       << least + copies << " to " << most + copies;
}

ShardingFactors UpdateOp::getShardingFactors() {
  return elementwiseFactors(*this);
}

/// What is kept of the elements of `tensor`, but for its dimensions `[begin,
/// end)`, over which it is a mean.
static KeptState keep(WorkloadBuilder &builder, Value tensor, Type format,
                      int64_t begin = 0, int64_t end = 0) {
  KeptState kept;
  kept.shape = builder.dims(tensor, 0, begin);
  llvm::append_range(kept.shape, builder.dims(tensor, end, rankOf(tensor)));
  kept.type = *toElementType(format);
  if (kept.type == ElementType::i8)
    kept.block = valuesPerScale;
  return kept;
}

void UpdateOp::buildWorkload(WorkloadBuilder &builder) {
  SmallVector<KeptState> states;
  for (Type format : getStates().getAsValueRange<TypeAttr>())
    states.push_back(keep(builder, getResult(), format));
  if (getMaster())
    states.front().isMaster = true;
  if (std::optional<ArrayRef<int64_t>> rows = getRows()) {
    int64_t rank = rankOf(getResult());
    SmallVector<Type> formats =
        llvm::to_vector(getStates().getAsValueRange<TypeAttr>());
    states.end()[-2] =
        keep(builder, getResult(), formats.end()[-2], (*rows)[1], rank);
    states.back() =
        keep(builder, getResult(), formats.back(), (*rows)[0], (*rows)[1]);
  }
  builder.addUpdate(*this, findWeight(getWeight()), states);
}

//===----------------------------------------------------------------------===//
// MomentumOp
//===----------------------------------------------------------------------===//

LogicalResult MomentumOp::verify() { return verifyStates(*this, {getState()}); }

ShardingFactors MomentumOp::getShardingFactors() {
  return elementwiseFactors(*this);
}

void MomentumOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addUpdate(*this, findWeight(getWeight()),
                    keep(builder, getResult(), getState()));
}

//===----------------------------------------------------------------------===//
// OrthogonalizeOp
//===----------------------------------------------------------------------===//

LogicalResult OrthogonalizeOp::verify() {
  if (static_cast<int64_t>(getSteps()) < 1)
    return emitOpError() << "takes " << static_cast<int64_t>(getSteps())
                         << " steps, expected 1 or more";
  return verifyRows(*this, getRows(), rankOf(getInput()));
}

/// A matrix is made of all of its rows and columns.
ShardingFactors OrthogonalizeOp::getShardingFactors() {
  ShardingFactors factors = elementwiseFactors(*this);
  for (size_t i = getRows().front(); i < factors.kinds.size(); ++i)
    factors.kinds[i] = FactorKind::whole;
  return factors;
}

/// The products of a step: A = X X^T, A A, and what is left by X.
void OrthogonalizeOp::buildWorkload(WorkloadBuilder &builder) {
  int64_t begin = getRows()[0], end = getRows()[1], rank = rankOf(getInput());
  ArrayRef<int64_t> shape = tensorOf(getInput().getType()).getShape();
  auto count = [](ArrayRef<int64_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                           std::multiplies<>());
  };
  Dims stack = builder.dims(getInput(), 0, begin);
  Dims small = builder.dims(getInput(), begin, end),
       large = builder.dims(getInput(), end, rank);
  if (count(shape.slice(begin, end - begin)) > count(shape.drop_front(end)))
    std::swap(small, large);
  auto with = [](Dims dims, const Dims &more) {
    llvm::append_range(dims, more);
    return dims;
  };
  Dims square = with(with(stack, small), small),
       matrix = with(with(stack, small), large);
  ElementType type = builder.formatOf(getResult());
  auto addProduct = [&](const Dims &columns, const Dims &contraction,
                        const Dims &left, const Dims &right, const Dims &made) {
    Kernel &kernel = builder.addProduct(*this, KernelKind::matmul,
                                        FlopClass::linear, Value());
    kernel.rows = with(stack, small);
    kernel.columns = columns;
    kernel.contraction = contraction;
    kernel.count *= static_cast<int64_t>(getSteps());
    builder.move(kernel, left, type, /*write=*/false);
    builder.move(kernel, right, type, /*write=*/false);
    builder.move(kernel, made, type, /*write=*/true);
  };
  addProduct(small, large, matrix, matrix, square);
  addProduct(small, small, square, square, square);
  addProduct(large, small, square, matrix, matrix);
}

//===----------------------------------------------------------------------===//
// AssignOp
//===----------------------------------------------------------------------===//

LogicalResult AssignOp::verify() {
  if (getWeight().getDefiningOp<WeightOp>())
    return success();
  return emitOpError("gives elements to no transformer.weight");
}

void AssignOp::buildWorkload(WorkloadBuilder &) {}

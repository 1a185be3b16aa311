//===- OptimizerOps.cpp - What updates make of weights --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

/// Number of values of an 8-bit optimizer state that share a scale
/// (bitsandbytes, blockwise optimizers).
static constexpr int64_t valuesPerScale = 256;

static LogicalResult verifyStates(Operation *op, ArrayRef<Type> states) {
  for (Type state : states)
    if (!toElementType(state))
      return op->emitOpError()
             << "keeps numbers of " << state << ", expected formats";
  return success();
}

/// Verifies that the range `rows` covers some dimensions of a tensor of rank
/// `rank`, and that dimensions of columns follow.
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
// The op UpdateOp
//===----------------------------------------------------------------------===//

/// Returns the least and the largest number of states that an optimizer keeps
/// besides a master copy.
static std::pair<unsigned, unsigned> momentsOf(UpdateOp op) {
  switch (op.getOptimizer()) {
  case OptimizerKind::adamw:
    return {2, 2};
  case OptimizerKind::sgd:
    return {0, 1};
  case OptimizerKind::adafactor:
    return {0, 0};
  }
  llvm_unreachable("covered switch");
}

LogicalResult UpdateOp::verify() {
  SmallVector<Type> states =
      llvm::to_vector(getStates().getAsValueRange<TypeAttr>());
  if (failed(verifyStates(*this, states)))
    return failure();
  bool isClipped = getOptimizer() == OptimizerKind::adafactor;
  if (isClipped != (getMeanSquare() != nullptr))
    return emitOpError() << (isClipped ? "has no" : "has a")
                         << " mean_square, by which adafactor alone shortens "
                            "its step";
  unsigned copies = getMaster() ? 1 : 0;
  auto [least, most] = momentsOf(*this);
  if (states.size() >= least + copies && states.size() <= most + copies)
    return success();
  return emitOpError() << "keeps " << states.size()
                       << " numbers of each parameter, expected "
                       << least + copies << " to " << most + copies;
}

/// The mean over all elements has no dimension in common with the elements.
ShardingFactors UpdateOp::getShardingFactors() {
  ShardingFactors factors = elementwiseFactors(*this);
  if (!getMeanSquare())
    return factors;
  if (rankOf(getMeanSquare()) != 0)
    return {};
  factors.operands.back().clear();
  return factors;
}

/// Returns the optimizer state that is kept in `format` for each element of
/// `tensor`.
static KeptState keep(WorkloadBuilder &builder, Value tensor, Type format) {
  KeptState kept;
  kept.shape = builder.dims(tensor);
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
  // The mean over all elements is known only after all have been read, so that
  // no kernel before this point is fused with the update.
  if (getMeanSquare())
    builder.endRun();
  builder.addUpdate(*this, findWeight(getWeight()), states);
}

//===----------------------------------------------------------------------===//
// The op MeanOp
//===----------------------------------------------------------------------===//

/// Whether `over` is a range of dimensions of a tensor of rank `rank`; the
/// range may be empty.
static bool isRange(ArrayRef<int64_t> over, int64_t rank) {
  return over.size() == 2 && over[0] >= 0 && over[0] <= over[1] &&
         over[1] <= rank;
}

LogicalResult MeanOp::verify() {
  if (!tensorOf(getResult().getType()).getElementType().isF32())
    return emitOpError("is not in f32");
  if (!getWeight() || findWeight(getWeight()))
    return success();
  return emitOpError("is of the gradient of no transformer.weight");
}

/// Padding is left out of the sums, as rows that no token looks up are.
ShardingFactors MeanOp::getShardingFactors() {
  ShardingFactors factors;
  int64_t rank = rankOf(getX());
  ArrayRef<int64_t> over = getOver();
  if (!isRange(over, rank) || (getWeight() && rankOf(getWeight()) != rank) ||
      rankOf(getResult()) != rank - (over[1] - over[0]))
    return factors;
  FactorList before = addFactors(factors, FactorKind::parallel, over[0]);
  FactorList own =
      addFactors(factors, FactorKind::reduction, over[1] - over[0]);
  FactorList behind = addFactors(factors, FactorKind::parallel, rank - over[1]);
  factors.operands.assign(getNumOperands(),
                          concat(concat(before, own), behind));
  factors.results = {concat(before, behind)};
  factors.linear = {{}};
  factors.sharesReplicas = true;
  factors.looksUp = true;
  return factors;
}

/// The op uses only the layout of the weight; it does not read the weight's
/// values.
void MeanOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(*this, KernelKind::elementwise);
  builder.read(kernel, getX());
  builder.write(kernel, getResult());
}

//===----------------------------------------------------------------------===//
// The op MovingMeanOp
//===----------------------------------------------------------------------===//

MeanOp MovingMeanOp::findMean() {
  auto mean = findSource<MeanOp>(getInput());
  return mean && mean.getSquared() && mean.getWeight() ? mean : MeanOp();
}

LogicalResult MovingMeanOp::verify() {
  if (failed(verifyStates(*this, {getState()})))
    return failure();
  if (findMean())
    return success();
  return emitOpError("is of no training.mean of the squares of a weight's "
                     "gradient");
}

ShardingFactors MovingMeanOp::getShardingFactors() {
  return elementwiseFactors(*this);
}

/// Means of rows and columns are known only after all elements have been read,
/// so that no kernel computes them and continues. One kernel updates the moving
/// means of both rows and columns.
void MovingMeanOp::buildWorkload(WorkloadBuilder &builder) {
  if (!isa_and_present<MovingMeanOp>((*this)->getPrevNode()))
    builder.endRun();
  builder.addUpdate(*this, findWeight(findMean().getWeight()),
                    keep(builder, getResult(), getState()));
}

//===----------------------------------------------------------------------===//
// The op PreconditionOp
//===----------------------------------------------------------------------===//

LogicalResult PreconditionOp::verify() {
  if (!getRows())
    return success();
  return verifyRows(*this, *getRows(), rankOf(getGradient()));
}

ShardingFactors PreconditionOp::getShardingFactors() {
  ShardingFactors factors = elementwiseFactors(*this);
  std::optional<ArrayRef<int64_t>> rows = getRows();
  int64_t rank = rankOf(getGradient());
  if (getMeans().size() != (rows ? 3 : 1) || (rows && !isRange(*rows, rank)))
    return {};
  FactorList all = factors.results.front();
  SmallVector<FactorList> means = {all};
  if (rows) {
    FactorList stack(ArrayRef(all).take_front((*rows)[0]));
    FactorList columns(ArrayRef(all).drop_front((*rows)[1]));
    means = {FactorList(ArrayRef(all).take_front((*rows)[1])),
             concat(stack, columns), stack};
  }
  for (auto [i, mean] : llvm::enumerate(getMeans())) {
    if (rankOf(mean) != static_cast<int64_t>(means[i].size()))
      return {};
    factors.operands[i + 1] = means[i];
  }
  return factors;
}

void PreconditionOp::buildWorkload(WorkloadBuilder &builder) {
  builder.endRun();
  builder.addElementwise(*this);
}

//===----------------------------------------------------------------------===//
// The op MomentumOp
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
// The op OrthogonalizeOp
//===----------------------------------------------------------------------===//

LogicalResult OrthogonalizeOp::verify() {
  if (static_cast<int64_t>(getSteps()) < 1)
    return emitOpError() << "takes " << static_cast<int64_t>(getSteps())
                         << " steps, expected 1 or more";
  return verifyRows(*this, getRows(), rankOf(getInput()));
}

/// Rows and columns of the matrix must not be split, because the result depends
/// on the whole matrix.
ShardingFactors OrthogonalizeOp::getShardingFactors() {
  ShardingFactors factors = elementwiseFactors(*this);
  for (size_t i = getRows().front(); i < factors.kinds.size(); ++i)
    factors.kinds[i] = FactorKind::whole;
  return factors;
}

/// Adds the three matmuls of one iteration for X: A = X X^T, A A, and the
/// polynomial in A times X.
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
// The op AssignOp
//===----------------------------------------------------------------------===//

LogicalResult AssignOp::verify() {
  if (getWeight().getDefiningOp<WeightOp>())
    return success();
  return emitOpError("gives elements to no transformer.weight");
}

void AssignOp::buildWorkload(WorkloadBuilder &) {}

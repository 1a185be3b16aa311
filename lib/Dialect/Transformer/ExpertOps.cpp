//===- ExpertOps.cpp - Mixtures of experts --------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Dialect/Transformer/Verifiers.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

#include "llvm/ADT/StringExtras.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Verifiers of ops with experts
//===----------------------------------------------------------------------===//

static LogicalResult verifyTopK(Operation *op, int64_t topK, int64_t experts) {
  if (topK >= 1 && topK <= experts)
    return success();
  return op->emitOpError() << "has top_k(" << topK << ") of " << experts
                           << " experts";
}

/// Verifies the expert groups of a router: the experts must divide into groups,
/// and the kept groups must have enough experts to choose from.
static LogicalResult verifyGroups(RouterOp op, int64_t experts) {
  if (!op.getGroups() && !op.getKeep())
    return success();
  int64_t groups = op.getGroups().value_or(0), keep = op.getKeep().value_or(0);
  if (groups < 1 || experts % groups)
    return op.emitOpError() << "has " << groups << " groups of " << experts
                            << " experts, which they do not divide";
  if (keep < 1 || keep > groups)
    return op.emitOpError()
           << "keeps " << keep << " of " << groups << " groups";
  int64_t left = experts / groups * keep, topK = op.getTopK();
  if (topK > left)
    return op.emitOpError() << "has top_k(" << topK << ") of the " << left
                            << " experts in the groups that it keeps";
  return success();
}

/// Verifies the operands of a router that looks experts up: token ids, and a
/// table with the experts of each id.
static LogicalResult verifyTable(RouterOp op) {
  if (bool(op.getIds()) != bool(op.getTable()))
    return op.emitOpError("has ids or a table of their experts, expected both");
  if (!op.getTable())
    return success();
  for (Value tensor : {op.getIds(), op.getTable()})
    if (!isa<IntegerType>(TensorView(tensor).getType().getElementType()))
      return op.emitOpError("looks experts up by numbers that are not "
                            "integers");
  if (op.getCorrection() || op.getGroups())
    return op.emitOpError("looks experts up, and has a correction or groups to "
                          "choose them by");
  if (failed(verifyNumbers(op, op.getTable(), 0)))
    return failure();
  int64_t found = sizeOf(op.getTable(), 1), topK = op.getTopK();
  if (found == topK)
    return success();
  return op.emitOpError() << "has a table of " << found
                          << " experts a word, expected " << topK;
}

LogicalResult RouterOp::verify() {
  if (getSigmoid() && getSqrtSoftplus())
    return emitOpError("has both 'sigmoid' and 'sqrt_softplus'");
  TensorView weight(getWeight()), result(getResult());
  if (weight.isSymbolic(1))
    return emitOpError() << "routes to " << weight.extentText(1)
                         << " experts, expected a number";
  if (result.extent(result.rank() - 1) != NamedExtent::number(getTopK()))
    return emitOpError() << "keeps " << getTopK()
                         << " experts, but the result has "
                         << result.extentText(result.rank() - 1);
  int64_t experts = weight.getType().getDimSize(1);
  return failure(
      failed(verifyTopK(*this, getTopK(), experts)) ||
      failed(verifyGroups(*this, experts)) || failed(verifyTable(*this)) ||
      (getScale() && failed(verifyPositive(*this, "scale", *getScale()))));
}

LogicalResult ExpertsOp::verify() {
  NamedExtent rows = TensorView(getX()).extent(0);
  int64_t topK = getTopK();
  if (!rows.isSet() || topK < 1 || rows.factor() % topK)
    return emitOpError() << "expected a set of {tokens*" << topK
                         << "} routed tokens, found "
                         << TensorView(getX()).extentText(0);
  return verifyTopK(*this, getTopK(),
                    TensorView(getWeight()).getType().getDimSize(0));
}

/// Verifies the extent of a set of routed tokens, which has one row per token
/// and chosen expert: the product of the token dimensions and of the number of
/// experts per token.
static LogicalResult verifyRouted(Operation *op, Value tokens, Value routing,
                                  Value set) {
  TensorView dense(tokens), kept(routing);
  SmallVector<NamedExtent> factors;
  for (unsigned i = 0; i + 1 < dense.rank(); ++i)
    factors.push_back(dense.extent(i));
  factors.push_back(kept.extent(kept.rank() - 1));
  std::optional<NamedExtent> expected = NamedExtent::product(factors);
  if (!expected)
    return op->emitOpError("has more routed tokens than 63 bits count");
  if (TensorView(set).extent(0).dividedBy(*expected) == 1)
    return success();
  return op->emitOpError() << "routes a set of "
                           << TensorView(set).extentText(0) << ", expected "
                           << expected->str();
}

LogicalResult DispatchOp::verify() {
  return verifyRouted(*this, getX(), getRouting(), getResult());
}

LogicalResult CombineOp::verify() {
  return verifyRouted(*this, getResult(), getRouting(), getX());
}

LogicalResult AddExpertBiasOp::verify() {
  if (failed(verifyNumbers(*this, getRouting(), rankOf(getRouting()) - 1)) ||
      failed(verifyNumbers(*this, getBias(), 0)))
    return failure();
  return verifyTopK(*this, sizeOf(getRouting(), rankOf(getRouting()) - 1),
                    sizeOf(getBias(), 0));
}

//===----------------------------------------------------------------------===//
// Factors, which say how ops with experts can be split
//===----------------------------------------------------------------------===//

ShardingFactors RouterOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) < 1 || rankOf(getWeight()) != 2 ||
      !haveRanks({{getBias(), 1},
                  {getCorrection(), 1},
                  {getIds(), rankOf(getX()) - 1},
                  {getTable(), 2}}))
    return factors;
  FactorList rows =
      addFactors(factors, FactorKind::parallel, rankOf(getX()) - 1);
  int32_t hidden = factors.add(FactorKind::whole);
  int32_t experts = factors.add(FactorKind::whole);
  int32_t topK = factors.add(FactorKind::whole);
  factors.operands = {concat(rows, {hidden}), {hidden, experts}};
  for (Value addend : {getBias(), getCorrection()})
    if (addend)
      factors.operands.push_back({experts});
  if (getIds())
    factors.operands.push_back(rows);
  if (getTable())
    factors.operands.push_back({factors.add(FactorKind::whole), topK});
  factors.results = {concat(rows, {topK})};
  return factors;
}

/// Rows of a set are on the devices of their tokens; tensor parallelism may
/// split their dimension `hidden`.
ShardingFactors transformer::routedFactors(Value tokens, Value routing,
                                           Value set, bool fromSet) {
  ShardingFactors factors;
  if (rankOf(tokens) < 1 || rankOf(set) != 2 ||
      rankOf(routing) != rankOf(tokens))
    return factors;
  FactorList rows =
      addFactors(factors, FactorKind::parallel, rankOf(tokens) - 1);
  int32_t hidden = factors.add(FactorKind::parallel);
  int32_t topK = factors.add(FactorKind::whole);
  int32_t routedTokens = factors.merge(concat(rows, {topK}));
  FactorList dense = concat(rows, {hidden}), sparse = {routedTokens, hidden};
  factors.operands = {fromSet ? sparse : dense, concat(rows, {topK})};
  factors.results = {fromSet ? dense : sparse};
  factors.linear = {{0}};
  // Each device sums the rows of its own experts, so that the result is a sum
  // over experts.
  if (fromSet)
    factors.operandExperts[0] = factors.add(FactorKind::reduction);
  return factors;
}

ShardingFactors DispatchOp::getShardingFactors() {
  return routedFactors(getX(), getRouting(), getResult(), /*fromSet=*/false);
}

ShardingFactors CombineOp::getShardingFactors() {
  return routedFactors(getResult(), getRouting(), getX(), /*fromSet=*/true);
}

ShardingFactors ExpertsOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) != 2 || rankOf(getWeight()) != 3 ||
      rankOf(getResult()) != 2)
    return factors;
  int32_t rows = factors.add(FactorKind::parallel);
  int32_t experts = factors.add(FactorKind::parallel);
  int32_t inner = factors.add(FactorKind::reduction);
  int32_t columns = factors.add(FactorKind::parallel);
  factors.operands = {{rows, inner}, {experts, inner, columns}};
  if (getBias())
    factors.operands.push_back({experts, columns});
  else
    factors.linear = {{0}, {1}};
  factors.results = {{rows, columns}};
  factors.operandExperts[0] = factors.resultExperts[0] = experts;
  return factors;
}

Operation *ExpertsOp::detachBias(OpBuilder &builder) {
  Value bias = getBias();
  if (!bias || !getResult().hasOneUse())
    return nullptr;
  auto combine = dyn_cast<CombineOp>(*getResult().user_begin());
  if (!combine)
    return nullptr;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  auto product = ExpertsOp::create(builder, getLoc(), getResult().getType(),
                                   getX(), getWeight(), Value(), getTopK());
  getResult().replaceAllUsesWith(product.getResult());
  builder.setInsertionPointAfter(combine);
  Value sum = combine.getResult();
  auto biased = AddExpertBiasOp::create(builder, getLoc(), sum.getType(), sum,
                                        combine.getRouting(), bias);
  sum.replaceAllUsesExcept(biased.getResult(), biased);
  erase();
  return product;
}

ShardingFactors AddExpertBiasOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) < 1 || rankOf(getRouting()) != rankOf(getX()) ||
      rankOf(getBias()) != 2)
    return factors;
  FactorList rows =
      addFactors(factors, FactorKind::parallel, rankOf(getX()) - 1);
  int32_t hidden = factors.add(FactorKind::parallel);
  int32_t topK = factors.add(FactorKind::whole);
  int32_t experts = factors.add(FactorKind::whole);
  factors.operands = {
      concat(rows, {hidden}), concat(rows, {topK}), {experts, hidden}};
  factors.results = {concat(rows, {hidden})};
  return factors;
}

//===----------------------------------------------------------------------===//
// Workloads of ops with experts
//===----------------------------------------------------------------------===//

void RouterOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel =
      builder.addProduct(*this, KernelKind::matmul, FlopClass::linear, getX());
  kernel.rows = builder.dims(getX(), 0, rankOf(getX()) - 1);
  kernel.contraction = builder.dims(getWeight(), 0, 1);
  kernel.columns = builder.dims(getWeight(), 1, 2);
  for (Value operand :
       {getX(), getWeight(), getBias(), getCorrection(), getIds()})
    if (operand)
      builder.read(kernel, operand);
  if (getTable())
    builder.gather(kernel, getTable(), kernel.rows);
  builder.write(kernel, getResult());
  if (getGroups())
    builder.setExpertGroups(
        {static_cast<int64_t>(*getGroups()), static_cast<int64_t>(*getKeep())});
}

/// Whether the rows are returned to their tokens unchanged; collectives may lie
/// between.
static bool areCombined(Value rows) {
  return llvm::all_of(rows.getUsers(), [](Operation *user) {
    return isa<CombineOp>(user) || !isa<ShardingOpInterface>(user);
  });
}

/// Memory passes of the bias in training, which is added after the matmul: it
/// is weighted by the routing, whose numbers are fp32, with a product, a sum
/// and a concatenation of the experts' rows, and then a cast (Megatron-LM,
/// megatron/core/transformer/moe/experts.py, TEGroupedMLP._apply_bias).
static constexpr Passes biasPasses = {1, 1, 3, 3};

void ExpertsOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addProduct(*this, KernelKind::grouped_matmul,
                                      FlopClass::linear, getX());
  kernel.rows = builder.dims(getX(), 0, 1);
  kernel.contraction = builder.dims(getWeight(), 1, 2);
  kernel.columns = builder.dims(getWeight(), 2, 3);
  builder.read(kernel, getX());
  for (Value parameter : getOperands().drop_front())
    builder.readExperts(kernel, parameter, kernel.rows, getTopK());
  builder.write(kernel, getResult());
  if (getBias() && builder.trains() && areCombined(getResult()))
    builder.addPasses(*this, getResult(), biasPasses);
}

void AddExpertBiasOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(*this, KernelKind::elementwise);
  builder.read(kernel, getX());
  builder.read(kernel, getRouting());
  builder.readExperts(kernel, getBias(), builder.dims(getRouting()),
                      sizeOf(getRouting(), rankOf(getRouting()) - 1));
  builder.write(kernel, getResult());
}

void DispatchOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

void CombineOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

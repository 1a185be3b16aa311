//===- GradientWorkloads.cpp - What backwards cost ------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Dialect/Transformer/Verifiers.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

#define AUTOPAR_ELEMENTWISE(OP)                                                \
  void OP::buildWorkload(WorkloadBuilder &builder) {                           \
    builder.addElementwise(*this);                                             \
  }
AUTOPAR_ELEMENTWISE(ActivationBackwardOp)
AUTOPAR_ELEMENTWISE(SoftcapBackwardOp)
AUTOPAR_ELEMENTWISE(DropoutOp)
AUTOPAR_ELEMENTWISE(NormBackwardOp)
#undef AUTOPAR_ELEMENTWISE

/// Where the forward has clamped (`GatedOp`): gradients of both halves, by what
/// was clamped, are concatenated.
void GatedBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  constexpr Passes clampPasses = {6, 4};
  builder.addElementwise(*this);
  if (getLimit() && TensorView(getGate()).isSet())
    builder.addPasses(*this, getGate(), clampPasses);
}

/// What does not turn is not moved.
void RopeBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addElementwise(*this);
  if (std::optional<int64_t> width = getWidth())
    for (Traffic &traffic : kernel.traffic)
      traffic.shape.back().extent.factor = *width;
}

void DropoutMaskOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(*this, KernelKind::elementwise);
  builder.write(kernel, getResult());
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

void CrossEntropyOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
  constexpr int exchanges = 3;
  for (int i = 0; i < exchanges; ++i)
    builder.exchangeOverLast(*this, getX());
}

/// Scores are read for the sum and for the result.
void CrossEntropyBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addElementwise(*this);
  builder.read(kernel, getX());
  constexpr int exchanges = 2;
  for (int i = 0; i < exchanges; ++i)
    builder.exchangeOverLast(*this, getX());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The sum of gradients of one input that `gradient` is added to.
static Value sumOf(Value gradient) {
  while (gradient.hasOneUse()) {
    auto sum = dyn_cast<AddOp>(*gradient.user_begin());
    if (!sum || !isInputGradient(sum.getResult()))
      break;
    gradient = sum.getResult();
  }
  return gradient;
}

/// What reports call the kernels, by role.
static constexpr StringLiteral productNames[] = {
    "linear_backward", "logits_backward", "product_gradient"};

/// Products whose results are added up are one, of operands side by side; so
/// are those of one input with all tokens.
void ProductGradientOp::buildWorkload(WorkloadBuilder &builder) {
  ProductRole role = getRole();
  bool isOfScores = role == ProductRole::states;
  unsigned contracted = getNumContracted(), rank = rankOf(getLhs());
  unsigned rows = rank - contracted, columns = rankOf(getRhs()) - contracted;
  unsigned left = contractsLastOfLhs() ? 0 : contracted;
  unsigned right = contractsLastOfRhs() ? 0 : contracted;
  Kernel &kernel = builder.addProduct(
      *this, KernelKind::matmul,
      isOfScores ? FlopClass::logits : FlopClass::linear, getLhs());
  kernel.op = productNames[size_t(role)];
  kernel.rows = builder.dims(getLhs(), left, left + rows);
  kernel.contraction = left == 0 ? builder.dims(getLhs(), rows, rank)
                                 : builder.dims(getLhs(), 0, contracted);
  kernel.columns = builder.dims(getRhs(), right, right + columns);
  kernel.ofWeights = role == ProductRole::weight;
  builder.read(kernel, getLhs());
  builder.read(kernel, getRhs());
  builder.write(kernel, getResult());
  if (!isOfScores)
    builder.makesProduct(getResult());
  builder.mergeBy(isOfInput() ? sumOf(getResult()) : getLhs());
}

/// What sums over tokens reads `operands` and writes its result.
static void addSum(Operation *op, ValueRange operands,
                   WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(op, KernelKind::elementwise);
  kernel.ofWeights = true;
  for (Value operand : operands)
    builder.read(kernel, operand);
  builder.write(kernel, op->getResult(0));
}

void SumTokensOp::buildWorkload(WorkloadBuilder &builder) {
  addSum(*this, {getDy()}, builder);
}

void FactorGradientOp::buildWorkload(WorkloadBuilder &builder) {
  addSum(*this, {getDy(), getX()}, builder);
}

void NormGradientOp::buildWorkload(WorkloadBuilder &builder) {
  addSum(*this, {getDy(), getX()}, builder);
}

/// A row is read and written for each token.
static void addRows(Operation *op, Value dy, WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(op, KernelKind::gather);
  kernel.ofWeights = true;
  builder.read(kernel, dy);
  builder.move(kernel, builder.dims(dy), ElementType::f32, /*write=*/true);
}

void EmbeddingGradientOp::buildWorkload(WorkloadBuilder &builder) {
  addRows(*this, getDy(), builder);
}

void PositionGradientOp::buildWorkload(WorkloadBuilder &builder) {
  addRows(*this, getDy(), builder);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The attention's own kernel writes it.
void AttentionNormaliserOp::buildWorkload(WorkloadBuilder &) {}

void SinkGradientOp::buildWorkload(WorkloadBuilder &builder) {
  addSum(*this, {getDy(), getY(), getNormaliser()}, builder);
}

/// Five products where the forward has two.
void AttentionBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  constexpr unsigned width = 3;
  constexpr int64_t ofKeys = 3, ofValues = 2;
  Kernel &kernel = builder.addProduct(*this, KernelKind::attention_backward,
                                      FlopClass::attention, getQuery());
  kernel.rows = builder.dims(getQuery(), 0, 1);
  kernel.columns = builder.dims(getQuery(), 2, 3);
  Dim widths;
  widths.extent.factor =
      ofKeys * sizeOf(getQuery(), width) + ofValues * sizeOf(getValue(), width);
  kernel.contraction = {widths};
  Pairs pairs;
  pairs.query = builder.dims(getQuery(), 1, 2).front();
  pairs.context = builder.dims(getKey(), 1, 2).front();
  pairs.causal = getCausal();
  pairs.window = getWindow().value_or(0);
  pairs.chunk = getChunk().value_or(0);
  kernel.pairs = pairs;
  int64_t both = sizeOf(getQuery(), width) + sizeOf(getValue(), width);
  if (getCausal())
    kernel.heads = {builder.dims(getKey(), 2, 3).front(), both / 2};
  for (Value operand : getOperands())
    builder.read(kernel, operand);
  for (Value result : getResults())
    builder.write(kernel, result);
}

/// A product of all queries with all keys, head by head: as many FLOPs as one
/// of `width` elements for each pair.
static Kernel &addPairs(Operation *op, Value probabilities, Value queries,
                        WorkloadBuilder &builder) {
  constexpr unsigned heads = 1, tokens = 3, width = 3;
  Kernel &kernel =
      builder.addProduct(op, KernelKind::matmul, FlopClass::attention, queries);
  kernel.rows = builder.dims(probabilities, 0, heads + 2);
  kernel.columns = builder.dims(probabilities, tokens, tokens + 1);
  kernel.contraction = builder.dims(queries, width, width + 1);
  return kernel;
}

/// The softmax is a kernel of its own, which reads scores and writes them.
static void addSoftmax(Operation *op, ValueRange operands, Value result,
                       WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(op, KernelKind::elementwise);
  for (Value operand : operands)
    builder.read(kernel, operand);
  builder.write(kernel, result);
}

void AttentionProbabilitiesOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = addPairs(*this, getResult(), getQuery(), builder);
  builder.read(kernel, getQuery());
  builder.read(kernel, getKey());
  builder.write(kernel, getResult());
  addSoftmax(*this, {getResult()}, getResult(), builder);
}

void AttendOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = addPairs(*this, getProbabilities(), getResult(), builder);
  kernel.mixesTokens = true;
  builder.read(kernel, getProbabilities());
  builder.read(kernel, getValue());
  builder.write(kernel, getResult());
}

void AttendBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &scores = addPairs(*this, getProbabilities(), getDy(), builder);
  builder.read(scores, getDy());
  builder.read(scores, getValue());
  builder.write(scores, getDProbabilities());
  Kernel &values = addPairs(*this, getProbabilities(), getDy(), builder);
  builder.read(values, getDy());
  builder.read(values, getProbabilities());
  builder.write(values, getDValue());
}

void AttentionProbabilitiesBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  addSoftmax(*this, {getDProbabilities(), getProbabilities()},
             getDProbabilities(), builder);
  Kernel &queries = addPairs(*this, getProbabilities(), getQuery(), builder);
  builder.read(queries, getDProbabilities());
  builder.read(queries, getKey());
  builder.write(queries, getDQuery());
  Kernel &keys = addPairs(*this, getProbabilities(), getQuery(), builder);
  builder.read(keys, getDProbabilities());
  builder.read(keys, getQuery());
  builder.write(keys, getDKey());
}

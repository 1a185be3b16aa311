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

/// Products whose results are added up are one, of operands side by side.
void LinearBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  unsigned contracted = getNumContracted(), rank = rankOf(getDy());
  unsigned inputs = rankOf(getWeight()) - contracted;
  Kernel &kernel =
      builder.addProduct(*this, KernelKind::matmul, FlopClass::linear, getDy());
  kernel.rows = builder.dims(getDy(), 0, rank - contracted);
  kernel.contraction = builder.dims(getDy(), rank - contracted, rank);
  kernel.columns = builder.dims(getWeight(), 0, inputs);
  builder.read(kernel, getDy());
  builder.read(kernel, getWeight());
  builder.write(kernel, getResult());
  builder.makesProduct(getResult());
  builder.mergeBy(*this, sumOf(getResult()));
}

void LogitsBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel =
      builder.addProduct(*this, KernelKind::matmul, FlopClass::logits, getDy());
  kernel.rows = builder.dims(getDy(), 0, rankOf(getDy()) - 1);
  kernel.contraction = builder.dims(getTable(), 0, 1);
  kernel.columns = builder.dims(getTable(), 1, 2);
  builder.read(kernel, getDy());
  builder.read(kernel, getTable());
  builder.write(kernel, getResult());
  builder.mergeBy(*this, getResult());
}

/// Of two matrices of all tokens; those of one input are one.
void ProductGradientOp::buildWorkload(WorkloadBuilder &builder) {
  unsigned tokens = getNumTokenDims();
  Kernel &kernel =
      builder.addProduct(*this, KernelKind::matmul, FlopClass::linear, getA());
  kernel.contraction = builder.dims(getA(), 0, tokens);
  kernel.rows = builder.dims(getA(), tokens, rankOf(getA()));
  kernel.columns = builder.dims(getB(), tokens, rankOf(getB()));
  kernel.ofWeights = true;
  builder.read(kernel, getA());
  builder.read(kernel, getB());
  builder.write(kernel, getResult());
  builder.makesProduct(getResult());
  builder.mergeBy(*this, getA());
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

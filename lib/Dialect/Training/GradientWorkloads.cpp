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

/// If the forward clamped its operands (`GatedOp`), the gradients of both
/// halves are masked where it did, and are concatenated.
void GatedBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  constexpr Passes clampPasses = {6, 4};
  builder.addElementwise(*this);
  if (getLimit() && TensorView(getGate()).isSet())
    builder.addPasses(*this, getGate(), clampPasses);
}

/// Only the elements that the rotation changes are moved: the first `width` of
/// each head.
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
// Workloads of losses
//===----------------------------------------------------------------------===//

void CrossEntropyOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
  constexpr int exchanges = 3;
  for (int i = 0; i < exchanges; ++i)
    builder.exchangeOverLast(*this, getX());
}

/// The kernel reads the scores twice, for their sum and for the result. If the
/// vocabulary is split, devices exchange one number per token twice.
void CrossEntropyBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addElementwise(*this);
  builder.read(kernel, getX());
  constexpr int exchanges = 2;
  for (int i = 0; i < exchanges; ++i)
    builder.exchangeOverLast(*this, getX());
}

//===----------------------------------------------------------------------===//
// Workloads of gradients of matmuls
//===----------------------------------------------------------------------===//

/// Returns the final sum if `gradient` is one of several gradients of the same
/// input that are added up; else `gradient` itself.
static Value sumOf(Value gradient) {
  while (gradient.hasOneUse()) {
    auto sum = dyn_cast<AddOp>(*gradient.user_begin());
    if (!sum || !isInputGradient(sum.getResult()))
      break;
    gradient = sum.getResult();
  }
  return gradient;
}

/// The names of the kernels in reports, by the role of the gradient.
static constexpr StringLiteral productNames[] = {
    "linear_backward", "logits_backward", "product_gradient"};

/// Matmuls whose results are added up are launched as one matmul with their
/// operands side by side; so are matmuls that have one input, with all its
/// tokens.
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

/// Adds a kernel that reads `operands`, sums over tokens, and writes the result
/// of `op`.
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

/// Adds a kernel that reads and writes one row of the gradient for each token.
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
// Workloads of the backward of attention
//===----------------------------------------------------------------------===//

/// The normaliser costs nothing: the attention's own kernel writes it.
void AttentionNormaliserOp::buildWorkload(WorkloadBuilder &) {}

void SinkGradientOp::buildWorkload(WorkloadBuilder &builder) {
  addSum(*this, {getDy(), getY(), getNormaliser()}, builder);
}

/// The backward has five matmuls where the forward has two.
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

/// Adds a matmul of all queries with all keys for each head. It has as many
/// FLOPs as one product of `width` elements for each pair of query and key.
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

/// Adds the kernel of a softmax that is not fused into the attention: it reads
/// the scores and writes the probabilities.
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

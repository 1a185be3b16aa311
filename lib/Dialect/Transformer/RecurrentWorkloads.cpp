//===- RecurrentWorkloads.cpp - What the recurrent ops cost ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FLOPs of a token are conventions, which the ops' descriptions state: those of
// the recurrence itself, whatever a chunked kernel does.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Recurrences.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

void StateOp::buildWorkload(WorkloadBuilder &builder) {
  Resident resident;
  resident.kind = Resident::Kind::state;
  resident.name = "state";
  resident.shape = builder.dims(getResult());
  resident.type = builder.formatOf(getResult());
  builder.addResident(getResult(), std::move(resident));
}

/// Adds a scan over tokens on vector units, with `flops` FLOPs per token,
/// column and element of `contraction`. The kernel reads its operands once and
/// writes its results; a sequence's state is read and written once per step.
static Kernel &addScan(WorkloadBuilder &builder, Operation *op, int64_t flops,
                       Dims columns, Dims contraction, Value state,
                       KernelKind kind = KernelKind::scan) {
  Kernel &kernel = builder.addKernel(op, kind);
  kernel.flopClass = FlopClass::recurrence;
  kernel.compute = ElementType::f32;
  kernel.flopFactor = flops;
  kernel.rows = builder.dims(op->getOperand(0), 0, 2);
  kernel.columns = std::move(columns);
  kernel.contraction = std::move(contraction);
  for (Value operand : op->getOperands())
    builder.read(kernel, operand);
  for (Value result : op->getResults())
    builder.write(kernel, result);
  if (state)
    builder.write(kernel, state);
  return kernel;
}

/// Marks a scan as one whose prompt chunks are matmuls of 16 bits on matrix
/// units. In decode the kernel waits for the state to be read, whatever unit
/// multiplies.
static void makeRecurrence(Kernel &kernel) {
  kernel.compute = ElementType::bf16;
  kernel.mixesTokens = true;
}

void transformer::addConv(WorkloadBuilder &builder, Operation *op,
                          int64_t share, Value x, Value weight, Value state) {
  constexpr int64_t flops = 2;
  unsigned channels = TensorView(weight).rank() - 1;
  addScan(builder, op, share * flops, builder.dims(x, 2, 2 + channels),
          builder.dims(weight, channels, channels + 1), state);
}

void ShortConvOp::buildWorkload(WorkloadBuilder &builder) {
  addConv(builder, *this, 1, getX(), getWeight(), getState());
}

/// Per token and head, the FLOPs are proportional to the rows times the columns
/// of the head's state.
void transformer::addStateSpace(WorkloadBuilder &builder, Operation *op,
                                int64_t share, Value x, Value input,
                                Value state) {
  constexpr int64_t flops = 5;
  makeRecurrence(addScan(builder, op, share * flops, builder.dims(x, 2, 4),
                         builder.dims(input, 3, 4), state));
}

void StateSpaceOp::buildWorkload(WorkloadBuilder &builder) {
  addStateSpace(builder, *this, 1, getX(), getInput(), getState());
}

void transformer::addDeltaRule(WorkloadBuilder &builder, Operation *op,
                               int64_t share, Value key, Value value,
                               Value decay, Value state) {
  constexpr int64_t flops = 7;
  Dims columns = builder.dims(value, 2, 3);
  columns.push_back(builder.dims(key, 3, 4).front());
  bool isOfChannels = TensorView(decay).rank() == 4;
  makeRecurrence(addScan(
      builder, op, share * flops, std::move(columns), builder.dims(value, 3, 4),
      state, isOfChannels ? KernelKind::channel_scan : KernelKind::scan));
}

void GatedDeltaRuleOp::buildWorkload(WorkloadBuilder &builder) {
  addDeltaRule(builder, *this, 1, getKey(), getValue(), getDecay(), getState());
}

void transformer::addLinearAttention(WorkloadBuilder &builder, Operation *op,
                                     int64_t share, Value query, Value state) {
  constexpr int64_t flops = 5;
  makeRecurrence(addScan(builder, op, share * flops, builder.dims(query, 2, 4),
                         builder.dims(query, 3, 4), state));
}

void LinearAttentionOp::buildWorkload(WorkloadBuilder &builder) {
  addLinearAttention(builder, *this, 1, getQuery(), getState());
}

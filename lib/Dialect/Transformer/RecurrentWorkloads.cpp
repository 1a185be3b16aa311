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

#include "autopar/Dialect/Transformer/Transformer.h"

#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
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

/// A scan over tokens of `flops` FLOPs per token, column and element that each
/// is contracted with, on vector units. It reads its operands once and writes
/// its result and its state, which a sequence reads and writes once in a step.
static Kernel &addScan(WorkloadBuilder &builder, Operation *op, int64_t flops,
                       Dims columns, Dims contraction, Value state) {
  Kernel &kernel = builder.addKernel(op, KernelKind::scan);
  kernel.flopClass = FlopClass::recurrence;
  kernel.compute = ElementType::f32;
  kernel.flopFactor = flops;
  kernel.rows = builder.dims(op->getOperand(0), 0, 2);
  kernel.columns = std::move(columns);
  kernel.contraction = std::move(contraction);
  for (Value operand : op->getOperands())
    builder.read(kernel, operand);
  builder.write(kernel, op->getResult(0));
  if (state)
    builder.write(kernel, state);
  return kernel;
}

/// A scan whose state is `[batch, heads, columns, contraction]`. Chunks of a
/// prompt are products of 16 bits on matrix units; one token after another
/// waits for the state to be read, whatever multiplies.
static void addRecurrence(WorkloadBuilder &builder, Operation *op,
                          int64_t flops, Value state) {
  Kernel &kernel = addScan(builder, op, flops, builder.dims(state, 1, 3),
                           builder.dims(state, 3, 4), state);
  kernel.compute = ElementType::bf16;
  kernel.mixesTokens = true;
}

void ShortConvOp::buildWorkload(WorkloadBuilder &builder) {
  unsigned channels = TensorView(getWeight()).rank() - 1;
  addScan(builder, *this, /*flops=*/2, builder.dims(getX(), 2, 2 + channels),
          builder.dims(getWeight(), channels, channels + 1), getState());
}

void StateSpaceOp::buildWorkload(WorkloadBuilder &builder) {
  addRecurrence(builder, *this, /*flops=*/5, getState());
}

void GatedDeltaRuleOp::buildWorkload(WorkloadBuilder &builder) {
  addRecurrence(builder, *this, /*flops=*/7, getState());
}

void LinearAttentionOp::buildWorkload(WorkloadBuilder &builder) {
  addRecurrence(builder, *this, /*flops=*/5, getState());
}

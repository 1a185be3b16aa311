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
/// is contracted with. It reads its operands once and writes its result and
/// its state, which a sequence reads and writes once in a step.
static Kernel &addScan(WorkloadBuilder &builder, Operation *op, int64_t flops,
                       Dims columns, Dims contraction, Value state) {
  Kernel &kernel = builder.addKernel(op, KernelKind::scan);
  kernel.flopClass = FlopClass::recurrence;
  // Vector units, in the format that recurrences accumulate in.
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

void ShortConvOp::buildWorkload(WorkloadBuilder &builder) {
  unsigned channels = TensorView(getWeight()).rank() - 1;
  addScan(builder, *this, /*flops=*/2, builder.dims(getX(), 2, 2 + channels),
          builder.dims(getWeight(), channels, channels + 1), getState());
}

void StateSpaceOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel =
      addScan(builder, *this, /*flops=*/5, builder.dims(getState(), 1, 3),
              builder.dims(getState(), 3, 4), getState());
  kernel.mixesTokens = true;
}

void GatedDeltaRuleOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel =
      addScan(builder, *this, /*flops=*/7, builder.dims(getState(), 1, 3),
              builder.dims(getState(), 3, 4), getState());
  kernel.mixesTokens = true;
}

void LinearAttentionOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel =
      addScan(builder, *this, /*flops=*/5, builder.dims(getState(), 1, 3),
              builder.dims(getState(), 3, 4), getState());
  kernel.mixesTokens = true;
}

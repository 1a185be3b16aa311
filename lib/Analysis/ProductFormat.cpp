//===- ProductFormat.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductFormat.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Training/Training.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::program;
using namespace mlir;

/// Whether `op` computes the gradient of a head, which multiplies in the format
/// of scores.
static bool isOfHead(Operation *op) {
  auto hasStates = [](Operation *user) {
    return training::isGradientOf(user, training::ProductRole::states);
  };
  return training::isGradientOf(op, training::ProductRole::weight) &&
         llvm::any_of(op->getOperand(0).getUsers(), hasStates);
}

/// Whether `operand` is a factor of a matmul with weights.
static bool isMultiplied(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isOfHead(op))
    return false;
  if (isa<transformer::LinearOp, transformer::ExpertsOp,
          training::ExpertsBackwardOp>(op) ||
      training::isGradientOf(op, training::ProductRole::input))
    return operand.getOperandNumber() == 0;
  return (training::isGradientOf(op, training::ProductRole::weight) ||
          isa<training::ExpertsGradientOp>(op)) &&
         operand.getOperandNumber() < 2;
}

/// Whether `op` gathers a value that only matmuls use, so that it is cast
/// before it is sent.
static bool isGatherForProducts(Operation *op) {
  return isa_and_present<parallel::AllGatherOp>(op) &&
         !training::findWeight(op->getOperand(0)) &&
         llvm::all_of(op->getResult(0).getUses(), isMultiplied);
}

/// Adds the cast of `value`, which writes it once as it is and once transposed
/// for a matmul over its tokens. A value is cast once; saved values were cast
/// by the forward.
void ProductFormat::quantize(Operation *op, Value value) {
  constexpr int copies = 2;
  value = builder.resolve(value);
  if (value.getDefiningOp<training::SavedOp>() ||
      !quantized.insert(value).second)
    return;
  Kernel &kernel = builder.addKernel(op, KernelKind::elementwise, value);
  kernel.op = "quantize";
  builder.read(kernel, value);
  for (int copy = 0; copy < copies; ++copy)
    builder.move(kernel, builder.dims(value), format, /*write=*/true);
}

void ProductFormat::quantizeOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    bool isWhole = isMultiplied(operand) &&
                   !isGatherForProducts(operand.get().getDefiningOp());
    if (isWhole || isGatherForProducts(op))
      quantize(op, operand.get());
  }
}

void ProductFormat::quantizeResults(Operation *op) {
  auto isUsed = [](OpOperand &use) {
    return isMultiplied(use) || isGatherForProducts(use.getOwner());
  };
  if (isGatherForProducts(op))
    return;
  for (Value result : op->getResults())
    if (builder.resolve(result) == result && !builder.isResident(result) &&
        llvm::any_of(result.getUses(), isUsed))
      quantize(op, result);
}

void ProductFormat::multiply(Operation *op, Kernel &kernel) const {
  bool isProduct = kernel.kind == KernelKind::matmul ||
                   kernel.kind == KernelKind::batched_matmul ||
                   kernel.kind == KernelKind::grouped_matmul;
  if (!isProduct || kernel.flopClass != FlopClass::linear ||
      isa<transformer::RouterOp>(op) || isOfHead(op))
    return;
  kernel.compute = format;
  for (Traffic &traffic : kernel.traffic)
    if (traffic.role == Traffic::Role::activation && !traffic.write)
      traffic.type = format;
}

void ProductFormat::send(Operation *op, Collective &collective) const {
  if (isGatherForProducts(op))
    collective.type = format;
}

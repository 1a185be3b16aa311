//===- TrainingKernels.cpp - Values that iterations keep ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Placement.h"

#include "autopar/Dialect/Training/Training.h"
#include "autopar/Interfaces/Interfaces.h"

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Saving values for the backward
//===----------------------------------------------------------------------===//

/// Returns the key of a saved value, which a function and its backward share.
static std::string keyOf(Operation *op, StringRef name, Device &device) {
  FunctionOpInterface whole =
      findWhole(op->getParentOfType<FunctionOpInterface>());
  return std::to_string(device.run.microbatchNumber()) + "/" +
         device.run.layerName() + "/" + whole.getName().str() + "/" +
         name.str();
}

static LogicalResult run(SaveOp op, Device &device) {
  DeviceTensors &all =
      device.run.training().saved[keyOf(op, op.getName(), device)];
  all.resize(device.grid().size());
  if (!all[device.id].shape.empty())
    return op.emitError("saves again before the backward has read it");
  all[device.id] = device(op.getValue());
  return success();
}

static LocalResult run(SavedOp op, Device &device) {
  auto &saved = device.run.training().saved;
  auto found = saved.find(keyOf(op, op.getName(), device));
  if (found == saved.end() || found->second[device.id].shape.empty())
    return op.emitError("reads what this layer has not saved, or has read");
  return std::exchange(found->second[device.id], LocalTensor());
}

//===----------------------------------------------------------------------===//
// Adding up gradients
//===----------------------------------------------------------------------===//

LayerWeight autopar::interpreter::keyOf(WeightOp weight,
                                        const std::string &layer) {
  return {layer, weight.getName().str(),
          weight.getStorageAttr().getAsOpaquePointer()};
}

LayerWeight autopar::interpreter::keyOf(Value weight, Device &device) {
  return keyOf(findWeight(weight), device.run.layerName());
}

static LogicalResult run(AccumulateOp op, Device &device) {
  TrainingMemory::Gradient &kept =
      device.run.training().gradients[keyOf(op.getWeight(), device)];
  const LocalTensor &gradient = device(op.getGradient());
  if (!kept.addend)
    kept.addend = op.getGradient();
  if (kept.addend.getType() != op.getGradient().getType())
    return op.emitError("adds a gradient of another type than before: ")
           << kept.addend.getType();
  kept.sums.resize(device.grid().size());
  LocalTensor &sum = kept.sums[device.id];
  if (sum.shape.empty())
    sum = LocalTensor(gradient.shape);
  for (int64_t i = 0; i < sum.size(); ++i)
    sum.data[i] += gradient.data[i];
  return success();
}

/// The gradient of a weight that no backward has reached is 0.
static LocalResult run(GradientOp op, Device &device) {
  auto &gradients = device.run.training().gradients;
  auto kept = gradients.find(keyOf(op.getWeight(), device));
  if (kept == gradients.end())
    return LocalTensor(
        Placement(TensorView(op.getResult()), device.grid(), device.id)
            .shape());
  if (kept->second.addend.getType() != op.getType())
    return op.emitError("is not of the type that was added up: ")
           << kept->second.addend.getType();
  return kept->second.sums[device.id];
}

static LocalResult run(ZerosOp op, Device &device) {
  return LocalTensor(
      Placement(TensorView(op.getResult()), device.grid(), device.id).shape());
}

void autopar::interpreter::attachTrainingKernels(MLIRContext *context) {
  attach<ZerosOp, run>(context);
  attach<SaveOp, run>(context);
  attach<SavedOp, run>(context);
  attach<AccumulateOp, run>(context);
  attach<GradientOp, run>(context);
}

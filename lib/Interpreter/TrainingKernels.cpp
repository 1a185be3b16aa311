//===- TrainingKernels.cpp - What iterations keep and update --------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Placement.h"
#include "StoredElements.h"

#include "autopar/Dialect/Transformer/Training.h"
#include "autopar/Interfaces/Interfaces.h"

#include <cmath>

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// What is saved
//===----------------------------------------------------------------------===//

/// A function and its backward have one.
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
// Gradients
//===----------------------------------------------------------------------===//

LayerWeight autopar::keyOf(WeightOp weight, const std::string &layer) {
  return {layer, weight.getName().str(),
          weight.getStorageAttr().getAsOpaquePointer()};
}

static LayerWeight keyOf(Value weight, Device &device) {
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

/// Of a weight that no backward has reached, 0.
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

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

namespace {

/// A step of an optimizer on one element, with what it keeps of it.
struct OptimizerStep {
  OptimizerKind kind;
  bool hasMomentum;
  double iteration;

  double operator()(double weight, double gradient, double &first,
                    double &second) const {
    constexpr double rate = 0.001, b1 = 0.9, b2 = 0.999, eps = 1e-8;
    if (kind == OptimizerKind::sgd) {
      first = hasMomentum ? b1 * first + gradient : gradient;
      return weight - rate * first;
    }
    first = b1 * first + (1 - b1) * gradient;
    second = b2 * second + (1 - b2) * gradient * gradient;
    double m = first / (1 - std::pow(b1, iteration));
    double v = second / (1 - std::pow(b2, iteration));
    return weight - rate * m / (std::sqrt(v) + eps);
  }
};

} // namespace

/// What `device` keeps of numbers like `like`, from 0 on.
static LocalTensor &keptBy(Device &device, DeviceTensors &all,
                           const LocalTensor &like) {
  all.resize(device.grid().size());
  LocalTensor &own = all[device.id];
  if (own.shape.empty())
    own = LocalTensor(like.shape);
  return own;
}

static LocalResult run(UpdateOp op, Device &device) {
  TrainingMemory &memory = device.run.training();
  LocalTensor result = device(op.getWeight());
  const LocalTensor &gradient = device(op.getGradient());
  auto &[first, second] = memory.moments[keyOf(op.getWeight(), device)];
  LocalTensor &m = keptBy(device, first, result),
              &v = keptBy(device, second, result);
  if (gradient.shape != result.shape || m.shape != result.shape)
    return op.emitError("the gradient, or what is kept, is of another shape on "
                        "a device");
  size_t copies = op.getMaster() ? 1 : 0;
  OptimizerStep step{op.getOptimizer(), op.getStates().size() > copies,
                     double(memory.iteration)};
  for (int64_t i = 0; i < result.size(); ++i)
    result.data[i] =
        step(result.data[i], gradient.data[i], m.data[i], v.data[i]);
  return result;
}

static LogicalResult run(AssignOp op, Device &device) {
  StoredElements stored(findWeight(op.getWeight()));
  std::vector<std::string> names = stored.names(device.run.layerName());
  const LocalTensor &value = device(op.getValue());
  Placement placement(TensorView(op.getValue()), device.grid(), device.id);
  placement.forEach([&](int64_t local, int64_t at) {
    if (at < 0)
      return;
    auto [copy, offset] = stored.find(at);
    device.run.training().next[names[copy]][offset] = value.data[local];
  });
  return success();
}

void autopar::attachTrainingKernels(MLIRContext *context) {
  attach<SaveOp, run>(context);
  attach<SavedOp, run>(context);
  attach<AccumulateOp, run>(context);
  attach<GradientOp, run>(context);
  attach<UpdateOp, run>(context);
  attach<AssignOp, run>(context);
}

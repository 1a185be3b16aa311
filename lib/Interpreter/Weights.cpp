//===- Weights.cpp - Weights on devices -----------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Placement.h"
#include "StoredElements.h"

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

/// Computes the elements of a weight once, and again after updates or changes.
LogicalResult Execution::runWeight(Operation *op) {
  auto weight = cast<WeightOp>(op);
  OpResult result = op->getResult(0);
  const void *attributes = op->getAttrDictionary().getAsOpaquePointer();
  KeptWeight &kept =
      keptWeights[{attributes, result.getType().getAsOpaquePointer(), layer}];
  if (kept.names.empty())
    kept.names = StoredElements(weight).names(layer);
  bool isNudged = llvm::any_of(kept.names, [&](const std::string &name) {
    return trained.nudged.isOf(name);
  });
  TrainingMemory::ReadWeight &read = trained.weights[keyOf(weight, layer)];
  read.op = op;
  if (!isUpdate)
    read.devices.insert(grid->active().begin(), grid->active().end());
  if (!isNudged && grid->active() == llvm::ArrayRef(kept.devices)) {
    setValue(result, kept.tensors, kept.whole);
    return success();
  }
  FailureOr<std::vector<DeviceTensors>> made = execute(op);
  if (failed(made))
    return failure();
  DeviceTensors &tensors = made->front();
  FailureOr<std::optional<LocalTensor>> whole = check(result, tensors);
  if (failed(whole))
    return failure();
  for (int64_t device : grid->active())
    weights[device][{attributes, layer}] = bytesOf(result, tensors[device]);
  if (!isNudged) {
    kept.devices = grid->active();
    kept.tensors = tensors;
    kept.whole = *whole;
  }
  setValue(result, std::move(tensors), std::move(*whole));
  return success();
}

//===- TrainingMemory.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/Execution.h"

#include "StoredElements.h"

#include "autopar/Interfaces/Interfaces.h"

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::transformer;
using namespace mlir;

void TrainingMemory::beginIteration() {
  ++iteration;
  for (auto &[name, elements] : next)
    given[name] = std::move(elements);
  next.clear();
  saved.clear();
  gradients.clear();
  weights.clear();
}

double autopar::interpreter::directionOf(const std::string &name,
                                         int64_t offset) {
  return randomNumber(name + " direction", offset);
}

double TrainingMemory::nudgeOf(const std::string &name, int64_t offset) const {
  if (!nudged.isOf(name))
    return 0;
  if (nudged.name.empty())
    return nudged.by * directionOf(name, offset);
  return nudged.offset == offset ? nudged.by : 0;
}

bool Execution::isTraining() const {
  // A copy is used because MLIR's accessors are not const.
  ModuleOp own = module;
  return !own.getOps<StepSectionsOpInterface>().empty();
}

FailureOr<CheckpointElements> Execution::gradients() const {
  CheckpointElements all;
  DeviceGrid devices = *grid;
  for (const auto &[key, read] : trained.weights) {
    auto weight = cast<WeightOp>(read.op);
    devices.enter({read.devices.begin(), read.devices.end()});
    int64_t size = tensorOf(weight.getType()).getNumElements();
    LocalTensor whole({size});
    auto kept = trained.gradients.find(key);
    if (kept != trained.gradients.end()) {
      Value addend = kept->second.addend;
      std::optional<LocalTensor> sum =
          gatherAll(TensorView(addend), kept->second.sums, devices);
      if (!sum)
        return emitError(addend.getLoc(),
                         "devices that should have the same gradient do not");
      whole = std::move(*sum);
    }
    StoredElements stored(weight);
    std::vector<std::map<int64_t, double> *> tensors;
    for (const std::string &name : stored.names(key.layer))
      tensors.push_back(&all[name]);
    for (int64_t at = 0; at < size; ++at) {
      auto [copy, offset] = stored.find(at);
      std::map<int64_t, double> &tensor = *tensors[copy];
      // Insertion at the end is fast, because elements mostly come in order.
      tensor.try_emplace(tensor.end(), offset, 0)->second += whole.data[at];
    }
  }
  return all;
}

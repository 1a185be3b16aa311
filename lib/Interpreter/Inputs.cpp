//===- Inputs.cpp - Inputs of a step --------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/Execution.h"

#include "Placement.h"

#include "autopar/Dialect/Training/Training.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace mlir;

namespace {

/// The random numbers of one input, by their position in the whole step.
struct InputNumbers {
  std::string name;
  InputRule rule;
  /// Number of positions per sequence in the step, number of positions before
  /// the step, and number of elements per position.
  int64_t positions = 1, before = 0, width = 1;

  InputNumbers(BlockArgument argument, const DeviceGrid &grid, InputRule rule)
      : name("input " + std::to_string(argument.getArgNumber()) + " "),
        rule(rule) {
    TensorView type(argument);
    const Workload &step = grid.workload();
    if (rule == InputRule::step) {
      name += std::to_string(step.context);
      return;
    }
    name += "position ";
    if (type.rank() < 2)
      return;
    positions = grid.extentOf(type, 1);
    before = type.dim(1).extent.is("query") ? step.context - step.query : 0;
    for (unsigned dim = 2; dim < type.rank(); ++dim)
      width *= grid.extentOf(type, dim);
  }

  double operator()(int64_t at) const {
    if (rule == InputRule::step)
      return randomNumber(name, at);
    int64_t position = before + at / width % positions;
    return randomNumber(name + std::to_string(position),
                        at / width / positions * width + at % width);
  }
};

} // namespace

/// Returns an input on all devices: token ids below the vocabulary's size, or
/// numbers from -1 to 1.
static DeviceTensors makeInput(BlockArgument argument, const DeviceGrid &grid,
                               int64_t vocabulary, InputRule rule,
                               const InBatch &place) {
  TensorView type(argument);
  bool areIds = type.getType().getElementType().isInteger();
  InputNumbers numberOf(argument, grid, rule);
  DeviceTensors tensors(grid.size());
  for (int64_t device : grid.active()) {
    Placement placement(type, grid, device);
    LocalTensor &local = tensors[device] = LocalTensor(placement.shape());
    placement.forEach([&](int64_t at, int64_t whole) {
      double number = numberOf(place(whole));
      local.data[at] =
          areIds ? std::floor((number + 1) / 2 * double(vocabulary)) : number;
    });
  }
  return tensors;
}

/// Returns the number of token ids that all tables and losses allow: the fewest
/// rows of a table in which tokens are looked up, or the fewest scores that are
/// compared with labels.
static int64_t vocabularyOf(ModuleOp module) {
  int64_t rows = 1 << 30;
  module.walk([&](transformer::EmbeddingOp op) {
    rows = std::min(rows, op.getTable().getType().getDimSize(0));
  });
  module.walk([&](training::CrossEntropyOp op) {
    rows = std::min(rows, op.getX().getType().getShape().back());
  });
  return rows;
}

/// Returns the inputs of the current microbatch.
Execution::Values Execution::inputsOf(func::FuncOp entry) {
  Values arguments;
  int64_t vocabulary = vocabularyOf(module);
  for (BlockArgument argument : entry.getArguments()) {
    TensorView type(argument);
    InBatch place(Placement(type, *grid, 0).wholeShape(),
                  grid->batchDimOf(type), microbatch, microbatches);
    arguments.push_back(
        {makeInput(argument, *grid, vocabulary, inputs, place)});
  }
  return arguments;
}

//===- Compile.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

/// Requires that the number of devices divides the number of slots of placed
/// experts.
static void requirePlacement(Formulas &formulas) {
  if (!formulas.program.placement)
    return;
  const PlacedExperts &placed = *formulas.program.placement;
  formulas.require({Requirement::Kind::places,
                    {},
                    formulas.slots().node(),
                    formulas.devices(placed.axes).node(),
                    0,
                    placed.axes});
}

/// Adds the formulas of the bytes that a pipeline stage receives from the
/// previous stage.
static void addTransferFormulas(Formulas &formulas) {
  auto add = [&](const std::vector<LayerStack::Layer::Input> &inputs) {
    Expr bytes = formulas.number(0);
    for (const LayerStack::Layer::Input &input : inputs)
      bytes += formulas.bytes(formulas.local(input.shape, {}), input.type);
    formulas.strategy.transferBytes.push_back(bytes.node());
  };
  for (const LayerStack::Layer &layer : formulas.program.stack.layers)
    add(layer.inputs);
  add(formulas.program.stack.outputs);
  add(formulas.program.stack.inputs);
}

Strategy autopar::cost::compile(const CostProgram &program, Launching launching,
                                Counting counting,
                                const std::vector<Phase> &groups) {
  Strategy strategy;
  strategy.launching = launching;
  strategy.counting = counting;
  strategy.trains = program.trains();
  strategy.placement = program.placement;
  Formulas formulas(program, strategy, groups);
  requirePlacement(formulas);
  addModelFormulas(formulas);
  addMemoryFormulas(formulas);
  addKernelFormulas(formulas);
  addCommunicationFormulas(formulas);
  addLaunchFormulas(formulas);
  if (counting == Counting::parts)
    addTransferFormulas(formulas);
  return strategy;
}

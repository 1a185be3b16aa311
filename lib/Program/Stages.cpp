//===- Stages.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/Stages.h"

#include "autopar/Support/Checked.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

using namespace autopar;

Result<std::vector<uint32_t>>
autopar::layersInOrder(const CostProgram &program) {
  Checked total;
  for (const LayerStack::Run &run : program.stack.runs)
    for (auto [layer, times] : run.layers)
      total += Checked(times) * run.count;
  if (program.stack.runs.empty())
    return Error{
        "", "'" + program.model + "' has no layers that stages could divide",
        "layers are calls in the last loops of the public function"};
  if (total > limits::maxLayers)
    return Error{"",
                 "'" + program.model + "' has " + total.str() +
                     " layers, of which stages divide at most " +
                     formatInteger(limits::maxLayers),
                 ""};
  std::vector<uint32_t> order;
  for (const LayerStack::Run &run : program.stack.runs)
    for (int64_t i = 0; i < run.count; ++i)
      for (auto [layer, times] : run.layers)
        order.insert(order.end(), times, layer);
  return order;
}

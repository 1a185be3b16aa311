//===- StrategyStages.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StrategyStages.h"

#include "autopar/Cost/StageLayout.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::search;

StrategyStages::StrategyStages(const SearchProblem &problem,
                               const SearchTarget &target,
                               CompiledProgram &compiled)
    : problem(problem), target(target), program(compiled.program()),
      pricer(program, compiled.parts(), compiled.launching(), target.machine,
             target.runtime, target.memoryUtilization) {
  if (Result<std::vector<uint32_t>> layers = layersInOrder(program))
    order = std::move(*layers);
}

bool StrategyStages::layOut(std::vector<LayerRange> &ranges) const {
  Result<StagePartition> partition =
      layOutLayers(program, order, pricer.problem());
  if (partition)
    ranges = std::move(partition->ranges);
  return bool(partition);
}

//===- LoadAssumptions.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadAssumptions.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;

/// Returns whether layers of one kind wait for devices with different loads, by
/// more than a printed time shows.
static bool layersDiffer(const EvaluatedStep &step) {
  constexpr double visible = 1e-3;
  const std::vector<LayerPlacement> &layers = step.report.placement->layers;
  std::map<uint32_t, double> firsts;
  for (size_t i = 0; i < layers.size(); ++i) {
    double imbalance = layers[i].imbalance();
    auto first =
        firsts.emplace(step.program.placement->layers[i].kind, imbalance);
    if (std::fabs(first.first->second - imbalance) > visible)
      return true;
  }
  return false;
}

void autopar::explanation::addLoadAssumptions(
    const EvaluatedStep &step, std::vector<Assumption> &assumptions) {
  const CostProgram &program = step.program;
  if (!step.report.placement) {
    if (std::any_of(program.kernels.begin(), program.kernels.end(),
                    [&](const Kernel &kernel) {
                      return program.sharedExperts(kernel) != nullptr;
                    }))
      assumptions.push_back(
          {"expert loads",
           "even on average; the step waits for the rank that random routing "
           "loads most",
           "autopar: normal approximation of powers of 2/3, within 3 % of "
           "simulated routing from 8 tokens on"});
    return;
  }
  assumptions.push_back({"expert loads", step.program.placement->source,
                         "user: sets the load of the most loaded device, not "
                         "which experts a batch reaches"});
  if (step.program.placement->limit)
    assumptions.push_back(
        {"expert capacity",
         "drops are counted before the capacity is rounded up",
         "autopar: method of the evaluator"});
  if (step.plan.pipeline.stages.size() > 1 && layersDiffer(step))
    assumptions.push_back(
        {"expert loads of stages",
         "each stage has the mean load of its kinds of layers",
         "autopar: method of the evaluator"});
}

//===- StagePricer.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/StagePricer.h"

#include <algorithm>

using namespace autopar;

void autopar::addKinds(const std::vector<KindCount> &kinds,
                       KindCounts &counts) {
  for (const KindCount &kind : kinds)
    counts[kind.layer] += kind.count;
}

static void addStage(const CostProgram &program,
                     const std::vector<LayerRange> &ranges,
                     const std::vector<uint32_t> &order, size_t stage,
                     KindCounts &counts) {
  if (stage == 0)
    addKinds(program.stack.before, counts);
  for (int64_t i = ranges[stage].begin; i < ranges[stage].end; ++i)
    addKinds(program.stack.layers[order[i]].kinds, counts);
  if (stage + 1 == ranges.size())
    addKinds(program.stack.after, counts);
}

KindCounts autopar::kindsOf(const CostProgram &program,
                            const std::vector<LayerRange> &ranges,
                            const std::vector<uint32_t> &order,
                            const PipelineShape &shape, int64_t device) {
  KindCounts counts(program.layers.size());
  for (size_t stage = device; stage < ranges.size(); stage += shape.stages)
    addStage(program, ranges, order, stage, counts);
  if (shape.isFolded())
    addStage(program, ranges, order, shape.stages - 1 - device, counts);
  return counts;
}

/// What the tape of a part gives, in this order.
static std::vector<NodeId> partNodes(const TotalNodes &total) {
  return {total.computePs,       total.memoryPs,        total.floorPs,
          total.communicationPs, total.weightBytes,     total.kvCacheBytes,
          total.stateBytes,      total.activationBytes, total.runtimeBytes,
          total.budgetBytes};
}

StagePricer::StagePricer(const CostProgram &program, const Strategy &strategy,
                         const Machine &machine, const Runtime &runtime,
                         std::optional<double> memoryUtilization)
    : program(program), tape(collect(strategy, partNodes(strategy.total))),
      pricer(program, strategy, tape, machine, runtime, memoryUtilization) {}

Refusal StagePricer::addPart(const std::vector<KindCount> &kinds,
                             const Point &microbatch, PipelinePart &part) {
  layout.kindCounts.assign(program.layers.size(), 0);
  addKinds(kinds, layout.kindCounts);
  double outputs[10];
  if (Refusal refusal = pricer.lay(layout))
    return refusal;
  if (Refusal refusal = pricer.price(microbatch, outputs))
    return refusal;
  auto whole = [&](int index) { return static_cast<int64_t>(outputs[index]); };
  part.cost = {whole(0) + whole(1) + whole(2) + whole(3),
               whole(4) + whole(5) + whole(6)};
  part.communicationPs = whole(3);
  part.activationBytes = whole(7);
  part.runtimeBytes = whole(8);
  budgetBytes = whole(9);
  return {};
}

Refusal StagePricer::price(const Layout &axes, const Point &microbatch,
                           const PipelineShape &wanted) {
  shape = wanted;
  layout = axes;
  layout.passes = 1;
  layout.microbatches = shape.passes();
  layers.resize(program.stack.layers.size());
  for (size_t i = 0; i < layers.size(); ++i)
    if (Refusal refusal =
            addPart(program.stack.layers[i].kinds, microbatch, layers[i]))
      return refusal;
  if (Refusal refusal = addPart(program.stack.before, microbatch, before))
    return refusal;
  if (Refusal refusal = addPart(program.stack.after, microbatch, after))
    return refusal;
  if (!shape.hasBothEnds())
    return {};
  std::vector<KindCount> both = program.stack.before;
  both.insert(both.end(), program.stack.after.begin(),
              program.stack.after.end());
  return addPart(both, microbatch, ends);
}

StagingProblem
StagePricer::problem(const std::vector<uint32_t> &order) const {
  StagingProblem problem;
  int64_t activations = 0;
  for (const PipelinePart &layer : layers)
    activations = std::max(activations, layer.activationBytes);
  for (uint32_t layer : order)
    problem.layers.push_back(layers[layer].cost);
  auto withTemporaries = [&](const PipelinePart &part) {
    LayerCost cost = part.cost;
    cost.memoryBytes +=
        std::max<int64_t>(0, part.activationBytes - activations);
    return cost;
  };
  problem.embedding = withTemporaries(before);
  problem.head = withTemporaries(after);
  problem.folded = shape.isFolded();
  // What both read is there once.
  if (shape.hasBothEnds())
    problem.head.memoryBytes += ends.cost.memoryBytes -
                                before.cost.memoryBytes -
                                after.cost.memoryBytes;
  problem.stages = shape.stages;
  problem.interleave = shape.interleave;
  problem.memoryLimitBytes =
      std::max<int64_t>(0, budgetBytes - after.runtimeBytes - activations);
  return problem;
}

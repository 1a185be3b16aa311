//===- SpaceIndex.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceIndex.h"

#include "QuestionKind.h"

#include "autopar/Plan/Degrees.h"
#include "autopar/Plan/StrategyKey.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::search;

SpaceIndex::SpaceIndex(const SearchProblem &problem, const SearchTarget &target)
    : problem(problem), target(target),
      network(target.machine.pools.front(), target.devices),
      orders(network, problem.space.allOrders) {
  for (int64_t batch : problem.batches)
    stagedPoints += problem.space.microbatches.divisorsOf(batch).size();
  forEachSizes(problem.space, target.devices, problem.hasExperts,
               [&](const PlanSizes &sizes) {
                 add(sizes);
                 return true;
               });
}

static std::vector<int64_t> sizesOf(const Plan &plan) {
  std::vector<int64_t> sizes;
  for (const PlanAxis &axis : plan.axes)
    sizes.push_back(*axis.size);
  return sizes;
}

uint64_t SpaceIndex::pointsOf(const PlanSizes &sizes) {
  if (!problem.trains())
    return sizes[Knob::pp] > 1 ? stagedPoints : problem.batches.size();
  std::pair<int64_t, int64_t> key = {sizes[Knob::pp], sizes.replicas()};
  auto [it, isNew] = shapes.try_emplace(key);
  if (isNew)
    it->second = autopar::search::shapesOf(problem, key.first, key.second);
  return it->second.size();
}

void SpaceIndex::add(const PlanSizes &sizes) {
  uint64_t points = pointsOf(sizes);
  std::vector<PlanChoice> choices = choicesOf(problem.space, sizes);
  Result<Plan> plan = autopar::search::planOf(target.base, sizes, {});
  if (!plan) {
    proof.space += points * choices.size();
    proof.illegal += points * choices.size();
    return;
  }
  auto [kind, isNewKind] = knownKinds.try_emplace(strategyKeyOfDistinct(*plan),
                                                  uint32_t(kinds.size()));
  if (isNewKind)
    kinds.push_back(kindOf(*plan, sizes));
  SpaceMesh mesh{sizes, sizesOf(*plan), kind->second};
  points *= orders.countOf(mesh.axes);
  std::vector<uint32_t> own;
  for (const PlanChoice &choice : choices) {
    proof.space += points;
    setChoice(*plan, choice);
    if (checkChoices(*plan)) {
      proof.illegal += points;
      continue;
    }
    own.push_back(strategyOf(choice, mesh.kind));
    strategies[own.back()].meshes.push_back(uint32_t(meshes.size()));
  }
  pair(own);
  meshes.push_back(std::move(mesh));
}

/// Returns the index of the strategy with this choice for meshes of `kind`.
uint32_t SpaceIndex::strategyOf(const PlanChoice &choice, uint32_t kind) {
  const MeshKind::Program &program = kinds[kind].programs[choice.fsdp];
  auto [it, isNew] = known.try_emplace({program.key, choice.code()},
                                       uint32_t(strategies.size()));
  if (isNew) {
    StrategyMeshes &strategy = strategies.emplace_back();
    strategy.choice = choice;
    strategy.plan = program.mesh.plan;
    strategy.isBounded = choice.fsdp && bounds();
    setChoice(strategy.plan, choice);
  }
  return it->second;
}

/// Returns whether the prices of plans without fsdp bound those of plans with
/// fsdp.
bool SpaceIndex::bounds() const {
  return !problem.verify && problem.kind().hasBounds();
}

/// Pairs the strategies of the last mesh that have fsdp with those that do not.
void SpaceIndex::pair(const std::vector<uint32_t> &own) {
  auto find = [&](PlanChoice choice) {
    auto found = std::find_if(own.begin(), own.end(), [&](uint32_t other) {
      return strategies[other].choice.code() == choice.code();
    });
    return found == own.end() ? StrategyMeshes::none : *found;
  };
  for (uint32_t one : own) {
    StrategyMeshes &strategy = strategies[one];
    PlanChoice other = strategy.choice;
    other.fsdp = !other.fsdp;
    uint32_t found = find(other);
    strategy.gathered.push_back(other.fsdp ? found : StrategyMeshes::none);
    strategy.isBounded &= found != StrategyMeshes::none;
  }
}

/// Makes the kind of the mesh of `plan`, in which nothing is chosen yet. A plan
/// for training keeps its own axes, because replicas sum gradients along them.
MeshKind SpaceIndex::kindOf(const Plan &plan, const PlanSizes &sizes) const {
  MeshKind kind;
  for (bool fsdp : {false, true}) {
    MeshKind::Program &program = kind.programs[fsdp];
    program.mesh = problem.trains()
                       ? programMeshOf(plan)
                       : programMeshOf(plan, target.base, sizes, fsdp);
    program.key = strategyKeyOfDistinct(program.mesh.plan);
  }
  return kind;
}

static std::string axesText(const Plan &plan) {
  std::vector<std::string> names;
  for (const PlanAxis &axis : plan.axes)
    if (axis.name != nameOf(Degree::pp))
      names.push_back(axis.name);
  return join(names, " ");
}

/// Groups strategies that share axes, because they share most of their passes.
/// Within a group, the strategy with more choices comes first: its passes begin
/// with those of the other strategies, so that their modules are still cached.
std::vector<std::vector<uint32_t>> SpaceIndex::makingOrder() const {
  // The largest size of a group: large enough to share passes, small enough to
  // spread groups over threads.
  constexpr size_t most = 64;
  std::vector<std::pair<std::string, uint32_t>> keys;
  for (uint32_t i = 0; i < strategies.size(); ++i)
    keys.emplace_back(axesText(strategies[i].plan), i);
  std::sort(keys.rbegin(), keys.rend());
  std::vector<std::vector<uint32_t>> order;
  for (size_t i = 0; i < keys.size(); ++i) {
    bool isAlike = i > 0 && keys[i].first == keys[i - 1].first;
    if (!isAlike || order.back().size() == most)
      order.emplace_back();
    order.back().push_back(keys[i].second);
  }
  return order;
}

void SpaceIndex::findProgram(uint32_t which) {
  StrategyMeshes &strategy = strategies[which];
  strategy.program = target.programs->find(strategy.plan);
  if (strategy.program)
    findAxes(strategy);
}

void SpaceIndex::findAxes(StrategyMeshes &strategy) {
  const Plan &plan = strategy.plan;
  size_t skipped = plan.has(Degree::pp) ? 1 : 0;
  strategy.axisOf.clear();
  for (const std::string &name : strategy.program->axes())
    for (size_t i = skipped; i < plan.axes.size(); ++i)
      if (plan.axes[i].name == name)
        strategy.axisOf.push_back(uint32_t(i - skipped));
}

void SpaceIndex::lay(const StrategyMeshes &strategy, const SpaceMesh &mesh,
                     const AxisOrder &order, Layout &layout) const {
  std::array<GroupAxis, 64> laid;
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    laid[order[i]] = {stride, mesh.axes[order[i]]};
    stride *= mesh.axes[order[i]];
  }
  size_t skipped = mesh.hasStages() ? 1 : 0;
  const auto &axisOf =
      kinds[mesh.kind].programs[strategy.choice.fsdp].mesh.axisOf;
  layout.axes.resize(strategy.axisOf.size());
  for (size_t i = 0; i < layout.axes.size(); ++i) {
    std::optional<uint32_t> own = axisOf[strategy.axisOf[i]];
    layout.axes[i] = own ? laid[*own + skipped] : GroupAxis{1, 1};
  }
  layout.devices = stride;
  layout.stages = mesh.sizes[Knob::pp];
  layout.expertSlots =
      problem.space.loadedExperts + strategy.choice.redundantExperts;
}

GroupAxis SpaceIndex::stagesOf(const SpaceMesh &mesh,
                               const AxisOrder &order) const {
  if (!mesh.hasStages())
    return {1, 1};
  int64_t stride = 1;
  for (auto axis = order.rbegin(); *axis != 0; ++axis)
    stride *= mesh.axes[*axis];
  return {stride, mesh.axes.front()};
}

Plan SpaceIndex::planOf(const Candidate &candidate) const {
  const SpaceMesh &mesh = meshes[candidate.sizes];
  Plan plan = *autopar::search::planOf(target.base, mesh.sizes,
                                       PlanChoice::of(candidate.choice));
  AxisOrders own(network, problem.space.allOrders);
  plan = withOrder(plan,
                   own.of(mesh.axes, mesh.hasStages())[candidate.order].order);
  if (problem.trains()) {
    plan.pipeline.microBatch =
        candidate.batch / candidate.microbatches / mesh.sizes.replicas();
    plan.pipeline.schedule = candidate.schedule;
    plan.pipeline.interleave = candidate.interleave;
  } else if (mesh.hasStages()) {
    plan.pipeline.microbatches = candidate.microbatches;
    plan.pipeline.schedule = ScheduleKind::inference;
    plan.pipeline.interleave = 1;
  }
  return plan;
}

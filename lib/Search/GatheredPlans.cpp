//===- GatheredPlans.cpp - Plans that gather parameters -------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetSearch.h"

#include <algorithm>
#include <tuple>

using namespace autopar;

/// Whether what is known is better than anything of `bound`, and nobody would
/// call that close to the best, or want it.
bool TargetSearch::isExcluded(const Candidate &bound,
                              const Findings &known) const {
  double score = worth.scoreOf(bound);
  return known.frontier.beats(bound) &&
         (score == Worth::none || score < leastClose(known.best.score));
}

/// `price` is that of `whole`, the plan of a strategy that `strategy` gathers
/// parameters of. What is beaten already will be in the end.
void TargetSearch::boundGathered(uint32_t strategy, const BatchPrice &price,
                                 const Candidate &whole, uint64_t points,
                                 Findings &own) const {
  if (strategy == StrategyMeshes::none || !index.strategies[strategy].isBounded)
    return;
  OpenCandidate bound{whole, strategy, points};
  bound.choice = index.strategies[strategy].choice.code();
  worth.setPrice(bound, price.isLegal ? price : BatchPrice());
  if (!(price.isLegal && price.fits) && !isExcluded(bound, own))
    own.open.push_back(bound);
}

/// Of a mesh without stages, of orders in which nothing is known of whole
/// parameters.
void TargetSearch::openGathered(uint32_t strategy, uint32_t mesh,
                                const std::vector<bool> &isOpen,
                                Findings &own) const {
  if (index.meshes[mesh].hasStages())
    return;
  Candidate whole;
  whole.sizes = mesh;
  for (uint32_t i = 0; i < isOpen.size(); ++i)
    for (int64_t batch : problem.batches) {
      whole.order = i;
      whole.batch = batch;
      if (isOpen[i])
        boundGathered(strategy, {}, whole, (*orders[mesh])[i].count, own);
    }
}

/// By mesh, whether one of its sizes is none of any plan that is wanted: what
/// it leads to is to be known, where anything is.
std::vector<bool> TargetSearch::findUnknown() const {
  if (found.best.score == Worth::none)
    return std::vector<bool>(index.meshes.size());
  EffectMap effects;
  addEffects(effects);
  auto isUnknown = [&](const SpaceMesh &mesh) {
    return std::any_of(allKnobs.begin(), allKnobs.end(), [&](Knob knob) {
      return knob != Knob::shard_fsdp &&
             !effects[std::string(nameOf(knob))].count(mesh.sizes[knob]);
    });
  };
  std::vector<bool> unknown;
  for (const SpaceMesh &mesh : index.meshes)
    unknown.push_back(isUnknown(mesh));
  return unknown;
}

/// All points of a mesh.
void TargetSearch::openAll(uint32_t strategy, uint32_t mesh) {
  OpenCandidate all;
  all.strategy = strategy;
  all.choice = index.strategies[strategy].choice.code();
  all.sizes = mesh;
  for (uint32_t i = 0; i < orders[mesh]->size(); ++i)
    for (int64_t batch : problem.batches) {
      all.order = i;
      all.batch = batch;
      all.points = (*orders[mesh])[i].count;
      openOf[strategy].push_back(all);
    }
}

/// Opens what may be better than what is found, and counts what is excluded.
void TargetSearch::openGathered() {
  std::vector<bool> unknown = findUnknown();
  uint64_t excluded = 0;
  for (uint32_t i = 0; i < index.strategies.size(); ++i) {
    if (!index.strategies[i].isBounded)
      continue;
    for (uint32_t mesh : index.strategies[i].meshes) {
      if (index.meshes[mesh].hasStages())
        continue;
      if (unknown[mesh])
        openAll(i, mesh);
      else
        excluded += pointsOf(mesh);
    }
  }
  for (const OpenCandidate &bound : found.open)
    if (!unknown[bound.sizes] && !isExcluded(bound, found)) {
      openOf[bound.strategy].push_back(bound);
      excluded -= bound.points;
    }
  found.open.clear();
  found.proof.excluded += excluded;
  found.proof.excludedGathers += excluded;
}

/// Of plans that gather parameters, what is open once all others are priced.
void TargetSearch::priceAllGathered() {
  openGathered();
  makeAndPrice(
      makingOf([&](uint32_t which) { return openOf.count(which) != 0; }),
      &TargetSearch::priceGathered);
}

/// Those that are open.
void TargetSearch::priceGathered(uint32_t strategyIndex, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[strategyIndex];
  std::vector<OpenCandidate> bounded = openOf.at(strategyIndex);
  if (!strategy.program) {
    for (const OpenCandidate &bound : bounded)
      own.proof.illegal += bound.points;
    return;
  }
  Pricer pricer(strategy.program->step(), target.machine, target.runtime,
                target.memoryUtilization);
  std::sort(bounded.begin(), bounded.end(),
            [](const OpenCandidate &a, const OpenCandidate &b) {
              return a.isBefore(b);
            });
  std::vector<BatchPrice> prices;
  Layout layout;
  const OpenCandidate *last = nullptr;
  for (const OpenCandidate &bound : bounded) {
    const SpaceMesh &mesh = index.meshes[bound.sizes];
    if (!last || last->sizes != bound.sizes || last->order != bound.order) {
      index.lay(strategy, mesh, (*orders[bound.sizes])[bound.order].order,
                layout);
      prices.assign(problem.batches.size(), {});
      if (!pricer.lay(layout))
        steps.at(replicasOf(mesh)).price(pricer, prices);
    }
    last = &bound;
    size_t batch = std::lower_bound(problem.batches.begin(),
                                    problem.batches.end(), bound.batch) -
                   problem.batches.begin();
    own.take(prices[batch], bound, bound.points, batch, worth);
  }
}

//===----------------------------------------------------------------------===//
// Plans with stages
//===----------------------------------------------------------------------===//

/// Says that the strategy needs bounds of its own.
void TargetSearch::openStaged(uint32_t strategy, Findings &own) const {
  if (strategy != StrategyMeshes::none && index.strategies[strategy].isBounded)
    own.openStrategies.insert(strategy);
}

/// Of a strategy that passes refuse, which is counted already where it is not
/// bounded.
void TargetSearch::refuseStaged(uint32_t which, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[which];
  for (size_t k = 0; k < strategy.meshes.size(); ++k) {
    if (!index.meshes[strategy.meshes[k]].hasStages())
      continue;
    if (strategy.isBounded)
      own.proof.illegal += pointsOf(strategy.meshes[k]);
    else
      openStaged(strategy.gathered[k], own);
  }
}

/// Of plans that gather parameters, those that no bound of whole ones excludes.
void TargetSearch::boundGatheredStages() {
  uint64_t excluded = 0;
  for (uint32_t i = 0; i < index.strategies.size(); ++i)
    if (index.strategies[i].isBounded && !found.openStrategies.count(i))
      for (uint32_t mesh : index.strategies[i].meshes)
        if (index.meshes[mesh].hasStages())
          excluded += pointsOf(mesh);
  found.proof.excluded += excluded;
  found.proof.excludedGathers += excluded;
  makeAndPrice(makingOf([&](uint32_t which) {
                 return found.openStrategies.count(which) != 0;
               }),
               &TargetSearch::boundStaged);
}

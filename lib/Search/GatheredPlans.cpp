//===- GatheredPlans.cpp - Plans that gather parameters -------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetSearch.h"

#include <algorithm>
#include <utility>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::search;

/// Returns whether all plans that `bound` bounds are excluded: `known` beats
/// each of them and none could be close to the best, or such plans are not
/// wanted at all.
bool TargetSearch::isExcluded(const Candidate &bound,
                              const Findings &known) const {
  double score = worth.scoreOf(bound);
  return known.frontier.beats(bound) &&
         (score == Worth::none || score < leastClose(known.best.score));
}

/// Opens the fsdp plan of `strategy` whose bound is `price`, the price of
/// `whole`; `whole` is the same plan without fsdp. A bound that the thread's
/// findings beat is skipped, because the final findings beat it too.
void TargetSearch::boundGathered(uint32_t strategy, const BatchPrice &price,
                                 const Candidate &whole, uint64_t points,
                                 Findings &own) const {
  if (!isBounded(strategy))
    return;
  OpenCandidate bound{whole, strategy, points};
  bound.choice = index.strategies[strategy].choice.code();
  worth.setPrice(bound, price.isLegal ? price : BatchPrice());
  if (!(price.isLegal && price.fits) && !isExcluded(bound, own))
    own.openGathered.push_back(bound);
}

/// Opens the plans of a mesh without stages, in those orders of axes in which
/// the plan without fsdp has no price.
void TargetSearch::boundUnpriced(uint32_t strategy, uint32_t mesh,
                                 const std::vector<bool> &isUnpriced,
                                 Findings &own) const {
  if (!isBounded(strategy) || index.meshes[mesh].hasStages())
    return;
  Candidate whole;
  whole.sizes = mesh;
  for (uint32_t i = 0; i < isUnpriced.size(); ++i)
    for (int64_t batch : problem.batches) {
      whole.order = i;
      whole.batch = batch;
      if (isUnpriced[i])
        boundGathered(strategy, {}, whole, (*orders[mesh])[i].count, own);
    }
}

/// Returns for each mesh whether one of its sizes occurs in no plan with a
/// score. Such meshes are priced, so that the report knows an effect for every
/// size.
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

/// Opens all points of a mesh, without a bound.
void TargetSearch::openMesh(uint32_t strategy, uint32_t mesh) {
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

/// Keeps those open plans that may beat the findings, and counts the remaining
/// ones as excluded.
void TargetSearch::excludeGathered() {
  std::vector<bool> unknown = findUnknown();
  uint64_t excluded = 0;
  for (uint32_t i = 0; i < index.strategies.size(); ++i) {
    if (!index.strategies[i].isBounded)
      continue;
    for (uint32_t mesh : index.strategies[i].meshes) {
      if (index.meshes[mesh].hasStages())
        continue;
      if (unknown[mesh])
        openMesh(i, mesh);
      else
        excluded += pointsOf(mesh);
    }
  }
  for (const OpenCandidate &bound : std::exchange(found.openGathered, {}))
    if (!unknown[bound.sizes] && !isExcluded(bound, found)) {
      openOf[bound.strategy].push_back(bound);
      excluded -= bound.points;
    }
  found.proof.excluded += excluded;
  found.proof.excludedGathers += excluded;
}

/// Prices the fsdp plans without stages that are still open after all other
/// plans were priced.
void TargetSearch::priceAllGathered() {
  excludeGathered();
  perform({"strategies with fsdp", &TargetSearch::priceGathered,
           &TargetSearch::refuseGathered},
          makingOf([&](uint32_t which) { return openOf.count(which) != 0; }));
}

void TargetSearch::refuseGathered(uint32_t strategy, Findings &own) {
  for (const OpenCandidate &bound : openOf.at(strategy))
    own.proof.illegal += bound.points;
}

/// Prices the open plans of one strategy.
void TargetSearch::priceGathered(uint32_t strategyIndex, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[strategyIndex];
  std::vector<OpenCandidate> bounded = openOf.at(strategyIndex);
  Pricer pricer = pricerOf(strategy);
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
    size_t batch = batchIndexOf(bound);
    own.take(prices[batch], bound, bound.points, batch, worth);
  }
}

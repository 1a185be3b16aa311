//===- StagedPlans.cpp - Plans with stages --------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetSearch.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::search;

/// The number of plans with pipeline stages per wave. All plans of a wave are
/// compared with the findings before this wave, so that results do not depend
/// on threads.
static constexpr size_t waveSize = 512;
/// The number of strategies per wave, for plans that do not fit by their bound.
static constexpr size_t waveOfStrategies = 64;

const TargetSearch::Task TargetSearch::boundingStages = {
    "strategies with stages", &TargetSearch::boundStaged,
    &TargetSearch::refuseStaged};

//===----------------------------------------------------------------------===//
// Bounds of plans with stages
//===----------------------------------------------------------------------===//

/// Records that the strategy needs bounds of its own.
void TargetSearch::wantBounds(uint32_t strategy, Findings &own) const {
  if (isBounded(strategy))
    own.wantedBounds.insert(strategy);
}

/// Handles a strategy that passes refuse: its points count as illegal, and fsdp
/// strategies that it would have bounded need bounds of their own.
void TargetSearch::refuseStaged(uint32_t which, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[which];
  for (size_t k = 0; k < strategy.meshes.size(); ++k) {
    if (!index.meshes[strategy.meshes[k]].hasStages())
      continue;
    if (strategy.isBounded)
      own.proof.illegal += pointsOf(strategy.meshes[k]);
    else
      wantBounds(strategy.gathered[k], own);
  }
}

/// Returns whether a plan that does not fit by its bound may be the plan that
/// needs the least memory. This matters only if no plan fits.
bool TargetSearch::mayBeClosest(const OpenCandidate &candidate) const {
  return found.frontier.all().empty() &&
         candidate.leastBytes <= found.closestBytes;
}

/// Adds the bounds of the plans of one mesh. `passes` has the price of the
/// whole model on the devices of one stage, by `passSizes`; `gathered` is the
/// strategy of the same plans with fsdp.
void TargetSearch::addBounds(OpenCandidate candidate,
                             const std::vector<BatchPrice> &passes,
                             uint32_t gathered, Findings &own) {
  // The factor by which rounding may lower the sums below.
  constexpr double slack = 1 - 1e-12;
  double usable = target.machine.pools.front().chip.memoryUsable.value;
  auto stages =
      static_cast<double>(index.meshes[candidate.sizes].sizes[Knob::pp]);
  auto passOf = [&](int64_t size) -> const BatchPrice & {
    return passes[std::lower_bound(passSizes.begin(), passSizes.end(), size) -
                  passSizes.begin()];
  };
  for (size_t i = 0; i < problem.batches.size(); ++i) {
    candidate.batch = problem.batches[i];
    // In some stage a device holds at least the average of the kept bytes, and
    // every device holds the bytes of the runtime.
    const BatchPrice &whole = passOf(candidate.batch);
    candidate.leastBytes = whole.keptBytes / stages + whole.runtimeBytes;
    bool unfit = !problem.verify && candidate.leastBytes > usable;
    for (int64_t count : microbatches[i]) {
      const BatchPrice &pass = passOf(candidate.batch / count);
      double share = static_cast<double>(count) * pass.timeUs / stages;
      candidate.microbatches = count;
      candidate.timeUs =
          slack * std::max(share, pass.isWhole ? pass.timeUs : 0);
      candidate.cost = candidate.timeUs;
      candidate.tokensPerS =
          worth.tokensPerS(candidate.batch, candidate.timeUs);
      bool excluded =
          !problem.verify && pass.isLegal && isExcluded(candidate, found);
      if (!excluded)
        wantBounds(gathered, own);
      if (unfit && mayBeClosest(candidate))
        own.unfitStaged.push_back(candidate);
      else if (unfit)
        own.proof.unfit += candidate.points;
      else if (excluded)
        own.proof.excluded += candidate.points;
      else
        own.openStaged.push_back(candidate);
    }
  }
}

void TargetSearch::boundStaged(uint32_t strategyIndex, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[strategyIndex];
  Pricer pricer = pricerOf(strategy);
  std::vector<BatchPrice> prices;
  OpenCandidate candidate;
  candidate.strategy = strategyIndex;
  candidate.choice = strategy.choice.code();
  for (size_t k = 0; k < strategy.meshes.size(); ++k) {
    uint32_t mesh = strategy.meshes[k];
    if (!index.meshes[mesh].hasStages())
      continue;
    candidate.sizes = mesh;
    size_t legal = 0;
    forLegalOrders(
        strategy, mesh, pricer, own,
        [&](uint32_t order, uint64_t points, const Layout &) {
          ++legal;
          candidate.order = order;
          candidate.points = points;
          passes.at(replicasOf(index.meshes[mesh])).price(pricer, prices);
          addBounds(candidate, prices, strategy.gathered[k], own);
        });
    if (legal < orders[mesh]->size())
      wantBounds(strategy.gathered[k], own);
  }
}

/// Finds bounds for the plans with stages but without fsdp. Every such strategy
/// is compiled, so that each is a group of its own, which spreads the work
/// evenly over threads.
void TargetSearch::boundAllStaged() {
  Groups alone;
  for (uint32_t i = 0; i < index.strategies.size(); ++i)
    if (!index.strategies[i].isBounded)
      alone.push_back({i});
  perform(boundingStages, alone);
}

/// Finds bounds for those fsdp plans with stages that no bound of a plan
/// without fsdp excludes.
void TargetSearch::boundGatheredStages() {
  uint64_t excluded = 0;
  for (uint32_t i = 0; i < index.strategies.size(); ++i)
    if (index.strategies[i].isBounded && !found.wantedBounds.count(i))
      for (uint32_t mesh : index.strategies[i].meshes)
        if (index.meshes[mesh].hasStages())
          excluded += pointsOf(mesh);
  found.proof.excluded += excluded;
  found.proof.excludedGathers += excluded;
  perform(boundingStages, makingOf([&](uint32_t which) {
            return found.wantedBounds.count(which) != 0;
          }));
}

//===----------------------------------------------------------------------===//
// Prices of plans with stages
//===----------------------------------------------------------------------===//

/// Prices one candidate. `prices` belongs to the candidate's strategy and is
/// created if it is null.
BatchPrice TargetSearch::priceStaged(const OpenCandidate &candidate,
                                     std::unique_ptr<StagedPrices> &prices,
                                     Findings &own) {
  const StrategyMeshes &strategy = index.strategies[candidate.strategy];
  const SpaceMesh &mesh = index.meshes[candidate.sizes];
  if (!prices)
    prices = std::make_unique<StagedPrices>(problem, target, *strategy.program);
  const AxisOrder &order = (*orders[candidate.sizes])[candidate.order].order;
  StagedPoint point;
  index.lay(strategy, mesh, order, point.layout);
  point.stages = index.stagesOf(mesh, order);
  point.replicas = replicasOf(mesh);
  point.batch = candidate.batch;
  point.microbatches = candidate.microbatches;
  BatchPrice price = prices->price(point);
  own.take(price, candidate, candidate.points, batchIndexOf(candidate), worth);
  return price;
}

/// Prices the open plans, those with the highest bound of tokens per second
/// first. Plans that the findings before their wave exclude are skipped. One
/// thread prices all plans of a strategy, so that the strategy is compiled only
/// once.
void TargetSearch::priceAllStaged() {
  std::vector<OpenCandidate> open = std::move(found.openStaged);
  std::sort(open.begin(), open.end(),
            [](const OpenCandidate &a, const OpenCandidate &b) {
              if (a.tokensPerS != b.tokensPerS)
                return a.tokensPerS > b.tokensPerS;
              return a.isBefore(b);
            });
  std::vector<std::map<uint32_t, std::unique_ptr<StagedPrices>>> prices(
      threads);
  for (size_t begin = 0; begin < open.size() && !stopped; begin += waveSize) {
    size_t end = std::min(begin + waveSize, open.size());
    onThreads([&](unsigned thread, Findings &own) {
      for (size_t i = begin; i < end; ++i) {
        const OpenCandidate &one = open[i];
        if (one.strategy % threads != thread)
          continue;
        if (!problem.verify && isExcluded(one, found))
          own.proof.excluded += one.points;
        else
          priceStaged(one, prices[thread][one.strategy], own);
      }
    });
    noteBest(found);
    stopped = !goesOn("plans with stages", begin, open.size());
  }
}

/// Groups plans by strategy. Plans within a group, and the groups, are sorted
/// by the least memory that their bound allows.
static std::vector<std::vector<OpenCandidate>>
byLeastBytes(std::vector<OpenCandidate> unfit) {
  std::sort(unfit.begin(), unfit.end(),
            [](const OpenCandidate &a, const OpenCandidate &b) {
              if (a.leastBytes != b.leastBytes)
                return a.leastBytes < b.leastBytes;
              return a.isBefore(b);
            });
  std::map<uint32_t, size_t> groupOf;
  std::vector<std::vector<OpenCandidate>> groups;
  for (const OpenCandidate &one : unfit) {
    auto [it, isNew] = groupOf.try_emplace(one.strategy, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].push_back(one);
  }
  return groups;
}

/// Prices those plans of one strategy that may still be the plan with the least
/// memory, compared with the other plans of the strategy and with the findings
/// before the wave.
void TargetSearch::priceUnfitOf(const std::vector<OpenCandidate> &alike,
                                Findings &own) {
  std::unique_ptr<StagedPrices> prices;
  double least = std::numeric_limits<double>::infinity();
  for (const OpenCandidate &one : alike) {
    if (one.leastBytes > least || !mayBeClosest(one)) {
      own.proof.unfit += one.points;
      continue;
    }
    BatchPrice price = priceStaged(one, prices, own);
    if (price.isLegal)
      least = std::min(least, price.totalBytes);
  }
}

/// Finds the plan that needs the least memory. The prices of a strategy take
/// much memory, so that they exist only while a thread works on the strategy.
void TargetSearch::priceUnfit() {
  std::vector<std::vector<OpenCandidate>> groups =
      byLeastBytes(std::move(found.unfitStaged));
  for (size_t begin = 0; begin < groups.size() && !stopped;
       begin += waveOfStrategies) {
    size_t end = std::min(begin + waveOfStrategies, groups.size());
    next = begin;
    onThreads([&](unsigned, Findings &own) {
      for (size_t i = next++; i < end; i = next++)
        priceUnfitOf(groups[i], own);
    });
    stopped = !goesOn("strategies that do not fit", begin, groups.size());
  }
}

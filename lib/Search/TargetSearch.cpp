//===- TargetSearch.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetSearch.h"

#include <algorithm>
#include <limits>
#include <thread>

using namespace autopar;

/// The score of nothing.
static constexpr double worst = -std::numeric_limits<double>::infinity();

TargetSearch::TargetSearch(const SearchProblem &problem,
                           const SearchTarget &target,
                           const SearchControl &control)
    : problem(problem), target(target), control(control),
      index(problem, target) {}

/// Of those that attention of a replica leaves, too.
static int64_t replicasOf(const PlanSizes &sizes) {
  return sizes[Knob::dp] * (sizes[Knob::tp] / sizes[Knob::attention_tp]);
}

void TargetSearch::findOrders() {
  bool mayCut = true;
  for (const StrategyMeshes &strategy : index.strategies)
    if (strategy.program && problem.workload.phase == Phase::prefill) {
      mayCut = strategy.program->program().keepsTokens();
      break;
    }
  for (const SpaceMesh &mesh : index.meshes) {
    orders.push_back(&index.orders.of(mesh.axes, mesh.hasStages()));
    int64_t replicas = replicasOf(mesh.sizes);
    if (!steps.count(replicas))
      steps.emplace(replicas,
                    BatchSteps(problem, target.runtime, mayCut, replicas));
  }
}

const BatchSteps &TargetSearch::stepsOf(const PlanSizes &sizes) const {
  return steps.find(replicasOf(sizes))->second;
}

double TargetSearch::scoreOf(double stepUs, double tokensPerS) const {
  if (problem.maxStepUs && stepUs > *problem.maxStepUs)
    return worst;
  return problem.goal == Goal::latency ? -stepUs : tokensPerS;
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

void TargetSearch::take(const std::vector<BatchPrice> &prices,
                        Candidate candidate, uint64_t points, Findings &own) {
  bool isPrefill = problem.workload.phase == Phase::prefill;
  auto tokens = static_cast<double>(isPrefill ? problem.workload.query : 1);
  double &bestOfMesh = own.bestOfMesh[candidate.sizes];
  for (size_t i = 0; i < prices.size(); ++i) {
    const BatchPrice &price = prices[i];
    if (!price.isLegal || !price.fits) {
      (price.isLegal ? own.proof.unfit : own.proof.illegal) += points;
      continue;
    }
    own.proof.evaluated += points;
    own.proof.sharedPrices += points - 1;
    candidate.batch = problem.batches[i];
    candidate.stepUs = price.stepUs;
    candidate.tokensPerS =
        static_cast<double>(candidate.batch) * tokens / price.stepUs * 1e6;
    own.frontier.add(candidate);
    double score = scoreOf(candidate.stepUs, candidate.tokensPerS);
    bestOfMesh = std::max(bestOfMesh, score);
    own.bestOfBatch[i] = std::max(own.bestOfBatch[i], score);
  }
}

void TargetSearch::priceMesh(const StrategyMeshes &strategy, uint32_t mesh,
                             Pricer &pricer, Findings &own) {
  const SpaceMesh &at = index.meshes[mesh];
  const std::vector<OrderClass> &classes = *orders[mesh];
  Candidate candidate;
  candidate.sizes = mesh;
  candidate.choice = strategy.choice.code();
  Layout layout;
  std::vector<BatchPrice> prices;
  for (uint32_t i = 0; i < classes.size(); ++i) {
    uint64_t points = classes[i].count;
    candidate.order = i;
    index.lay(strategy, at, classes[i].order, layout);
    if (pricer.lay(layout)) {
      own.proof.illegal += points * problem.batches.size();
      continue;
    }
    stepsOf(at.sizes).price(pricer, prices);
    take(prices, candidate, points, own);
  }
}

void TargetSearch::priceStrategy(const StrategyMeshes &strategy,
                                 Findings &own) {
  if (!strategy.program) {
    for (uint32_t mesh : strategy.meshes)
      for (const OrderClass &order : *orders[mesh])
        own.proof.illegal += order.count * problem.batches.size();
    return;
  }
  Pricer pricer(strategy.program->step(), target.machine, target.runtime,
                target.memoryUtilization);
  for (uint32_t mesh : strategy.meshes)
    priceMesh(strategy, mesh, pricer, own);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void TargetSearch::work(Findings &own) {
  size_t count = index.strategies.size();
  while (!stopped) {
    size_t i = next++;
    if (i >= count)
      return;
    priceStrategy(index.strategies[i], own);
    if (!control.progress)
      continue;
    std::lock_guard<std::mutex> lock(mutex);
    if (!control.progress("plans", std::min(next.load(), count), count))
      stopped = true;
  }
}

void TargetSearch::merge(const Findings &own) {
  found.frontier.add(own.frontier);
  total.add(own.proof);
  auto raise = [](std::vector<double> &all, const std::vector<double> &some) {
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = std::max(all[i], some[i]);
  };
  raise(found.bestOfMesh, own.bestOfMesh);
  raise(found.bestOfBatch, own.bestOfBatch);
}

bool TargetSearch::runThreads() {
  unsigned count =
      control.threads ? control.threads : std::thread::hardware_concurrency();
  count = std::max(1u, count);
  found.bestOfMesh.assign(index.meshes.size(), worst);
  found.bestOfBatch.assign(problem.batches.size(), worst);
  std::vector<Findings> own(count, found);
  std::vector<std::thread> others;
  for (unsigned i = 1; i < count; ++i)
    others.emplace_back([this, &own, i] { work(own[i]); });
  work(own[0]);
  for (std::thread &thread : others)
    thread.join();
  for (const Findings &one : own)
    merge(one);
  return !stopped;
}

bool TargetSearch::run() {
  total = index.proof;
  if (!index.findPrograms(control.progress))
    return false;
  findOrders();
  return runThreads();
}

void TargetSearch::addEffects(EffectMap &effects) const {
  auto raise = [&](std::string_view name, int64_t value, double score) {
    auto [it, isNew] = effects[std::string(name)].try_emplace(value, score);
    it->second = std::max(it->second, score);
  };
  for (size_t i = 0; i < index.meshes.size(); ++i)
    for (Knob knob : allKnobs)
      if (found.bestOfMesh[i] != worst)
        raise(nameOf(knob), index.meshes[i].sizes[knob], found.bestOfMesh[i]);
  for (size_t i = 0; i < problem.batches.size(); ++i)
    if (found.bestOfBatch[i] != worst)
      raise("batch", problem.batches[i], found.bestOfBatch[i]);
}

//===- TargetSearch.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetSearch.h"

#include "IterationPrices.h"
#include "RequestPrices.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <set>
#include <thread>

using namespace autopar;

/// Staged plans that are compared to what was found before them.
static constexpr size_t waveSize = 512;

static unsigned threadsOf(const SearchControl &control) {
  unsigned count =
      control.threads ? control.threads : std::thread::hardware_concurrency();
  return std::max(1u, count);
}

TargetSearch::TargetSearch(const SearchProblem &problem,
                           const SearchTarget &target,
                           const SearchControl &control)
    : problem(problem), target(target), control(control),
      threads(threadsOf(control)), worth(problem, target),
      index(problem, target), staged(threads) {}

/// Whether layers keep tokens, so that prompts may be cut into chunks: each of
/// the model's programs knows.
bool TargetSearch::findWhetherCut() {
  if (problem.workload.phase != Phase::prefill)
    return true;
  for (const std::vector<uint32_t> &alike : making)
    for (uint32_t strategy : alike) {
      index.findProgram(strategy);
      if (CompiledProgram *program = index.strategies[strategy].program)
        return program->program().keepsTokens();
    }
  return true;
}

void TargetSearch::prepare() {
  making = index.makingOrder();
  empty.bestOfMesh.resize(index.meshes.size());
  empty.bestOfBatch.assign(problem.batches.size(), Worth::none);
  found = empty;
  found.proof = index.proof;
  std::set<int64_t> sizes(problem.batches.begin(), problem.batches.end());
  for (int64_t batch : problem.batches) {
    microbatches.push_back(problem.space.microbatches.divisorsOf(batch));
    for (int64_t count : microbatches.back())
      sizes.insert(batch / count);
  }
  passSizes.assign(sizes.begin(), sizes.end());
  mayCut = findWhetherCut();
  for (const SpaceMesh &mesh : index.meshes) {
    orders.push_back(&index.orders.of(mesh.axes, mesh.hasStages()));
    if (problem.requests || problem.trains())
      continue;
    int64_t replicas = replicasOf(mesh);
    if (!(mesh.hasStages() ? passes : steps).count(replicas))
      (mesh.hasStages() ? passes : steps)
          .emplace(replicas,
                   BatchSteps(withBatches(problem.workload,
                                          mesh.hasStages() ? passSizes
                                                           : problem.batches),
                              target.runtime, mayCut, replicas));
  }
}

//===----------------------------------------------------------------------===//
// Plans without stages
//===----------------------------------------------------------------------===//

template <typename Then>
void TargetSearch::forLegalOrders(const StrategyMeshes &strategy, uint32_t mesh,
                                  Pricer &pricer, Findings &own, Then then) {
  const std::vector<OrderClass> &classes = *orders[mesh];
  Layout layout;
  for (uint32_t i = 0; i < classes.size(); ++i) {
    index.lay(strategy, index.meshes[mesh], classes[i].order, layout);
    if (pricer.lay(layout))
      own.proof.illegal +=
          classes[i].count * index.pointsOf(index.meshes[mesh].sizes);
    else
      then(i, classes[i].count, layout);
  }
}

/// All of a strategy that passes refuse.
void TargetSearch::addIllegal(uint32_t which, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[which];
  for (size_t k = 0; k < strategy.meshes.size(); ++k) {
    uint32_t mesh = strategy.meshes[k];
    own.proof.illegal += pointsOf(mesh);
    openGathered(strategy.gathered[k], mesh,
                 std::vector<bool>(orders[mesh]->size(), true), own);
  }
}

/// In all orders.
uint64_t TargetSearch::pointsOf(uint32_t mesh) {
  const SpaceMesh &own = index.meshes[mesh];
  return index.orders.countOf(own.axes) * index.pointsOf(own.sizes);
}

void TargetSearch::priceWhole(uint32_t strategyIndex, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[strategyIndex];
  if (!strategy.program)
    return addIllegal(strategyIndex, own);
  Pricer pricer(strategy.program->step(), target.machine, target.runtime,
                target.memoryUtilization);
  std::vector<BatchPrice> prices;
  Candidate candidate;
  candidate.choice = strategy.choice.code();
  for (size_t k = 0; k < strategy.meshes.size(); ++k) {
    uint32_t mesh = strategy.meshes[k];
    if (index.meshes[mesh].hasStages())
      continue;
    const BatchSteps &batches = steps.at(replicasOf(index.meshes[mesh]));
    candidate.sizes = mesh;
    std::vector<bool> isOpen(orders[mesh]->size(), true);
    forLegalOrders(strategy, mesh, pricer, own,
                   [&](uint32_t order, uint64_t points, const Layout &) {
                     candidate.order = order;
                     isOpen[order] = false;
                     batches.price(pricer, prices);
                     for (size_t i = 0; i < prices.size(); ++i) {
                       candidate.batch = problem.batches[i];
                       own.take(prices[i], candidate, points, i, worth);
                       boundGathered(strategy.gathered[k], prices[i], candidate,
                                     points, own);
                     }
                   });
    openGathered(strategy.gathered[k], mesh, isOpen, own);
  }
}

void TargetSearch::priceRequests(uint32_t strategyIndex, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[strategyIndex];
  if (!strategy.program)
    return addIllegal(strategyIndex, own);
  RequestPrices requests(problem, target, *strategy.program);
  Candidate candidate;
  candidate.choice = strategy.choice.code();
  for (uint32_t mesh : strategy.meshes) {
    candidate.sizes = mesh;
    forLegalOrders(strategy, mesh, requests.stepPricer(), own,
                   [&](uint32_t order, uint64_t points, const Layout &layout) {
                     candidate.order = order;
                     requests.lay(layout, index.meshes[mesh].sizes.replicas());
                     for (size_t i = 0; i < problem.batches.size(); ++i) {
                       candidate.batch = problem.batches[i];
                       own.take(requests.price(candidate.batch), candidate,
                                points, i, worth);
                     }
                   });
  }
}

void TargetSearch::priceIterations(uint32_t strategyIndex, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[strategyIndex];
  if (!strategy.program)
    return addIllegal(strategyIndex, own);
  IterationPrices prices(problem, target, *strategy.program);
  Candidate candidate;
  candidate.choice = strategy.choice.code();
  Layout layout;
  for (uint32_t which : strategy.meshes) {
    const SpaceMesh &mesh = index.meshes[which];
    candidate.sizes = which;
    for (uint32_t i = 0; i < orders[which]->size(); ++i) {
      const OrderClass &order = (*orders[which])[i];
      candidate.order = i;
      index.lay(strategy, mesh, order.order, layout);
      prices.lay(layout, index.stagesOf(mesh, order.order),
                 mesh.sizes.replicas());
      for (const IterationShape &shape : index.shapesOf(mesh.sizes)) {
        candidate.batch = problem.batches[shape.batch];
        candidate.microbatches = shape.microbatches;
        candidate.interleave = shape.interleave;
        candidate.schedule = shape.schedule;
        own.take(prices.price(shape), candidate, order.count, shape.batch,
                 worth);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Plans with stages
//===----------------------------------------------------------------------===//

/// Some device of a stage holds at least its share of what all keep.
bool TargetSearch::isUnfit(const BatchPrice &price, int64_t stages) const {
  const Chip &chip = target.machine.pools.front().chip;
  return price.keptBytes / static_cast<double>(stages) >
         chip.memoryUsable.value;
}

/// `passes`: by `passSizes`, the whole model on the devices of a stage.
/// `gathered`: the strategy that gathers parameters of the same plans.
void TargetSearch::addBounds(const OpenCandidate &mesh,
                             const std::vector<BatchPrice> &passes,
                             uint32_t gathered, Findings &own) {
  // What rounding might have taken.
  constexpr double slack = 1 - 1e-12;
  auto stages = index.meshes[mesh.sizes].sizes[Knob::pp];
  auto passOf = [&](int64_t size) -> const BatchPrice & {
    return passes[std::lower_bound(passSizes.begin(), passSizes.end(), size) -
                  passSizes.begin()];
  };
  for (size_t i = 0; i < problem.batches.size(); ++i) {
    int64_t batch = problem.batches[i];
    bool unfit = !problem.verify && isUnfit(passOf(batch), stages);
    if (unfit)
      own.proof.unfit += mesh.points * microbatches[i].size();
    for (int64_t count : microbatches[i]) {
      const BatchPrice &pass = passOf(batch / count);
      double share = static_cast<double>(count) * pass.timeUs /
                     static_cast<double>(stages);
      OpenCandidate candidate = mesh;
      candidate.batch = batch;
      candidate.microbatches = count;
      candidate.timeUs =
          slack * std::max(share, pass.isWhole ? pass.timeUs : 0);
      candidate.cost = candidate.timeUs;
      candidate.tokensPerS = worth.tokensPerS(batch, candidate.timeUs);
      bool excluded =
          !problem.verify && pass.isLegal && isExcluded(candidate, found);
      if (!excluded)
        openStaged(gathered, own);
      if (unfit)
        continue;
      if (excluded)
        own.proof.excluded += mesh.points;
      else
        own.open.push_back(candidate);
    }
  }
}

void TargetSearch::boundStaged(uint32_t strategyIndex, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[strategyIndex];
  if (!strategy.program)
    return refuseStaged(strategyIndex, own);
  Pricer pricer(strategy.program->step(), target.machine, target.runtime,
                target.memoryUtilization);
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
      openStaged(strategy.gathered[k], own);
  }
}

/// Each strategy is one thread's, so that it is compiled once.
void TargetSearch::priceWave(size_t begin, size_t end) {
  onThreads([&](unsigned thread, Findings &own) {
    for (size_t i = begin; i < end; ++i) {
      const OpenCandidate &candidate = open[i];
      if (candidate.strategy % threads != thread)
        continue;
      if (!problem.verify && isExcluded(candidate, found)) {
        own.proof.excluded += candidate.points;
        continue;
      }
      const StrategyMeshes &strategy = index.strategies[candidate.strategy];
      const SpaceMesh &mesh = index.meshes[candidate.sizes];
      std::unique_ptr<StagedPrices> &prices =
          staged[thread][candidate.strategy];
      if (!prices)
        prices =
            std::make_unique<StagedPrices>(problem, target, *strategy.program);
      const AxisOrder &order =
          (*orders[candidate.sizes])[candidate.order].order;
      StagedPoint point;
      index.lay(strategy, mesh, order, point.layout);
      point.stages = index.stagesOf(mesh, order);
      point.replicas = replicasOf(mesh);
      point.batch = candidate.batch;
      point.microbatches = candidate.microbatches;
      size_t batch = std::lower_bound(problem.batches.begin(),
                                      problem.batches.end(), candidate.batch) -
                     problem.batches.begin();
      own.take(prices->price(point), candidate, candidate.points, batch, worth);
    }
  });
}

/// Those first whose bound has the most tokens per second.
void TargetSearch::priceOpen() {
  open = std::move(found.open);
  std::sort(open.begin(), open.end(),
            [](const OpenCandidate &a, const OpenCandidate &b) {
              if (a.tokensPerS != b.tokensPerS)
                return a.tokensPerS > b.tokensPerS;
              return a.isBefore(b);
            });
  for (size_t i = 0; i < open.size() && !stopped; i += waveSize) {
    priceWave(i, std::min(open.size(), i + waveSize));
    noteBest(found);
    stopped = !goesOn("plans with stages", i, open.size());
  }
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Progress says the best so far, too.
bool TargetSearch::goesOn(std::string_view what, size_t done, size_t all) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!control.progress)
    return true;
  std::string text(what);
  if (soFar.score != Worth::none)
    text += ", " + worth.text(soFar.candidate) + " so far";
  return control.progress(text, done, all);
}

void TargetSearch::noteBest(const Findings &own) {
  std::lock_guard<std::mutex> lock(mutex);
  if (own.best.score > soFar.score)
    soFar = own.best;
}

void TargetSearch::boundAllStaged() {
  next = 0;
  size_t all = index.strategies.size();
  onThreads([&](unsigned, Findings &own) {
    for (size_t i = next++; i < all && !stopped; i = next++) {
      if (!index.strategies[i].isBounded)
        boundStaged(uint32_t(i), own);
      if (!goesOn("strategies with stages", i, all))
        stopped = true;
    }
  });
}

void TargetSearch::onThreads(
    const std::function<void(unsigned, Findings &)> &work) {
  std::vector<Findings> own(threads, empty);
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back([&, i] { work(i, own[i]); });
  work(0, own[0]);
  for (std::thread &thread : others)
    thread.join();
  for (Findings &one : own)
    found.merge(one);
}

static double threadSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

TargetSearch::Groups
TargetSearch::makingOf(const std::function<bool(uint32_t)> &isWanted) const {
  Groups groups;
  for (const std::vector<uint32_t> &all : making) {
    std::vector<uint32_t> some;
    std::copy_if(all.begin(), all.end(), std::back_inserter(some), isWanted);
    if (!some.empty())
      groups.push_back(std::move(some));
  }
  return groups;
}

/// A thread makes programs of the same axes one after another: most of their
/// passes are the same. Where it is stopped, what is made is priced.
void TargetSearch::makeAndPrice(const Groups &groups, Work work) {
  next = 0;
  size_t done = 0, all = 0;
  for (const std::vector<uint32_t> &group : groups)
    all += group.size();
  onThreads([&](unsigned, Findings &own) {
    for (size_t i = next++; i < groups.size() && !stopped; i = next++)
      for (uint32_t which : groups[i]) {
        double start = threadSeconds();
        index.findProgram(which);
        double seconds = threadSeconds() - start;
        (this->*work)(which, own);
        noteBest(own);
        std::unique_lock<std::mutex> lock(mutex);
        size_t strategies = ++done;
        makingSeconds += seconds;
        lock.unlock();
        if (!goesOn("strategies", strategies, all))
          stopped = true;
        if (stopped)
          return;
      }
  });
}

bool TargetSearch::run() {
  found.proof = index.proof;
  prepare();
  auto isFirst = [&](uint32_t which) {
    return !index.strategies[which].isBounded;
  };
  makeAndPrice(makingOf(isFirst),
               problem.requests   ? &TargetSearch::priceRequests
               : problem.trains() ? &TargetSearch::priceIterations
                                  : &TargetSearch::priceWhole);
  if (!stopped)
    priceAllGathered();
  if (!stopped && !problem.requests && !problem.trains())
    boundAllStaged();
  if (!stopped)
    boundGatheredStages();
  if (!stopped)
    priceOpen();
  return !stopped;
}

void TargetSearch::addEffects(EffectMap &effects) const {
  auto raise = [&](std::string_view name, int64_t value, double score) {
    autopar::raise(effects[std::string(name)], value, score);
  };
  for (size_t i = 0; i < found.bestOfMesh.size(); ++i)
    for (Knob knob : allKnobs)
      if (found.bestOfMesh[i].score != Worth::none)
        raise(nameOf(knob), index.meshes[i].sizes[knob],
              found.bestOfMesh[i].score);
  for (size_t i = 0; i < found.bestOfBatch.size(); ++i)
    if (found.bestOfBatch[i] != Worth::none)
      raise("batch", problem.batches[i], found.bestOfBatch[i]);
  for (auto [copies, score] : found.bestOfCopies)
    if (score != Worth::none)
      raise("redundant_experts", copies, score);
}

std::vector<Scored> TargetSearch::bestFrom(double least) const {
  std::vector<Scored> some;
  for (const Scored &one : found.bestOfMesh)
    if (one.score >= least && one.score != Worth::none)
      some.push_back(one);
  std::sort(some.begin(), some.end(), [](const Scored &a, const Scored &b) {
    return a.score != b.score ? a.score > b.score
                              : a.candidate.isBefore(b.candidate);
  });
  return some;
}

void TargetSearch::addClose(double least, CloseMap &close) const {
  for (size_t i = 0; i < found.bestOfMesh.size(); ++i)
    for (Knob knob : allKnobs)
      if (found.bestOfMesh[i].score >= least)
        close[std::string(nameOf(knob))].insert(index.meshes[i].sizes[knob]);
  for (size_t i = 0; i < found.bestOfBatch.size(); ++i)
    if (found.bestOfBatch[i] >= least)
      close["batch"].insert(problem.batches[i]);
  for (auto [copies, score] : found.bestOfCopies)
    if (score >= least && score != Worth::none)
      close["redundant_experts"].insert(copies);
}

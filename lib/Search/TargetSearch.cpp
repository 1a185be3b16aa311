//===- TargetSearch.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetSearch.h"

#include "QuestionKind.h"

#include "IterationPrices.h"
#include "RequestPrices.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>
#include <thread>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::search;

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
      index(problem, target) {}

/// Returns whether layers cache tokens, so that prompts may be cut into prefill
/// chunks. The first program that compiles tells this for all programs.
bool TargetSearch::findWhetherCut() {
  if (problem.workload().phase != Phase::prefill)
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
    if (!problem.kind().hasBounds())
      continue;
    int64_t replicas = replicasOf(mesh);
    if (!(mesh.hasStages() ? passes : steps).count(replicas))
      (mesh.hasStages() ? passes : steps)
          .emplace(replicas,
                   BatchSteps(withBatches(problem.workload(),
                                          mesh.hasStages() ? passSizes
                                                           : problem.batches),
                              target.runtime, mayCut, replicas));
  }
}

//===----------------------------------------------------------------------===//
// Prices of plans without stages
//===----------------------------------------------------------------------===//

void TargetSearch::refuseAll(uint32_t which, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[which];
  for (size_t k = 0; k < strategy.meshes.size(); ++k) {
    uint32_t mesh = strategy.meshes[k];
    own.proof.illegal += pointsOf(mesh);
    boundUnpriced(strategy.gathered[k], mesh,
                  std::vector<bool>(orders[mesh]->size(), true), own);
  }
}

uint64_t TargetSearch::pointsOf(uint32_t mesh) {
  const SpaceMesh &own = index.meshes[mesh];
  return index.orders.countOf(own.axes) * index.pointsOf(own.sizes);
}

size_t TargetSearch::batchIndexOf(const Candidate &candidate) const {
  return std::lower_bound(problem.batches.begin(), problem.batches.end(),
                          candidate.batch) -
         problem.batches.begin();
}

Pricer TargetSearch::pricerOf(const StrategyMeshes &strategy) const {
  return Pricer(strategy.program->step(), target.machine, target.runtime,
                target.memoryUtilization);
}

void TargetSearch::priceSteps(uint32_t strategyIndex, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[strategyIndex];
  Pricer pricer = pricerOf(strategy);
  std::vector<BatchPrice> prices;
  Candidate candidate;
  candidate.choice = strategy.choice.code();
  for (size_t k = 0; k < strategy.meshes.size(); ++k) {
    uint32_t mesh = strategy.meshes[k];
    if (index.meshes[mesh].hasStages())
      continue;
    const BatchSteps &batches = steps.at(replicasOf(index.meshes[mesh]));
    candidate.sizes = mesh;
    std::vector<bool> isUnpriced(orders[mesh]->size(), true);
    forLegalOrders(strategy, mesh, pricer, own,
                   [&](uint32_t order, uint64_t points, const Layout &) {
                     candidate.order = order;
                     isUnpriced[order] = false;
                     batches.price(pricer, prices);
                     for (size_t i = 0; i < prices.size(); ++i) {
                       candidate.batch = problem.batches[i];
                       own.take(prices[i], candidate, points, i, worth);
                       boundGathered(strategy.gathered[k], prices[i], candidate,
                                     points, own);
                     }
                   });
    boundUnpriced(strategy.gathered[k], mesh, isUnpriced, own);
  }
}

void TargetSearch::priceRequests(uint32_t strategyIndex, Findings &own) {
  const StrategyMeshes &strategy = index.strategies[strategyIndex];
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

/// Calls `take` for each iteration of a strategy, with its prices, its shape,
/// its candidate and the number of its points, until the search stops.
template <typename Take>
void TargetSearch::forIterations(uint32_t strategyIndex, Take take) {
  const StrategyMeshes &strategy = index.strategies[strategyIndex];
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
        if (!goesOnNow())
          return;
        candidate.batch = problem.batches[shape.batch];
        candidate.microbatches = shape.microbatches;
        candidate.interleave = shape.interleave;
        candidate.schedule = shape.schedule;
        take(prices, shape, candidate, order.count);
      }
    }
  }
}

void TargetSearch::priceIterations(uint32_t strategy, Findings &own) {
  forIterations(strategy, [&](IterationPrices &prices,
                              const IterationShape &shape,
                              const Candidate &candidate, uint64_t points) {
    auto bytes = prices.leastBytesOf(shape);
    if (!problem.verify && bytes && !bytes->fits())
      own.proof.unfit += points;
    else
      own.take(prices.price(shape), candidate, points, shape.batch, worth);
  });
}

void TargetSearch::priceUnfitIterations(uint32_t strategy, Findings &own) {
  // These points are counted already.
  SearchProof counted = own.proof;
  forIterations(strategy, [&](IterationPrices &prices,
                              const IterationShape &shape,
                              const Candidate &candidate, uint64_t points) {
    auto bytes = prices.leastBytesOf(shape);
    double known = std::min(found.closestBytes, own.closestBytes);
    if (bytes && !bytes->fits() && bytes->leastBytes <= known)
      own.take(prices.price(shape), candidate, points, shape.batch, worth);
  });
  own.proof = counted;
}

/// Finds the iteration that is nearest to fitting, if none fits.
void TargetSearch::priceAllUnfit() {
  if (problem.trains() && found.frontier.all().empty() && !problem.verify)
    perform({"strategies that do not fit", &TargetSearch::priceUnfitIterations,
             &TargetSearch::skip},
            making);
}

//===----------------------------------------------------------------------===//
// Sharing the work among threads
//===----------------------------------------------------------------------===//

/// Reports progress with the best plan so far. Returns whether to go on.
bool TargetSearch::goesOn(std::string_view what, size_t done, size_t all) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!control.progress)
    return true;
  std::string text(what);
  if (soFar.score != Worth::none)
    text += ", " + worth.text(soFar.candidate) + " so far";
  return control.progress(text, done, all);
}

bool TargetSearch::goesOnNow() {
  // Short enough that an interrupt takes effect at once, long enough that
  // reports cost nothing.
  constexpr std::chrono::milliseconds reportEvery(50);
  if (stopped)
    return false;
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::chrono::steady_clock::duration last(reportedAt.load());
  if (now - last < reportEvery)
    return true;
  reportedAt = now.count();
  if (!goesOn(taskName, strategiesDone, strategiesWanted))
    stopped = true;
  return !stopped;
}

/// Counts a strategy that took `seconds` to make.
void TargetSearch::noteDone(double seconds) {
  std::lock_guard<std::mutex> lock(mutex);
  ++strategiesDone;
  makingSeconds += seconds;
}

void TargetSearch::noteBest(const Findings &own) {
  std::lock_guard<std::mutex> lock(mutex);
  if (own.best.score > soFar.score)
    soFar = own.best;
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

/// A thread compiles strategies with the same axes one after another, because
/// most of their passes are the same. After a stop, strategies that are
/// compiled already are still priced.
void TargetSearch::perform(const Task &task, const Groups &groups) {
  next = 0;
  taskName = task.name;
  strategiesDone = strategiesWanted = 0;
  for (const std::vector<uint32_t> &group : groups)
    strategiesWanted += group.size();
  stopped = !goesOn(taskName, 0, strategiesWanted);
  onThreads([&](unsigned, Findings &own) {
    for (size_t i = next++; i < groups.size() && !stopped; i = next++)
      for (uint32_t which : groups[i]) {
        double start = threadSeconds();
        index.findProgram(which);
        double seconds = threadSeconds() - start;
        bool isRefused = !index.strategies[which].program;
        (this->*(isRefused ? task.refuse : task.price))(which, own);
        noteBest(own);
        noteDone(seconds);
        if (!goesOnNow())
          return;
      }
  });
}

void TargetSearch::priceQuestion(uint32_t strategy, Findings &own) {
  problem.kind().price(*this, strategy, own);
}

/// Prices all strategies that no other strategy bounds.
void TargetSearch::priceFirst() {
  perform(
      {"strategies", &TargetSearch::priceQuestion, &TargetSearch::refuseAll},
      makingOf(
          [&](uint32_t which) { return !index.strategies[which].isBounded; }));
}

bool TargetSearch::run() {
  prepare();
  priceFirst();
  if (!stopped)
    priceAllUnfit();
  if (!problem.kind().hasBounds())
    return !stopped;
  bool gathers =
      std::any_of(index.strategies.begin(), index.strategies.end(),
                  [](const StrategyMeshes &one) { return one.isBounded; });
  if (!stopped && gathers)
    priceAllGathered();
  if (!stopped)
    boundAllStaged();
  if (!stopped && gathers)
    boundGatheredStages();
  if (!stopped)
    priceAllStaged();
  if (!stopped)
    priceUnfit();
  return !stopped;
}

void TargetSearch::addEffects(EffectMap &effects) const {
  auto raise = [&](std::string_view name, int64_t value, double score) {
    autopar::search::raise(effects[std::string(name)], value, score);
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

//===- TargetSearch.h - The space of one target, priced ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search first prices all plans without stages, sixteen batches at once. An
// fsdp plan has a lower bound: the step of the same plan without fsdp, which
// lacks only the gathers. It is compiled and priced only if the plan without
// fsdp does not fit, and if the bound is not beaten or is close to the best.
//
// A pipelined plan has a lower bound, too: each microbatch goes through all
// layers, whose time on the devices of a stage is a price without stages, and
// the slowest stage takes at least the average share. Plans whose bound is on
// the frontier are laid out and simulated, the most promising first. If no plan
// fits, plans that do not fit by their bound are priced as well, as long as one
// may need the least memory. The result does not depend on the number of
// threads: a plan is compared with the findings before its phase or wave.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_TARGETSEARCH_H
#define AUTOPAR_LIB_SEARCH_TARGETSEARCH_H

#include "Findings.h"
#include "SpaceIndex.h"
#include "StagedPrices.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <set>

namespace autopar::search {

/// The best score, by the name of a choice and the choice's value.
using EffectMap = std::map<std::string, std::map<int64_t, double>>;
/// The values that occur in plans close to the best plan, by the name of a
/// choice.
using CloseMap = std::map<std::string, std::set<int64_t>>;

class TargetSearch {
public:
  /// The arguments must outlive the object.
  TargetSearch(const SearchProblem &problem, const SearchTarget &target,
               const SearchControl &control);

  /// Prices all plans. Returns false if it was stopped.
  bool run();

  const SearchProof &proof() const { return found.proof; }
  const Frontier &frontier() const { return found.frontier; }
  size_t strategies() const { return index.strategies.size(); }
  double strategySeconds() const { return makingSeconds; }
  plan::Plan planOf(const Candidate &candidate) const {
    return index.planOf(candidate);
  }
  const Findings &findings() const { return found; }
  void addEffects(EffectMap &effects) const;
  // Price the plans of a strategy that have no pipeline stages, one function
  // for each question (`QuestionKind`).
  void priceSteps(uint32_t strategy, Findings &own);
  void priceRequests(uint32_t strategy, Findings &own);
  void priceIterations(uint32_t strategy, Findings &own);
  /// Prices those iterations that do not fit by their bound and may be the
  /// nearest to fitting.
  void priceUnfitIterations(uint32_t strategy, Findings &own);

  /// Returns the best score of all plans so far.
  double bestScore() const { return found.best.score; }
  /// Returns the best plan of each mesh whose score is at least `least`, the
  /// best first.
  std::vector<Scored> bestFrom(double least) const;
  void addClose(double least, CloseMap &close) const;

private:
  using Work = void (TargetSearch::*)(uint32_t strategy, Findings &own);
  /// Groups of strategies; one thread compiles the strategies of a group one
  /// after another.
  using Groups = std::vector<std::vector<uint32_t>>;
  /// A step of the search: what is done with each strategy (`price`), and with
  /// strategies that passes refuse, which have no program (`refuse`).
  struct Task {
    /// The name that progress shows.
    std::string_view name;
    Work price, refuse;
  };

  bool findWhetherCut();
  /// Returns the number of groups of devices that have sequences of their own.
  /// A model that caches no tokens splits sequences only by dp.
  int64_t replicasOf(const SpaceMesh &mesh) const {
    return mayCut ? mesh.sizes.replicas() : mesh.sizes[Knob::dp];
  }
  void prepare();
  /// Calls `work` on each thread, with the thread's number and findings, and
  /// merges the findings.
  void onThreads(const std::function<void(unsigned, Findings &)> &work);
  /// Compiles strategies, one thread for each group, and performs the task on
  /// each strategy.
  void perform(const Task &task, const Groups &groups);
  /// Returns the groups of `making`, reduced to the strategies that are wanted.
  Groups makingOf(const std::function<bool(uint32_t)> &isWanted) const;
  void noteBest(const Findings &own);
  void noteDone(double seconds);
  bool goesOn(std::string_view what, size_t done, size_t all);
  /// Reports progress if the last report is `reportEvery` ago. Returns whether
  /// to go on.
  bool goesOnNow();
  template <typename Take>
  void forIterations(uint32_t strategy, Take take);
  void priceAllUnfit();

  // The functions for plans without stages.
  void priceFirst();
  /// Returns a pricer for steps of a strategy whose program is compiled.
  cost::Pricer pricerOf(const StrategyMeshes &strategy) const;
  void priceQuestion(uint32_t strategy, Findings &own);
  void refuseAll(uint32_t strategy, Findings &own);
  void skip(uint32_t /*strategy*/, Findings & /*own*/) {}

  // The functions for fsdp plans without stages.
  bool isBounded(uint32_t strategy) const {
    return strategy != StrategyMeshes::none &&
           index.strategies[strategy].isBounded;
  }
  void boundGathered(uint32_t strategy, const BatchPrice &price,
                     const Candidate &whole, uint64_t points,
                     Findings &own) const;
  void boundUnpriced(uint32_t strategy, uint32_t mesh,
                     const std::vector<bool> &isUnpriced, Findings &own) const;
  bool isExcluded(const Candidate &bound, const Findings &known) const;
  std::vector<bool> findUnknown() const;
  void openMesh(uint32_t strategy, uint32_t mesh);
  void excludeGathered();
  void priceGathered(uint32_t strategy, Findings &own);
  void refuseGathered(uint32_t strategy, Findings &own);
  void priceAllGathered();

  // The functions for plans with stages.
  bool mayBeClosest(const OpenCandidate &candidate) const;
  void addBounds(OpenCandidate candidate, const std::vector<BatchPrice> &passes,
                 uint32_t gathered, Findings &own);
  void boundStaged(uint32_t strategy, Findings &own);
  void refuseStaged(uint32_t strategy, Findings &own);
  void wantBounds(uint32_t strategy, Findings &own) const;
  static const Task boundingStages;
  void boundAllStaged();
  void boundGatheredStages();
  BatchPrice priceStaged(const OpenCandidate &candidate,
                         std::unique_ptr<StagedPrices> &prices, Findings &own);
  void priceAllStaged();
  void priceUnfitOf(const std::vector<OpenCandidate> &alike, Findings &own);
  void priceUnfit();

  /// Calls `then` for each legal order of a mesh's axes: with the index of the
  /// order, the number of orders that have the same links, and the layout.
  template <typename Then>
  void forLegalOrders(const StrategyMeshes &strategy, uint32_t mesh,
                      cost::Pricer &pricer, Findings &own, Then then);
  /// Returns the number of points of a mesh, over all orders of axes.
  uint64_t pointsOf(uint32_t mesh);
  size_t batchIndexOf(const Candidate &candidate) const;

  const SearchProblem &problem;
  const SearchTarget &target;
  const SearchControl &control;
  const unsigned threads;
  const Worth worth;
  SpaceIndex index;
  bool mayCut = true;
  /// The classes of axis orders, for each mesh.
  std::vector<const std::vector<OrderClass> *> orders;
  /// The steps of all batches and the passes of microbatches, by the number of
  /// replicas.
  std::map<int64_t, BatchSteps> steps, passes;
  /// The distinct sizes of microbatches and batches, rising.
  std::vector<int64_t> passSizes;
  /// The numbers of microbatches that are tried, for each batch.
  std::vector<std::vector<int64_t>> microbatches;
  /// The open plans without stages, by the strategy that bounds them.
  std::map<uint32_t, std::vector<OpenCandidate>> openOf;
  /// All strategies, in the order in which they are compiled.
  Groups making;
  double makingSeconds = 0;
  Scored soFar;
  /// The task that is performed, the number of strategies that it has done, and
  /// that of all.
  std::string_view taskName;
  std::atomic<size_t> strategiesDone{0};
  size_t strategiesWanted = 0;
  /// When progress was reported last, as a count of the steady clock.
  std::atomic<int64_t> reportedAt{0};
  std::atomic<size_t> next{0};
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  Findings found, empty;
};

template <typename Then>
void TargetSearch::forLegalOrders(const StrategyMeshes &strategy, uint32_t mesh,
                                  cost::Pricer &pricer, Findings &own,
                                  Then then) {
  const std::vector<OrderClass> &classes = *orders[mesh];
  cost::Layout layout;
  for (uint32_t i = 0; i < classes.size(); ++i) {
    index.lay(strategy, index.meshes[mesh], classes[i].order, layout);
    if (pricer.lay(layout))
      own.proof.illegal +=
          classes[i].count * index.pointsOf(index.meshes[mesh].sizes);
    else
      then(i, classes[i].count, layout);
  }
}

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_TARGETSEARCH_H

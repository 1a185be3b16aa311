//===- TargetSearch.h - The space of one target, priced ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First all plans without stages are priced, sixteen batches at once. Those
// that gather parameters (fsdp) have a bound: the step of the same plan with
// whole parameters, which has all but the gathers. They are made and priced
// where that does not fit, and is not beaten or is close to the best.
// Plans with stages have a bound: each microbatch goes through all layers,
// whose time on the devices of a stage is a price without stages, and no stage
// has less than its share. Those that the frontier does not beat by their bound
// are laid out and simulated, the most promising first. Where nothing fits, so
// are those that do not by their bound, as long as one may hold least. What is
// found does not depend on threads: a plan is compared to what was found before
// its phase or wave.
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

/// By name of a choice and its value, the best score that it leads to.
using EffectMap = std::map<std::string, std::map<int64_t, double>>;
/// By name of a choice, values of plans that are close to the best.
using CloseMap = std::map<std::string, std::set<int64_t>>;

class TargetSearch {
public:
  /// Arguments outlive it.
  TargetSearch(const SearchProblem &problem, const SearchTarget &target,
               const SearchControl &control);

  /// Prices all; false where it was stopped.
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
  // Plans without stages of a strategy, by question (`QuestionKind`).
  void priceSteps(uint32_t strategy, Findings &own);
  void priceRequests(uint32_t strategy, Findings &own);
  void priceIterations(uint32_t strategy, Findings &own);

  /// The best score of all, and of which meshes are at least `least`.
  double bestScore() const { return found.best.score; }
  /// The best of each mesh that are at least `least`, best first.
  std::vector<Scored> bestFrom(double least) const;
  void addClose(double least, CloseMap &close) const;

private:
  using Work = void (TargetSearch::*)(uint32_t strategy, Findings &own);
  /// Strategies, those together that one thread makes.
  using Groups = std::vector<std::vector<uint32_t>>;
  /// What is done with strategies, and with those that passes refuse: they have
  /// no program.
  struct Task {
    /// For progress.
    std::string_view name;
    Work price, refuse;
  };

  bool findWhetherCut();
  /// Groups of devices that have sequences of their own: where nothing is kept
  /// of those, in all layers.
  int64_t replicasOf(const SpaceMesh &mesh) const {
    return mayCut ? mesh.sizes.replicas() : mesh.sizes[Knob::dp];
  }
  void prepare();
  /// Calls `work` on each thread with its number and what it finds, adds up.
  void onThreads(const std::function<void(unsigned, Findings &)> &work);
  /// Makes strategies, in groups for one thread each.
  void perform(const Task &task, const Groups &groups);
  /// Of `making`, those that are wanted.
  Groups makingOf(const std::function<bool(uint32_t)> &isWanted) const;
  void noteBest(const Findings &own);
  bool goesOn(std::string_view what, size_t done, size_t all);

  // Plans without stages.
  void priceFirst();
  /// Prices steps of a strategy whose program was made.
  cost::Pricer pricerOf(const StrategyMeshes &strategy) const;
  void priceQuestion(uint32_t strategy, Findings &own);
  void refuseAll(uint32_t strategy, Findings &own);

  // Plans without stages that gather parameters.
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

  // Plans with stages.
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

  /// Calls `then` with the index of each order of a mesh in which it is legal,
  /// how many lie alike, and its layout.
  template <typename Then>
  void forLegalOrders(const StrategyMeshes &strategy, uint32_t mesh,
                      cost::Pricer &pricer, Findings &own, Then then);
  /// In all orders.
  uint64_t pointsOf(uint32_t mesh);
  size_t batchIndexOf(const Candidate &candidate) const;

  const SearchProblem &problem;
  const SearchTarget &target;
  const SearchControl &control;
  const unsigned threads;
  const Worth worth;
  SpaceIndex index;
  bool mayCut = true;
  /// By mesh.
  std::vector<const std::vector<OrderClass> *> orders;
  /// By number of replicas: of all batches, and of what stages take of them.
  std::map<int64_t, BatchSteps> steps, passes;
  /// Distinct microbatches and batches, rising.
  std::vector<int64_t> passSizes;
  /// By batch, the numbers of microbatches.
  std::vector<std::vector<int64_t>> microbatches;
  /// By strategy that is bounded, its open plans without stages.
  std::map<uint32_t, std::vector<OpenCandidate>> openOf;
  /// All strategies, in the order in which they are made.
  Groups making;
  double makingSeconds = 0;
  Scored soFar;
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

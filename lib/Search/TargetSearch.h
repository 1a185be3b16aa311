//===- TargetSearch.h - The space of one target, priced ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_TARGETSEARCH_H
#define AUTOPAR_LIB_SEARCH_TARGETSEARCH_H

#include "BatchPrices.h"
#include "SpaceIndex.h"

#include "autopar/Search/Frontier.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace autopar {

/// By name of a choice and its value, the best score that it leads to.
using EffectMap = std::map<std::string, std::map<int64_t, double>>;

/// What one thread has found.
struct Findings {
  Frontier frontier;
  SearchProof proof;
  /// By index of a mesh of the space, the best score; by batch.
  std::vector<double> bestOfMesh, bestOfBatch;
};

class TargetSearch {
public:
  /// Arguments outlive it.
  TargetSearch(const SearchProblem &problem, const SearchTarget &target,
               const SearchControl &control);

  /// Prices all; false where it was stopped.
  bool run();

  const SearchProof &proof() const { return total; }
  const Frontier &frontier() const { return found.frontier; }
  size_t strategies() const { return index.strategies.size(); }
  Plan planOf(const Candidate &candidate) const {
    return index.planOf(candidate);
  }
  void addEffects(EffectMap &effects) const;

private:
  void findOrders();
  bool runThreads();
  void work(Findings &own);
  void priceStrategy(const StrategyMeshes &strategy, Findings &own);
  void priceMesh(const StrategyMeshes &strategy, uint32_t mesh, Pricer &pricer,
                 Findings &own);
  void take(const std::vector<BatchPrice> &prices, Candidate candidate,
            uint64_t points, Findings &own);
  void merge(const Findings &own);
  const BatchSteps &stepsOf(const PlanSizes &sizes) const;
  double scoreOf(double stepUs, double tokensPerS) const;

  const SearchProblem &problem;
  const SearchTarget &target;
  const SearchControl &control;
  SpaceIndex index;
  /// By mesh.
  std::vector<const std::vector<OrderClass> *> orders;
  /// By number of replicas.
  std::map<int64_t, BatchSteps> steps;
  std::atomic<size_t> next{0};
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  Findings found;
  SearchProof total;
};

} // namespace autopar

#endif // AUTOPAR_LIB_SEARCH_TARGETSEARCH_H

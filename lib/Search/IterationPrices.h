//===- IterationPrices.h - Iterations of one strategy -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts are priced once for each size of a microbatch, stages and devices once
// for each number of layers that they have: what is left for a schedule is to
// lay the layers out, to find what devices hold and, where that fits, to run
// it.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_ITERATIONPRICES_H
#define AUTOPAR_LIB_SEARCH_ITERATIONPRICES_H

#include "IterationShapes.h"
#include "StrategyStages.h"

namespace autopar::search {

/// Prices iterations of training on stages, as `stage-pipeline` lays them out
/// and `evaluate` prices them.
class IterationPrices : StrategyStages {
public:
  /// Arguments outlive it.
  IterationPrices(const SearchProblem &problem, const SearchTarget &target,
                  cost::CompiledProgram &compiled)
      : StrategyStages(problem, target, compiled) {}

  /// The devices of a stage, where stages lie, and replicas of a stage.
  void lay(const cost::Layout &layout, cost::GroupAxis stages,
           int64_t replicas);
  /// Shapes whose microbatches are as large are cheapest one after another.
  BatchPrice price(const IterationShape &shape);

private:
  /// What a stage or a device has: so many of each part of `PricedLayers`, then
  /// of what lies before and after all layers.
  using Counts = std::vector<int64_t>;
  struct Content {
    Counts counts;
    /// Of a stage, without the host's time and transfers.
    schedule::StageWork work;
    // Of a device.
    cost::SectionTimes optimizer;
    std::optional<cost::StagePricer::StageMemory> memory = std::nullopt;
  };

  /// From a stage of a node to the next, or between the first and the last.
  struct Hop {
    cost::Route route;
    /// Of the last message.
    double bytes = -1;
    std::optional<schedule::Picoseconds> timePs = std::nullopt;

    bool send(double next);
  };

  bool priceParts(const program::Workload &pass);
  bool addTransfers();
  bool addCopies();
  void countParts();
  void countStage(size_t stage, Counts &counts) const;
  size_t contentOf(const Counts &counts);
  void addWork();
  bool findMemory(BatchPrice &price);
  cost::IterationTimes times() const;

  cost::Layout layout;
  cost::GroupAxis stages;
  int64_t replicas = 1;
  /// The microbatch that parts are priced for, and whether they have a price.
  std::optional<int64_t> passBatch;
  bool isPriced = false;
  schedule::Picoseconds hostPs = 0, copiesPs = 0;
  /// By layer of the order, and behind the last: how many of each part are
  /// before it.
  std::vector<int64_t> partsBefore;
  std::vector<Content> contents;
  size_t lastContent = 0;
  /// By stage of a node.
  std::vector<Hop> hops;
  Hop ends;
  // Of the shape that is priced.
  cost::PipelineShape shape;
  std::vector<schedule::LayerRange> ranges;
  schedule::PipelineSchedule schedule;
  /// By device, which of `contents`.
  std::vector<size_t> deviceContents;
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_ITERATIONPRICES_H

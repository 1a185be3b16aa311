//===- IterationPrices.h - Iterations of one strategy -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each part is priced once per microbatch size, and each stage or device once
// per combination of layers. A schedule then only has to lay out the layers,
// sum the memory of devices and, if that fits, run the pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_ITERATIONPRICES_H
#define AUTOPAR_LIB_SEARCH_ITERATIONPRICES_H

#include "IterationShapes.h"
#include "StrategyStages.h"

namespace autopar::search {

/// Prices iterations of training on pipeline stages. The layout of layers is
/// that of `stage-pipeline`, the prices are those of `evaluate`.
class IterationPrices : StrategyStages {
public:
  /// The arguments must outlive the object.
  IterationPrices(const SearchProblem &problem, const SearchTarget &target,
                  cost::CompiledProgram &compiled)
      : StrategyStages(problem, target, compiled) {}

  /// Sets the layout of a stage, the axis along which stages lie, and the
  /// number of replicas of a stage.
  void lay(const cost::Layout &layout, cost::GroupAxis stages,
           int64_t replicas);
  /// Prices one shape. Shapes with equal microbatches that follow each other
  /// share the prices of parts.
  BatchPrice price(const IterationShape &shape);
  /// Returns a lower bound of the bytes of the fullest device, and the bytes
  /// that a device has; nothing if the shape is illegal.
  struct LeastBytes {
    double leastBytes = 0, capacityBytes = 0;

    bool fits() const { return leastBytes <= capacityBytes; }
  };
  std::optional<LeastBytes> leastBytesOf(const IterationShape &shape);

private:
  /// What a stage or a device contains: the number of each part of
  /// `PricedLayers`, then of the parts before and after all layers.
  using Counts = std::vector<int64_t>;
  struct Content {
    Counts counts;
    /// The work of a stage, without the host's time and without transfers.
    schedule::StageWork work;
    // The times of the optimizer and the memory of a device with this content.
    cost::SectionTimes optimizer;
    std::optional<cost::StagePricer::StageMemory> memory = std::nullopt;
  };

  /// The link from a stage of a node to the next stage, or between the first
  /// and the last stage.
  struct Hop {
    cost::Route route;
    /// The bytes of the last message that was priced.
    double bytes = -1;
    std::optional<schedule::Picoseconds> timePs = std::nullopt;

    bool send(double next);
  };

  bool begin(const IterationShape &wanted);
  bool priceParts(const program::Workload &pass);
  int64_t savedBytes() const;
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
  /// The microbatch whose parts are priced, and whether these prices are legal.
  std::optional<int64_t> passBatch;
  bool isPriced = false;
  cost::StagePricer::WholeMemory whole;
  schedule::Picoseconds hostPs = 0, copiesPs = 0;
  /// For each position in the order of layers, and for the end, the number of
  /// parts of each kind before this position.
  std::vector<int64_t> partsBefore;
  std::vector<Content> contents;
  size_t lastContent = 0;
  /// The link to the next stage, for each stage of a node.
  std::vector<Hop> hops;
  Hop ends;
  // The state of the shape that is being priced.
  cost::PipelineShape shape;
  std::vector<schedule::LayerRange> ranges;
  schedule::PipelineSchedule schedule;
  /// For each device, the index of its content in `contents`.
  std::vector<size_t> deviceContents;
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_ITERATIONPRICES_H

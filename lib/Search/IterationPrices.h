//===- IterationPrices.h - Iterations of one strategy -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_ITERATIONPRICES_H
#define AUTOPAR_LIB_SEARCH_ITERATIONPRICES_H

#include "BatchPrices.h"
#include "IterationShapes.h"

#include "autopar/Cost/PipelineTimes.h"

namespace autopar {

/// Prices iterations of training on stages, as `stage-pipeline` lays them out
/// and `evaluate` prices them.
class IterationPrices {
public:
  /// Arguments outlive it.
  IterationPrices(const SearchProblem &problem, const SearchTarget &target,
                  CompiledProgram &program);

  /// The devices of a stage, where stages lie, and replicas of a stage.
  void lay(const Layout &layout, GroupAxis stages, int64_t replicas);
  BatchPrice price(const IterationShape &shape);

private:
  bool layOut();
  bool addTransfers();
  bool findEnds(std::vector<Picoseconds> &endPs);
  bool findMemory(BatchPrice &price);

  const SearchProblem &problem;
  const SearchTarget &target;
  const CostProgram &program;
  StagePricer pricer;
  std::vector<uint32_t> order;
  Layout layout;
  GroupAxis stages;
  int64_t replicas = 1;
  PipelineSteps steps;
  /// Of the shape that is priced, by device.
  std::vector<int64_t> savedBytes;
};

} // namespace autopar

#endif // AUTOPAR_LIB_SEARCH_ITERATIONPRICES_H

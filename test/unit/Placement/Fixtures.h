//===- Fixtures.h - Traces with planted communities -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_UNIT_PLACEMENT_FIXTURES_H
#define AUTOPAR_TEST_UNIT_PLACEMENT_FIXTURES_H

#include "autopar/Placement/Placement.h"

namespace autopar::test {

struct PlantedTrace {
  placement::RoutingTrace trace;
  /// By expert.
  std::vector<int> communityOf;
};

/// Tokens choose a community, with Zipf shares of `popularity`, and from it
/// `topK` experts, with shares of `skew`; each of these is any expert with
/// probability `noise` instead. Numbers of experts are shuffled.
struct PlantedOptions {
  int experts = 256, communities = 8, topK = 8, tokens = 10'000;
  double noise = 0, popularity = 0, skew = 0;
  uint64_t seed = 1;
};
PlantedTrace plantTrace(const PlantedOptions &options);

/// The least most loaded rank of all assignments: every rank gets any set of
/// experts.
double leastLargestLoad(const std::vector<double> &loads, int ranks, int slots);

/// The number of times that a rank has a second replica of an expert.
int twiceOnARank(const std::vector<int32_t> &slots,
                 const placement::PlacementSpace &space);

} // namespace autopar::test

#endif // AUTOPAR_TEST_UNIT_PLACEMENT_FIXTURES_H

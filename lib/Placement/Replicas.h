//===- Replicas.h - Numbers of replicas per expert --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLACEMENT_REPLICAS_H
#define AUTOPAR_LIB_PLACEMENT_REPLICAS_H

#include <cstdint>
#include <vector>

namespace autopar::placement {

/// Returns the number of replicas of each expert such that the load of the most
/// loaded replica is lowest; the sum is `slots`, and an expert has at most
/// `ranks` replicas. Every slot goes to the expert with the most loaded
/// replicas. This is optimal: for a maximum load T each expert needs ceil(load
/// / T) replicas, and none gets more before all have them. Requires experts <=
/// slots <= experts * ranks.
std::vector<int64_t> replicaCounts(const std::vector<double> &loads,
                                   int64_t ranks, int64_t slots);

/// Returns the smallest number of replicas of each expert that keeps the load
/// of every replica at `threshold` or below. The remaining slots go to the
/// least loaded experts, where they change least. The result is empty if the
/// slots do not suffice.
std::vector<int64_t> thresholdCounts(const std::vector<double> &loads,
                                     int64_t ranks, int64_t slots,
                                     double threshold);

/// Returns the largest load of a replica: the maximum over experts of load /
/// replicas.
double largestReplicaLoad(const std::vector<double> &loads,
                          const std::vector<int64_t> &counts);

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_REPLICAS_H

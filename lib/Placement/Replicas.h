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

/// The numbers of replicas, `slots` in all and at most `ranks` per expert, that
/// minimise the load of the most loaded replica. Every slot goes to the expert
/// with the most loaded replicas. That is optimal: for a maximum T each expert
/// needs ceil(load / T) replicas, and none gets more before all have them.
/// Needs experts <= slots <= experts * ranks.
std::vector<int64_t> replicaCounts(const std::vector<double> &loads,
                                   int64_t ranks, int64_t slots);

/// The fewest replicas that keep every one at `threshold` or below. The other
/// slots go to the least loaded experts, where they change least. Empty if the
/// slots do not suffice.
std::vector<int64_t> thresholdCounts(const std::vector<double> &loads,
                                     int64_t ranks, int64_t slots,
                                     double threshold);

/// The largest load / replicas.
double largestReplicaLoad(const std::vector<double> &loads,
                          const std::vector<int64_t> &counts);

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_REPLICAS_H

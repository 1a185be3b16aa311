//===- Replicas.h - How many replicas each expert gets ----------*- C++ -*-===//
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

/// The numbers of replicas, `slots` in all and at most `ranks` of an expert,
/// whose hottest replica is the coolest. Every slot goes to the expert whose
/// replicas are hottest: no other choice reaches a lower threshold T, as each
/// expert needs ceil(load / T) replicas for it and has no more until all have.
/// Needs experts <= slots <= experts * ranks.
std::vector<int64_t> replicaCounts(const std::vector<double> &loads,
                                   int64_t ranks, int64_t slots);

/// As few replicas as keep every one at `threshold` or below; the other slots
/// go to the coldest experts, where they change least. Empty where the slots do
/// not suffice.
std::vector<int64_t> thresholdCounts(const std::vector<double> &loads,
                                     int64_t ranks, int64_t slots,
                                     double threshold);

/// The largest load / replicas.
double hottestReplica(const std::vector<double> &loads,
                      const std::vector<int64_t> &counts);

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_REPLICAS_H

//===- ExpertPlacer.h - The same loads on any devices -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLACEMENT_EXPERTPLACER_H
#define AUTOPAR_PLACEMENT_EXPERTPLACER_H

#include "autopar/Placement/Placement.h"

#include <map>
#include <mutex>

namespace autopar::placement {

/// Places experts by their loads on any number of devices, and remembers the
/// result for each number. Thread-safe.
class ExpertPlacer {
public:
  /// Makes a placer that may put the experts of a routing group into any node.
  ExpertPlacer(LoadProfile loads, PlacementPolicy policy);

  const LoadProfile &loads() const { return profile; }
  const PlacementOptions &options() const { return choices; }

  /// Returns the load of the most loaded device over the mean, for each layer
  /// in the order of `loads`, with `slots` spread evenly over `ranks` devices
  /// of `nodes` nodes. Errors: slots that do not hold all experts, or do not
  /// divide evenly.
  Result<std::vector<double>> imbalances(int64_t slots, int64_t ranks,
                                         int64_t nodes);

private:
  const LoadProfile profile;
  const PlacementOptions choices;
  std::mutex mutex;
  /// The results that were computed so far, by number of slots, ranks and
  /// nodes.
  std::map<std::array<int64_t, 3>, Result<std::vector<double>>> known;
};

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_EXPERTPLACER_H

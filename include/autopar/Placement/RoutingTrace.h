//===- RoutingTrace.h - Experts that fire together --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLACEMENT_ROUTINGTRACE_H
#define AUTOPAR_PLACEMENT_ROUTINGTRACE_H

#include "autopar/Placement/LoadProfile.h"

namespace autopar::placement {

/// Tokens that were routed to the same experts.
struct RoutedTokens {
  /// Sorted.
  std::vector<int32_t> experts;
  double tokens = 0;
};

struct LayerTrace {
  int64_t layer = 0;
  /// Each set of experts once.
  std::vector<RoutedTokens> routed;
};

struct RoutingTrace {
  int64_t experts = 0;
  /// Sorted by layer number.
  std::vector<LayerTrace> layers;

  /// The records of layer number `layer`, or null.
  const LayerTrace *find(int64_t layer) const;
};

/// Reads one record per line: `{"layer": 3, "experts": [1, 17], "tokens": 2}`;
/// "tokens" defaults to 1.
Result<RoutingTrace> readTraceJsonLines(std::string_view text,
                                        const std::string &name,
                                        const LoadShape &shape);
/// Reads lines of `layer,experts,tokens` below a line of these words; experts
/// are separated by spaces: `3,1 17,2`.
Result<RoutingTrace> readTraceCsv(std::string_view text,
                                  const std::string &name,
                                  const LoadShape &shape);
/// Reads either format, by the suffix of the name: ".csv", else JSON lines.
Result<RoutingTrace> readTraceFile(const std::string &path,
                                   const LoadShape &shape);
/// Writes the trace as JSON lines.
std::string writeTrace(const RoutingTrace &trace);

/// Counts how often each expert was chosen.
LoadProfile loadsOf(const RoutingTrace &trace);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_ROUTINGTRACE_H

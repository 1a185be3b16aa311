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

/// A number of tokens that were routed to the same experts.
struct RoutedTokens {
  /// The experts to which these tokens were routed together, sorted.
  std::vector<int32_t> experts;
  double tokens = 0;
};

struct LayerTrace {
  int64_t layer = 0;
  /// The routed tokens; each set of experts occurs once.
  std::vector<RoutedTokens> routed;
};

struct RoutingTrace {
  int64_t experts = 0;
  /// The traces of the layers, sorted by the number of the layer.
  std::vector<LayerTrace> layers;

  /// Returns the tokens of layer number `layer`; null if the trace does not
  /// contain it.
  const LayerTrace *find(int64_t layer) const;
};

/// Reads a trace from JSON lines, such as `{"layer": 3, "experts": [1, 17],
/// "tokens": 2}`; "tokens" defaults to 1.
Result<RoutingTrace> readTraceJsonLines(std::string_view text,
                                        const std::string &name,
                                        const LoadShape &shape);
/// Reads a trace from CSV: a first line `layer,experts,tokens`, then lines such
/// as `3,1 17,2`, in which experts are separated by spaces.
Result<RoutingTrace> readTraceCsv(std::string_view text,
                                  const std::string &name,
                                  const LoadShape &shape);
/// Reads a trace from a file: CSV if its name ends with ".csv", else JSON
/// lines.
Result<RoutingTrace> readTraceFile(const std::string &path,
                                   const LoadShape &shape);
/// Writes the trace as JSON lines.
std::string writeTrace(const RoutingTrace &trace);

/// Returns how often each expert was chosen.
LoadProfile loadsOf(const RoutingTrace &trace);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_ROUTINGTRACE_H

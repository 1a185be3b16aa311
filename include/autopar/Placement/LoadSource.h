//===- LoadSource.h - Loads by file or by word ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLACEMENT_LOADSOURCE_H
#define AUTOPAR_PLACEMENT_LOADSOURCE_H

#include "autopar/Placement/RoutingTrace.h"
#include "autopar/Placement/Synthetic.h"

namespace autopar::placement {

/// Loads that a word describes: `even`, `zipf:1.0`, `log_normal:0.24`, each
/// with what `SyntheticLoad` has besides: `zipf:1.0,tokens=65536,seed=3`.
/// Without a number, zipf has skew 1, and log_normal `measuredGini`. Nothing
/// where the text does not begin with such a word: then it is a file.
Result<std::optional<SyntheticLoad>> parseSyntheticLoad(std::string_view text);

/// The loads of `source`, a word or a file, for the experts and layers of
/// `shape`, which a word needs.
Result<LoadProfile> readLoads(const std::string &source,
                              const LoadShape &shape);

/// Where the loads of experts come from: a source as above, a trace, or both.
struct LoadSources {
  std::string load, trace;

  bool empty() const { return load.empty() && trace.empty(); }
};

/// What was read: without a load, how often each expert of the trace fired.
struct ExpertLoads {
  LoadProfile loads;
  std::optional<RoutingTrace> trace;

  const RoutingTrace *traceOrNull() const { return trace ? &*trace : nullptr; }
};
Result<ExpertLoads> readSources(const LoadSources &sources,
                                const LoadShape &shape);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_LOADSOURCE_H

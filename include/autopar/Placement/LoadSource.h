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

/// Parses a text that describes synthetic loads: `even`, `zipf:1.0`,
/// `log_normal:0.24`, also with other members of `SyntheticLoad`:
/// `zipf:1.0,tokens=65536,seed=3`. Without a number, zipf has exponent 1, and
/// log_normal the Gini coefficient `measuredGini`. Returns nothing if the text
/// begins with no such word: it then names a file.
Result<std::optional<SyntheticLoad>> parseSyntheticLoad(std::string_view text);

/// Returns the loads that `source` (a word or a file) gives to the experts and
/// layers of `shape`; a word needs a complete `shape`.
Result<LoadProfile> readLoads(const std::string &source,
                              const LoadShape &shape);

/// Where expert loads come from: `load`, a word such as `zipf:1.0` or a file,
/// as `readLoads` takes it; `trace`, a file of routed tokens; or both.
struct LoadSources {
  std::string load, trace;

  bool empty() const { return load.empty() && trace.empty(); }
};

/// The loads that were read and the trace, if one was given. Without a load,
/// `loads` counts the experts in the trace.
struct ExpertLoads {
  LoadProfile loads;
  std::optional<RoutingTrace> trace;

  const RoutingTrace *traceOrNull() const { return trace ? &*trace : nullptr; }
};
Result<ExpertLoads> readSources(const LoadSources &sources,
                                const LoadShape &shape);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_LOADSOURCE_H

//===- CloseCalls.h - What would make another plan the best -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two plans rest on the same figures, not to the same part. Where a figure
// moves by x, the time of a plan whose slope is e (d ln time / d ln figure)
// goes with (1 + x)^e: a rival of share R becomes the best at
// (1 + x)^(e - e_rival) = 1 / R.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SEARCH_CLOSECALLS_H
#define AUTOPAR_SEARCH_CLOSECALLS_H

#include "autopar/Report/Report.h"
#include "autopar/Search/Search.h"

namespace autopar::search {

/// What of the figures makes a rival the best.
struct CloseCall {
  /// Of `SearchResult::rivals`.
  size_t rival = 0;
  /// The path of a figure, or of a kernel curve, all of whose times move.
  std::string path;
  /// What it must change by, of itself: 0.1 is 10 % more, of a curve's time.
  double change = 0;
  /// Of a curve: the median error of its fit.
  std::optional<double> error = std::nullopt;

  /// Whether its own error may have decided between the two.
  bool isClose() const {
    return error && change <= *error && -change <= *error;
  }
};

/// For each rival of which `estimates` has one with impacts: the figure that is
/// nearest to its error, else the one that must change least. `best` is that of
/// the best plan.
std::vector<CloseCall>
closeCallsOf(const SearchProblem &problem, const SearchResult &result,
             const report::Report &best,
             const std::vector<std::optional<report::Report>> &estimates);

} // namespace autopar::search

#endif // AUTOPAR_SEARCH_CLOSECALLS_H

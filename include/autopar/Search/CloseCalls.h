//===- CloseCalls.h - Figures that may change the best plan -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two plans depend on the same figures, but not equally. If a figure changes by
// the factor 1 + x, the time of a plan whose elasticity is e (d ln time / d ln
// figure) changes by (1 + x)^e. A rival whose score is the share R of the best
// becomes the best at (1 + x)^(e - e_rival) = 1 / R.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SEARCH_CLOSECALLS_H
#define AUTOPAR_SEARCH_CLOSECALLS_H

#include "autopar/Report/Report.h"
#include "autopar/Search/Search.h"

namespace autopar::search {

/// The change of one hardware or runtime figure with which a rival plan would
/// be the best.
struct CloseCall {
  /// The rival, as an index into `SearchResult::rivals`.
  size_t rival = 0;
  /// The path of the figure, or of a kernel curve, all times of which are
  /// scaled.
  std::string path;
  /// The relative change that is needed: 0.1 means that the figure, or all
  /// times of the curve, must be 10 % larger.
  double change = 0;
  /// Median error of the curve's fit; absent for other figures.
  std::optional<double> error = std::nullopt;

  /// Whether the needed change is within the error of the curve's fit, so that
  /// this error may have decided between the two plans.
  bool isClose() const {
    return error && change <= *error && -change <= *error;
  }
};

/// Finds one close call for each rival whose entry in `estimates` has impacts:
/// the figure whose needed change is smallest relative to its error, if it is
/// within that error, else the figure with the smallest needed change. `best`
/// is the report of the best plan.
std::vector<CloseCall>
closeCallsOf(const SearchProblem &problem, const SearchResult &result,
             const report::Report &best,
             const std::vector<std::optional<report::Report>> &estimates);

} // namespace autopar::search

#endif // AUTOPAR_SEARCH_CLOSECALLS_H

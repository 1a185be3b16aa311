//===- CloseCalls.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/CloseCalls.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace autopar;
using namespace autopar::report;
using namespace autopar::search;

namespace {

/// The elasticities of the time, d ln time / d ln figure, by the path of the
/// figure. For a kernel curve the figure is its time: its floor, and the
/// inverse of its two efficiencies.
using Elasticities = std::map<std::string, double>;

/// The median error of the fit of each curve, by the path of the curve.
using CurveErrors = std::map<std::string, double>;

} // namespace

/// Returns a path, and whether a larger figure means less time. If the figure
/// at `path` belongs to a kernel curve, the returned path is that of the curve
/// ("chips.x.kernels.matmul.bf16"); else it is `path`.
static std::pair<std::string, bool> curveOf(const std::string &path) {
  size_t dot = path.rfind('.');
  if (dot == path.npos || path.find(".kernels.") == path.npos)
    return {path, false};
  std::string name = path.substr(dot + 1);
  bool isEfficiency =
      name == "memory_efficiency" || name == "compute_efficiency";
  if (!isEfficiency && name != "floor")
    return {path, false};
  return {path.substr(0, dot), isEfficiency};
}

static Elasticities elasticitiesOf(const Report &report) {
  Elasticities elasticities;
  for (const Impact &impact : report.impacts) {
    auto [path, isInverse] = curveOf(impact.path);
    double ofOnePercent = impact.more.stepTimeUs / report.latency.stepTimeUs;
    elasticities[path] += (isInverse ? -100 : 100) * ofOnePercent;
  }
  return elasticities;
}

static CurveErrors errorsOf(const SearchProblem &problem) {
  CurveErrors errors;
  for (const SearchTarget &target : problem.targets)
    for (const auto &[kind, curves] : target.machine.pools.front().chip.kernels)
      for (const auto &[format, curve] : curves)
        if (curve.medianError)
          errors[curve.path] = *curve.medianError;
  return errors;
}

/// Returns whether `a` is the closer call. Calls within the error of their fit
/// come first, then calls on figures without an error.
static bool isNearer(const CloseCall &a, const CloseCall &b) {
  if (a.error.has_value() != b.error.has_value())
    return a.error.has_value() ? a.isClose() : !b.isClose();
  if (a.error)
    return std::fabs(a.change) / *a.error < std::fabs(b.change) / *b.error;
  return std::fabs(a.change) < std::fabs(b.change);
}

static std::optional<CloseCall> callOf(double share, const Elasticities &best,
                                       const Elasticities &rival,
                                       const CurveErrors &errors) {
  /// The largest relative change that is reported. If a figure has to change by
  /// more than a half, the call is not close.
  constexpr double most = 0.5;
  std::optional<CloseCall> nearest;
  Elasticities differences = best;
  for (const auto &[path, elasticity] : rival)
    differences[path] -= elasticity;
  for (const auto &[path, difference] : differences) {
    CloseCall call;
    call.path = path;
    call.change = std::expm1(-std::log(share) / difference);
    if (!(std::fabs(call.change) <= most))
      continue;
    if (auto error = errors.find(path); error != errors.end())
      call.error = error->second;
    if (!nearest || isNearer(call, *nearest))
      nearest = call;
  }
  return nearest;
}

std::vector<CloseCall> autopar::search::closeCallsOf(
    const SearchProblem &problem, const SearchResult &result,
    const Report &best, const std::vector<std::optional<Report>> &estimates) {
  std::vector<CloseCall> calls;
  CurveErrors errors = errorsOf(problem);
  Elasticities ofBest = elasticitiesOf(best);
  for (size_t i = 0; i < estimates.size(); ++i) {
    if (!estimates[i])
      continue;
    std::optional<CloseCall> call = callOf(
        result.rivals[i].share, ofBest, elasticitiesOf(*estimates[i]), errors);
    if (!call)
      continue;
    call->rival = i;
    calls.push_back(std::move(*call));
  }
  return calls;
}

//===- Impact.cpp - Figures by what they do to a plan ---------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reading.h"

#include "autopar/Cost/Sensitivity.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace autopar;

namespace {

/// Gathers slopes by path of the figure: several uses may be of one.
class ImpactReader {
public:
  explicit ImpactReader(Reading &reading)
      : reading(reading),
        sensitivity(reading.strategy, reading.machine, reading.runtime,
                    reading.plan.memoryUtilization) {}

  void run();

private:
  Impact &find(const std::string &path, double value, const Source &source);
  Impact *impactOf(size_t index);
  void add(NodeId output, double unit, double Impact::Change::*change);

  Reading &reading;
  Sensitivity sensitivity;
  std::vector<Impact> all;
};

} // namespace

/// The part of a curve that a use is of, as files spell it.
static const char *coefficientOf(FigureUse::Kind kind) {
  switch (kind) {
  case FigureUse::Kind::curve_floor:
    return "floor";
  case FigureUse::Kind::compute_efficiency:
    return "compute_efficiency";
  case FigureUse::Kind::memory_efficiency:
    return "memory_efficiency";
  default:
    return nullptr;
  }
}

Impact &ImpactReader::find(const std::string &path, double value,
                           const Source &source) {
  auto found = std::find_if(all.begin(), all.end(), [&](const Impact &impact) {
    return impact.path == path;
  });
  if (found == all.end())
    found = all.insert(found, {path, value, source.str(), {}, {}});
  return *found;
}

/// Of a figure of the strategy, or then of a link; null of what has no slope:
/// an exponent, which is one of a few.
Impact *ImpactReader::impactOf(size_t index) {
  const auto &figures = sensitivity.figures();
  if (index >= figures.size()) {
    const LinkFigure &link = sensitivity.linkFigures()[index - figures.size()];
    const Figure &figure = reading.pool().tiers[link.tier].*link.figure;
    return &find(figure.path, figure.value, figure.source);
  }
  const BoundFigure &bound = figures[index];
  if (bound.figure)
    return &find(bound.figure->path, bound.value, bound.figure->source);
  FigureUse::Kind kind = reading.strategy.figures[index].kind;
  if (kind == FigureUse::Kind::memory_utilization)
    return &find("plan.memory_utilization", bound.value, {"user", "plan"});
  const char *coefficient = coefficientOf(kind);
  if (!coefficient || !bound.curve)
    return nullptr;
  return &find(bound.curve->path + "." + coefficient, bound.value,
               bound.curve->source);
}

void ImpactReader::add(NodeId output, double unit,
                       double Impact::Change::*change) {
  constexpr double onePercent = 0.01;
  std::vector<Slope> slopes = sensitivity.slopes(output);
  for (size_t i = 0; i < slopes.size(); ++i) {
    Slope slope = slopes[i];
    bool isFlat = slope.above == 0 && slope.below == 0;
    Impact *impact = isFlat ? nullptr : impactOf(i);
    if (!impact)
      continue;
    impact->more.*change += slope.above * unit * onePercent;
    if (slope.above == slope.below)
      continue;
    if (!impact->less)
      impact->less.emplace();
    (*impact->less).*change -= slope.below * unit * onePercent;
  }
}

void ImpactReader::run() {
  const TotalNodes &total = reading.strategy.total;
  constexpr double usPerPicosecond = 1e-6;
  sensitivity.lay(reading.layout, pointOf(reading.workload));
  add(total.stepPs, usPerPicosecond, &Impact::Change::stepTimeUs);
  add(total.totalBytes, 1, &Impact::Change::totalBytes);
  add(total.kvCapacityTokens, 1, &Impact::Change::kvCapacityTokens);
  auto rankOf = [](const Impact &impact) {
    return std::tuple(-std::fabs(impact.more.stepTimeUs),
                      -std::fabs(impact.more.totalBytes),
                      -std::fabs(impact.more.kvCapacityTokens), impact.path);
  };
  std::sort(all.begin(), all.end(), [&](const Impact &a, const Impact &b) {
    return rankOf(a) < rankOf(b);
  });
  reading.report.impacts = std::move(all);
}

void autopar::readImpacts(Reading &reading) { ImpactReader(reading).run(); }

//===- StepImpacts.cpp - Figures by what they do to a plan ----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImpactTable.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

/// Returns the name that files have for a coefficient of a curve.
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

Impact &ImpactTable::find(const Named &figure) {
  auto found = std::find_if(all.begin(), all.end(), [&](const Impact &impact) {
    return impact.path == figure.path;
  });
  if (found == all.end())
    found = all.insert(
        found, {figure.path, figure.value, figure.source.str(), {}, {}});
  return *found;
}

/// Returns the name of the figure with this index: first come the figures of
/// the strategy, then those of links. Returns nothing for a figure without a
/// slope, such as an exponent, which has only a few possible values.
std::optional<ImpactTable::Named> ImpactTable::nameOf(size_t index) const {
  const auto &figures = sensitivity.figures();
  if (index >= figures.size()) {
    const LinkFigure &link = sensitivity.linkFigures()[index - figures.size()];
    const Figure &figure = inputs.pool().tiers[link.tier].*link.figure;
    return Named{figure.path, figure.value, figure.source};
  }
  const BoundFigure &bound = figures[index];
  if (bound.figure)
    return Named{bound.figure->path, bound.value, bound.figure->source};
  FigureUse::Kind kind = strategy.figures[index].kind;
  if (kind == FigureUse::Kind::memory_utilization)
    return Named{"plan.memory_utilization", bound.value, {"user", "plan"}};
  const char *coefficient = coefficientOf(kind);
  if (!coefficient || !bound.curve)
    return std::nullopt;
  return Named{bound.curve->path + "." + coefficient, bound.value,
               bound.curve->source};
}

static Impact::Change opposite(const Impact::Change &change) {
  return {-change.stepTimeUs, -change.totalBytes, -change.kvCapacityTokens};
}

static constexpr double onePercent = 0.01, usPerPicosecond = 1e-6;

void ImpactTable::addTo(Impact &impact, const Slope &slope, double unit,
                        double Impact::Change::*change) {
  Impact::Change before = impact.more;
  impact.more.*change += slope.above * unit * onePercent;
  if (slope.above == slope.below && !impact.less)
    return;
  if (!impact.less)
    impact.less = opposite(before);
  (*impact.less).*change -= slope.below * unit * onePercent;
}

static bool isFlat(const Slope &slope) {
  return slope.above == 0 && slope.below == 0;
}

void ImpactTable::add(const std::vector<Slope> &slopes, double unit,
                      double Impact::Change::*change) {
  for (size_t i = 0; i < slopes.size(); ++i)
    if (!isFlat(slopes[i]))
      if (std::optional<Named> figure = nameOf(i))
        addTo(find(*figure), slopes[i], unit, change);
}

void ImpactTable::addFigure(const Figure &figure, const Slope &picoseconds,
                            const Slope &bytes) {
  if (isFlat(picoseconds) && isFlat(bytes))
    return;
  Impact &impact = find({figure.path, figure.value, figure.source});
  addTo(impact, picoseconds, usPerPicosecond, &Impact::Change::stepTimeUs);
  addTo(impact, bytes, 1, &Impact::Change::totalBytes);
}

void ImpactTable::addTime(const std::vector<Slope> &picoseconds, double times) {
  add(picoseconds, times * usPerPicosecond, &Impact::Change::stepTimeUs);
}

void ImpactTable::addMemory() {
  addMemory(sensitivity.slopes(strategy.total.totalBytes));
}

void ImpactTable::addMemory(const std::vector<Slope> &bytes) {
  add(bytes, 1, &Impact::Change::totalBytes);
}

void ImpactTable::addCapacity() {
  add(sensitivity.slopes(strategy.total.kvCapacityTokens), 1,
      &Impact::Change::kvCapacityTokens);
}

std::vector<Impact> ImpactTable::take() {
  auto rankOf = [](const Impact &impact) {
    return std::tuple(-std::fabs(impact.more.stepTimeUs),
                      -std::fabs(impact.more.totalBytes),
                      -std::fabs(impact.more.kvCapacityTokens), impact.path);
  };
  std::sort(all.begin(), all.end(), [&](const Impact &a, const Impact &b) {
    return rankOf(a) < rankOf(b);
  });
  return std::move(all);
}

std::vector<Impact> autopar::explanation::impactsOf(const EvaluatedStep &step) {
  ImpactTable table(step, step.strategy);
  NodeId stepPs = step.strategy.total.stepPs;
  auto lay = [&](const Workload &workload) {
    table.sensitivity.lay(step.layout, pointOf(workload));
  };
  for (const PrefillChunk &chunk : step.chunks) {
    lay(chunk.step);
    table.addTime(table.sensitivity.slopes(stepPs),
                  static_cast<double>(chunk.count));
  }
  lay(step.workload);
  if (step.chunks.empty())
    table.addTime(table.sensitivity.slopes(stepPs));
  table.addMemory();
  table.addCapacity();
  return table.take();
}

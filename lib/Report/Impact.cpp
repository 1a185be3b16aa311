//===- Impact.cpp - Figures by what they do to a plan ---------------------===//
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

Impact &ImpactTable::find(const std::string &path, double value,
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
Impact *ImpactTable::impactOf(size_t index) {
  const auto &figures = sensitivity.figures();
  if (index >= figures.size()) {
    const LinkFigure &link = sensitivity.linkFigures()[index - figures.size()];
    const Figure &figure = inputs.pool().tiers[link.tier].*link.figure;
    return &find(figure.path, figure.value, figure.source);
  }
  const BoundFigure &bound = figures[index];
  if (bound.figure)
    return &find(bound.figure->path, bound.value, bound.figure->source);
  FigureUse::Kind kind = strategy.figures[index].kind;
  if (kind == FigureUse::Kind::memory_utilization)
    return &find("plan.memory_utilization", bound.value, {"user", "plan"});
  const char *coefficient = coefficientOf(kind);
  if (!coefficient || !bound.curve)
    return nullptr;
  return &find(bound.curve->path + "." + coefficient, bound.value,
               bound.curve->source);
}

static Impact::Change opposite(const Impact::Change &change) {
  return {-change.stepTimeUs, -change.totalBytes, -change.kvCapacityTokens};
}

void ImpactTable::add(const std::vector<Slope> &slopes, double unit,
                      double Impact::Change::*change) {
  constexpr double onePercent = 0.01;
  for (size_t i = 0; i < slopes.size(); ++i) {
    Slope slope = slopes[i];
    bool isFlat = slope.above == 0 && slope.below == 0;
    Impact *impact = isFlat ? nullptr : impactOf(i);
    if (!impact)
      continue;
    Impact::Change before = impact->more;
    impact->more.*change += slope.above * unit * onePercent;
    if (slope.above == slope.below && !impact->less)
      continue;
    if (!impact->less)
      impact->less = opposite(before);
    (*impact->less).*change -= slope.below * unit * onePercent;
  }
}

void ImpactTable::addTime(const std::vector<Slope> &picoseconds, double times) {
  constexpr double usPerPicosecond = 1e-6;
  add(picoseconds, times * usPerPicosecond, &Impact::Change::stepTimeUs);
}

void ImpactTable::addMemory() {
  add(sensitivity.slopes(strategy.total.totalBytes), 1,
      &Impact::Change::totalBytes);
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

void autopar::readImpacts(Reading &reading) {
  ImpactTable table(reading, reading.strategy);
  NodeId step = reading.strategy.total.stepPs;
  auto lay = [&](const Workload &workload) {
    table.sensitivity.lay(reading.layout, pointOf(workload));
  };
  for (const PrefillChunk &chunk : reading.chunks) {
    lay(chunk.step);
    table.addTime(table.sensitivity.slopes(step),
                  static_cast<double>(chunk.count));
  }
  lay(reading.workload);
  if (reading.chunks.empty())
    table.addTime(table.sensitivity.slopes(step));
  table.addMemory();
  table.addCapacity();
  reading.report.impacts = table.take();
}

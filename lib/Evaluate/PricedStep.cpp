//===- PricedStep.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/PricedStep.h"

#include "autopar/Evaluate/PlanLayout.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::program;

PricedStep::PricedStep(const PlanInputs &inputs, const Strategy &strategy)
    : PlanInputs(inputs), strategy(strategy),
      values(strategy, machine, runtime, plan.memoryUtilization) {}

std::optional<Error> PricedStep::price(const Layout &wanted) {
  layout = wanted;
  if (Refusal refusal = values.evaluate(layout, workload))
    return explainRefusal(*this, strategy, values, refusal);
  return std::nullopt;
}

PricedStep::LaunchPeak PricedStep::peakOf(const LaunchNodes &launch) const {
  LaunchPeak peak;
  for (const LaunchNodes::Member &member : launch.members) {
    peak.computeUs += real(strategy.kernels[member.kernel].idealUs);
    peak.movedBytes += real(member.movedBytes);
  }
  peak.memoryUs = peak.movedBytes / pool().chip.memoryBandwidth.value * 1e6;
  return peak;
}

int64_t PricedStep::passesOf(uint32_t layer) const {
  bool isOnce = program.layers[layer].section == Section::optimizer;
  return isOnce ? 1 : layout.passes;
}

Checked PricedStep::countOf(uint32_t kernel) const {
  return whole(strategy.kernels[kernel].count) *
         passesOf(program.kernels[kernel].layer);
}

Checked PricedStep::countOf(const LaunchNodes &launch) const {
  return whole(launch.count) *
         passesOf(program.kernels[launch.members.front().kernel].layer);
}

double PricedStep::microseconds(NodeId ps) const {
  constexpr double picosecondsPerUs = 1e6;
  return whole(ps).real() / picosecondsPerUs;
}

Checked PricedStep::groupSize(const std::vector<AxisId> &axes) const {
  Checked product = 1;
  for (AxisId axis : axes)
    product *= axisSize(axis);
  return product;
}

GroupLayout PricedStep::groupOf(const std::vector<AxisId> &axes) const {
  GroupLayout group;
  for (AxisId axis : axes)
    group.push_back(layout.axes[axis]);
  return group;
}

Checked PricedStep::logical(const Extent &extent) const {
  std::pair<std::string_view, int64_t> sizes[] = {
      {"batch", workload.batch},
      {"query", workload.query},
      {"context", workload.context},
      {"encoder_tokens", workload.encoderTokens},
      {"cross_tokens", workload.crossTokens}};
  auto product = [&](int64_t factor, const std::vector<SymbolId> &symbols) {
    Checked result = factor;
    for (SymbolId symbol : symbols)
      for (auto [name, size] : sizes)
        if (program.symbols[symbol] == name)
          result *= size;
    return result;
  };
  Checked value = product(extent.factor, extent.symbols);
  if (extent.limit != 0)
    value = std::min(value, product(extent.limit, extent.limitSymbols));
  return extent.ceiling == 0 ? value : std::min(value, Checked(extent.ceiling));
}

bool PricedStep::communicates() const {
  if (layout.stages > 1)
    return true;
  return std::any_of(program.collectives.begin(), program.collectives.end(),
                     [&](const Collective &collective) {
                       return groupSize(collective.axes) > 1;
                     });
}

//===----------------------------------------------------------------------===//
// Conversion to the integers of a report
//===----------------------------------------------------------------------===//

void Narrowing::fail(const std::string &what, const char *bits) {
  if (!error)
    error = Error{"",
                  "number of " + what + " of '" + step.program.model +
                      "' does not fit in " + bits + " bits",
                  ""};
}

int64_t Narrowing::operator()(Checked value, const char *what) {
  if (std::optional<int64_t> integer = value.int64())
    return *integer;
  fail(what, "63");
  return 0;
}

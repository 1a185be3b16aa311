//===- Reading.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reading.h"

#include "autopar/Report/PlanLayout.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;

Layout autopar::report::layoutOf(const std::vector<std::string> &axes,
                                 const Plan &plan) {
  Layout layout;
  for (const std::string &axis : axes)
    layout.axes.push_back({*plan.strideOf(axis), *plan.axis(axis)->size});
  layout.devices = *plan.devices();
  return layout;
}

Layout autopar::report::layoutOf(const PlanInputs &inputs) {
  const Plan &plan = inputs.plan;
  Layout layout = layoutOf(inputs.program.axes, plan);
  if (plan.pipeline.isGiven())
    layout.stages = plan.sizeOf(Degree::pp).value_or(1);
  return layout;
}

const CollectiveCurve *CollectiveReading::curve() const {
  if (route->modelled)
    return nullptr;
  auto curves = route->tier->curves.find(record->kind);
  if (curves == route->tier->curves.end() || curves->second.empty())
    return nullptr;
  auto near = curves->second.lower_bound(groupSize);
  if (near == curves->second.end())
    --near;
  return &near->second;
}

Reading::Reading(const PlanInputs &inputs, const Strategy &strategy)
    : PlanInputs(inputs), strategy(strategy),
      values(strategy, machine, runtime, plan.memoryUtilization) {}

void Reading::fail(std::string message, std::string note) {
  if (!error)
    error = Error{"", std::move(message), std::move(note)};
}

int64_t Reading::narrow(Checked value, const char *what) {
  if (std::optional<int64_t> integer = value.int64())
    return *integer;
  fail("number of " + std::string(what) + " of '" + program.model +
       "' does not fit in 63 bits");
  return 0;
}

Reading::LaunchPeak Reading::peakOf(const LaunchNodes &launch) const {
  LaunchPeak peak;
  for (const LaunchNodes::Member &member : launch.members) {
    peak.computeUs += real(strategy.kernels[member.kernel].idealUs);
    peak.movedBytes += real(member.movedBytes);
  }
  peak.memoryUs = peak.movedBytes / pool().chip.memoryBandwidth.value * 1e6;
  return peak;
}

int64_t Reading::passesOf(uint32_t layer) const {
  bool isOnce = program.layers[layer].section == Section::optimizer;
  return isOnce ? 1 : layout.passes;
}

Checked Reading::countOf(uint32_t kernel) const {
  return whole(strategy.kernels[kernel].count) *
         passesOf(program.kernels[kernel].layer);
}

Checked Reading::countOf(const LaunchNodes &launch) const {
  return whole(launch.count) *
         passesOf(program.kernels[launch.members.front().kernel].layer);
}

double Reading::microseconds(NodeId ps) const {
  constexpr double picosecondsPerUs = 1e6;
  return whole(ps).real() / picosecondsPerUs;
}

Checked Reading::groupSize(const std::vector<AxisId> &axes) const {
  Checked product = 1;
  for (AxisId axis : axes)
    product *= axisSize(axis);
  return product;
}

GroupLayout Reading::groupOf(const std::vector<AxisId> &axes) const {
  GroupLayout group;
  for (AxisId axis : axes)
    group.push_back(layout.axes[axis]);
  return group;
}

const Reading &Reading::longestStep() const {
  const Reading *longest = this;
  double most = -1;
  for (const auto &step : steps)
    if (step->report.latency.stepTimeUs > most) {
      longest = step.get();
      most = step->report.latency.stepTimeUs;
    }
  return *longest;
}

Checked Reading::logical(const Extent &extent) const {
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

bool Reading::communicates() const {
  if (layout.stages > 1)
    return true;
  return std::any_of(program.collectives.begin(), program.collectives.end(),
                     [&](const Collective &collective) {
                       return groupSize(collective.axes) > 1;
                     });
}

std::optional<Error> Reading::read(const Layout &wanted, ReportDetail detail) {
  layout = wanted;
  if (Refusal refusal = values.evaluate(layout, workload))
    return explainRefusal(*this, strategy, values, refusal);
  static constexpr void (*steps[])(Reading &) = {
      readInputs, readExpertLoads, readModel,       readMemory,
      readSteps,  readSources,     readAssumptions, readWarnings};
  for (auto step : steps) {
    step(*this);
    if (error)
      return error;
  }
  if (detail.explain)
    readDerivations(*this);
  if (detail.impact)
    readImpacts(*this);
  return std::nullopt;
}

Runtime autopar::report::runtimeOf(const Plan &plan, const Runtime &runtime,
                                   const Workload &workload) {
  Runtime own = runtime;
  bool trains = plan.pipeline.schedule.value_or(ScheduleKind::inference) !=
                ScheduleKind::inference;
  if (trains || plan.prefillChunk == 0) {
    int64_t parts =
        replicasOf(plan) *
        std::max<int64_t>(1, plan.pipeline.microbatches.value_or(1));
    Checked tokens = ceilDiv(Checked(workload.batch), parts) * workload.query;
    own.setTokenBudget(std::max(runtime.tokenBudget.value, tokens.real()));
  } else if (plan.prefillChunk) {
    own.setTokenBudget(static_cast<double>(*plan.prefillChunk));
  }
  return own;
}

static Result<Report> evaluateStep(const PlanInputs &inputs,
                                   ReportDetail detail) {
  if (!inputs.plan.pipeline.stages.empty())
    return evaluatePipeline(inputs, detail);
  if (inputs.program.trains())
    return Error{"", "training goes through stages, and the plan has none",
                 "one stage with all layers is one: parallel.stages"};
  Strategy strategy = compile(inputs.program, launchingOf(inputs.runtime),
                              Counting::whole, {inputs.workload.phase});
  Reading reading(inputs, strategy);
  if (auto error = reading.read(layoutOf(inputs), detail))
    return *error;
  return std::move(reading.report);
}

Result<Report>
autopar::report::evaluate(const CostProgram &program, const Plan &plan,
                          const Machine &machine, const Runtime &given,
                          const Workload &workload, ReportDetail detail) {
  Runtime runtime = runtimeOf(plan, given, workload);
  PlanInputs inputs{program, plan, machine, runtime, workload};
  if (auto error = checkInputs(inputs))
    return *error;
  Result<Report> report = evaluateStep(inputs, detail);
  if (report)
    addCost(*report, machine, detail.explain);
  return report;
}

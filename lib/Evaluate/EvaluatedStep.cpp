//===- EvaluatedStep.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/EvaluatedStep.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

const EvaluatedStep &EvaluatedStep::longestStep() const {
  const EvaluatedStep *longest = this;
  double most = -1;
  for (const auto &step : steps)
    if (step->report.latency.stepTimeUs > most) {
      longest = step.get();
      most = step->report.latency.stepTimeUs;
    }
  return *longest;
}

static Report::Step stepOf(const Workload &workload) {
  return {std::string(nameOf(workload.phase)),
          workload.batch,
          workload.query,
          workload.context,
          workload.encoderTokens,
          workload.crossTokens};
}

static Report::Machine machineOf(const PlanInputs &inputs) {
  const Machine &machine = inputs.machine;
  return {machine.name,           machine.title,     inputs.pool().chip.name,
          inputs.runtime.label(), machine.devices(), inputs.pool().nodes};
}

/// Moves the work of a step into its report.
static void take(StepWork work, const Workload &workload, EvaluatedStep &step) {
  Report &report = step.report;
  report.flops = work.flops;
  report.communication = std::move(work.calls.communication);
  report.latency = std::move(work.latency);
  report.latency.bound = largestPart(report.latency);
  if (report.latency.stepTimeUs > 0)
    report.tokensPerS =
        tokensOf(workload).real() / report.latency.stepTimeUs * 1e6;
  report.byOp = std::move(work.breakdown.byOp);
  report.byLayer = std::move(work.breakdown.byLayer);
  step.calls = std::move(work.calls.all);
  step.membersOfRow = std::move(work.calls.membersOfRow);
  step.kernelTimeUs = std::move(work.breakdown.kernelTimeUs);
}

/// Evaluates the steps of a prefill that takes several steps. Returns their
/// sum.
static Result<StepWork> workOfSteps(EvaluatedStep &whole) {
  for (const PrefillChunk &chunk : whole.chunks) {
    PlanInputs inputs{whole.program, whole.plan, whole.machine, whole.runtime,
                      chunk.step};
    auto step = std::make_unique<EvaluatedStep>(inputs, whole.strategy);
    if (auto error = step->price(whole.layout))
      return *error;
    Result<StepWork> work = workOf(*step);
    if (!work)
      return work.error();
    take(std::move(*work), chunk.step, *step);
    step->report.mesh = whole.report.mesh;
    whole.steps.push_back(std::move(step));
  }
  return sumOf(whole, whole.chunks, whole.steps);
}

static std::optional<Error> addWork(EvaluatedStep &step) {
  Result<std::vector<PrefillChunk>> chunks =
      chunksOf(step, step.report.capacity.replicas);
  if (!chunks)
    return chunks.error();
  step.chunks = std::move(*chunks);
  Result<StepWork> work =
      step.chunks.empty() ? workOf(step) : workOfSteps(step);
  if (!work)
    return work.error();
  take(std::move(*work), step.workload, step);
  int64_t passes = step.layout.passes, count = 0;
  for (size_t i = 0; i < step.chunks.size(); ++i) {
    const Workload &own = step.chunks[i].step;
    count += step.chunks[i].count;
    step.report.prefillSteps.push_back(
        {step.chunks[i].count * passes, own.batch, own.query, own.context,
         step.steps[i]->report.latency.stepTimeUs /
             static_cast<double>(passes)});
  }
  if (count != 0)
    step.layout.passes *= count;
  return std::nullopt;
}

/// Moves the value of `part` to `to`, or returns its error.
template <typename T>
static std::optional<Error> put(Result<T> part, T &to) {
  if (!part)
    return part.error();
  to = std::move(*part);
  return std::nullopt;
}

Result<std::unique_ptr<EvaluatedStep>> autopar::evaluation::evaluateStep(
    const PlanInputs &inputs, const Strategy &strategy, const Layout &layout) {
  auto step = std::make_unique<EvaluatedStep>(inputs, strategy);
  if (auto error = step->price(layout))
    return *error;
  Report &report = step->report;
  report.workload = stepOf(inputs.workload);
  report.machine = machineOf(inputs);
  report.plan = writePlan(inputs.plan);
  report.placement = expertLoadsOf(*step);
  if (auto error = put(meshOf(*step), report.mesh))
    return *error;
  if (auto error = put(modelOf(*step), report.model))
    return *error;
  if (auto error = put(memoryOf(*step), report.memory))
    return *error;
  if (auto error = put(capacityOf(*step, report.memory), report.capacity))
    return *error;
  if (auto error = addWork(*step))
    return *error;
  return step;
}

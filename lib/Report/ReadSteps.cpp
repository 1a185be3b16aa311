//===- ReadSteps.cpp - A prefill as the sum of its steps ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reading.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

static void readOne(Reading &reading) {
  readFlops(reading);
  readCollectives(reading);
  readLatency(reading);
  readBreakdown(reading);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {

/// Adds up what the steps of a prefill take, each kind of them as often as it
/// comes.
class StepSum {
public:
  explicit StepSum(Reading &whole) : whole(whole), sum(whole.report) {}
  void run();

private:
  void addFlops(const Report &step, int64_t times);
  void addLatency(const Report &step, double times);
  void addRows(const Report &step, int64_t times);
  void addBreakdown(const std::vector<BreakdownRow> &rows, int64_t times,
                    std::vector<BreakdownRow> &all);
  void addCollectives(const Reading &step, int64_t times);
  void takeMeans();
  int64_t narrow(Checked value) { return whole.narrow(value, "all steps"); }

  Reading &whole;
  Report &sum;
};

} // namespace

void StepSum::addFlops(const Report &step, int64_t times) {
  using Flops = decltype(Report::flops);
  for (Checked Flops::*part :
       {&Flops::total, &Flops::perDevice, &Flops::layersLinear,
        &Flops::attention, &Flops::recurrence, &Flops::logits})
    sum.flops.*part += step.flops.*part * times;
}

void StepSum::addLatency(const Report &step, double times) {
  using Latency = decltype(Report::latency);
  auto &latency = sum.latency;
  for (double Latency::*part :
       {&Latency::stepTimeUs, &Latency::computeTimeUs, &Latency::memoryTimeUs,
        &Latency::communicationTimeUs, &Latency::overheadTimeUs,
        &Latency::hostTimeUs})
    latency.*part += step.latency.*part * times;
  const auto &own = step.latency.bounds;
  auto &bounds = latency.bounds;
  bounds.computeTimeUs += own.computeTimeUs * times;
  bounds.memoryTimeUs += own.memoryTimeUs * times;
  bounds.communicationTimeUs += own.communicationTimeUs * times;
  bounds.kernelsTimeUs += own.kernelsTimeUs * times;
}

bool autopar::report::areSameCalls(const Report::CollectiveRow &a,
                                   const Report::CollectiveRow &b) {
  return a.kind == b.kind && a.name == b.name && a.axes == b.axes &&
         a.bytes == b.bytes;
}

void StepSum::addRows(const Report &step, int64_t times) {
  auto &rows = sum.communication.collectives;
  for (const Report::CollectiveRow &row : step.communication.collectives) {
    auto known = std::find_if(rows.begin(), rows.end(), [&](const auto &other) {
      return areSameCalls(other, row);
    });
    if (known == rows.end()) {
      known = rows.insert(rows.end(), row);
      known->count = 0;
    }
    known->count = narrow(Checked(row.count) * times + known->count);
  }
  sum.communication.bytesPerDevice =
      narrow(Checked(step.communication.bytesPerDevice) * times +
             sum.communication.bytesPerDevice);
}

void StepSum::addBreakdown(const std::vector<BreakdownRow> &rows, int64_t times,
                           std::vector<BreakdownRow> &all) {
  for (const BreakdownRow &row : rows) {
    auto known =
        std::find_if(all.begin(), all.end(), [&](const BreakdownRow &other) {
          return other.name == row.name;
        });
    if (known == all.end())
      known = all.insert(all.end(), BreakdownRow{row.name, 0, 0, 0, 0});
    known->count = narrow(Checked(row.count) * times + known->count);
    known->timeUs += row.timeUs * static_cast<double>(times);
    known->flops += row.flops * times;
    known->bytes += row.bytes * times;
  }
}

/// By record, with the sum of the times of all calls.
void StepSum::addCollectives(const Reading &step, int64_t times) {
  for (const CollectiveReading &call : step.collectives) {
    auto known =
        std::find_if(whole.collectives.begin(), whole.collectives.end(),
                     [&](const CollectiveReading &other) {
                       return other.record == call.record;
                     });
    if (known == whole.collectives.end()) {
      known = whole.collectives.insert(whole.collectives.end(), call);
      known->count = 0;
      known->timeUs = 0;
    }
    known->count = narrow(Checked(call.count) * times + known->count);
    known->timeUs += call.timeUs * static_cast<double>(call.count) *
                     static_cast<double>(times);
    known->bytes = std::max(known->bytes, call.bytes);
  }
  for (size_t i = 0; i < step.kernelTimeUs.size(); ++i)
    whole.kernelTimeUs[i] += step.kernelTimeUs[i] * static_cast<double>(times);
}

/// Of one launch, and of one call.
void StepSum::takeMeans() {
  int64_t count = 0;
  for (const PrefillChunk &chunk : whole.chunks)
    count += chunk.count;
  whole.layout.passes *= count;
  for (double &timeUs : whole.kernelTimeUs)
    timeUs /= static_cast<double>(count);
  for (CollectiveReading &call : whole.collectives)
    call.timeUs /= static_cast<double>(call.count);
}

void StepSum::run() {
  whole.kernelTimeUs.assign(whole.program.kernels.size(), 0);
  int64_t passes = whole.layout.passes;
  for (size_t i = 0; i < whole.steps.size(); ++i) {
    const Reading &step = *whole.steps[i];
    int64_t times = whole.chunks[i].count;
    const Workload &work = whole.chunks[i].step;
    const auto &latency = step.report.latency;
    sum.prefillSteps.push_back(
        {times * passes, work.batch, work.query, work.context,
         latency.stepTimeUs / static_cast<double>(passes)});
    addFlops(step.report, times);
    addLatency(step.report, static_cast<double>(times));
    addRows(step.report, times);
    addBreakdown(step.report.byOp, times, sum.byOp);
    addBreakdown(step.report.byLayer, times, sum.byLayer);
    addCollectives(step, times);
    sum.latency.kernelLaunches = narrow(
        Checked(latency.kernelLaunches) * times + sum.latency.kernelLaunches);
    sum.latency.bounds.weightsAndKvReadBytes =
        narrow(Checked(latency.bounds.weightsAndKvReadBytes) * times +
               sum.latency.bounds.weightsAndKvReadBytes);
  }
  sum.flops.attentionFullSquare = whole.whole(whole.strategy.total.squareFlops);
  takeMeans();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static void priceSteps(Reading &whole) {
  for (const PrefillChunk &chunk : whole.chunks) {
    PlanInputs inputs{whole.program, whole.plan, whole.machine, whole.runtime,
                      chunk.step};
    auto step = std::make_unique<Reading>(inputs, whole.strategy);
    if (auto error = step->readStep(whole.layout)) {
      whole.error = std::move(error);
      return;
    }
    whole.steps.push_back(std::move(step));
  }
}

Result<std::vector<PrefillChunk>>
autopar::report::chunksOf(const PlanInputs &inputs, int64_t replicas) {
  const Workload &workload = inputs.workload;
  double budget = std::clamp(inputs.runtime.tokenBudget.value, 1.0,
                             double(limits::maxTokens));
  bool mayCut = inputs.program.keepsTokens();
  if (workload.phase == Phase::prefill && mayCut &&
      ceilDiv(Checked(workload.query), static_cast<int64_t>(budget)) >
          Checked(limits::maxPrefillChunks))
    return Error{
        "",
        "a prompt of " + formatInteger(workload.query) +
            " tokens in chunks of " + formatNumber(std::floor(budget)) +
            " is more than the " + formatInteger(limits::maxPrefillChunks) +
            " steps that are priced",
        "give --prefill-chunk=" +
            ceilDiv(Checked(workload.query), limits::maxPrefillChunks).str() +
            " or more, or none"};
  return stepsOf(workload, inputs.runtime, mayCut, replicas);
}

void autopar::report::readSteps(Reading &reading) {
  Result<std::vector<PrefillChunk>> chunks =
      chunksOf(reading, reading.report.capacity.replicas);
  if (!chunks) {
    reading.error = chunks.error();
    return;
  }
  reading.chunks = std::move(*chunks);
  if (reading.chunks.empty())
    return readOne(reading);
  priceSteps(reading);
  if (reading.error)
    return;
  StepSum(reading).run();
  finishLatency(reading);
}

std::optional<Error> Reading::readStep(const Layout &wanted) {
  layout = wanted;
  if (Refusal refusal = values.evaluate(layout, workload))
    return explainRefusal(*this, strategy, values, refusal);
  readOne(*this);
  return error;
}

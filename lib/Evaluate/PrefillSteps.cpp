//===- PrefillSteps.cpp - A prefill as the sum of its steps ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/EvaluatedStep.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

//===----------------------------------------------------------------------===//
// Sums over the steps of a prefill
//===----------------------------------------------------------------------===//

namespace {

/// Sums the work of the steps of a prefill; each kind of step is multiplied by
/// its count.
class StepSum {
public:
  explicit StepSum(const PricedStep &whole) : whole(whole), narrowed(whole) {}

  void add(const EvaluatedStep &step, int64_t times);
  Result<StepWork> finish(int64_t count);

private:
  void addFlops(const Report &step, int64_t times);
  void addLatency(const Report &step, double times);
  void addRows(const Report &step, int64_t times);
  void addBreakdown(const std::vector<BreakdownRow> &rows, int64_t times,
                    std::vector<BreakdownRow> &all);
  void addCollectives(const EvaluatedStep &step, int64_t times);
  int64_t narrow(Checked value) { return narrowed(value, "all steps"); }

  const PricedStep &whole;
  Narrowing narrowed;
  StepWork sum;
};

} // namespace

void StepSum::addFlops(const Report &step, int64_t times) {
  using Flops = Report::Flops;
  for (Checked Flops::*part :
       {&Flops::total, &Flops::perDevice, &Flops::layersLinear,
        &Flops::attention, &Flops::recurrence, &Flops::logits})
    sum.flops.*part += step.flops.*part * times;
}

void StepSum::addLatency(const Report &step, double times) {
  using Latency = Report::Latency;
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

bool autopar::evaluation::areSameCalls(const Report::CollectiveRow &a,
                                       const Report::CollectiveRow &b) {
  return a.kind == b.kind && a.name == b.name && a.axes == b.axes &&
         a.bytes == b.bytes;
}

void StepSum::addRows(const Report &step, int64_t times) {
  auto &rows = sum.calls.communication.collectives;
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
  sum.calls.communication.bytesPerDevice =
      narrow(Checked(step.communication.bytesPerDevice) * times +
             sum.calls.communication.bytesPerDevice);
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

/// Adds the collectives by record, with the sum of the times of all calls.
void StepSum::addCollectives(const EvaluatedStep &step, int64_t times) {
  std::vector<CollectiveCall> &all = sum.calls.all;
  for (const CollectiveCall &call : step.calls) {
    auto known =
        std::find_if(all.begin(), all.end(), [&](const CollectiveCall &other) {
          return other.record == call.record;
        });
    if (known == all.end()) {
      known = all.insert(all.end(), call);
      known->count = 0;
      known->timeUs = 0;
    }
    known->count = narrow(Checked(call.count) * times + known->count);
    known->timeUs += call.timeUs * static_cast<double>(call.count) *
                     static_cast<double>(times);
    known->bytes = std::max(known->bytes, call.bytes);
  }
  std::vector<double> &kernels = sum.breakdown.kernelTimeUs;
  kernels.resize(step.kernelTimeUs.size());
  for (size_t i = 0; i < kernels.size(); ++i)
    kernels[i] += step.kernelTimeUs[i] * static_cast<double>(times);
}

void StepSum::add(const EvaluatedStep &step, int64_t times) {
  const Report &report = step.report;
  addFlops(report, times);
  addLatency(report, static_cast<double>(times));
  addRows(report, times);
  addBreakdown(report.byOp, times, sum.breakdown.byOp);
  addBreakdown(report.byLayer, times, sum.breakdown.byLayer);
  addCollectives(step, times);
  const Report::Latency &own = report.latency;
  Report::Latency &all = sum.latency;
  all.kernelLaunches =
      narrow(Checked(own.kernelLaunches) * times + all.kernelLaunches);
  all.bounds.weightsAndKvReadBytes =
      narrow(Checked(own.bounds.weightsAndKvReadBytes) * times +
             all.bounds.weightsAndKvReadBytes);
}

/// Divides sums by the number of launches or calls where a report shows the
/// mean of one of them; `count` is the number of steps.
Result<StepWork> StepSum::finish(int64_t count) {
  sum.flops.attentionFullSquare = whole.whole(whole.strategy.total.squareFlops);
  for (double &timeUs : sum.breakdown.kernelTimeUs)
    timeUs /= static_cast<double>(count);
  for (CollectiveCall &call : sum.calls.all)
    call.timeUs /= static_cast<double>(call.count);
  return narrowed.finish(std::move(sum));
}

Result<StepWork> autopar::evaluation::sumOf(
    const PricedStep &whole, const std::vector<PrefillChunk> &chunks,
    const std::vector<std::unique_ptr<EvaluatedStep>> &steps) {
  StepSum sum(whole);
  int64_t count = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    sum.add(*steps[i], chunks[i].count);
    count += chunks[i].count;
  }
  return sum.finish(count);
}

//===----------------------------------------------------------------------===//
// The steps of a prefill
//===----------------------------------------------------------------------===//

Result<std::vector<PrefillChunk>>
autopar::evaluation::chunksOf(const PlanInputs &inputs, int64_t replicas) {
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

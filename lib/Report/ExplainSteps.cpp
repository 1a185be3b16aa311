//===- ExplainSteps.cpp - How sums over the steps of a prefill came about -===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

static std::string stepFolder(size_t step) {
  return "prefill_steps[" + std::to_string(step) + "].";
}

/// `path` as the sum of `own` over all steps, where it comes so often.
template <typename Own>
static void addSum(Reading &reading, const std::string &path, Own own) {
  Explanation sum;
  std::string member = path.substr(path.rfind('.') + 1);
  for (size_t i = 0; i < reading.steps.size(); ++i) {
    int64_t times = reading.chunks[i].count;
    auto value = own(reading.steps[i]->report);
    sum.input(stepFolder(i) + member,
              value * static_cast<decltype(value)>(times),
              countOf(times, "step"));
  }
  sum.derivation.formula = "sum of the inputs";
  reading.report.derivations[path] = std::move(sum.derivation);
}

/// How a step came about, by the command that prices it alone.
static void explainStep(Reading &reading, size_t index) {
  const Workload &work = reading.chunks[index].step;
  auto add = [&](const char *name, Explanation explanation) {
    reading.report.derivations[stepFolder(index) + name] =
        explanation.formula("given").derivation;
  };
  add("step_time_us",
      Explanation().from("--batch=" + std::to_string(work.batch) +
                         " --prompt=" + std::to_string(work.query) +
                         " --context=" + std::to_string(work.context) +
                         " --prefill-chunk=none prices it alone"));
  for (const char *name : {"count", "batch", "query_length", "context_length"})
    add(name, Explanation()
                  .restsOn(reading.runtime.tokenBudget)
                  .note("prompts are cut into steps of what the runtime "
                        "computes at once"));
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static std::string rowFolder(size_t row) {
  return "communication.collectives[" + std::to_string(row) + "].";
}

/// Takes what row `own` of a step says of one call for row `row` of all.
static void takeCall(const Report &step, size_t own, Report &whole,
                     size_t row) {
  std::string from = rowFolder(own), to = rowFolder(row);
  for (const auto &[path, derivation] : step.derivations) {
    if (path.compare(0, from.size(), from) != 0)
      continue;
    Derivation taken = derivation;
    for (auto &[name, value] : taken.inputs)
      if (name.compare(0, from.size(), from) == 0)
        name = to + name.substr(from.size());
    whole.derivations[to + path.substr(from.size())] = std::move(taken);
  }
}

static void explainRow(Reading &reading, size_t row) {
  const auto &wanted = reading.report.communication.collectives[row];
  Explanation count;
  bool isTaken = false;
  for (size_t i = 0; i < reading.steps.size(); ++i) {
    const Report &step = reading.steps[i]->report;
    const auto &rows = step.communication.collectives;
    auto own = std::find_if(rows.begin(), rows.end(), [&](const auto &other) {
      return areSameCalls(other, wanted);
    });
    if (own == rows.end())
      continue;
    if (!isTaken)
      takeCall(step, static_cast<size_t>(own - rows.begin()), reading.report,
               row);
    isTaken = true;
    int64_t times = reading.chunks[i].count;
    count.input(stepFolder(i) + "collectives", Checked(own->count) * times,
                countOf(times, "step"));
  }
  reading.report.derivations[rowFolder(row) + "count"] =
      count.formula("sum of the inputs").derivation;
}

//===----------------------------------------------------------------------===//
// All of a step
//===----------------------------------------------------------------------===//

static void explainBoundsOf(Reading &reading) {
  using Bounds = decltype(Report::latency.bounds);
  std::pair<const char *, double Bounds::*> bounds[] = {
      {"compute", &Bounds::computeTimeUs},
      {"memory", &Bounds::memoryTimeUs},
      {"communication", &Bounds::communicationTimeUs},
      {"kernels", &Bounds::kernelsTimeUs}};
  for (auto [name, part] : bounds)
    addSum(reading, std::string("latency.bounds.") + name + "_time_us",
           [part = part](const Report &step) {
             return step.latency.bounds.*part;
           });
  addSum(reading, "latency.bounds.weights_and_kv_read_bytes",
         [](const Report &step) {
           return step.latency.bounds.weightsAndKvReadBytes;
         });
}

void autopar::report::explainSteps(Reading &reading) {
  using Flops = decltype(Report::flops);
  using Latency = decltype(Report::latency);
  for (size_t i = 0; i < reading.steps.size(); ++i)
    explainStep(reading, i);
  std::pair<const char *, Checked Flops::*> flops[] = {
      {"total", &Flops::total},
      {"per_device", &Flops::perDevice},
      {"layers_linear", &Flops::layersLinear},
      {"attention", &Flops::attention},
      {"recurrence", &Flops::recurrence},
      {"logits", &Flops::logits}};
  for (auto [name, part] : flops)
    addSum(reading, std::string("flops.") + name,
           [part = part](const Report &step) { return step.flops.*part; });
  std::pair<const char *, double Latency::*> times[] = {
      {"step", &Latency::stepTimeUs},
      {"compute", &Latency::computeTimeUs},
      {"memory", &Latency::memoryTimeUs},
      {"communication", &Latency::communicationTimeUs},
      {"overhead", &Latency::overheadTimeUs},
      {"host", &Latency::hostTimeUs}};
  for (auto [name, part] : times)
    addSum(reading, std::string("latency.") + name + "_time_us",
           [part = part](const Report &step) { return step.latency.*part; });
  addSum(reading, "communication.bytes_per_device",
         [](const Report &step) { return step.communication.bytesPerDevice; });
  addSum(reading, "latency.kernel_launches",
         [](const Report &step) { return step.latency.kernelLaunches; });
  explainBoundsOf(reading);
  for (const auto &step : reading.steps) {
    step->report.mesh = reading.report.mesh;
    Explainer(*step).explainCommunication();
  }
  for (size_t i = 0; i < reading.report.communication.collectives.size(); ++i)
    explainRow(reading, i);
}

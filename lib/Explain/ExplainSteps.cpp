//===- ExplainSteps.cpp - Derivations of sums over prefill steps ----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

static std::string stepFolder(size_t step) {
  return "prefill_steps[" + std::to_string(step) + "].";
}

/// Explains the number at `path` as a sum over all steps of a prefill: the
/// step's value `own`, times the count of the step.
template <typename Own>
static void addSum(const EvaluatedStep &whole, const std::string &path, Own own,
                   Derivations &derivations) {
  Explanation sum;
  std::string member = path.substr(path.rfind('.') + 1);
  for (size_t i = 0; i < whole.steps.size(); ++i) {
    int64_t times = whole.chunks[i].count;
    auto value = own(whole.steps[i]->report);
    sum.input(stepFolder(i) + member,
              value * static_cast<decltype(value)>(times),
              countOf(times, "step"));
  }
  sum.derivation.formula = "sum of the inputs";
  derivations[path] = std::move(sum.derivation);
}

/// Explains a step by the command that prices this step alone.
static void explainStep(const EvaluatedStep &whole, size_t index,
                        Derivations &derivations) {
  const Workload &work = whole.chunks[index].step;
  auto add = [&](const char *name, Explanation explanation) {
    derivations[stepFolder(index) + name] =
        explanation.formula("given").derivation;
  };
  add("step_time_us",
      Explanation().from("--batch=" + std::to_string(work.batch) +
                         " --prompt=" + std::to_string(work.query) +
                         " --context=" + std::to_string(work.context) +
                         " --prefill-chunk=none prices it alone"));
  for (const char *name : {"count", "batch", "query_length", "context_length"})
    add(name, Explanation()
                  .restsOn(whole.runtime.tokenBudget)
                  .note("prompts are cut into steps of what the runtime "
                        "computes at once"));
}

//===----------------------------------------------------------------------===//
// Derivations of collectives
//===----------------------------------------------------------------------===//

static std::string rowFolder(size_t row) {
  return "communication.collectives[" + std::to_string(row) + "].";
}

/// Copies the derivations of one call from row `own` of a step to row `row` of
/// the sum over steps.
static void takeCall(const Derivations &step, size_t own, size_t row,
                     Derivations &derivations) {
  std::string from = rowFolder(own), to = rowFolder(row);
  for (const auto &[path, derivation] : step) {
    if (path.compare(0, from.size(), from) != 0)
      continue;
    Derivation taken = derivation;
    for (auto &[name, value] : taken.inputs)
      if (name.compare(0, from.size(), from) == 0)
        name = to + name.substr(from.size());
    derivations[to + path.substr(from.size())] = std::move(taken);
  }
}

static void explainRow(const EvaluatedStep &whole, size_t row,
                       const std::vector<Derivations> &ofSteps,
                       Derivations &derivations) {
  const auto &wanted = whole.report.communication.collectives[row];
  Explanation count;
  bool isTaken = false;
  for (size_t i = 0; i < whole.steps.size(); ++i) {
    const Report &step = whole.steps[i]->report;
    const auto &rows = step.communication.collectives;
    auto own = std::find_if(rows.begin(), rows.end(), [&](const auto &other) {
      return areSameCalls(other, wanted);
    });
    if (own == rows.end())
      continue;
    if (!isTaken)
      takeCall(ofSteps[i], static_cast<size_t>(own - rows.begin()), row,
               derivations);
    isTaken = true;
    int64_t times = whole.chunks[i].count;
    count.input(stepFolder(i) + "collectives", Checked(own->count) * times,
                countOf(times, "step"));
  }
  derivations[rowFolder(row) + "count"] =
      count.formula("sum of the inputs").derivation;
}

//===----------------------------------------------------------------------===//
// Derivations of totals of a step
//===----------------------------------------------------------------------===//

static void explainBoundsOf(const EvaluatedStep &whole,
                            Derivations &derivations) {
  using Bounds = Report::Latency::Bounds;
  std::pair<const char *, double Bounds::*> bounds[] = {
      {"compute", &Bounds::computeTimeUs},
      {"memory", &Bounds::memoryTimeUs},
      {"communication", &Bounds::communicationTimeUs},
      {"kernels", &Bounds::kernelsTimeUs}};
  for (auto [name, part] : bounds)
    addSum(
        whole, std::string("latency.bounds.") + name + "_time_us",
        [part = part](const Report &step) { return step.latency.bounds.*part; },
        derivations);
  addSum(
      whole, "latency.bounds.weights_and_kv_read_bytes",
      [](const Report &step) {
        return step.latency.bounds.weightsAndKvReadBytes;
      },
      derivations);
}

void autopar::explanation::explainSteps(const EvaluatedStep &whole,
                                        Derivations &derivations) {
  using Flops = Report::Flops;
  using Latency = Report::Latency;
  for (size_t i = 0; i < whole.steps.size(); ++i)
    explainStep(whole, i, derivations);
  std::pair<const char *, Checked Flops::*> flops[] = {
      {"total", &Flops::total},
      {"per_device", &Flops::perDevice},
      {"layers_linear", &Flops::layersLinear},
      {"attention", &Flops::attention},
      {"recurrence", &Flops::recurrence},
      {"logits", &Flops::logits}};
  for (auto [name, part] : flops)
    addSum(
        whole, std::string("flops.") + name,
        [part = part](const Report &step) { return step.flops.*part; },
        derivations);
  std::pair<const char *, double Latency::*> times[] = {
      {"step", &Latency::stepTimeUs},
      {"compute", &Latency::computeTimeUs},
      {"memory", &Latency::memoryTimeUs},
      {"communication", &Latency::communicationTimeUs},
      {"overhead", &Latency::overheadTimeUs},
      {"host", &Latency::hostTimeUs}};
  for (auto [name, part] : times)
    addSum(
        whole, std::string("latency.") + name + "_time_us",
        [part = part](const Report &step) { return step.latency.*part; },
        derivations);
  addSum(
      whole, "communication.bytes_per_device",
      [](const Report &step) { return step.communication.bytesPerDevice; },
      derivations);
  addSum(
      whole, "latency.kernel_launches",
      [](const Report &step) { return step.latency.kernelLaunches; },
      derivations);
  explainBoundsOf(whole, derivations);
  std::vector<Derivations> ofSteps;
  for (const auto &step : whole.steps)
    ofSteps.push_back(Explainer(*step).explainCalls());
  for (size_t i = 0; i < whole.report.communication.collectives.size(); ++i)
    explainRow(whole, i, ofSteps, derivations);
}

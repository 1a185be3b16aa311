//===- ExplainTraining.cpp - Derivations of an iteration's numbers --------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingParts.h"
#include "autopar/Cost/TrainingTimes.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;

using Exposure = TrainingReport::Exposure;

namespace {

class TrainingExplainer {
public:
  TrainingExplainer(const EvaluatedIteration &iteration, const Report &report,
                    Derivations &derivations)
      : iteration(iteration), report(report), training(*report.training),
        derivations(derivations), all(iteration.allOf(iteration.heaviest())),
        exposed(iteration.exposedOf(iteration.heaviest())) {}
  void run();

private:
  Explanation sectionOf(Section section, bool isOnce) const;
  void addOverlap(Explanation &sum) const;
  void explainTimes();
  void explainRest();
  void explainExposure(size_t row);
  void explainUtilization();
  void explainStages();
  void explainSaved(int64_t device, const std::string &folder);
  void explainMemory(int64_t device, const std::string &folder);
  void explainAlive();

  void add(const std::string &path, std::string formula,
           Explanation explanation) {
    explanation.derivation.formula = std::move(formula);
    derivations[path] = std::move(explanation.derivation);
  }
  std::string scheduleText() const {
    return "the schedule, " + std::string(nameOf(iteration.steps.shape.kind));
  }

  const EvaluatedIteration &iteration;
  const Report &report;
  const TrainingReport &training;
  Derivations &derivations;
  /// The times of the heaviest stage, in full (`all`) and without hidden
  /// communication (`exposed`).
  const TrainingTimes all, exposed;
};

} // namespace

//===----------------------------------------------------------------------===//
// Derivations of the times of an iteration
//===----------------------------------------------------------------------===//

/// Explains the sum of the kernels and of the exposed communication of a
/// section: for all microbatches, or only once if `isOnce`.
Explanation TrainingExplainer::sectionOf(Section section, bool isOnce) const {
  const SectionTimes &own = exposed.of(section);
  auto us = [&](Picoseconds time) {
    return isOnce ? toMicroseconds(time) : iteration.allPassesUs(time);
  };
  Explanation sum;
  sum.input("kernels", us(own.kernelsPs), "with their floors");
  std::tuple<const char *, Picoseconds, Picoseconds> calls[] = {
      {"activations", own.communicationPs, all.of(section).communicationPs},
      {"dispatch", own.dispatchPs, all.of(section).dispatchPs},
      {"inputs", own.inputPs, all.of(section).inputPs},
      {"gathers", own.gatherPs, all.of(section).gatherPs},
      {"reductions", own.reductionPs, all.of(section).reductionPs},
      {"copies", own.copiesPs, all.of(section).copiesPs}};
  for (auto [name, shown, whole] : calls)
    if (whole > 0)
      sum.input(name, us(shown), "exposed of " + decimal(us(whole)) + " us");
  if (!isOnce)
    sum.note("of " + std::to_string(iteration.steps.shape.passes()) +
             " microbatches on the slowest stage");
  return sum;
}

void TrainingExplainer::addOverlap(Explanation &sum) const {
  if (iteration.steps.shape.isFolded())
    sum.input("overlap", -iteration.overlapUs(),
              "communication of one direction (forward or backward) while the "
              "other computes");
}

void TrainingExplainer::explainTimes() {
  Picoseconds host = iteration.steps.hostPs.front();
  Explanation forward = sectionOf(Section::forward, /*isOnce=*/false);
  if (host > 0)
    forward.input("host", iteration.allPassesUs(host));
  add("training.forward_time_us", "sum of the inputs", forward);
  Explanation backward = sectionOf(Section::backward, /*isOnce=*/false);
  addOverlap(backward);
  add("training.backward_time_us", "sum of the inputs", backward);
  add("training.optimizer_time_us", "sum of the inputs",
      sectionOf(Section::optimizer, /*isOnce=*/true));
  add("training.weight_gradient_time_us", "microbatches * weight_gradients",
      Explanation()
          .input("schedule.microbatches", iteration.steps.shape.passes())
          .input(
              "weight_gradients", toMicroseconds(all.weightGradientPs),
              "kernels that compute gradients of weights, for one microbatch"));
}

void TrainingExplainer::explainRest() {
  const IterationTimes &times = iteration.times;
  auto calls = [&](Section section) { return exposed.of(section).callsPs(); };
  Explanation waits;
  waits.input("forward", iteration.allPassesUs(calls(Section::forward)))
      .input("backward", iteration.allPassesUs(calls(Section::backward)))
      .input("optimizer", toMicroseconds(calls(Section::optimizer)))
      .note("communication for which kernels of the slowest stage wait: "
            "training.exposure");
  addOverlap(waits);
  add("latency.communication_time_us", "sum of the inputs", waits);
  Explanation stragglers;
  stragglers.input("iteration",
                   toMicroseconds(times.gradientsPs + times.optimizerPs),
                   "time of an iteration if all devices were equally fast");
  const Runtime &runtime = iteration.parts.runtime;
  bool isRouted = routesTokens(iteration.parts.program);
  if (runtime.training && isRouted)
    add("training.straggler_time_us",
        "(straggler_share + routing_host_share) * iteration",
        stragglers.figure(runtime.training->stragglerShare)
            .figure(runtime.training->routingHostShare));
  else if (runtime.training)
    add("training.straggler_time_us", "straggler_share * iteration",
        stragglers.figure(runtime.training->stragglerShare));
  else
    add("training.straggler_time_us", "0 * iteration", stragglers);
  add("training.bubble_time_us",
      "step_time_us - forward_time_us - backward_time_us - optimizer_time_us - "
      "straggler_time_us",
      Explanation()
          .input("latency.step_time_us", report.latency.stepTimeUs)
          .input("training.forward_time_us", training.forwardTimeUs)
          .input("training.backward_time_us", training.backwardTimeUs)
          .input("training.optimizer_time_us", training.optimizerTimeUs)
          .input("training.straggler_time_us", training.stragglerTimeUs)
          .note("gradients are complete after " +
                decimal(toMicroseconds(times.gradientsPs)) +
                " us, reduced by all stages; the slowest optimizer takes " +
                decimal(toMicroseconds(times.optimizerPs)) + " us")
          .from(scheduleText()));
}

static const char *ruleOf(const Exposure &row) {
  bool isOfOptimizer = row.section == Section::optimizer;
  switch (row.purpose) {
  case Exposure::Purpose::activations:
    return isOfOptimizer ? "nothing hides it"
                         : "1 - hidden_communication of the runtime";
  case Exposure::Purpose::dispatch:
    return "1 - hidden_dispatch of the runtime";
  case Exposure::Purpose::inputs:
    return "beside the matmuls that compute gradients of weights";
  case Exposure::Purpose::gather:
    return isOfOptimizer ? "beside the first forward of the next iteration"
                         : "beside the kernels of its section";
  case Exposure::Purpose::reduction:
    return isOfOptimizer ? "beside the last microbatch's backward"
                         : "beside kernel time that gathers do not use";
  case Exposure::Purpose::copies:
    return "nothing hides it: both stages have reduced their gradients before";
  }
  return "";
}

void TrainingExplainer::explainExposure(size_t index) {
  const Exposure &row = training.exposure[index];
  std::string folder = "training.exposure[" + std::to_string(index) + "].";
  Explanation sum, share;
  const auto &calls = report.communication.collectives;
  for (size_t i = 0; i < calls.size(); ++i)
    if (isPartOf(calls[i], row))
      sum.input("communication.collectives[" + std::to_string(i) + "]",
                static_cast<double>(calls[i].count) * calls[i].timeUs,
                std::to_string(calls[i].count) + " calls");
  add(folder + "time_us", "sum of the inputs", sum);
  share
      .input("exposed",
             toMicroseconds(timeOf(exposed.of(row.section), row.purpose)))
      .input("all", toMicroseconds(timeOf(all.of(row.section), row.purpose)))
      .note(std::string("max(0, communication - what it hides behind) + "
                        "contention * what is hidden, ") +
            ruleOf(row));
  add(folder + "exposed_share", "exposed / all", share);
  add(folder + "exposed_time_us", "time_us * exposed_share",
      Explanation()
          .input(folder + "time_us", row.timeUs)
          .input(folder + "exposed_share", row.exposedShare));
}

//===----------------------------------------------------------------------===//
// Derivations of the FLOPs of an iteration
//===----------------------------------------------------------------------===//

/// Explains the sum of `flopsOf` over the kernels of `section`.
template <typename FlopsOf>
static Derivation sumOfKernels(const EvaluatedStep &whole, Section section,
                               FlopsOf flopsOf) {
  Explanation sum;
  for (uint32_t i = 0; i < whole.program.kernels.size(); ++i) {
    const Kernel &kernel = whole.program.kernels[i];
    Checked flops = flopsOf(whole.strategy.kernels[i]) * whole.countOf(i);
    bool counts = kernel.flopClass != FlopClass::none && !flops.isZero();
    if (whole.program.layers[kernel.layer].section == section && counts)
      sum.input("kernels/" + kernel.name, flops,
                whole.countOf(i).str() + " launches");
  }
  sum.derivation.formula = "sum of the inputs";
  return std::move(sum.derivation);
}

void autopar::explanation::explainTrainingFlops(const EvaluatedStep &whole,
                                                Derivations &derivations) {
  auto all = [&](const KernelNodes &nodes) { return whole.whole(nodes.flops); };
  auto padding = [&](const KernelNodes &nodes) {
    return all(nodes) - whole.whole(nodes.usefulFlops);
  };
  for (Section section : {Section::forward, Section::backward})
    derivations["training.flops." + std::string(nameOf(section))] =
        sumOfKernels(whole, section, all);
  derivations["training.flops.padding"] =
      sumOfKernels(whole, Section::forward, padding);
}

void TrainingExplainer::explainUtilization() {
  auto flops = [](Checked count) { return count.str(); };
  add("training.flops.model", "3 * (forward - padding)",
      Explanation()
          .input("training.flops.forward", flops(training.flops.forward))
          .input("training.flops.padding", flops(training.flops.padding))
          .note("a backward has twice the FLOPs of the forward: nothing is "
                "recomputed"));
  add("training.flops.hardware", "forward + backward",
      Explanation()
          .input("training.flops.forward", flops(training.flops.forward))
          .input("training.flops.backward", flops(training.flops.backward)));
  add("training.tokens_per_s_per_device", "tokens_per_s / devices",
      Explanation()
          .input("throughput.tokens_per_s", report.tokensPerS)
          .input("mesh.devices", report.mesh.devices));
  add("training.memory_margin", "(budget_bytes - total_bytes) / budget_bytes",
      Explanation()
          .input("memory.per_device.budget_bytes",
                 report.memory.perDevice.budgetBytes)
          .input("memory.per_device.total_bytes",
                 report.memory.perDevice.totalBytes));
  const Figure *peak =
      peakOfTraining(iteration.parts.machine.pools.front().chip);
  if (!peak)
    return;
  add("training.peak_flops_per_s", "the input", Explanation().figure(*peak));
  std::pair<const char *, Checked> kinds[] = {
      {"model", modelFlops(training)}, {"hardware", hardwareFlops(training)}};
  for (auto [name, count] : kinds)
    add("training." + std::string(name) + "_flops_utilization",
        std::string(name) +
            " / (peak_flops_per_s * devices * step_time_us / 1e6)",
        Explanation()
            .input("training.flops." + std::string(name), flops(count))
            .input("training.peak_flops_per_s", training.peakFlopsPerS)
            .input("mesh.devices", report.mesh.devices)
            .input("latency.step_time_us", report.latency.stepTimeUs));
}

//===----------------------------------------------------------------------===//
// Derivations of the memory of an iteration
//===----------------------------------------------------------------------===//

/// Explains the bytes that are saved for all microbatches in flight on
/// `device`, by value.
void TrainingExplainer::explainSaved(int64_t device,
                                     const std::string &folder) {
  Explanation sum;
  for (const TrainingReport::SavedValue &saved :
       iteration.savedBy(keptAtPeak(iteration.pipeline->timeline, device)))
    sum.input("saved/" + saved.layer + "/" + saved.name,
              Checked(saved.count) * saved.bytes,
              std::to_string(saved.count) + " of " +
                  std::to_string(saved.bytes) + " B");
  add(folder + "saved_bytes", "sum of the inputs",
      sum.note("values saved by all microbatches in flight, when these are "
               "largest")
          .from(scheduleText()));
}

/// Returns the formula of a sum: "weight_bytes + state_bytes + ...".
static std::string sumOfNames(const Derivation &derivation) {
  std::vector<std::string> names;
  for (const auto &[path, value] : derivation.inputs)
    names.push_back(path.substr(path.rfind('.') + 1));
  return join(names, " + ");
}

void TrainingExplainer::explainMemory(int64_t device,
                                      const std::string &folder) {
  const Report::DeviceMemory &memory = report.memory.perStage[device];
  explainSaved(device, folder);
  Explanation allocator;
  allocator.input(folder + "saved_bytes", memory.savedBytes)
      .input(folder + "activation_bytes", memory.activationBytes);
  const Runtime &runtime = iteration.parts.runtime;
  if (runtime.training)
    add(folder + "allocator_bytes",
        "floor(allocator_overhead * (saved_bytes + activation_bytes))",
        allocator.figure(runtime.training->allocatorOverhead));
  else
    add(folder + "allocator_bytes", "0 * (saved_bytes + activation_bytes)",
        allocator);
  Explanation total;
  total.derivation = derivations[folder + "total_bytes"];
  total.input(folder + "saved_bytes", memory.savedBytes)
      .input(folder + "allocator_bytes", memory.allocatorBytes);
  std::string all = sumOfNames(total.derivation);
  Explanation reused = total;
  add(folder + "reused_bytes",
      "max(0, min(update_bytes, saved_bytes + activation_bytes, " + all +
          " - budget_bytes))",
      reused.input(folder + "activation_bytes", memory.activationBytes)
          .input(folder + "budget_bytes", memory.budgetBytes));
  if (memory.reusedBytes > 0)
    add(folder + "total_bytes", all + " - reused_bytes",
        total.input(folder + "reused_bytes", memory.reusedBytes));
  else
    add(folder + "total_bytes", "sum of the inputs", total);
  add(folder + "fits", "total_bytes <= budget_bytes",
      Explanation()
          .input(folder + "total_bytes", memory.totalBytes)
          .input(folder + "budget_bytes", memory.budgetBytes));
}

void TrainingExplainer::explainStages() {
  for (size_t i = 0; i < training.stages.size(); ++i) {
    auto device = static_cast<int64_t>(i);
    const TrainingReport::Stage &stage = training.stages[i];
    std::string folder = "training.per_stage[" + std::to_string(i) + "].";
    bool isPlain = iteration.steps.shape.kind == ScheduleKind::one_f_one_b;
    Explanation inFlight;
    inFlight.from(scheduleText());
    if (isPlain)
      add(folder + "in_flight", "min(stages - stage, microbatches)",
          inFlight.input("schedule.stages", iteration.steps.shape.stages)
              .input("stage", device)
              .input("schedule.microbatches",
                     iteration.steps.shape.microbatches));
    else
      add(folder + "in_flight", "given", inFlight);
    add(folder + "peak_time_us", "given", Explanation().from(scheduleText()));
    Explanation kept;
    const CostProgram &program = iteration.parts.program;
    for (size_t s = i; s < iteration.steps.ranges.size();
         s += training.stages.size())
      kept.input(
          "stage " + std::to_string(s),
          stageTimes(iteration.parts.pricer, iteration.steps, s).savedBytes);
    if (iteration.steps.shape.isFolded())
      kept.input("stage " + std::to_string(training.stages.size() - 1 - i),
                 stage.savedBytesPerMicrobatch -
                     stageTimes(iteration.parts.pricer, iteration.steps, i)
                         .savedBytes);
    add(folder + "saved_bytes_per_microbatch", "sum of the inputs",
        kept.from("cost program of the IR, " +
                  std::to_string(program.saved.size()) + " saved values"));
    explainMemory(device, "memory.per_stage[" + std::to_string(i) + "].");
  }
  explainMemory(iteration.fullest, "memory.per_device.");
  add("training.peak_stage", "given",
      Explanation().note("the stage that needs the most memory"));
}

void TrainingExplainer::explainAlive() {
  for (size_t i = 0; i < training.alive.size(); ++i) {
    std::string folder = "training.alive[" + std::to_string(i) + "].";
    add(folder + "count", "given",
        Explanation()
            .note("layers of the stage times microbatches in flight")
            .from(scheduleText()));
    add(folder + "bytes", "given",
        Explanation().from("cost program of the IR"));
  }
}

void TrainingExplainer::run() {
  explainTimes();
  explainRest();
  for (size_t i = 0; i < training.exposure.size(); ++i)
    explainExposure(i);
  explainUtilization();
  explainStages();
  explainAlive();
  explainCapacity(iteration, report, derivations);
  explainCopies(iteration, derivations);
}

void autopar::explanation::explainTraining(const EvaluatedIteration &iteration,
                                           const Report &report,
                                           Derivations &derivations) {
  TrainingExplainer(iteration, report, derivations).run();
}

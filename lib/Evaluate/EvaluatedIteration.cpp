//===- EvaluatedIteration.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/EvaluatedIteration.h"

#include <algorithm>
#include <tuple>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

using Exposure = TrainingReport::Exposure;
using Purpose = Exposure::Purpose;

//===----------------------------------------------------------------------===//
// Memory of an iteration
//===----------------------------------------------------------------------===//

int64_t EvaluatedIteration::savedOf(size_t stage, const Saved &saved) const {
  const CostProgram &program = parts.program;
  int64_t all = program.layers[saved.layer].count;
  if (all == 0)
    return 0;
  PartCounts counts(program);
  bool isLast = stage + 1 == steps.ranges.size();
  addPlaces(
      program, parts.order, stage == 0 ? 0 : steps.ranges[stage].begin + 1,
      steps.ranges[stage].end + (isLast ? 2 : 1), /*borders=*/false, counts);
  return counts.kinds[saved.layer] * (saved.count / all);
}

void autopar::evaluation::addSaved(const EvaluatedIteration &iteration,
                                   int64_t device,
                                   Report::DeviceMemory &memory) {
  TrainingMemory all;
  all.totalBytes = memory.totalBytes;
  all.budgetBytes = memory.budgetBytes;
  all.updateBytes = memory.updateBytes;
  all.activationBytes = memory.activationBytes;
  all.savedBytes = iteration.pipeline->timeline.devices[device].peakSavedBytes;
  all.settle(iteration.parts.runtime);
  memory.savedBytes = all.savedBytes;
  memory.allocatorBytes = all.allocatorBytes;
  memory.reusedBytes = all.reusedBytes;
  memory.totalBytes = all.totalBytes;
  memory.fits = all.fits();
}

static void readStages(const EvaluatedIteration &iteration,
                       TrainingReport &training) {
  const PipelineTimeline &timeline = iteration.pipeline->timeline;
  auto devices = static_cast<int64_t>(timeline.devices.size());
  for (int64_t device = 0; device < devices; ++device) {
    const DeviceTimeline &own = timeline.devices[device];
    training.stages.push_back(
        {own.peakInFlight, iteration.allOf(device).savedBytes,
         toMicroseconds(timeline.tasks[own.peakTask].endPs)});
  }
}

std::vector<TrainingReport::SavedValue>
EvaluatedIteration::savedBy(const std::vector<int64_t> &kept) const {
  const CostProgram &program = parts.program;
  std::vector<TrainingReport::SavedValue> all;
  for (size_t i = 0; i < program.saved.size(); ++i) {
    const Saved &saved = program.saved[i];
    int64_t count = 0;
    for (size_t stage = 0; stage < kept.size(); ++stage)
      if (kept[stage] > 0)
        count += kept[stage] * savedOf(stage, saved);
    if (count > 0)
      all.push_back(
          {saved.name, program.layers[saved.layer].name, count, savedBytes[i]});
  }
  for (size_t stage = 0; stage < kept.size(); ++stage)
    if (kept[stage] > 0 && steps.keptOutputBytes[stage] > 0)
      all.push_back({"output", "stage " + std::to_string(stage), kept[stage],
                     steps.keptOutputBytes[stage]});
  return all;
}

static void readAlive(const EvaluatedIteration &iteration,
                      TrainingReport &training) {
  for (TrainingReport::SavedValue &saved : iteration.savedBy(
           keptAtPeak(iteration.pipeline->timeline, training.peakStage)))
    if (saved.bytes > 0)
      training.alive.push_back(std::move(saved));
  std::sort(training.alive.begin(), training.alive.end(),
            [](const auto &a, const auto &b) {
              Checked own = Checked(a.count) * a.bytes,
                      other = Checked(b.count) * b.bytes;
              return other < own ||
                     (own == other &&
                      std::tie(a.layer, a.name) < std::tie(b.layer, b.name));
            });
}

//===----------------------------------------------------------------------===//
// Times of an iteration
//===----------------------------------------------------------------------===//

double EvaluatedIteration::overlapUs() const {
  TrainingTimes exposed = exposedOf(heaviest());
  Picoseconds busy = exposed.of(Section::forward).allPs() +
                     exposed.of(Section::backward).allPs() +
                     steps.hostPs.front();
  return allPassesUs(busy) -
         toMicroseconds(pipeline->timeline.devices[heaviest()].busyPs);
}

void autopar::evaluation::takeIteration(const EvaluatedIteration &iteration,
                                        Report &report) {
  TrainingTimes exposed = iteration.exposedOf(iteration.heaviest());
  Picoseconds perPass = exposed.of(Section::forward).callsPs() +
                        exposed.of(Section::backward).callsPs();
  report.latency.communicationTimeUs =
      iteration.allPassesUs(perPass) +
      toMicroseconds(exposed.of(Section::optimizer).callsPs()) -
      iteration.overlapUs();
  report.latency.bound = largestPart(report.latency);
}

static void readTimes(const EvaluatedIteration &iteration, const Report &report,
                      TrainingReport &training) {
  TrainingTimes exposed = iteration.exposedOf(iteration.heaviest());
  training.forwardTimeUs = iteration.allPassesUs(
      exposed.of(Section::forward).allPs() + iteration.steps.hostPs.front());
  training.backwardTimeUs =
      iteration.allPassesUs(exposed.of(Section::backward).allPs()) -
      iteration.overlapUs();
  training.weightGradientTimeUs =
      iteration.allPassesUs(exposed.weightGradientPs);
  training.optimizerTimeUs =
      toMicroseconds(exposed.of(Section::optimizer).allPs());
  training.stragglerTimeUs = toMicroseconds(iteration.times.stragglersPs);
  training.bubbleTimeUs = report.latency.stepTimeUs - training.forwardTimeUs -
                          training.backwardTimeUs - training.optimizerTimeUs -
                          training.stragglerTimeUs;
}

Picoseconds autopar::evaluation::timeOf(const SectionTimes &section,
                                        Purpose purpose) {
  switch (purpose) {
  case Purpose::activations:
    return section.communicationPs;
  case Purpose::dispatch:
    return section.dispatchPs;
  case Purpose::inputs:
    return section.inputPs;
  case Purpose::gather:
    return section.gatherPs;
  case Purpose::reduction:
    return section.reductionPs;
  case Purpose::copies:
    return section.copiesPs;
  }
  return 0;
}

static bool isRing(const Report::CollectiveRow &call) {
  return call.kind == nameOf(CollectiveKind::ring);
}

/// Returns which share of the ring collectives of `section` is exposed, so that
/// kernels wait for it.
static double exposedShareOfRings(const EvaluatedIteration &iteration,
                                  const Report &report, Section section) {
  double calls = 0, rings = 0;
  for (const Report::CollectiveRow &call : report.communication.collectives)
    if (call.section == section && call.purpose == Purpose::activations &&
        !isTransfer(call)) {
      double timeUs = static_cast<double>(call.count) * call.timeUs;
      calls += timeUs;
      rings += isRing(call) ? timeUs : 0;
    }
  if (rings == 0)
    return 1;
  Picoseconds waits =
      iteration.allOf(iteration.heaviest()).of(section).communicationPs;
  double hidden = calls - iteration.allPassesUs(waits);
  return std::clamp(1 - hidden / rings, 0.0, 1.0);
}

/// Returns which share of the time of `row` is not hidden by attention.
static double shareBesideRings(const EvaluatedIteration &iteration,
                               const Report &report, const Exposure &row) {
  double ringUs = 0;
  for (const Report::CollectiveRow &call : report.communication.collectives)
    if (isPartOf(call, row) && isRing(call))
      ringUs += static_cast<double>(call.count) * call.timeUs;
  if (ringUs == 0)
    return 1;
  double share = exposedShareOfRings(iteration, report, row.section);
  return 1 - (1 - share) * ringUs / row.timeUs;
}

/// Makes one row for all collectives that have the same purpose and the same
/// axes.
static void readExposure(const EvaluatedIteration &iteration,
                         const Report &report, TrainingReport &training) {
  TrainingTimes all = iteration.allOf(iteration.heaviest());
  TrainingTimes exposed = iteration.exposedOf(iteration.heaviest());
  std::vector<Exposure> &rows = training.exposure;
  for (const Report::CollectiveRow &call : report.communication.collectives) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const Exposure &row) {
      return isPartOf(call, row);
    });
    Picoseconds whole = timeOf(all.of(call.section), call.purpose);
    if (isTransfer(call) || (whole == 0 && !isRing(call)))
      continue;
    if (row == rows.end()) {
      row = rows.insert(row, {call.section, call.purpose, call.axes});
      row->exposedShare =
          static_cast<double>(timeOf(exposed.of(call.section), call.purpose)) /
          static_cast<double>(std::max<Picoseconds>(whole, 1));
    }
    row->timeUs += static_cast<double>(call.count) * call.timeUs;
  }
  for (Exposure &row : rows) {
    row.exposedShare *= shareBesideRings(iteration, report, row);
    row.exposedTimeUs = row.timeUs * row.exposedShare;
  }
}

//===----------------------------------------------------------------------===//
// The report of an iteration
//===----------------------------------------------------------------------===//

const Figure *autopar::evaluation::peakOfTraining(const Chip &chip) {
  for (const char *format : {"bf16", "fp16", "fp32"})
    if (auto peak = chip.peakFlops.find(format); peak != chip.peakFlops.end())
      return &peak->second;
  return nullptr;
}

static void readUtilization(const EvaluatedIteration &iteration,
                            const Report &report, TrainingReport &training) {
  training.flops.forward = iteration.flops[size_t(Section::forward)];
  training.flops.backward = iteration.flops[size_t(Section::backward)];
  training.flops.padding =
      training.flops.forward - iteration.usefulFlops[size_t(Section::forward)];
  training.tokensPerSPerDevice =
      report.tokensPerS / static_cast<double>(report.mesh.devices);
  const Figure *peak =
      peakOfTraining(iteration.parts.machine.pools.front().chip);
  if (!peak || report.latency.stepTimeUs <= 0)
    return;
  training.peakFlopsPerS = peak->value;
  double most = training.peakFlopsPerS *
                static_cast<double>(report.mesh.devices) *
                report.latency.stepTimeUs / 1e6;
  training.modelUtilization = modelFlops(training).real() / most;
  training.hardwareUtilization = hardwareFlops(training).real() / most;
}

/// Returns whether layers of several stages may have the same weight.
static bool sharesWeights(const EvaluatedIteration &iteration) {
  const CostProgram &program = iteration.parts.program;
  return iteration.steps.shape.stages > 1 &&
         std::any_of(program.residents.begin(), program.residents.end(),
                     [&](const Resident &resident) {
                       return resident.kind == Resident::Kind::gradient &&
                              isSharedByLayers(program, resident);
                     });
}

/// Returns whether an indexer selects the tokens that attention sees.
static bool selectsTokens(const CostProgram &program) {
  return std::any_of(
      program.kernels.begin(), program.kernels.end(),
      [](const Kernel &kernel) { return kernel.kind == KernelKind::index; });
}

static void readRecomputation(const TrainingPlan &plan,
                              TrainingReport &training) {
  if (plan.recompute)
    training.recompute = plan.recompute->str();
  for (const TrainingPlan::Tried &one : plan.tried)
    training.tried.push_back({one.what.str(), one.missingBytes});
}

static void readLimits(const EvaluatedIteration &iteration,
                       TrainingReport &training) {
  training.notModelled = {
      "loading of data, writing of checkpoints, evaluations and restarts",
      "collectives that are slower because others use their links",
      "that no kernels run beside the first gather of weights and the last "
      "reduction of gradients of a forward or backward",
      "losses of time that grow with the number of devices, and steps that are "
      "repeated because of loss scaling"};
  if (!iteration.parts.plan.training.mtpLayers)
    training.notModelled.emplace_back(
        "layers and heads that predict further tokens (MTP), and their losses, "
        "without --mtp-layers");
  if (training.expertCapacity)
    training.notModelled.emplace_back(
        "tokens that go to an expert by chance, above its mean load: what "
        "capacities drop of them");
  if (selectsTokens(iteration.parts.program))
    training.notModelled.emplace_back(
        "the loss of indexers by what attention sees of the tokens that they "
        "select: their weights have no gradients, and are not updated");
  if (iteration.steps.shape.isFolded())
    training.notModelled.emplace_back(
        "the sum of gradients of the two copies of each stage");
  if (sharesWeights(iteration))
    training.notModelled.emplace_back(
        "the sum of gradients of weights that layers of several stages share");
}

/// Returns the share of the memory budget that is left.
static double marginOf(const Report::DeviceMemory &memory) {
  double budget = static_cast<double>(memory.budgetBytes);
  double left = budget - static_cast<double>(memory.totalBytes);
  return left / std::max(1.0, budget);
}

TrainingReport
autopar::evaluation::trainingOf(const EvaluatedIteration &iteration,
                                const Report &report) {
  TrainingReport training;
  training.peakStage = iteration.fullest;
  readTimes(iteration, report, training);
  readExposure(iteration, report, training);
  readUtilization(iteration, report, training);
  readStages(iteration, training);
  readAlive(iteration, training);
  readRecomputation(iteration.parts.plan.training, training);
  training.expertCapacity = expertCapacityOf(iteration);
  training.copiedGradients = iteration.copies;
  readLimits(iteration, training);
  training.memoryMargin = marginOf(report.memory.perDevice);
  return training;
}

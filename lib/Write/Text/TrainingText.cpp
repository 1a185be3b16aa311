//===- TrainingText.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextParts.h"

#include "autopar/Support/Text.h"
#include "autopar/Write/MoneyText.h"
#include "autopar/Write/Phrases.h"

#include <algorithm>
#include <cstdlib>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::writing;

using Exposure = TrainingReport::Exposure;

/// Returns what is recomputed and, if this was chosen to fit in memory, the
/// reason.
static std::string recomputationText(const Report &report) {
  const TrainingReport &training = *report.training;
  if (training.tried.empty())
    return training.recompute;
  constexpr size_t mostTried = 3;
  const auto &memory = report.memory.perDevice;
  std::string text =
      training.recompute + ", " + (memory.fits ? "" : "short by ") +
      formatBytes(std::abs(memory.budgetBytes - memory.totalBytes)) +
      (memory.fits ? " left" : "");
  size_t count = training.tried.size();
  for (size_t i = 0; i < count; ++i)
    if (i == 0 || i + mostTried > count)
      text += (i == 0 ? "; " : ", ") + training.tried[i].recompute +
              " is short by " + formatBytes(training.tried[i].missingBytes);
  return text;
}

/// Returns the capacity of experts: "at most 160 of 32,768 routed tokens of a
/// rank (factor 1.25); 3.1% of all are dropped".
static std::string capacityText(const TrainingReport::Capacity &capacity) {
  return (capacity.padded ? "always " : "at most ") +
         formatInteger(capacity.tokens) + " of " +
         formatInteger(capacity.routedTokens) +
         " routed tokens per rank (factor " + formatNumber(capacity.factor) +
         "); " + percent(capacity.droppedShare, 1) + " of all are dropped";
}

void autopar::writing::addTrainingRows(TextTable &table, const Report &report) {
  const TrainingReport &training = *report.training;
  bool isPadded = !training.flops.padding.isZero();
  table.add({"utilisation", percent(training.modelUtilization, 1) + " MFU, " +
                                percent(training.hardwareUtilization, 1) +
                                " HFU" +
                                (isPadded ? " (with padding and recomputation)"
                                          : " (with recomputation)")});
  if (training.recompute != "none")
    table.add({"recompute", recomputationText(report)});
  if (training.expertCapacity)
    table.add({"each expert", capacityText(*training.expertCapacity)});
  if (report.memory.perDevice.fits)
    table.add(
        {"memory left", percent(training.memoryMargin, 1) + " of the budget"});
  table.add({"memory peak",
             report.memory.worstDevice + ", " +
                 formatTime(training.stages[training.peakStage].peakTimeUs) +
                 " into the iteration"});
  if (training.dollars)
    table.add(
        {"iteration",
         dollarText(*training.dollars) +
             (training.joules ? ", at most " + energyText(*training.joules)
                              : "")});
}

static std::string timeTable(const Report &report) {
  const TrainingReport &training = *report.training;
  double iteration = report.latency.stepTimeUs;
  TextTable table("lrr");
  auto add = [&](const char *name, double time) {
    table.add({name, formatTime(time), percent(time, iteration)});
  };
  add("forward", training.forwardTimeUs);
  add("backward", training.backwardTimeUs);
  add("  gradients of weights", training.weightGradientTimeUs);
  add("optimizer", training.optimizerTimeUs);
  if (report.pipeline->partition.stages > 1)
    add("waits for other stages", training.bubbleTimeUs);
  if (training.stragglerTimeUs > 0)
    add("stragglers", training.stragglerTimeUs);
  add("iteration", iteration);
  return "\nTime of an iteration (stage " +
         std::to_string(report.pipeline->partition.heaviest) +
         ", the heaviest)\n" + table.str();
}

/// Writes the sum of the gradients that both ends of the pipeline have,
/// whichever stage is the heaviest.
static std::string copiedText(const TrainingReport &training) {
  if (!training.copiedGradients)
    return "";
  const TrainingReport::Copies &copies = *training.copiedGradients;
  return wrapText("  ",
                  "The first stage and the last have copies of weights, and "
                  "sum " +
                      formatBytes(copies.bytes) + " of their gradients over " +
                      copies.tier + " in " + formatTime(copies.timeUs) +
                      " before they are clipped.");
}

static std::string exposureTable(const TrainingReport &training) {
  if (training.exposure.empty())
    return "";
  TextTable table("llrr");
  table.add({"communication", "axes", "time", "exposed"});
  for (const Exposure &row : training.exposure) {
    std::string name(nameOf(row.section));
    switch (row.purpose) {
    case Exposure::Purpose::activations:
      name += ", activations";
      break;
    case Exposure::Purpose::dispatch:
      name += ", tokens to experts";
      break;
    case Exposure::Purpose::inputs:
      name += ", inputs of matmuls";
      break;
    case Exposure::Purpose::gather:
      name += ", weights gathered";
      break;
    case Exposure::Purpose::reduction:
      name += ", gradients reduced";
      break;
    case Exposure::Purpose::copies:
      name += ", gradients of copied weights";
      break;
    }
    table.add({name, join(row.axes, "*"), formatTime(row.timeUs),
               formatTime(row.exposedTimeUs)});
  }
  return table.str();
}

/// Writes the memory of the copies that an update makes, if it makes any.
static std::string copiesText(const std::vector<Report::DeviceMemory> &stages) {
  int64_t copies = 0;
  for (const Report::DeviceMemory &stage : stages)
    copies = std::max(copies, stage.updateBytes - stage.reusedBytes);
  if (copies == 0)
    return "";
  return wrapText("  ", "Temporaries include up to " + formatBytes(copies) +
                            " of gradient copies, which an update takes and "
                            "the allocator keeps.");
}

static std::string memoryTable(const Report &report) {
  constexpr size_t mostRows = 16;
  const auto &stages = report.memory.perStage;
  TextTable table("rrrrrrrrr");
  table.add({"stage", "weights", "gradients", "optimizer", "saved", "in flight",
             "temporaries", "runtime", "total"});
  for (size_t i = 0; i < std::min(mostRows, stages.size()); ++i) {
    const Report::DeviceMemory &stage = stages[i];
    table.add({std::to_string(i), formatBytes(stage.weightBytes),
               formatBytes(stage.gradientBytes),
               formatBytes(stage.optimizerBytes), formatBytes(stage.savedBytes),
               formatInteger(report.training->stages[i].inFlight),
               formatBytes(stage.activationBytes + stage.updateBytes -
                           stage.reusedBytes),
               formatBytes(stage.runtimeBytes + stage.allocatorBytes),
               formatBytes(stage.totalBytes)});
  }
  std::string more =
      stages.size() > mostRows
          ? "  and " + std::to_string(stages.size() - mostRows) + " more\n"
          : "";
  return "\nMemory by stage\n" + table.str() + more + copiesText(stages);
}

static std::string aliveTable(const Report &report) {
  constexpr size_t mostRows = 12;
  const auto &alive = report.training->alive;
  TextTable table("llrrr");
  table.add({"value", "of layer", "count", "each", "all"});
  for (size_t i = 0; i < std::min(mostRows, alive.size()); ++i)
    table.add({"saved " + alive[i].name, alive[i].layer,
               formatInteger(alive[i].count), formatBytes(alive[i].bytes),
               formatBytes(alive[i].count * alive[i].bytes)});
  std::string more =
      alive.size() > mostRows
          ? "  and " + std::to_string(alive.size() - mostRows) + " more\n"
          : "";
  return alive.empty()
             ? ""
             : "\nSaved for the backward at the peak (" +
                   report.memory.worstDevice + ")\n" + table.str() + more;
}

std::string autopar::writing::trainingText(const Report &report) {
  std::string limits = "\nNot modelled\n";
  for (const std::string &limit : report.training->notModelled)
    limits += wrapText("  - ", limit);
  return timeTable(report) + exposureTable(*report.training) +
         copiedText(*report.training) + memoryTable(report) +
         aliveTable(report) + limits;
}

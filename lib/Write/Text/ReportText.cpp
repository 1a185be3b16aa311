//===- ReportText.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Write/Text.h"

#include "autopar/Report/Report.h"

#include "TextParts.h"
#include "autopar/Report/CacheFormat.h"
#include "autopar/Support/TextTables.h"
#include "autopar/Write/MoneyText.h"
#include "autopar/Write/Phrases.h"

#include "autopar/Placement/PlacementReport.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::writing;

//===----------------------------------------------------------------------===//
// The answer at the beginning of a report
//===----------------------------------------------------------------------===//

static std::string title(const Report &report) {
  std::vector<std::string> mesh = meshText(report);
  mesh.push_back("runtime " + report.machine.runtime);
  return wrapText("", report.model.name + ": " + stepText(report)) +
         wrapText("",
                  machineText(report) + ": " + report.machine.hardwareTitle) +
         wrapText("", join(mesh, ", "));
}

static std::string answerMemory(const Report &report) {
  const auto &memory = report.memory;
  int64_t total = memory.perDevice.totalBytes,
          budget = memory.perDevice.budgetBytes;
  std::string sizes =
      formatBytes(total) + " of a budget of " + formatBytes(budget);
  if (memory.perDevice.fits)
    return "yes: " + sizes + " per device";
  return "NO: " + sizes + " per device, short by " +
         formatBytes(total - budget);
}

/// Returns the capacity: "408 sequences at context 8,192 (51 on each of 8
/// replicas), 3,366,272 tokens in all".
static std::string answerCapacity(const Report &report) {
  const auto &capacity = report.capacity;
  std::string text = countOf(capacity.sequences, "sequence") + " at context " +
                     formatInteger(report.workload.contextLength);
  if (capacity.replicas > 1)
    text += " (" + formatInteger(capacity.sequencesPerReplica) +
            " on each of " + formatInteger(capacity.replicas) + " replicas)";
  if (report.memory.kvBytesPerToken > 0)
    text += ", " + formatInteger(capacity.tokens) + " tokens";
  return text;
}

/// Returns the throughput: "1,234 output tokens/s"; for training also the
/// throughput per device.
static std::string throughputText(const Report &report) {
  std::string rate = formatRate(report.tokensPerS);
  if (report.workload.phase != nameOf(Phase::train))
    return rate + " " + std::string(tokenKind(report)) + " tokens/s";
  double devices = static_cast<double>(report.mesh.devices);
  return rate + " tokens/s trained, " +
         formatRate(report.tokensPerS / devices) + " per device";
}

static std::string answer(const Report &report) {
  const auto &latency = report.latency;
  double largest = std::max({latency.computeTimeUs, latency.memoryTimeUs,
                             latency.communicationTimeUs,
                             latency.overheadTimeUs, latency.pipelineTimeUs});
  TextTable table("lw");
  table.add({"fits", answerMemory(report)});
  table.add({report.training               ? "iteration"
             : report.prefillSteps.empty() ? "step time"
                                           : "prefill time",
             formatTime(latency.stepTimeUs) + ", bound by " + latency.bound +
                 " (" + percent(largest, latency.stepTimeUs) + " of it)"});
  // The section about a service writes the throughput of the service itself.
  if (!report.serving || !report.serving->isServed) {
    table.add({"throughput", throughputText(report)});
    addCostRows(table, report);
  }
  if (report.training)
    addTrainingRows(table, report);
  if (report.memory.kvBytesPerToken > 0 ||
      report.memory.stateBytesPerSequence > 0)
    table.add({"capacity", answerCapacity(report)});
  return table.str();
}

//===----------------------------------------------------------------------===//
// The tables of a report
//===----------------------------------------------------------------------===//

/// Returns the format of KV caches, ", in fp8", which follows after their bytes
/// per token.
static std::string inFormat(const Report &report) {
  const Assumption *format = findCacheFormat(report);
  return format ? ", in " + format->value : "";
}

static std::string memoryTable(const Report &report) {
  const auto &memory = report.memory;
  const Report::DeviceMemory &device = memory.perDevice;
  double budget = static_cast<double>(memory.perDevice.budgetBytes);
  TextTable table("lrrr");
  table.add({"", "", "bytes", "of budget"});
  auto add = [&](const char *name, int64_t bytes) {
    table.add({name, formatBytes(bytes), formatInteger(bytes),
               percent(static_cast<double>(bytes), budget)});
  };
  add("weights", device.weightBytes);
  add("KV cache", device.kvCacheBytes);
  if (device.stateBytes > 0)
    add("states", device.stateBytes);
  add("temporaries", device.reservedBytes);
  add("  temporaries of this step", device.activationBytes);
  add("runtime", device.runtimeBytes);
  int64_t libraries =
      device.runtimeBytes - device.communicationBytes - device.graphBytes;
  if (libraries > 0)
    add("  context and libraries", libraries);
  if (device.communicationBytes > 0)
    add("  communication", device.communicationBytes);
  if (device.graphBytes > 0)
    add("  graphs", device.graphBytes);
  add("total", device.totalBytes);
  add("budget", memory.perDevice.budgetBytes);
  add("usable", device.capacityBytes);
  add("left for KV", memory.kvCapacityBytes);
  return "\nMemory of a device (" + memory.worstDevice + ")\n" + table.str() +
         "  KV per token: " + formatInteger(memory.kvBytesPerToken) +
         " B in all, " + formatInteger(memory.kvBytesPerTokenPerDevice) +
         " B per device" + inFormat(report) +
         "\n  KV per sequence: " + formatInteger(memory.kvBytesPerSequence) +
         " B in all\n" +
         (device.stateBytes > 0
              ? "  states per sequence: " +
                    formatInteger(memory.stateBytesPerSequence) + " B in all\n"
              : "");
}

static std::string latencyTable(const Report &report) {
  const auto &latency = report.latency;
  TextTable table("lrrr");
  table.add({"", "time", "of step", "all at peak rates"});
  auto add = [&](const char *name, double time, std::string allAtPeak) {
    table.add({name, formatTime(time), percent(time, latency.stepTimeUs),
               std::move(allAtPeak)});
  };
  const auto &bounds = latency.bounds;
  add("compute", latency.computeTimeUs, formatTime(bounds.computeTimeUs));
  add("memory", latency.memoryTimeUs, formatTime(bounds.memoryTimeUs));
  add("communication", latency.communicationTimeUs,
      formatTime(bounds.communicationTimeUs));
  add("overhead", latency.overheadTimeUs, "");
  if (report.pipeline)
    add("pipeline", latency.pipelineTimeUs, "");
  add("step", latency.stepTimeUs, "");
  return (report.prefillSteps.empty() ? "\nTime of a step ("
                                      : "\nTime of all steps (") +
         formatInteger(latency.kernelLaunches) + " kernels)\n" + table.str() +
         wrapText("  ", "A kernel's time counts as compute or as memory, "
                        "whichever limits it.") +
         wrapText("  ", "At peak rates: time of all FLOPs, all reads of "
                        "weights and KV cache, or all communication.");
}

/// Writes the first and the last steps of a prefill; between them the context
/// grows evenly.
static std::string prefillTable(const Report &report) {
  const auto &steps = report.prefillSteps;
  if (steps.empty())
    return "";
  constexpr size_t shown = 4;
  TextTable table("rrrrr");
  table.add({"steps", "sequences", "tokens each", "context", "time each"});
  Checked count;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Report::PrefillStep &step = steps[i];
    count += step.count;
    if (i >= shown && i + shown < steps.size()) {
      if (i == shown)
        table.add({"...", "", "", "", ""});
      continue;
    }
    table.add({formatInteger(step.count), formatInteger(step.batch),
               formatInteger(step.queryLength),
               formatInteger(step.contextLength), formatTime(step.stepTimeUs)});
  }
  return "\nPrefill in " + formatInteger(count) + " steps\n" + table.str();
}

static std::string breakdownTable(const char *heading,
                                  const std::vector<BreakdownRow> &rows,
                                  double stepTimeUs) {
  TextTable table("lrrrrr");
  table.add({"", "count", "time", "of step", "FLOPs", "bytes"});
  for (const BreakdownRow &row : rows)
    if (row.timeUs > 0 || row.flops > 0)
      table.add({row.name, formatInteger(row.count), formatTime(row.timeUs),
                 percent(row.timeUs, stepTimeUs),
                 row.flops > 0 ? formatFlops(row.flops) : "-",
                 row.bytes > 0 ? formatBytes(row.bytes) : "-"});
  return std::string("\n") + heading + "\n" + table.str();
}

static std::string flopsTable(const Report &report) {
  const auto &flops = report.flops;
  TextTable table("lrr");
  auto add = [&](const char *name, Checked count) {
    table.add({name, formatFlops(count), formatInteger(count)});
  };
  add("linear layers (all devices)", flops.layersLinear);
  add("attention (all devices)", flops.attention);
  if (flops.recurrence > 0)
    add("recurrence (all devices)", flops.recurrence);
  add("logits (all devices)", flops.logits);
  add("total (all devices)", flops.total);
  add("total per device", flops.perDevice);
  add("attention without causal mask (all devices)", flops.attentionFullSquare);
  return "\nFLOPs of a step\n" + table.str();
}

static std::string collectiveTable(const Report &report) {
  if (report.communication.collectives.empty())
    return "";
  TextTable table("lllrrrr");
  table.add({"", "value", "axes", "count", "buffer", "sent per call",
             "time per call"});
  for (const Report::CollectiveRow &row : report.communication.collectives)
    table.add({row.kind + (row.nodesPerToken ? " by node" : ""), row.name,
               join(row.axes, "*") + " (" + std::to_string(row.groupSize) + ")",
               formatInteger(row.count), formatBytes(row.bytes),
               formatBytes(row.wireBytesPerDevice), formatTime(row.timeUs)});
  return "\nCommunication (" +
         formatBytes(report.communication.bytesPerDevice) +
         " sent per device)\n" + table.str();
}

static std::string modelTable(const Report &report) {
  const auto &model = report.model;
  TextTable table("lr");
  table.add({"parameters", formatInteger(model.parameters)});
  if (model.activeParameters != model.parameters)
    table.add({"active per token", formatInteger(model.activeParameters)});
  table.add({"checkpoint bytes", formatInteger(model.checkpointBytes)});
  if (model.storedOnlyParameters != 0)
    table.add(
        {"stored only, not loaded", formatInteger(model.storedOnlyParameters)});
  return "\nModel\n" + table.str();
}

//===----------------------------------------------------------------------===//
// Warnings, assumptions and derivations
//===----------------------------------------------------------------------===//

static std::string warnings(const Report &report) {
  std::string text;
  for (const Warning &warning : report.warnings)
    text += wrapText("  ! ", warning.text);
  return text.empty() ? "" : "\nWarnings\n" + text;
}

/// Returns whether an assumption was not made for this report in particular: a
/// default, a figure of the libraries or a method of the evaluator. Recalled
/// figures do not count as such.
static bool isDefault(const Assumption &assumption) {
  static constexpr const char *sources[] = {
      "default",  "the module's", "datasheet:", "measured:",
      "derived:", "autopar:",     "runtime:"};
  return std::any_of(
      std::begin(sources), std::end(sources), [&](std::string_view source) {
        return assumption.source.compare(0, source.size(), source) == 0;
      });
}

static std::string assumptions(const Report &report) {
  bool all = TextStyleScope::current().verbose;
  std::string text;
  size_t folded = 0;
  for (const Assumption &assumption : report.assumptions)
    if (all || !isDefault(assumption))
      text += wrapText("  - ", assumption.name + ": " + assumption.value +
                                   " (" + assumption.source + ")");
    else
      ++folded;
  if (folded > 0)
    text += (text.empty() ? "  " : "  and ") + countOf(folded, "default") +
            ": --verbose shows " + (folded == 1 ? "it" : "them all") + "\n";
  return text.empty() ? "" : "\nAssumptions\n" + text;
}

/// Returns an integer with grouped digits, "1,342,177,280"; other numbers are
/// returned as they are.
static std::string groupDigits(const std::string &number) {
  std::string text = number;
  bool whole = number.find_first_not_of("0123456789") == std::string::npos;
  for (size_t end = number.size(); whole && end > 3; end -= 3)
    text.insert(end - 3, ",");
  return text;
}

static std::string derivation(const std::string &path,
                              const Derivation &derivation) {
  std::string text =
      wrapText("  ", path) + wrapText("    = ", derivation.formula);
  if (!derivation.note.empty())
    text += wrapText("      ", derivation.note);
  std::map<std::string, std::string> terms(derivation.terms.begin(),
                                           derivation.terms.end());
  for (const auto &[input, value] : derivation.inputs) {
    std::string line = input + " = " + groupDigits(value);
    if (auto term = terms.find(input); term != terms.end()) {
      line += ": " + term->second;
      terms.erase(term);
    }
    text += wrapText("      ", line);
  }
  // The remaining terms belong to no input.
  for (const auto &[figure, value] : derivation.terms)
    if (terms.count(figure))
      text += wrapText("      where ", figure + " = " + value);
  for (const std::string &source : derivation.sources)
    text += wrapText("      from ", source);
  return text;
}

static std::string derivations(const Report &report) {
  std::string text;
  for (const auto &[path, how] : report.derivations) {
    // Derivations of single kernels are only in JSON and on pages.
    if (path.rfind("breakdown.", 0) != 0)
      text += derivation(path, how);
  }
  return text.empty() ? "" : "\nDerivations\n" + text;
}

/// Returns a change with its sign, "+12.3 us" or "-1.20 GiB"; "" for 0.
template <typename Format>
static std::string signedText(double value, Format format) {
  if (value == 0)
    return "";
  return (value < 0 ? "-" : "+") + format(std::fabs(value));
}

static std::string impacts(const Report &report) {
  constexpr size_t rows = 15;
  TextTable table("lrrrrl");
  table.add({"", "value", "step", "memory", "KV tokens", ""});
  for (size_t i = 0; i < std::min(rows, report.impacts.size()); ++i) {
    const Impact &impact = report.impacts[i];
    auto bytes = [](double value) {
      return formatBytes(static_cast<int64_t>(value));
    };
    auto tokens = [](double value) {
      return formatInteger(static_cast<int64_t>(value));
    };
    table.add({impact.path, formatNumber(impact.value),
               signedText(impact.more.stepTimeUs, formatTime),
               signedText(impact.more.totalBytes, bytes),
               signedText(impact.more.kvCapacityTokens, tokens),
               impact.less ? "kink" : ""});
  }
  return report.impacts.empty()
             ? ""
             : "\nEffect of 1 % more of a figure\n" + table.str();
}

/// Writes how the time at peak rates grows to the time of the step: each term,
/// with the sum so far.
static std::string waterfall(const Report &report) {
  TextTable table("lrrl");
  double sum = 0;
  for (const WaterfallStep &step : report.waterfall) {
    sum += step.timeUs;
    std::string added = signedText(step.timeUs, formatTime);
    table.add({step.name, added.empty() ? "0" : added, formatTime(sum),
               step.formula});
  }
  return report.waterfall.empty()
             ? ""
             : "\nFrom peak rates to the step\n" + table.str();
}

std::string autopar::writing::writeText(const Report &report) {
  double step = report.latency.stepTimeUs;
  if (TextStyleScope::current().brief)
    return title(report) + "\n" + answer(report) +
           (report.serving ? servingAnswer(*report.serving) : "");
  return title(report) + "\n" + answer(report) +
         (report.serving ? servingText(*report.serving) : "") +
         (report.training ? trainingText(report) : memoryTable(report)) +
         (report.pipeline ? pipelineText(*report.pipeline) : "") +
         prefillTable(report) + latencyTable(report) + collectiveTable(report) +
         breakdownTable("By op, per device", report.byOp, step) +
         breakdownTable("By layer kind, per device", report.byLayer, step) +
         (report.placement ? "\n" + placementText(*report.placement) : "") +
         flopsTable(report) + modelTable(report) + assumptions(report) +
         warnings(report) + impacts(report) + derivations(report) +
         waterfall(report);
}

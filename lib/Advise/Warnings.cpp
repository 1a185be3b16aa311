//===- Warnings.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Advise/Warnings.h"

#include "Advice.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cstdio>
#include <optional>

using namespace autopar;
using namespace autopar::advice;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

/// Returns a ratio as text: "2.4x".
static std::string times(double ratio) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.1fx", ratio);
  return buffer;
}

/// Lists at most five names, then how many more there are.
static std::string listSome(const std::vector<std::string> &names) {
  constexpr size_t limit = 5;
  std::vector<std::string> first(names.begin(),
                                 names.begin() + std::min(names.size(), limit));
  std::string text = join(first, ", ");
  if (names.size() > limit)
    text += " and " + std::to_string(names.size() - limit) + " more";
  return text;
}

/// Adds a warning about figures with these names; adds none if there are no
/// names.
static void addFigures(Warnings &warnings, const char *what,
                       const std::vector<std::string> &names) {
  if (!names.empty())
    warnings.push_back({what + listSome(names), ""});
}

/// Returns the format of an activation below 16 bits that an elementwise kernel
/// reads, if any. A cast of a matmul's input reads 16 bits and only writes
/// fewer, so it returns none for a cast.
static std::optional<ElementType> narrowInputOf(const Kernel &kernel) {
  if (kernel.kind != KernelKind::elementwise)
    return std::nullopt;
  for (const Traffic &traffic : kernel.traffic)
    if (!traffic.write && traffic.role == Traffic::Role::activation &&
        bitsOf(traffic.type) < 16)
      return traffic.type;
  return std::nullopt;
}

/// Warns about activations in formats below 16 bits, because engines that
/// multiply in 8 bits keep all other activations wider.
static void warnNarrowStream(const EvaluatedStep &step, Warnings &warnings) {
  for (const Kernel &kernel : step.program.kernels)
    if (std::optional<ElementType> format = narrowInputOf(kernel)) {
      warnings.push_back(
          {"activations, norms and collectives are " +
               std::string(nameOf(*format)) +
               " too, but serving engines keep them in 16 bits: their real "
               "bytes and times are twice those shown",
           "narrow-stream"});
      return;
    }
}

/// Warns about collectives whose times do not come from a measured curve.
static void warnTimes(const EvaluatedStep &step, Warnings &warnings) {
  std::vector<std::string> modelled, interpolated;
  auto addOnce = [](std::vector<std::string> &names, std::string name) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  };
  for (const CollectiveCall &cost : step.calls) {
    std::string call = std::string(nameOf(cost.record->kind)) + " over " +
                       degreeText(step, cost.record->axes);
    if (cost.route->modelled)
      addOnce(modelled, call);
    else if (cost.route->interpolated)
      addOnce(interpolated, call);
  }
  addFigures(
      warnings,
      "collectives without a measured curve, priced by latency and bandwidth: ",
      modelled);
  addFigures(warnings,
             "collectives whose group size was not measured, interpolated: ",
             interpolated);
}

static void warnCollectiveSources(const EvaluatedStep &step,
                                  Warnings &warnings) {
  if (step.runtime.ideal)
    return;
  std::vector<std::string> unmeasured;
  for (const CollectiveCall &cost : step.calls) {
    const CollectiveCurve *curve = cost.curve();
    if (!curve || curve->source.kind == "measured")
      continue;
    std::string text =
        std::string(nameOf(cost.record->kind)) + " " + curve->source.str();
    if (std::find(unmeasured.begin(), unmeasured.end(), text) ==
        unmeasured.end())
      unmeasured.push_back(std::move(text));
  }
  addFigures(warnings,
             "collective curves not measured on this system: ", unmeasured);
}

static void warnSources(const EvaluatedStep &step, const UsedFigures &used,
                        Warnings &warnings) {
  std::vector<std::string> recalled, derived, missing;
  for (const Figure *figure : used.figures)
    if (figure->source.kind == "recalled")
      recalled.push_back(figure->path);
  for (auto [kind, curve] : used.curves) {
    if (curve->source.kind == "recalled")
      recalled.push_back(curve->path);
    if (curve->source.kind == "derived")
      derived.push_back(curve->path);
  }
  warnCollectiveSources(step, warnings);
  for (KernelKind kind : used.kindsWithoutCurve)
    missing.push_back(std::string(nameOf(kind)));
  addFigures(warnings, "figures from memory, without a source: ", recalled);
  addFigures(warnings,
             "kernel curves derived, not measured on this chip: ", derived);
  addFigures(warnings,
             "kernels larger than any that was measured: ", used.beyondFit);
  std::string absent = "kernel kinds without a curve of " +
                       step.pool().chip.name + ", priced at peak rates: ";
  addFigures(warnings, absent.c_str(), missing);
}

/// Compares a decode step with the time of reading weights and KV caches once,
/// and lists the reasons for the difference.
static void warnDecode(const EvaluatedStep &step, Warnings &warnings) {
  const auto &latency = step.report.latency;
  double floor = latency.bounds.memoryTimeUs;
  if (step.workload.phase != Phase::decode || floor <= 0 ||
      latency.stepTimeUs < floor * 1.05)
    return;
  std::string why;
  auto add = [&](double timeUs, const std::string &what) {
    if (timeUs > 0.01 * floor)
      why += (why.empty() ? "" : ", ") + formatTime(timeUs) + " " + what;
  };
  Checked calls;
  for (const CollectiveCall &cost : step.calls)
    calls += cost.count;
  add(latency.overheadTimeUs - latency.hostTimeUs,
      "for minimum times of " + formatInteger(latency.kernelLaunches) +
          " kernels");
  add(latency.communicationTimeUs,
      "in " + formatInteger(calls.int64().value_or(0)) + " collectives");
  add(latency.hostTimeUs, "on the host");
  add(latency.memoryTimeUs + latency.computeTimeUs - floor,
      "for activations and for reads below full bandwidth");
  warnings.push_back(
      {"decode takes " + times(latency.stepTimeUs / floor) +
           " what reading weights and KV cache at full bandwidth would (" +
           formatTime(floor) + "); the rest: " + why,
       "decode-floor"});
}

static void warnLongContext(const EvaluatedStep &step, Warnings &warnings) {
  const Positions &positions = step.program.positions;
  if (positions.longest == 0 || step.workload.context <= positions.longest)
    return;
  std::string scaling = positions.scaling.empty()
                            ? "and its config scales no rotary angles"
                            : "with the " + positions.scaling +
                                  " scaling of its rotary angles included";
  warnings.push_back({"a context of " + formatInteger(step.workload.context) +
                          " tokens exceeds the " +
                          formatInteger(positions.longest) +
                          " that the model was made for, " + scaling +
                          ": engines refuse it unless configured otherwise, "
                          "and answers get worse",
                      "long-context"});
}

Warnings autopar::advice::warningsOf(const EvaluatedStep &step) {
  UsedFigures used = figuresOf(step);
  Warnings warnings;
  using Advice = void(const EvaluatedStep &, Warnings &);
  static constexpr Advice *advice[] = {adviseOnFit,
                                       warnLongContext,
                                       warnDecode,
                                       adviseOnCacheCopies,
                                       adviseOnIdleMemory,
                                       adviseOnIdleAxes,
                                       adviseOnIdleDevices,
                                       adviseOnRepeatedExperts,
                                       adviseOnTiers,
                                       adviseOnExperts,
                                       adviseOnExpertLoads,
                                       adviseOnRings,
                                       adviseOnGatheredWeights,
                                       warnNarrowStream,
                                       warnTimes};
  for (Advice *advise : advice)
    advise(step, warnings);
  warnSources(step, used, warnings);
  warnDerivedMachine(step, warnings);
  warnOtherChips(step, used, warnings);
  warnSubstitutedCurves(step, warnings);
  warnSetLinks(step, warnings);
  return warnings;
}

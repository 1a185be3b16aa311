//===- Substitutions.cpp - Curves used for what they did not measure ------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of a figure does not say what the figure is used for. A measured
// curve that prices another format, or a link that is set to another bandwidth,
// is no measurement of that use.
//
//===----------------------------------------------------------------------===//

#include "Advice.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::advice;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::schedule;

namespace {

struct Spread {
  double least = 1e300, most = 0;
  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  double ratio() const { return most / least; }
};

std::string times(double ratio) {
  return formatNumber(std::round(ratio * 10) / 10) + "x";
}

/// Returns a text about how much the measured curves of a kind differ on this
/// chip: the ratio of the largest to the smallest efficiency.
std::string spreadText(const Chip &chip, KernelKind kind) {
  auto curves = chip.kernels.find(kind);
  Spread compute, memory;
  size_t measured = 0;
  if (curves != chip.kernels.end())
    for (const auto &[key, curve] : curves->second)
      if (curve.source.kind == "measured") {
        compute.add(curve.computeEfficiency);
        memory.add(curve.memoryEfficiency);
        ++measured;
      }
  if (measured < 2)
    return ", error unknown";
  return "; efficiencies of the " + std::to_string(measured) +
         " measured formats differ by up to " + times(compute.ratio()) +
         " (compute) and " + times(memory.ratio()) + " (memory)";
}

} // namespace

void autopar::advice::warnSubstitutedCurves(const EvaluatedStep &step,
                                            Warnings &warnings) {
  const Chip &chip = step.pool().chip;
  if (step.runtime.ideal)
    return;
  std::vector<std::string> said;
  for (const LaunchNodes &launch : step.strategy.launches) {
    const Kernel &kernel = step.program.kernels[launch.members.front().kernel];
    const KernelCurve *curve = step.curveOf(kernel);
    bool runs = !step.whole(launch.launched).isZero() &&
                !step.whole(launch.count).isZero();
    if (!runs || !curve)
      continue;
    std::string wanted = substitutedUse(step, kernel, *curve);
    if (wanted.empty() || std::count(said.begin(), said.end(), wanted))
      continue;
    said.push_back(wanted);
    warnings.push_back({wanted + " was not measured on " + chip.name +
                            "; priced with the efficiency of " + useOf(*curve) +
                            spreadText(chip, kernel.kind),
                        ""});
  }
}

void autopar::advice::warnOtherChips(const EvaluatedStep &step,
                                     const UsedFigures &used,
                                     Warnings &warnings) {
  const auto &spreads = step.machine.spreads;
  std::vector<std::string> uses;
  for (auto [kind, curve] : used.curves) {
    std::string use = useOf(*curve);
    if (curve->source.kind != "derived" || servesAll(use))
      continue;
    if (auto spread = spreads.find(use); spread != spreads.end())
      uses.push_back(use + " " + times(spread->second.compute) + " and " +
                     times(spread->second.memory));
    else if (spreads.empty())
      uses.push_back(use);
  }
  std::string spread = spreads.empty() ? ""
                                       : "; among measured chips they differ, "
                                         "in compute and in memory, by up to";
  if (!uses.empty())
    warnings.push_back({"kernel efficiencies are those of another chip" +
                            spread + ": " + join(uses, ", "),
                        ""});
}

void autopar::advice::warnSetLinks(const EvaluatedStep &step,
                                   Warnings &warnings) {
  if (step.runtime.ideal)
    return;
  std::vector<const Tier *> said;
  for (const CollectiveCall &cost : step.calls) {
    const Tier &tier = *cost.route->tier;
    double before = tier.bandwidth.fileValue();
    bool isSet = tier.bandwidth.isGiven() && tier.bandwidth.value != before;
    if (!isSet || tier.efficiency.isGiven() ||
        std::count(said.begin(), said.end(), &tier))
      continue;
    said.push_back(&tier);
    warnings.push_back(
        {"links of " + tier.name + " are set to " +
             formatNumber(tier.bandwidth.value / 1e9) +
             " GB/s and keep the efficiency " +
             formatNumber(tier.efficiency.value) + " of the " +
             formatNumber(before / 1e9) +
             " GB/s that were measured, which may be wrong for them: set " +
             tier.efficiency.path +
             " as well, or choose a machine with such links",
         ""});
  }
}

void autopar::advice::warnDerivedMachine(const EvaluatedStep &step,
                                         Warnings &warnings) {
  if (!step.machine.derived.empty())
    warnings.push_back({"filled in, since the file of " + step.machine.name +
                            " lacks them: " + step.machine.derived,
                        ""});
}

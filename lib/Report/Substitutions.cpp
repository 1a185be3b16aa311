//===- Substitutions.cpp - Curves used for what they did not measure ------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a figure is from says nothing of what it is used for: a measured curve
// that prices another format, or a link that is set to another bandwidth, is no
// measurement of that use.
//
//===----------------------------------------------------------------------===//

#include "Advice.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

/// "grouped_matmul.bf16" of "chips.h100-sxm.kernels.grouped_matmul.bf16".
static std::string useOf(const KernelCurve &curve) {
  size_t last = curve.path.rfind('.');
  return curve.path.substr(curve.path.rfind('.', last - 1) + 1);
}

static bool servesAll(std::string_view use) {
  return use.substr(use.rfind('.') + 1) == "any";
}

/// Curves of 16 bits serve both formats, and one of "any" all.
static std::string alike(std::string use) {
  size_t dot = use.rfind('.');
  std::string key = use.substr(dot + 1);
  if (key.size() >= 4 && key.substr(key.size() - 4) == "fp16")
    use.replace(use.size() - 4, 4, "bf16");
  return use;
}

/// The format of integers that hold the weights of a product of floats, which
/// a kernel unpacks; nothing where there are none.
static std::optional<ElementType> packedIn(const Kernel &kernel) {
  if (kernel.flopFactor == 0 || peakKeyOf(kernel.compute) == "int8")
    return std::nullopt;
  for (const Traffic &traffic : kernel.traffic)
    if (traffic.role == Traffic::Role::weight)
      for (ElementType type :
           {ElementType::i32, ElementType::i8, ElementType::u8})
        // Bytes of 4-bit floats have curves of their own.
        if (traffic.type == type &&
            (type != ElementType::u8 || !kernel.storage))
          return type;
  return std::nullopt;
}

std::string autopar::report::substitutedUse(const Reading &reading,
                                            const Kernel &kernel,
                                            const KernelCurve &curve) {
  std::string wanted = alike(reading.pool().chip.useOf(
      reading.curveKindOf(kernel), kernel.compute, kernel.storage));
  std::string used = alike(useOf(curve));
  // Scans have no curves of their own, which is an assumption of its own.
  if (servesAll(used) || kernel.kind == KernelKind::scan)
    return "";
  if (std::optional<ElementType> packed = packedIn(kernel))
    return wanted + " with weights in " + std::string(nameOf(*packed));
  return wanted == used ? "" : wanted;
}

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

/// How far apart the measured curves of the kernel are on this chip: the ratio
/// of the largest to the smallest efficiency.
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
    return "; nothing here says how far they are apart";
  return "; the efficiencies of the " + std::to_string(measured) +
         " measured formats differ by up to " + times(compute.ratio()) +
         " in compute and " + times(memory.ratio()) + " in memory";
}

} // namespace

void autopar::report::warnSubstitutedCurves(Reading &reading) {
  const Chip &chip = reading.pool().chip;
  if (reading.runtime.ideal)
    return;
  std::vector<std::string> said;
  for (const LaunchNodes &launch : reading.strategy.launches) {
    const Kernel &kernel =
        reading.program.kernels[launch.members.front().kernel];
    const KernelCurve *curve = reading.curveOf(kernel);
    bool runs = !reading.whole(launch.launched).isZero() &&
                !reading.whole(launch.count).isZero();
    if (!runs || !curve)
      continue;
    std::string wanted = substitutedUse(reading, kernel, *curve);
    if (wanted.empty() || std::count(said.begin(), said.end(), wanted))
      continue;
    said.push_back(wanted);
    reading.report.warnings.push_back({"priced by another curve: " + wanted +
                                           " is not measured on " + chip.name +
                                           " and has that of " + useOf(*curve) +
                                           spreadText(chip, kernel.kind),
                                       ""});
  }
}

void autopar::report::warnOtherChips(Reading &reading) {
  const auto &spreads = reading.machine.spreads;
  std::vector<std::string> uses;
  for (auto [kind, curve] : reading.curves) {
    std::string use = useOf(*curve);
    if (curve->source.kind != "derived" || servesAll(use))
      continue;
    if (auto spread = spreads.find(use); spread != spreads.end())
      uses.push_back(use + " by " + times(spread->second.compute) + " and " +
                     times(spread->second.memory));
    else if (spreads.empty())
      uses.push_back(use);
  }
  std::string spread = spreads.empty()
                           ? ""
                           : "; how far the efficiencies of measured chips are "
                             "apart, in compute and in memory";
  if (!uses.empty())
    reading.report.warnings.push_back(
        {"curves of another chip" + spread + ": " + join(uses, ", "), ""});
}

void autopar::report::warnSetLinks(Reading &reading) {
  if (reading.runtime.ideal)
    return;
  std::vector<const Tier *> said;
  for (const CollectiveReading &cost : reading.collectives) {
    const Tier &tier = *cost.route->tier;
    double before = tier.bandwidth.fileValue();
    bool isSet = tier.bandwidth.isGiven() && tier.bandwidth.value != before;
    if (!isSet || tier.efficiency.isGiven() ||
        std::count(said.begin(), said.end(), &tier))
      continue;
    said.push_back(&tier);
    reading.report.warnings.push_back(
        {"links of " + tier.name + " are set to " +
             formatNumber(tier.bandwidth.value / 1e9) +
             " GB/s and keep the efficiency " +
             formatNumber(tier.efficiency.value) + " of the " +
             formatNumber(before / 1e9) +
             " GB/s that were measured; other links have another: set " +
             tier.efficiency.path +
             " as well, or take a machine with such links",
         ""});
  }
}

void autopar::report::warnDerivedMachine(Reading &reading) {
  if (!reading.machine.derived.empty())
    reading.report.warnings.push_back({"not given by the file of " +
                                           reading.machine.name + ": " +
                                           reading.machine.derived,
                                       ""});
}

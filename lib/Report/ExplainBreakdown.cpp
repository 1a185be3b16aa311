//===- ExplainBreakdown.cpp - How rows of the breakdown came about --------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <array>
#include <map>

using namespace autopar;

static std::string rowPath(const char *folder, size_t row) {
  return "breakdown." + std::string(folder) + "[" + std::to_string(row) + "].";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// What most of the launch's time is.
static const char *partThatBinds(const Reading &reading,
                                 const LaunchNodes &launch) {
  Checked roof = reading.whole(launch.roofPs);
  Checked compute = reading.whole(launch.computePs);
  Checked floor = reading.whole(launch.floorPs);
  if (roof < floor)
    return "overhead";
  return compute > Checked(0) ? "compute" : "memory";
}

std::vector<KernelRow> autopar::readKernels(const Reading &step) {
  std::vector<KernelRow> rows;
  std::map<uint32_t, size_t> index;
  const Chip &chip = step.pool().chip;
  auto rowOf = [&](uint32_t id) -> KernelRow & {
    auto [it, isNew] = index.emplace(id, rows.size());
    if (isNew) {
      const Kernel &kernel = step.program.kernels[id];
      KernelRow &row = rows.emplace_back();
      row.name = kernel.name;
      row.op = kernel.op;
      row.layer = step.program.layers[kernel.layer].name;
      const Figure *peak =
          chip.peak(chip.unitsOf(kernel.kind, kernel.compute, kernel.storage));
      if (kernel.flopFactor != 0 && peak)
        row.peakFlopsPerS = peak->value;
    }
    return rows[it->second];
  };
  for (const LaunchNodes &launch : step.strategy.launches)
    for (const LaunchShare &share : sharesOf(step, launch)) {
      KernelRow &row = rowOf(share.kernel);
      row.bound = partThatBinds(step, launch);
      row.count += share.count.int64().value_or(0);
      row.timeUs += (share.roofUs + share.floorUs) * share.count.real();
      row.flops += share.flops;
      row.bytes += share.bytes;
    }
  for (KernelRow &row : rows) {
    double computeUs =
        row.peakFlopsPerS > 0 ? row.flops.real() / row.peakFlopsPerS * 1e6 : 0;
    row.peakTimeUs = std::max(computeUs, row.bytes.real() /
                                             chip.memoryBandwidth.value * 1e6);
  }
  return rows;
}

/// The rows of all steps of a prefill, which have the same kernels.
static std::vector<KernelRow> sumOfSteps(const Reading &whole) {
  std::vector<KernelRow> sum;
  for (size_t i = 0; i < whole.steps.size(); ++i)
    for (KernelRow &row : readKernels(*whole.steps[i])) {
      auto known = std::find_if(sum.begin(), sum.end(), [&](const auto &other) {
        return other.name == row.name;
      });
      if (known == sum.end()) {
        known = sum.insert(sum.end(), row);
        static_cast<BreakdownRow &>(*known) = {row.name, 0, 0, 0, 0};
        known->peakTimeUs = 0;
      }
      int64_t times = whole.chunks[i].count;
      auto often = static_cast<double>(times);
      known->count += row.count * times;
      known->timeUs += row.timeUs * often;
      known->flops += row.flops * times;
      known->bytes += row.bytes * times;
      known->peakTimeUs += row.peakTimeUs * often;
    }
  return sum;
}

void Explainer::explainKernel(size_t row) {
  const KernelRow &kernel = report.byKernel[row];
  std::string path = rowPath("by_kernel", row), name = "kernels/" + kernel.name;
  Explanation time, count, flops, bytes;
  for (const LaunchNodes &launch : reading.strategy.launches)
    for (const LaunchShare &share : sharesOf(reading, launch)) {
      if (reading.program.kernels[share.kernel].name != kernel.name)
        continue;
      std::string often = share.count.str();
      bool shared = workingKernels(launch).size() > 1;
      std::string ofOne = shared ? "its part of " : "";
      std::string launched = text.sizes(launch.roofPs) + " + " +
                             us(reading.whole(launch.floorPs)) + " us";
      time.input("launches",
                 (share.roofUs + share.floorUs) * share.count.real(),
                 times(often, ofOne + "(" + launched + ")"));
      rateFigures(launch, time);
      count.input(name, share.count);
      const KernelNodes &nodes = reading.strategy.kernels[share.kernel];
      flops.input(name, share.flops,
                  times(often, text.sizes(nodes.localFlops)));
      for (const LaunchNodes::Member &member : launch.members)
        if (member.kernel == share.kernel)
          bytes.input(name, share.bytes,
                      times(often, text.sizes(member.movedBytes)) + " B");
    }
  const char *sum = "sum of the inputs", *program = "cost program of the IR";
  add(path + "time_us", sum,
      time.note("of a launch of several kernels, the roofline's time as each "
                "would take alone, and an even part of the floor"));
  add(path + "count", sum, count.from(program));
  add(path + "flops", sum, flops.from(program));
  add(path + "bytes", sum, bytes.from(program));
}

void Explainer::explainKernelSteps() {
  std::map<std::string, size_t> rowOf;
  for (size_t row = 0; row < report.byKernel.size(); ++row)
    rowOf[report.byKernel[row].name] = row;
  std::vector<std::array<Explanation, 4>> sums(report.byKernel.size());
  for (size_t i = 0; i < reading.steps.size(); ++i) {
    int64_t often = reading.chunks[i].count;
    std::string step = "prefill_steps[" + std::to_string(i) + "].";
    std::string term = formatInteger(often) + (often == 1 ? " step" : " steps");
    for (const KernelRow &row : readKernels(*reading.steps[i])) {
      auto &[time, count, flops, bytes] = sums[rowOf.at(row.name)];
      time.input(step + "time_us", row.timeUs * static_cast<double>(often),
                 term);
      count.input(step + "count", row.count * often, term);
      flops.input(step + "flops", row.flops * often, term);
      bytes.input(step + "bytes", row.bytes * often, term);
    }
  }
  for (size_t row = 0; row < sums.size(); ++row) {
    static constexpr const char *names[] = {"time_us", "count", "flops",
                                            "bytes"};
    for (size_t i = 0; i < std::size(names); ++i)
      add(rowPath("by_kernel", row) + names[i], "sum of the inputs",
          std::move(sums[row][i]));
  }
}

void Explainer::explainKernels() {
  const Figure &bandwidth = reading.pool().chip.memoryBandwidth;
  report.byKernel =
      reading.steps.empty() ? readKernels(reading) : sumOfSteps(reading);
  report.memoryBandwidthBytesPerS = bandwidth.value;
  add("breakdown.memory_bandwidth_bytes_per_s", "the input",
      Explanation().figure(bandwidth));
  if (!reading.steps.empty())
    explainKernelSteps();
  for (size_t row = 0; row < report.byKernel.size(); ++row) {
    const KernelRow &kernel = report.byKernel[row];
    std::string path = rowPath("by_kernel", row);
    if (reading.steps.empty())
      explainKernel(row);
    bool computes = kernel.peakFlopsPerS > 0;
    Explanation peak;
    if (computes)
      peak.input(path + "flops", kernel.flops)
          .input(path + "peak_flops_per_s", kernel.peakFlopsPerS);
    peak.input(path + "bytes", kernel.bytes).figure(bandwidth);
    add(path + "peak_time_us",
        computes ? "max(flops / peak_flops_per_s, bytes / memory_bandwidth) * "
                   "1e6"
                 : "bytes / memory_bandwidth * 1e6",
        peak.note(reading.steps.empty() ? "" : "summed over the steps"));
  }
}

//===----------------------------------------------------------------------===//
// Ops and layers
//===----------------------------------------------------------------------===//

void Explainer::explainRows(
    const std::string &folder, const std::vector<BreakdownRow> &rows,
    const std::function<std::string(const KernelRow &)> &keyOf,
    const std::function<std::string(const Collective &)> &keyOfCall) {
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::string &key = rows[row].name;
    Explanation time, count, flops, bytes;
    for (size_t i = 0; i < report.byKernel.size(); ++i) {
      const KernelRow &kernel = report.byKernel[i];
      if (keyOf(kernel) != key)
        continue;
      std::string path = rowPath("by_kernel", i);
      time.input(path + "time_us", kernel.timeUs, kernel.name);
      count.input(path + "count", kernel.count, kernel.name);
      flops.input(path + "flops", kernel.flops, kernel.name);
      bytes.input(path + "bytes", kernel.bytes, kernel.name);
    }
    auto addCalls = [&](const Reading &step, int64_t steps) {
      for (const CollectiveReading &call : step.collectives) {
        if (keyOfCall(*call.record) != key)
          continue;
        std::string name = "collectives/" + call.record->name;
        Checked often = Checked(call.count) * steps;
        time.input(name, call.timeUs * often.real(),
                   times(often.str(), decimal(call.timeUs) + " us"));
        count.input(name, often);
        bytes.input(name, step.whole(call.nodes->wireBytes) * often, "sent");
      }
    };
    if (reading.steps.empty())
      addCalls(reading, 1);
    for (size_t i = 0; i < reading.steps.size(); ++i)
      addCalls(*reading.steps[i], reading.chunks[i].count);
    if (key == "host") {
      time.input("latency.host_time_us", rows[row].timeUs);
      count.input("schedule.microbatches", rows[row].count);
    }
    std::string path = rowPath(folder.c_str(), row);
    const char *sum = "sum of the inputs";
    add(path + "time_us", sum, time);
    add(path + "flops", sum, flops);
    add(path + "bytes", sum, bytes);
    if (folder == "by_op")
      add(path + "count", sum, count);
    else
      add(path + "count", "given",
          Explanation().from("layers of this kind on the device, for each pass "
                             "through them"));
  }
}

void Explainer::explainBreakdown() {
  explainKernels();
  explainRows(
      "by_op", report.byOp, [](const KernelRow &kernel) { return kernel.op; },
      [](const Collective &call) { return std::string(nameOf(call.kind)); });
  explainRows(
      "by_layer", report.byLayer,
      [](const KernelRow &kernel) { return kernel.layer; },
      [&](const Collective &call) {
        return reading.program.layers[call.layer].name;
      });
}

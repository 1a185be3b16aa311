//===- ExplainBreakdown.cpp - Derivations of the breakdown ----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <map>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

static std::string rowPath(const char *folder, size_t row) {
  return "breakdown." + std::string(folder) + "[" + std::to_string(row) + "].";
}

//===----------------------------------------------------------------------===//
// Derivations of the numbers of kernels
//===----------------------------------------------------------------------===//

/// Returns which part of the launch's time is the largest: "compute", "memory"
/// and so on.
static const char *partThatBinds(const EvaluatedStep &step,
                                 const LaunchNodes &launch) {
  Checked roof = step.whole(launch.roofPs);
  Checked compute = step.whole(launch.computePs);
  Checked floor = step.whole(launch.floorPs);
  if (roof < floor)
    return "overhead";
  return compute > Checked(0) ? "compute" : "memory";
}

static std::vector<KernelRow> kernelsOf(const EvaluatedStep &step) {
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

/// Sums the kernels' rows over all steps of a prefill, which have the same
/// kernels.
static std::vector<KernelRow> sumOfSteps(const EvaluatedStep &whole) {
  std::vector<KernelRow> sum;
  for (size_t i = 0; i < whole.steps.size(); ++i)
    for (KernelRow &row : kernelsOf(*whole.steps[i])) {
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

/// The derivations of a kernel's row, one for each of its numbers.
struct Explainer::KernelExplanation {
  Explanation time, count, flops, bytes;
};

void Explainer::addKernelRows(std::vector<KernelExplanation> rows) {
  const char *sum = "sum of the inputs";
  for (size_t row = 0; row < rows.size(); ++row) {
    std::string path = rowPath("by_kernel", row);
    add(path + "time_us", sum, std::move(rows[row].time));
    add(path + "count", sum, std::move(rows[row].count));
    add(path + "flops", sum, std::move(rows[row].flops));
    add(path + "bytes", sum, std::move(rows[row].bytes));
  }
}

/// Returns the index of the report's row for each kernel.
static std::map<std::string, size_t>
rowsByName(const std::vector<KernelRow> &kernels) {
  std::map<std::string, size_t> rows;
  for (size_t row = 0; row < kernels.size(); ++row)
    rows[kernels[row].name] = row;
  return rows;
}

void Explainer::addShares(const LaunchNodes &launch,
                          const std::map<std::string, size_t> &rowOf,
                          std::vector<KernelExplanation> &rows) {
  std::vector<LaunchShare> shares = sharesOf(step, launch);
  if (shares.empty())
    return;
  std::string often = shares.front().count.str();
  std::string ofOne = shares.size() > 1 ? "its part of " : "";
  std::string term =
      times(often, ofOne + "(" + text.sizes(launch.roofPs) + " + " +
                       us(step.whole(launch.floorPs)) + " us)");
  for (const LaunchShare &share : shares) {
    const Kernel &kernel = step.program.kernels[share.kernel];
    std::string name = "kernels/" + kernel.name;
    auto &[time, count, flops, bytes] = rows[rowOf.at(kernel.name)];
    time.input("launches", (share.roofUs + share.floorUs) * share.count.real(),
               term);
    rateFigures(launch, time);
    count.input(name, share.count);
    NodeId local = step.strategy.kernels[share.kernel].localFlops;
    flops.input(name, share.flops, times(often, text.sizes(local)));
    for (const LaunchNodes::Member &member : launch.members)
      if (member.kernel == share.kernel)
        bytes.input(name, share.bytes,
                    times(often, text.sizes(member.movedBytes)) + " B");
  }
}

void Explainer::explainLaunchShares() {
  std::vector<KernelExplanation> rows(result.byKernel.size());
  std::map<std::string, size_t> rowOf = rowsByName(result.byKernel);
  for (const LaunchNodes &launch : step.strategy.launches)
    addShares(launch, rowOf, rows);
  const char *program = "cost program of the IR";
  for (KernelExplanation &row : rows) {
    row.time.note(
        "in a launch of several kernels, a kernel's share is its roofline time "
        "if it ran alone, and an equal part of the launch floor");
    for (Explanation *one : {&row.count, &row.flops, &row.bytes})
      one->from(program);
  }
  addKernelRows(std::move(rows));
}

void Explainer::explainKernelSteps() {
  std::vector<KernelExplanation> rows(result.byKernel.size());
  std::map<std::string, size_t> rowOf = rowsByName(result.byKernel);
  for (size_t i = 0; i < step.steps.size(); ++i) {
    int64_t often = step.chunks[i].count;
    std::string folder = "prefill_steps[" + std::to_string(i) + "].";
    std::string term = countOf(often, "step");
    for (const KernelRow &row : kernelsOf(*step.steps[i])) {
      auto &[time, count, flops, bytes] = rows[rowOf.at(row.name)];
      time.input(folder + "time_us", row.timeUs * static_cast<double>(often),
                 term);
      count.input(folder + "count", row.count * often, term);
      flops.input(folder + "flops", row.flops * often, term);
      bytes.input(folder + "bytes", row.bytes * often, term);
    }
  }
  addKernelRows(std::move(rows));
}

void Explainer::explainKernels() {
  const Figure &bandwidth = step.pool().chip.memoryBandwidth;
  result.byKernel = step.steps.empty() ? kernelsOf(step) : sumOfSteps(step);
  result.memoryBandwidthBytesPerS = bandwidth.value;
  add("breakdown.memory_bandwidth_bytes_per_s", "the input",
      Explanation().figure(bandwidth));
  if (step.steps.empty())
    explainLaunchShares();
  else
    explainKernelSteps();
  for (size_t row = 0; row < result.byKernel.size(); ++row) {
    const KernelRow &kernel = result.byKernel[row];
    std::string path = rowPath("by_kernel", row);
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
        peak.note(step.steps.empty() ? "" : "summed over the steps"));
  }
}

//===----------------------------------------------------------------------===//
// Derivations of the numbers of ops and layers
//===----------------------------------------------------------------------===//

void Explainer::explainRows(
    const std::string &folder, const std::vector<BreakdownRow> &rows,
    const std::function<std::string(const KernelRow &)> &keyOf,
    const std::function<std::string(const Collective &)> &keyOfCall) {
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::string &key = rows[row].name;
    Explanation time, count, flops, bytes;
    for (size_t i = 0; i < result.byKernel.size(); ++i) {
      const KernelRow &kernel = result.byKernel[i];
      if (keyOf(kernel) != key)
        continue;
      std::string path = rowPath("by_kernel", i);
      time.input(path + "time_us", kernel.timeUs, kernel.name);
      count.input(path + "count", kernel.count, kernel.name);
      flops.input(path + "flops", kernel.flops, kernel.name);
      bytes.input(path + "bytes", kernel.bytes, kernel.name);
    }
    auto addCalls = [&](const EvaluatedStep &step, int64_t steps) {
      for (const CollectiveCall &call : step.calls) {
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
    if (step.steps.empty())
      addCalls(step, 1);
    for (size_t i = 0; i < step.steps.size(); ++i)
      addCalls(*step.steps[i], step.chunks[i].count);
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
          Explanation().from(
              "layers of this kind on the device, once per pass"));
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
        return step.program.layers[call.layer].name;
      });
}

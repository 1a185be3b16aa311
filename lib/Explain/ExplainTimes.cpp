//===- ExplainTimes.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"
#include "autopar/Evaluate/UsedFigures.h"
#include "autopar/Support/Text.h"

#include <cstdio>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;

static constexpr int64_t picosecondsPerUs = 1'000'000;

/// Returns a time as text in us, with all its digits: "12.5" for 12,500,000 ps.
std::string Explainer::us(Checked picoseconds) const {
  int64_t ps = picoseconds.int64().value_or(0);
  std::string text = std::to_string(ps / picosecondsPerUs);
  if (ps % picosecondsPerUs == 0)
    return text;
  char digits[8];
  std::snprintf(digits, sizeof(digits), "%06d",
                static_cast<int>(ps % picosecondsPerUs));
  text += std::string(".") + digits;
  return text.substr(0, text.find_last_not_of('0') + 1);
}

/// Returns the kernels of a launch that have work; if none has, the first
/// kernel.
std::vector<uint32_t>
Explainer::workingKernels(const LaunchNodes &launch) const {
  std::vector<uint32_t> working;
  for (const LaunchNodes::Member &member : launch.members)
    if (!step.whole(step.strategy.kernels[member.kernel].launched).isZero())
      working.push_back(member.kernel);
  if (working.empty())
    working.push_back(launch.members.front().kernel);
  return working;
}

/// Adds the figures that give a launch its rates.
void Explainer::rateFigures(const LaunchNodes &launch,
                            Explanation &explanation) {
  const Chip &chip = step.pool().chip;
  const Kernel &first = step.program.kernels[launch.members.front().kernel];
  explanation.restsOn(chip.memoryBandwidth);
  for (uint32_t index : workingKernels(launch)) {
    const Kernel &kernel = step.program.kernels[index];
    const Figure *peak =
        chip.peak(chip.unitsOf(kernel.kind, kernel.compute, kernel.storage));
    if (kernel.flopFactor != 0 && peak)
      explanation.restsOn(*peak);
  }
  const KernelCurve *curve = step.curveOf(first);
  if (!curve || step.runtime.ideal)
    return;
  explanation.restsOn(*curve);
  std::string use = substitutedUse(step, first, *curve);
  if (!use.empty())
    explanation.from("derived: " + use + " priced by " + curve->path);
}

void Explainer::addLaunchTimes(const std::string &path, bool ofCompute,
                               std::string note) {
  Explanation sum;
  for (const LaunchNodes &launch : step.strategy.launches) {
    Checked count = step.countOf(launch);
    Checked roof = step.whole(launch.roofPs);
    Checked compute = step.whole(launch.computePs);
    Checked own = ofCompute ? compute : roof - compute;
    if ((own * count).isZero())
      continue;
    std::string term = times(count.str(), text.sizes(launch.roofPs));
    std::vector<uint32_t> working = workingKernels(launch);
    for (size_t i = 1; i < working.size(); ++i)
      term += (i == 1 ? "; one launch with " : ", ") +
              step.program.kernels[working[i]].name;
    sum.input("kernels/" + step.program.kernels[working[0]].name,
              us(own * count), term);
    rateFigures(launch, sum);
  }
  add(path, "sum of the inputs",
      sum.note(std::move(note)).from("cost program of the IR"));
}

void Explainer::explainLaunches() {
  addLaunchTimes("latency.compute_time_us", /*ofCompute=*/true,
                 "launches whose arithmetic (tc) takes longer than their "
                 "memory traffic (tm); launch floors count as overhead; each "
                 "launch is rounded to picoseconds");
  addLaunchTimes("latency.memory_time_us", /*ofCompute=*/false,
                 "launches whose memory traffic (tm) takes at least as long as "
                 "their arithmetic (tc); launch floors count as overhead; each "
                 "launch is rounded to picoseconds");
  std::vector<Contribution> launches, reads;
  for (const LaunchNodes &launch : step.strategy.launches) {
    Checked count = step.countOf(launch);
    std::vector<uint32_t> working = workingKernels(launch);
    std::string name = "kernels/" + step.program.kernels[working[0]].name;
    size_t size = working.size();
    launches.push_back(
        {name, (count * step.whole(launch.launched)).str(),
         size == 1 ? "" : std::to_string(size) + " kernels launched as one"});
    for (const LaunchNodes::Member &member : launch.members) {
      uint32_t index = member.kernel;
      NodeId kept = step.strategy.kernels[index].keptReadBytes;
      reads.push_back({"kernels/" + step.program.kernels[index].name,
                       (count * step.whole(kept)).str(),
                       times(count.str(), text.sizes(kept)) + " B"});
    }
  }
  addSum("latency.kernel_launches", launches,
         Explanation().from("runtime: " + step.runtime.name));
  addSum("latency.bounds.weights_and_kv_read_bytes", reads);
}

void Explainer::explainOverhead() {
  const Runtime &runtime = step.runtime;
  Explanation sum;
  for (const LaunchNodes &launch : step.strategy.launches) {
    Checked count = step.countOf(launch);
    Checked floor = step.whole(launch.floorPs);
    if ((floor * count).isZero())
      continue;
    const Kernel &first = step.program.kernels[launch.members.front().kernel];
    uint32_t named = workingKernels(launch).front();
    sum.input("kernels/" + step.program.kernels[named].name, us(floor * count),
              times(count.str(), us(floor) + " us"));
    const KernelCurve *curve = step.curveOf(first);
    if (curve && !runtime.ideal)
      sum.restsOn(*curve);
  }
  Checked host = step.whole(total.layersPs) + step.whole(total.hostPs);
  sum.restsOn(runtime.kernelFloorUs).input("latency.host_time_us", us(host));
  add("latency.overhead_time_us", "sum of the inputs",
      sum.note("launch floors, the larger of the kernel curve's and the "
               "runtime's, and the host's time"));
}

void Explainer::explainHost() {
  const Runtime &runtime = step.runtime;
  Explanation sum;
  sum.restsOn(runtime.hostTimeUs);
  Checked ofLayers = step.whole(total.layersPs);
  if (!ofLayers.isZero())
    sum.restsOn(runtime.hostTimePerLayerUs)
        .input("host_of_layers", us(ofLayers),
               times(step.whole(total.layers).str(),
                     formatNumber(runtime.hostTimePerLayerUs.value) + " us"));
  if (runtime.hostTimePerSequenceUs.value > 0)
    sum.restsOn(runtime.hostTimePerSequenceUs);
  int64_t waits = step.layout.microbatches;
  bool isFigure = waits == 1 && runtime.hostTimePerSequenceUs.value == 0;
  sum.input(isFigure ? runtime.hostTimeUs.path : "host",
            us(step.whole(total.hostPs)),
            waits == 1 ? "" : "of " + std::to_string(waits) + " microbatches");
  add("latency.host_time_us", "sum of the inputs", std::move(sum));
}

void Explainer::explainStep() {
  Checked overhead = step.whole(total.floorPs) + step.whole(total.hostPs);
  add("latency.step_time_us", "sum of the inputs",
      Explanation()
          .input("latency.compute_time_us", us(step.whole(total.computePs)))
          .input("latency.memory_time_us", us(step.whole(total.memoryPs)))
          .input("latency.communication_time_us",
                 us(step.whole(total.communicationPs)))
          .input("latency.overhead_time_us", us(overhead)));
}

void Explainer::explainRate() {
  Explanation rate;
  rate.input("workload.batch", report.workload.batch);
  bool takesAll = step.workload.phase != Phase::decode;
  if (takesAll)
    rate.input("workload.query_length", report.workload.queryLength);
  rate.input("latency.step_time_us", report.latency.stepTimeUs);
  add("throughput.tokens_per_s",
      takesAll ? "batch * query_length / step_time_us * 1e6"
               : "batch / step_time_us * 1e6",
      rate);
}

void Explainer::explainSerialKernels() {
  const Figure &bandwidth = step.pool().chip.memoryBandwidth;
  Explanation sum;
  for (const LaunchNodes &launch : step.strategy.launches) {
    PricedStep::LaunchPeak peak = step.peakOf(launch);
    double count = step.countOf(launch).real();
    double time = std::max(peak.computeUs, peak.memoryUs) * count;
    if (time == 0)
      continue;
    bool computes = peak.memoryUs < peak.computeUs;
    uint32_t named = workingKernels(launch).front();
    sum.input("kernels/" + step.program.kernels[named].name, time,
              times(decimal(count),
                    computes
                        ? decimal(peak.computeUs) + " us of FLOPs"
                        : decimal(peak.movedBytes) + " B / memory_bandwidth"));
  }
  add("latency.bounds.kernels_time_us", "sum of the inputs",
      sum.restsOn(bandwidth).note("launches one after another, each at the "
                                  "peak rate of the resource that limits it"));
}

void Explainer::explainBounds() {
  const auto &bounds = report.latency.bounds;
  const Chip &chip = step.pool().chip;
  Explanation compute;
  for (const LaunchNodes &launch : step.strategy.launches)
    for (const LaunchNodes::Member &member : launch.members) {
      uint32_t index = member.kernel;
      const KernelNodes &nodes = step.strategy.kernels[index];
      const Kernel &kernel = step.program.kernels[index];
      const Figure *peak =
          chip.peak(chip.unitsOf(kernel.kind, kernel.compute, kernel.storage));
      double count = step.countOf(index).real();
      double time = step.real(nodes.idealUs) * count;
      if (time == 0 || !peak)
        continue;
      Checked flops = step.whole(nodes.localFlops) * step.countOf(index);
      compute.restsOn(*peak).input("kernels/" + kernel.name, time,
                                   flops.str() + " FLOP / " +
                                       decimal(peak->value) + " FLOP/s");
    }
  add("latency.bounds.compute_time_us", "sum of the inputs",
      compute.note("all FLOPs of a device at the dense peak rate"));
  explainSerialKernels();
  add("latency.bounds.memory_time_us",
      "weights_and_kv_read_bytes / memory_bandwidth * 1e6",
      Explanation()
          .input("latency.bounds.weights_and_kv_read_bytes",
                 bounds.weightsAndKvReadBytes)
          .figure(chip.memoryBandwidth));
}

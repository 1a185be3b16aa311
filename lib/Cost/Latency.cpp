//===- Latency.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

#include "autopar/Cost/Roofline.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace autopar;

namespace {

/// The rates that a launch runs at.
struct Rates {
  double floorUs = 0, computeEfficiency = 1, memoryEfficiency = 1;
  double exponent = maximumExponent;
};

/// Microseconds that arithmetic and traffic would take alone.
struct Bounds {
  double computeUs = 0, memoryUs = 0;
};

/// Rows by name, in order of first use.
class Breakdown {
public:
  void add(const std::string &name, int64_t count, double timeUs, Checked flops,
           Checked bytes) {
    auto [it, isNew] = index.emplace(name, rows.size());
    if (isNew)
      rows.push_back({name, 0, 0, 0, 0});
    Row &row = rows[it->second];
    row.count += count;
    row.timeUs += timeUs;
    row.flops += flops;
    row.bytes += bytes;
  }
  std::vector<BreakdownRow> take(Sizes &sizes) const {
    std::vector<BreakdownRow> result;
    for (const Row &row : rows)
      result.push_back({row.name, sizes.narrow(row.count, "launches"),
                        row.timeUs, row.flops, row.bytes});
    return result;
  }

private:
  struct Row {
    std::string name;
    Checked count;
    double timeUs;
    Checked flops, bytes;
  };
  std::vector<Row> rows;
  std::map<std::string, size_t> index;
};

class LatencyModel {
public:
  explicit LatencyModel(Evaluation &evaluation)
      : evaluation(evaluation), chip(evaluation.pool.chip),
        latency(evaluation.report.latency) {}

  void run();

private:
  Rates ratesOf(const Kernel &kernel);
  void checkFit(const Kernel &kernel, Checked flops, Checked bytes);
  Bounds boundsOf(const Launch &launch, size_t index, Checked bytes,
                  const Rates &rates);
  double roofOf(const Bounds &bounds, const Rates &rates, const Kernel &kernel);
  void addLaunch(const Launch &launch);
  void shareOut(const Launch &launch, const std::vector<Checked> &moved,
                const std::vector<double> &roofs, double roofUs,
                double floorUs);
  void addCollectives();
  void addStep();

  const Kernel &kernel(size_t index) const {
    return evaluation.program.kernels[index];
  }
  const std::string &layer(uint32_t index) const {
    return evaluation.program.layers[index].name;
  }

  Evaluation &evaluation;
  const Chip &chip;
  decltype(Report::latency) &latency;
  Breakdown byOp, byLayer;
  Checked launched, weightsAndKvRead;
};

} // namespace

//===----------------------------------------------------------------------===//
// Time of a launch
//===----------------------------------------------------------------------===//

/// A launch takes at least the chip's floor for its kind, which was measured
/// for one kernel alone, and at least the runtime's, which is the pace of a
/// captured graph: the larger is the floor. An ideal runtime has its own only.
Rates LatencyModel::ratesOf(const Kernel &kernel) {
  const Runtime &runtime = evaluation.runtime;
  Rates rates;
  rates.floorUs = evaluation.use(runtime.kernelFloorUs);
  if (runtime.ideal)
    return rates;
  const KernelCurve *curve = chip.curve(kernel.kind, kernel.compute);
  evaluation.useCurve(kernel.kind, curve);
  if (!curve)
    return rates;
  rates.floorUs = std::max(rates.floorUs, curve->floorUs);
  rates.computeEfficiency = curve->computeEfficiency;
  rates.memoryEfficiency = curve->memoryEfficiency;
  rates.exponent = curve->exponent;
  return rates;
}

/// Remembers a launch that is larger than what its curve was fitted to.
void LatencyModel::checkFit(const Kernel &kernel, Checked flops,
                            Checked bytes) {
  const KernelCurve *curve = chip.curve(kernel.kind, kernel.compute);
  if (evaluation.runtime.ideal || !curve || curve->fittedBytes == 0)
    return;
  double excess = std::max(flops.real() / curve->fittedFlops,
                           bytes.real() / curve->fittedBytes);
  if (excess > 1)
    evaluation.beyondFit.push_back(
        kernel.name + " (" + formatNumber(std::ceil(excess * 10) / 10) + "x)");
}

/// Of member `index` of `launch`, which moves `bytes`.
Bounds LatencyModel::boundsOf(const Launch &launch, size_t index, Checked bytes,
                              const Rates &rates) {
  size_t member = launch.members[index];
  const KernelCost &cost = evaluation.kernels[member];
  Bounds bounds;
  double bandwidth = evaluation.use(chip.memoryBandwidth);
  bounds.memoryUs = bytes.real() / (rates.memoryEfficiency * bandwidth) * 1e6;
  if (kernel(member).flopFactor == 0)
    return bounds;
  const Figure *peak = chip.peak(kernel(member).compute);
  // A chip without a rate for vectors prices scans by their traffic.
  if (!peak && kernel(member).kind == KernelKind::scan)
    return bounds;
  if (!peak) {
    evaluation.sizes.fail("chip " + chip.name + " does not multiply " +
                              std::string(nameOf(kernel(member).compute)),
                          "give another --dtype or --hardware");
    return bounds;
  }
  double ideal = cost.flops.local.real() / evaluation.use(*peak) * 1e6;
  bounds.computeUs = ideal / rates.computeEfficiency;
  latency.bounds.computeTimeUs += ideal * static_cast<double>(launch.count);
  return bounds;
}

double LatencyModel::roofOf(const Bounds &bounds, const Rates &rates,
                            const Kernel &kernel) {
  std::optional<double> time =
      smoothMaximum(bounds.computeUs, bounds.memoryUs, rates.exponent);
  if (!time)
    evaluation.sizes.fail("exponent " + formatNumber(rates.exponent) +
                          " of the " + std::string(nameOf(kernel.kind)) +
                          " curve of " + chip.name +
                          " is not 1, 1.5, 2, 3 or 4");
  return time.value_or(0);
}

/// The roofline's time goes to what bounds the launch, its floor to overhead.
void LatencyModel::addLaunch(const Launch &launch) {
  const Kernel &first = kernel(launch.members.front());
  Rates rates = ratesOf(first);
  Bounds sum;
  std::vector<double> roofs;
  std::vector<Checked> moved = launch.bytes(evaluation);
  Checked flops, bytes;
  for (size_t i = 0; i < launch.members.size(); ++i) {
    size_t member = launch.members[i];
    Bounds bounds = boundsOf(launch, i, moved[i], rates);
    flops += evaluation.kernels[member].flops.local;
    bytes += moved[i];
    roofs.push_back(roofOf(bounds, rates, first));
    sum.computeUs += bounds.computeUs;
    sum.memoryUs += bounds.memoryUs;
    weightsAndKvRead +=
        evaluation.kernels[member].bytes.weightsAndKvRead * launch.count;
  }
  checkFit(first, flops, bytes);
  double count = static_cast<double>(launch.count);
  double roof = roofOf(sum, rates, first);
  if (sum.computeUs > sum.memoryUs)
    latency.computeTimeUs += roof * count;
  else
    latency.memoryTimeUs += roof * count;
  evaluation.floorTimeUs += rates.floorUs * count;
  launched += launch.count;
  shareOut(launch, moved, roofs, roof, rates.floorUs);
}

/// Divides a launch among the rows of its kernels: the roofline's time as each
/// would take alone, the floor evenly.
void LatencyModel::shareOut(const Launch &launch,
                            const std::vector<Checked> &moved,
                            const std::vector<double> &roofs, double roofUs,
                            double floorUs) {
  double sum = 0;
  for (double roof : roofs)
    sum += roof;
  for (size_t i = 0; i < launch.members.size(); ++i) {
    const Kernel &record = kernel(launch.members[i]);
    KernelCost &cost = evaluation.kernels[launch.members[i]];
    double share = sum > 0 ? roofUs * roofs[i] / sum : 0;
    double each = share + floorUs / static_cast<double>(roofs.size());
    double time = each * static_cast<double>(launch.count);
    // The mean where it is a part of several launches.
    cost.timeUs += each * (static_cast<double>(launch.count) /
                           static_cast<double>(record.count));
    Checked flops = cost.flops.local * launch.count;
    Checked bytes = moved[i] * launch.count;
    byOp.add(record.op, launch.count, time, flops, bytes);
    byLayer.add(layer(record.layer), 0, time, flops, bytes);
  }
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

void LatencyModel::addCollectives() {
  for (const CollectiveCost &cost : evaluation.collectives) {
    const Collective &record = *cost.record;
    double count = static_cast<double>(record.count);
    double time = cost.time.timeUs * count;
    latency.communicationTimeUs += time;
    latency.bounds.communicationTimeUs += cost.time.idealUs * count;
    Checked wire = cost.wireBytes * record.count;
    byOp.add(std::string(nameOf(record.kind)), record.count, time, 0, wire);
    byLayer.add(layer(record.layer), 0, time, 0, wire);
  }
}

static const char *largestPart(const decltype(Report::latency) &latency) {
  std::pair<double, const char *> parts[] = {
      {latency.computeTimeUs, "compute"},
      {latency.memoryTimeUs, "memory"},
      {latency.communicationTimeUs, "communication"},
      {latency.overheadTimeUs, "overhead"}};
  auto *largest = std::max_element(
      std::begin(parts), std::end(parts),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  return largest->second;
}

void LatencyModel::addStep() {
  Sizes &sizes = evaluation.sizes;
  double host = evaluation.use(evaluation.runtime.hostTimeUs) *
                static_cast<double>(evaluation.microbatches);
  latency.overheadTimeUs = evaluation.floorTimeUs + host;
  latency.stepTimeUs = latency.computeTimeUs + latency.memoryTimeUs +
                       latency.communicationTimeUs + latency.overheadTimeUs;
  latency.bound = largestPart(latency);
  latency.kernelLaunches = sizes.narrow(launched, "kernel launches");
  latency.bounds.weightsAndKvReadBytes =
      sizes.narrow(weightsAndKvRead, "bytes of weights and KV read");
  latency.bounds.memoryTimeUs =
      weightsAndKvRead.real() / chip.memoryBandwidth.value * 1e6;
  if (host > 0) {
    byOp.add("host", evaluation.microbatches, host, 0, 0);
    byLayer.add("host", evaluation.microbatches, host, 0, 0);
  }
  const Workload &workload = evaluation.workload;
  bool prefill = workload.phase == Phase::prefill;
  Checked tokens = Checked(workload.batch) * (prefill ? workload.query : 1);
  if (latency.stepTimeUs > 0)
    evaluation.report.tokensPerS = tokens.real() / latency.stepTimeUs * 1e6;
}

void LatencyModel::run() {
  const CostProgram &program = evaluation.program;
  for (uint32_t i = 0; i < program.layers.size(); ++i) {
    // What follows the layers is counted with what lies before them.
    bool counted = i > 0 && program.isModel(i) && program.layers[0].count > 0;
    if (program.layers[i].count > 0)
      byLayer.add(layer(i), counted ? 0 : program.layers[i].count, 0, 0, 0);
  }
  for (const Launch &launch : launchesOf(evaluation))
    addLaunch(launch);
  addCollectives();
  addStep();
  evaluation.report.byOp = byOp.take(evaluation.sizes);
  evaluation.report.byLayer = byLayer.take(evaluation.sizes);
}

void autopar::addLatency(Evaluation &evaluation) {
  LatencyModel(evaluation).run();
}

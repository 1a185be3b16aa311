//===- ExplainTimes.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "autopar/Cost/Roofline.h"
#include "autopar/Support/Text.h"

using namespace autopar;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// "80 x (tc^4 + tm^4)^(1/4) us, tc = ... FLOP / ...".
static std::string roofFormula(double exponent) {
  if (exponent == maximumExponent)
    return "max(tc, tm)";
  if (exponent == 1)
    return "(tc + tm)";
  std::string q = decimal(exponent);
  return "(tc^" + q + " + tm^" + q + ")^(1/" + q + ")";
}

static std::string rate(double efficiency, double peak, const char *unit) {
  std::string text = formatNumber(peak) + unit;
  return efficiency == 1 ? text
                         : "(" + decimal(efficiency) + " x " + text + ")";
}

static bool isPeak(const Figure *figure, const Chip &chip) {
  for (const auto &[type, peak] : chip.peakFlops)
    if (&peak == figure)
      return true;
  return false;
}

std::string Explainer::roofText(const LaunchContribution &launch) const {
  Checked flops, bytes;
  for (const BreakdownRow &row : launch.report.byOp) {
    flops += row.flops;
    bytes += row.bytes;
  }
  const Chip &chip = evaluation.pool.chip;
  double peak = 0;
  for (const Figure *figure : launch.figures)
    if (isPeak(figure, chip))
      peak = figure->value;
  KernelCurve ideal;
  ideal.exponent = maximumExponent;
  const KernelCurve &curve = launch.curve ? *launch.curve : ideal;
  std::string tc = floorDiv(flops, launch.count).str() + " FLOP / " +
                   rate(curve.computeEfficiency, peak, " FLOP/s");
  std::string tm =
      floorDiv(bytes, launch.count).str() + " B / " +
      rate(curve.memoryEfficiency, chip.memoryBandwidth.value, " B/s");
  std::vector<std::string> others;
  for (size_t i = 1; i < launch.kernels.size(); ++i)
    others.push_back(launch.kernels[i]->name);
  std::string with =
      others.empty() ? "" : "; one launch with " + join(others, ", ");
  if (flops == 0 || peak == 0)
    return times(launch.count, tm) + with;
  return times(launch.count, roofFormula(curve.exponent)) + ", tc = " + tc +
         ", tm = " + tm + with;
}

void Explainer::addLaunchTimes(const std::string &path,
                               double (*time)(const Report &report),
                               std::string note) {
  Explanation sum;
  for (const LaunchContribution &launch : alone.launches) {
    if (time(launch.report) == 0)
      continue;
    sum.input(launch.name, time(launch.report), roofText(launch));
    for (const Figure *figure : launch.figures)
      if (figure == &evaluation.pool.chip.memoryBandwidth ||
          isPeak(figure, evaluation.pool.chip))
        sum.restsOn(*figure);
    if (launch.curve)
      sum.restsOn(*launch.curve);
  }
  add(path, "sum of the inputs",
      sum.note(std::move(note)).from("cost program of the IR"));
}

void Explainer::explainKernels() {
  addLaunchTimes(
      "latency.compute_time_us",
      [](const Report &part) { return part.latency.computeTimeUs; },
      "launches whose time for arithmetic, tc, is above the time for memory "
      "traffic, tm; floors are overhead");
  addLaunchTimes(
      "latency.memory_time_us",
      [](const Report &part) { return part.latency.memoryTimeUs; },
      "launches whose time for memory traffic, tm, is not below the time for "
      "arithmetic, tc; floors are overhead");
  using Launch = LaunchContribution;
  addSum(
      "latency.kernel_launches", alone.launches,
      [](const Report &part) { return Checked(part.latency.kernelLaunches); },
      [](const Launch &launch) {
        return launch.kernels.size() == 1
                   ? std::string()
                   : std::to_string(launch.kernels.size()) +
                         " kernels launched as one";
      },
      Explanation().from("runtime: " + evaluation.runtime.name));
}

void Explainer::explainOverhead() {
  const Runtime &runtime = evaluation.runtime;
  Explanation sum;
  for (const LaunchContribution &launch : alone.launches) {
    if (launch.floorUs == 0)
      continue;
    double each = launch.floorUs / static_cast<double>(launch.count);
    sum.input(launch.name, launch.floorUs,
              times(launch.count, decimal(each) + " us"));
    if (launch.curve)
      sum.restsOn(*launch.curve);
  }
  sum.restsOn(runtime.kernelFloorUs);
  if (evaluation.microbatches == 1)
    sum.figure(runtime.hostTimeUs);
  else
    sum.restsOn(runtime.hostTimeUs)
        .input("host",
               runtime.hostTimeUs.value *
                   static_cast<double>(evaluation.microbatches),
               "of " + std::to_string(evaluation.microbatches) +
                   " microbatches");
  add("latency.overhead_time_us", "sum of the inputs",
      sum.note("floors of the launches, the larger of the curve's and the "
               "runtime's, and the time of the host"));
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

void Explainer::explainStep() {
  const auto &latency = report.latency;
  add("latency.step_time_us", "sum of the inputs",
      Explanation()
          .input("latency.compute_time_us", latency.computeTimeUs)
          .input("latency.memory_time_us", latency.memoryTimeUs)
          .input("latency.communication_time_us", latency.communicationTimeUs)
          .input("latency.overhead_time_us", latency.overheadTimeUs));
  Explanation rate;
  rate.input("workload.batch", report.workload.batch);
  bool prefill = report.workload.phase == "prefill";
  if (prefill)
    rate.input("workload.query_length", report.workload.queryLength);
  rate.input("latency.step_time_us", latency.stepTimeUs);
  add("throughput.tokens_per_s",
      prefill ? "batch * query_length / step_time_us * 1e6"
              : "batch / step_time_us * 1e6",
      rate);
}

void Explainer::explainBounds() {
  const auto &bounds = report.latency.bounds;
  const Chip &chip = evaluation.pool.chip;
  Explanation compute;
  // In the order in which launches were priced, so that the sum is the same.
  for (const LaunchContribution &launch : alone.launches)
    for (const Kernel *kernel : launch.kernels) {
      const auto &part =
          alone.kernels[kernel - evaluation.program.kernels.data()];
      const Figure *peak = chip.peak(kernel->compute);
      double time = part.report.latency.bounds.computeTimeUs;
      if (time == 0 || !peak)
        continue;
      compute.restsOn(*peak).input(part.name, time,
                                   part.report.flops.perDevice.str() +
                                       " FLOP / " + formatNumber(peak->value) +
                                       " FLOP/s");
    }
  add("latency.bounds.compute_time_us", "sum of the inputs",
      compute.note("all FLOPs of a device at the dense peak"));
  add("latency.bounds.memory_time_us",
      "weights_and_kv_read_bytes / memory_bandwidth * 1e6",
      Explanation()
          .input("latency.bounds.weights_and_kv_read_bytes",
                 bounds.weightsAndKvReadBytes)
          .figure(chip.memoryBandwidth));
  addSum(
      "latency.bounds.weights_and_kv_read_bytes", alone.launches,
      [](const Report &part) {
        return Checked(part.latency.bounds.weightsAndKvReadBytes);
      },
      [&](const LaunchContribution &launch) {
        return text.weightsAndKvRead(launch);
      });
}

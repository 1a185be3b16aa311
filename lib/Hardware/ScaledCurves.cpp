//===- ScaledCurves.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A curve was measured on links with one bandwidth and latency. Each of its
// times is split into the time of bytes on the wire, and latency. Along the
// curve the first part grows by the additional bytes over the bandwidth of a
// large transfer, but by no more than the time grows. Each part is then scaled
// with the figures that it depends on.
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::program;

namespace {

/// Factors by which the latency part and the bytes part of a measured time are
/// multiplied.
struct Scales {
  double latency = 1, bytes = 1;
};

} // namespace

static Scales scalesOf(const Tier &tier) {
  Scales scales;
  // If the file has a latency of 0, the latency part cannot be scaled.
  if (tier.latency.fileValue() > 0)
    scales.latency = tier.latency.value / tier.latency.fileValue();
  scales.bytes = tier.bandwidth.fileValue() * tier.efficiency.fileValue() /
                 (tier.bandwidth.value * tier.efficiency.value);
  return scales;
}

static void scale(CollectiveCurve &curve, CollectiveKind kind,
                  int64_t groupSize, const Tier &tier) {
  Scales scales = scalesOf(tier);
  double reached = tier.bandwidth.fileValue() * tier.efficiency.fileValue();
  double timeBefore = 0, wireBefore = 0, part = 0;
  if (curve.measuredUs.empty())
    curve.measuredUs = curve.timeUs;
  for (size_t i = 0; i < curve.timeUs.size(); ++i) {
    double time = curve.measuredUs[i];
    double bytes = std::exp2(curve.firstLog2Bytes + static_cast<double>(i));
    double wire = wireBytes(kind, groupSize, bytes) / reached * 1e6;
    part += std::clamp(time - timeBefore, 0.0, wire - wireBefore);
    part = std::min(part, time);
    curve.timeUs[i] = std::max(leastTimeUs, (time - part) * scales.latency +
                                                part * scales.bytes);
    timeBefore = time;
    wireBefore = wire;
  }
}

void autopar::hardware::scaleCurves(Tier &tier) {
  bool same = true;
  for (const Figure *figure :
       {&tier.bandwidth, &tier.efficiency, &tier.latency})
    same &= figure->value == figure->fileValue();
  if (same)
    return;
  auto scaleAll = [&](CollectiveCurves &curves) {
    for (auto &[kind, groups] : curves)
      for (auto &[groupSize, curve] : groups)
        scale(curve, kind, groupSize, tier);
  };
  scaleAll(tier.curves);
  for (auto &[name, curves] : tier.implementations)
    scaleAll(curves);
}

/// Replaces `curves` by the curves of the implementation `name` if
/// `implementations` has them.
template <typename Curves>
static void replace(Curves &curves,
                    const std::map<std::string, Curves> &implementations,
                    const std::string &name) {
  auto found = implementations.find(name);
  if (found == implementations.end())
    return;
  for (const auto &[kind, all] : found->second)
    for (const auto &[key, curve] : all)
      curves[kind][key] = curve;
}

void Machine::useImplementations(const std::string &runtime,
                                 const std::string &collectives) {
  for (Pool &pool : pools) {
    replace(pool.chip.kernels, pool.chip.implementations, runtime);
    for (Tier &tier : pool.tiers)
      replace(tier.curves, tier.implementations, collectives);
  }
}

//===- AdviceOnLinks.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Advice.h"

#include "autopar/Cost/Rings.h"
#include "autopar/Plan/Degrees.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::advice;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

using Subject = Warning::Subject;

//===----------------------------------------------------------------------===//
// Names of degrees, and shares of the step, in warnings
//===----------------------------------------------------------------------===//

bool autopar::advice::isAxisOf(const EvaluatedStep &step, AxisId axis,
                               Degree degree) {
  std::vector<std::string> axes = step.plan.axesOf(degree);
  return std::find(axes.begin(), axes.end(), step.program.axes[axis]) !=
         axes.end();
}

/// Returns whether the axes `ids`, except axes of one device, are all axes of
/// `degree`.
static bool isDegree(const EvaluatedStep &step, const std::vector<AxisId> &ids,
                     Degree degree) {
  return step.plan.has(degree) &&
         step.groupSize(ids) == *step.plan.sizeOf(degree) &&
         std::all_of(ids.begin(), ids.end(), [&](AxisId axis) {
           return step.axisSize(axis) == 1 || isAxisOf(step, axis, degree);
         });
}

/// Returns the name of the degree that has these axes, or else their product.
static std::string groupName(const EvaluatedStep &step,
                             const std::vector<AxisId> &ids) {
  for (Degree degree : allDegrees)
    if (isDegree(step, ids, degree))
      return std::string(nameOf(degree));
  std::vector<std::string> axes;
  for (AxisId axis : ids)
    axes.push_back(step.program.axes[axis]);
  return join(axes, "*");
}

std::string autopar::advice::degreeText(const EvaluatedStep &step,
                                        const std::vector<AxisId> &ids) {
  return groupName(step, ids) + " = " + step.groupSize(ids).str();
}

std::string autopar::advice::shareText(const EvaluatedStep &step,
                                       double timeUs) {
  double stepUs = step.report.latency.stepTimeUs;
  return formatTime(timeUs) + " of a step of " + formatTime(stepUs) + " (" +
         formatNumber(std::round(100 * timeUs / stepUs)) + "%)";
}

//===----------------------------------------------------------------------===//
// Warnings about groups of devices that leave the fastest links
//===----------------------------------------------------------------------===//

namespace {

/// Collectives over the same axes that leave the fastest domain.
struct Crossing {
  const CollectiveCall *first;
  /// The degree that a user would choose, or else the axes; and the devices of
  /// the group.
  std::string name;
  GroupLayout layout;
  double timeUs = 0;
};

} // namespace

/// Describes a crossing. Routed tokens are sent over some axes of ep, and the
/// user chooses the size of ep.
static Crossing describe(const EvaluatedStep &step,
                         const CollectiveCall &cost) {
  const Plan &plan = step.plan;
  const std::vector<AxisId> &axes = cost.record->axes;
  Crossing crossing{&cost, groupName(step, axes), cost.layout};
  if (!cost.record->routed || !isAxisOf(step, axes.front(), Degree::ep))
    return crossing;
  crossing.name = "ep";
  crossing.layout.clear();
  for (const std::string &axis : plan.axesOf(Degree::ep))
    crossing.layout.push_back({*plan.strideOf(axis), *plan.axis(axis)->size});
  return crossing;
}

static std::vector<Crossing> findCrossings(const EvaluatedStep &step,
                                           bool ofExperts) {
  std::vector<Crossing> crossings;
  for (const CollectiveCall &cost : step.calls) {
    if (cost.route->tier == &step.pool().tiers.front() ||
        cost.record->routed != ofExperts)
      continue;
    auto same = std::find_if(
        crossings.begin(), crossings.end(), [&](const Crossing &crossing) {
          return crossing.first->record->axes == cost.record->axes;
        });
    if (same == crossings.end())
      same = crossings.insert(same, describe(step, cost));
    same->timeUs += cost.timeUs * static_cast<double>(cost.count);
  }
  return crossings;
}

static std::string tierText(const Tier &tier) {
  return tier.name + " " + formatNumber(tier.bandwidth.value / 1e9) + " GB/s";
}

/// Returns a change that keeps a group inside `domain` devices: the largest
/// smaller degree, or another order of the axes.
static std::string remedyText(const Crossing &crossing, int64_t domain) {
  int64_t devices = sizeOf(crossing.layout);
  int64_t stride = INT64_MAX;
  for (const GroupAxis &axis : crossing.layout)
    if (axis.size > 1)
      stride = std::min(stride, axis.stride);
  for (int64_t size = std::min(devices / 2, domain / stride); size > 1; --size)
    if (devices % size == 0 && domain % (stride * size) == 0)
      return crossing.name + " = " + std::to_string(size) + " stays inside";
  if (domain % devices != 0)
    return "no " + crossing.name + " above 1 stays inside";
  std::string order = crossing.name;
  std::replace(order.begin(), order.end(), '*', ',');
  return "--map=" + order + " keeps it inside, and puts other axes further out";
}

static std::string crossingText(const EvaluatedStep &step,
                                const Crossing &crossing) {
  const Tier &inside = step.pool().tiers.front();
  const Tier &outside = *crossing.first->route->tier;
  bool nodes = outside.domain > step.pool().devicesPerNode;
  return std::string(nodes ? " cross nodes" : " leave " + inside.name) +
         " over " + crossing.name + " = " +
         std::to_string(sizeOf(crossing.layout)) + ": a domain of " +
         tierText(inside) + " has " + countOf(inside.domain, "device") +
         ", beyond it is " + tierText(outside) + "; " +
         shareText(step, crossing.timeUs) + "; " +
         remedyText(crossing, inside.domain);
}

static size_t recordOf(const EvaluatedStep &step, const CollectiveCall &cost) {
  return cost.record - step.program.collectives.data();
}

void autopar::advice::adviseOnTiers(const EvaluatedStep &step,
                                    Warnings &warnings) {
  for (const Crossing &crossing : findCrossings(step, false))
    warnings.push_back({"collectives" + crossingText(step, crossing),
                        "tier-crossed", Subject::collective,
                        recordOf(step, *crossing.first)});
}

void autopar::advice::adviseOnExperts(const EvaluatedStep &step,
                                      Warnings &warnings) {
  const char *loads = step.report.placement
                          ? ""
                          : ". Tokens are assumed to choose experts uniformly: "
                            "--expert-load prices the most loaded device";
  for (const Crossing &crossing : findCrossings(step, true))
    warnings.push_back({"routed tokens" + crossingText(step, crossing) + loads,
                        "experts-crossed", Subject::collective,
                        recordOf(step, *crossing.first)});
}

//===----------------------------------------------------------------------===//
// Warnings about rings that are slower than attention
//===----------------------------------------------------------------------===//

namespace {

/// Times of the first layer kind with a ring, in us: the transfer of a part of
/// the keys (`transferUs`), and attention on this part (`blockUs`).
struct RingTimes {
  const CollectiveCall *ring = nullptr;
  double transferUs = 0, blockUs = 0;

  bool isBound() const { return ring && transferUs > blockUs; }
};

} // namespace

static RingTimes timesOfRing(const PricedStep &step,
                             const std::vector<CollectiveCall> &calls,
                             const std::vector<double> &kernelTimeUs) {
  RingTimes times;
  for (const CollectiveCall &cost : calls) {
    if (cost.record->kind != CollectiveKind::ring ||
        (times.ring && cost.record->layer != times.ring->record->layer))
      continue;
    if (!times.ring)
      times.ring = &cost;
    times.transferUs += cost.timeUs / static_cast<double>(cost.groupSize - 1);
  }
  if (!times.ring)
    return times;
  const Collective &ring = *times.ring->record;
  for (size_t i = 0; i < step.program.kernels.size(); ++i) {
    const Kernel &kernel = step.program.kernels[i];
    if (seesRing(kernel, ring))
      times.blockUs +=
          kernelTimeUs[i] / static_cast<double>(times.ring->groupSize);
  }
  return times;
}

/// Finds, by doubling, the number of new tokens per sequence whose attention
/// takes longer than the transfer; nothing if there is none. The time of
/// attention grows with new tokens, that of transfers does not.
static std::optional<int64_t> findQuery(const EvaluatedStep &step) {
  Workload workload = step.workload;
  int64_t cached = workload.context - workload.query;
  while (workload.query <= limits::maxTokens / 2) {
    workload.query *= 2;
    workload.context = cached + workload.query;
    PricedStep other(
        {step.program, step.plan, step.machine, step.runtime, workload},
        step.strategy);
    if (other.price(step.layout))
      return std::nullopt;
    Result<CollectiveCalls> calls = callsOf(other);
    if (!calls)
      return std::nullopt;
    Result<StepBreakdown> breakdown = breakdownOf(other, calls->all);
    if (!breakdown)
      return std::nullopt;
    if (!timesOfRing(other, calls->all, breakdown->kernelTimeUs).isBound())
      return workload.query;
  }
  return std::nullopt;
}

static std::string remedyOfRing(const EvaluatedStep &step) {
  if (step.workload.phase == Phase::decode)
    return "; in decode, --shard-dcp=N of tp moves no keys";
  if (std::optional<int64_t> query = findQuery(step))
    return "; with --prompt=" + std::to_string(*query) +
           " attention takes longer";
  return "";
}

void autopar::advice::adviseOnRings(const EvaluatedStep &step,
                                    Warnings &warnings) {
  RingTimes times = timesOfRing(step, step.calls, step.kernelTimeUs);
  if (!times.isBound())
    return;
  warnings.push_back(
      {"ring over " + degreeText(step, times.ring->record->axes) +
           ": sending a block of keys takes " + formatTime(times.transferUs) +
           ", longer than attention on it (" + formatTime(times.blockUs) + ")" +
           remedyOfRing(step),
       "ring-bound", Subject::collective, recordOf(step, *times.ring)});
}

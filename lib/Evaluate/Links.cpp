//===- Links.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/Links.h"

#include "autopar/Evaluate/PipelineParts.h"

#include "autopar/Program/Stages.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;

namespace {
/// The bytes of one request: of its KV caches (`kv`), of its states (`state`),
/// and of both on one device (`device`).
struct RequestBytes {
  int64_t kv = 0, state = 0, device = 0;
};
} // namespace

/// Counts the bytes of a request; those on one device are for the pipeline
/// stage that holds most.
static Result<RequestBytes> countRequest(const LinkSide &side,
                                         const Workload &workload) {
  Runtime none;
  PlanInputs inputs{side.program, side.plan, side.machine, none, workload};
  const PipelinePlan &pipeline = side.plan.pipeline;
  bool isStaged = !pipeline.stages.empty();
  Strategy strategy =
      compile(side.program, {}, isStaged ? Counting::parts : Counting::whole);
  ExactValues values(strategy, side.machine, none);
  Layout layout = layoutOf(inputs);
  auto bytesOf = [&](NodeId node) {
    return values.whole(node).int64().value_or(INT64_MAX);
  };
  const TotalNodes &total = strategy.total;
  RequestBytes bytes;
  auto count = [&] {
    values.evaluate(layout, workload);
    bytes.kv = std::max(bytes.kv, bytesOf(total.kvBytesPerSequence));
    bytes.state = std::max(bytes.state, bytesOf(total.stateBytesPerSequence));
  };
  if (!isStaged) {
    count();
    bytes.device = bytesOf(total.localBytesPerSequence);
    return bytes;
  }
  Result<std::vector<uint32_t>> order = layersInOrder(side.program);
  if (!order)
    return order.error();
  layout.part = PartCounts(side.program);
  addPlaces(side.program, *order, 0, order->size() + 2, /*borders=*/false,
            layout.part);
  count();
  PipelineShape shape;
  shape.kind = pipeline.schedule.value_or(ScheduleKind::inference);
  shape.stages = side.plan.sizeOf(Degree::pp).value_or(1);
  for (int64_t device = 0; device < shape.stages; ++device) {
    layout.part = countsOf(side.program, pipeline.stages, *order, shape, device,
                           /*borders=*/false);
    values.evaluate(layout, workload);
    bytes.device = std::max(bytes.device, bytesOf(total.localBytesPerSequence));
  }
  return bytes;
}

/// Returns the tier of the network of `side` that connects it to `other`.
static Result<const Tier *> tierBetween(const LinkSide &side,
                                        const LinkSide &other) {
  const Pool &pool = side.machine.pools.front();
  if (side.ownMachine || other.ownMachine)
    return &pool.tiers.back();
  int64_t devices = *side.plan.devices() + *other.plan.devices();
  if (devices > pool.devices())
    return Error{
        "",
        "@" + side.name + " and @" + other.name + " need " +
            formatInteger(devices) + " devices of " + side.machine.name +
            ", which has " + formatInteger(pool.devices()),
        "give --nodes=" +
            std::to_string((devices - 1) / pool.devicesPerNode + 1) +
            ", or a parallel.target with hardware to one of the modules"};
  if (const Tier *tier = Network(pool, devices).tierOf({{1, devices}}))
    return tier;
  return Error{"",
               "no link of " + side.machine.name + " joins @" + side.name +
                   " and @" + other.name,
               "give a machine with a larger domain"};
}

/// Returns the bandwidth in bytes/s that a large transfer reaches over `tier`,
/// in one direction.
static double reachedBandwidth(const Tier &tier, bool ideal) {
  return tier.bandwidth.value * (ideal ? 1 : tier.efficiency.value);
}

/// Returns the time of a transfer in us: the latency plus the bytes over the
/// reached bandwidth, which is the alpha-beta model of Hockney, "The
/// communication challenge for MPP" (1994).
static double transferUs(const Tier &tier, int64_t bytes, bool ideal) {
  return (ideal ? 0 : tier.latency.value) +
         static_cast<double>(bytes) / reachedBandwidth(tier, ideal) * 1e6;
}

static Error differentBytes(const LinkSide &from, const RequestBytes &sent,
                            const LinkSide &to, const RequestBytes &kept) {
  auto text = [](const LinkSide &side, const RequestBytes &bytes) {
    return "@" + side.name + " keeps " + formatInteger(bytes.kv) +
           " B of KV caches and " + formatInteger(bytes.state) +
           " B of states of a request";
  };
  return Error{"", text(from, sent) + ", " + text(to, kept),
               "linked modules run their layers equally often"};
}

Result<LinkReport> autopar::evaluation::evaluateLink(const LinkSide &from,
                                                     const LinkSide &to,
                                                     bool ideal) {
  Result<RequestBytes> sent = countRequest(from, from.workload);
  if (!sent)
    return sent.error();
  Result<RequestBytes> kept = countRequest(to, from.workload);
  if (!kept)
    return kept.error();
  if (sent->kv != kept->kv || sent->state != kept->state)
    return differentBytes(from, *sent, to, *kept);
  Result<const Tier *> out = tierBetween(from, to), in = tierBetween(to, from);
  if (!out)
    return out.error();
  if (!in)
    return in.error();
  double outUs = transferUs(**out, sent->device, ideal);
  double inUs = transferUs(**in, kept->device, ideal);
  LinkReport link;
  link.from = from.name;
  link.to = to.name;
  link.contextLength = from.workload.context;
  link.kvBytes = sent->kv;
  link.stateBytes = sent->state;
  link.bytesPerSourceDevice = sent->device;
  link.bytesPerDestinationDevice = kept->device;
  link.destinationBound = inUs > outUs;
  const Tier &tier = link.destinationBound ? **in : **out;
  link.tier = tier.name;
  link.bandwidthBytesPerS = reachedBandwidth(tier, ideal);
  link.latencyUs = ideal ? 0 : tier.latency.value;
  link.timeUs = std::max(outUs, inUs);
  link.sendUs = outUs;
  link.receiveUs = inUs;
  return link;
}

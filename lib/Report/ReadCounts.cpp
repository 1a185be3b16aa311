//===- ReadCounts.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FitSearch.h"
#include "Reading.h"

#include "autopar/Plan/Degrees.h"

#include <tuple>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;

//===----------------------------------------------------------------------===//
// What the report says about its inputs
//===----------------------------------------------------------------------===//

static void readMesh(Reading &reading) {
  Report &report = reading.report;
  Network network(reading.pool(), reading.layout.devices);
  report.mesh.devices = reading.layout.devices;
  for (const PlanAxis &axis : reading.plan.axes) {
    GroupAxis group{*reading.plan.strideOf(axis.name), *axis.size};
    const Tier *tier = network.tierOf({group});
    report.mesh.axes.push_back({axis.name,
                                tier && group.size > 1 ? tier->name : "",
                                group.size, group.stride});
    report.mesh.degrees[axis.name] = *axis.size;
  }
  for (const PlanDegree &degree : reading.plan.degrees)
    report.mesh.degrees[degree.name] = *reading.plan.sizeOf(degree.name);
  // Where nobody cuts them, replicas are dp*cp.
  for (Degree degree : allDegrees)
    if (degree != Degree::fsdp)
      report.mesh.degrees[std::string(nameOf(degree))] =
          *reading.plan.sizeOf(degree);
}

void autopar::report::readInputs(Reading &reading) {
  Report &report = reading.report;
  const Workload &workload = reading.workload;
  report.model.name = reading.program.model;
  report.workload.phase = nameOf(workload.phase);
  report.workload.batch = workload.batch;
  report.workload.queryLength = workload.query;
  report.workload.contextLength = workload.context;
  report.workload.encoderTokens = workload.encoderTokens;
  report.workload.crossTokens = workload.crossTokens;
  report.machine.hardware = reading.machine.name;
  report.machine.hardwareTitle = reading.machine.title;
  report.machine.chip = reading.pool().chip.name;
  report.machine.runtime = reading.runtime.label();
  report.machine.devices = reading.machine.devices();
  report.machine.nodes = reading.pool().nodes;
  report.plan = writePlan(reading.plan);
  readMesh(reading);
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

void autopar::report::readModel(Reading &reading) {
  const TotalNodes &total = reading.strategy.total;
  auto &model = reading.report.model;
  reading.report.mesh.expertsPerDevice =
      reading.narrow(total.expertsPerDevice, "experts of a device");
  model.parameters = reading.narrow(total.parameters, "parameters");
  model.activeParameters =
      reading.narrow(total.activeParameters, "active parameters");
  model.checkpointBytes =
      reading.narrow(total.checkpointBytes, "checkpoint bytes");
  model.storedOnlyParameters =
      reading.narrow(total.storedOnlyParameters, "stored parameters");
}

/// Whether one more sequence takes as much as the one before it, on the device
/// that holds it: what is kept of them is split alike, and what is reserved
/// does not grow with them.
static bool areSequencesAlike(const Reading &reading) {
  const Runtime &runtime = reading.runtime;
  bool reserves = runtime.profileTokens.value > 0 ||
                  runtime.budgetRule == BudgetRule::reserve;
  return reserves && reading.strategy.splitsSequencesAlike;
}

static void readCapacity(Reading &reading) {
  const TotalNodes &total = reading.strategy.total;
  auto &capacity = reading.report.capacity;
  Checked replicas = reading.whole(total.replicas);
  Checked sequences = reading.whole(total.capacitySequences);
  capacity.replicas = reading.narrow(replicas, "replicas");
  capacity.sequencesPerReplica = reading.narrow(sequences, "sequences");
  bool keeps = !reading.whole(total.blocksPerSequence).isZero();
  // Stages hold the caches of several microbatches.
  bool isStage = reading.layout.microbatches > 1;
  capacity.sequences = keeps && !isStage && !areSequencesAlike(reading)
                           ? FitSearch(reading).findMost()
                           : reading.narrow(replicas * sequences, "sequences");
  Checked tokens = replicas * reading.report.memory.kvCapacityTokens;
  capacity.tokens = reading.narrow(tokens, "KV capacity tokens");
  capacity.tokensPerDevice = reading.narrow(
      floorDiv(tokens, std::max<int64_t>(1, reading.layout.devices)),
      "KV capacity tokens");
}

void autopar::report::readMemory(Reading &reading) {
  const TotalNodes &total = reading.strategy.total;
  auto &memory = reading.report.memory;
  Report::DeviceMemory &device = memory.perDevice;
  auto narrow = [&](NodeId node, const char *what) {
    return reading.narrow(node, what);
  };
  device.weightBytes = narrow(total.weightBytes, "weight bytes");
  device.kvCacheBytes = narrow(total.kvCacheBytes, "KV cache bytes");
  device.stateBytes = narrow(total.stateBytes, "state bytes");
  device.gradientBytes = narrow(total.gradientBytes, "bytes of gradients");
  device.optimizerBytes =
      narrow(total.optimizerBytes, "bytes of the optimizer");
  device.updateBytes = narrow(total.updateBytes, "bytes that an update copies");
  device.activationBytes = narrow(total.activationBytes, "activation bytes");
  device.reservedBytes = narrow(total.reservedBytes, "bytes of temporaries");
  device.runtimeBytes = narrow(total.runtimeBytes, "runtime bytes");
  device.communicationBytes =
      narrow(total.communicationBytes, "bytes of communication buffers");
  device.graphBytes = narrow(total.graphBytes, "bytes of graphs");
  device.totalBytes = narrow(total.totalBytes, "bytes on a device");
  device.capacityBytes = narrow(total.capacityBytes, "bytes of a device");
  device.fits = reading.whole(total.fits) == 1;
  device.profileBytes = narrow(total.profileBytes, "bytes of the profile");
  device.samplerBytes = narrow(total.samplerBytes, "bytes of the sampler");
  device.ruleBytes = narrow(total.reserveBytes, "bytes of the reserve");
  device.budgetBytes = narrow(total.budgetBytes, "bytes of the budget");
  memory.kvBytesPerToken = narrow(total.kvBytesPerToken, "KV bytes per token");
  memory.kvBytesPerTokenPerDevice =
      narrow(total.kvBytesPerTokenPerDevice, "KV bytes per token");
  memory.kvBytesPerSequence =
      narrow(total.kvBytesPerSequence, "KV bytes per sequence");
  memory.stateBytesPerSequence =
      narrow(total.stateBytesPerSequence, "state bytes of a sequence");
  memory.kvCapacityBytes = narrow(total.kvCapacityBytes, "KV capacity bytes");
  memory.kvCapacityTokens =
      narrow(total.kvCapacityTokens, "KV capacity tokens");
  memory.worstDevice = "stage 0";
  memory.perStage = {device};
  readCapacity(reading);
}

void autopar::report::readFlops(Reading &reading) {
  const TotalNodes &total = reading.strategy.total;
  auto &flops = reading.report.flops;
  std::tuple<Checked &, NodeId, const char *> sums[] = {
      {flops.layersLinear, total.linearFlops, "FLOPs of linear layers"},
      {flops.attention, total.attentionFlops, "FLOPs of attention"},
      {flops.attentionFullSquare, total.squareFlops,
       "full-square FLOPs of attention"},
      {flops.recurrence, total.recurrenceFlops, "FLOPs of recurrences"},
      {flops.logits, total.logitsFlops, "FLOPs of the logits"},
      {flops.total, total.flops, "FLOPs"},
      {flops.perDevice, total.localFlops, "FLOPs of a device"}};
  for (auto &[sum, node, what] : sums) {
    sum = reading.whole(node);
    if (!sum.valid())
      reading.fail("number of " + std::string(what) + " of '" +
                   reading.program.model + "' does not fit in 127 bits");
  }
}

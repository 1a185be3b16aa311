//===- Counts.cpp
//----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/EvaluatedStep.h"
#include "autopar/Evaluate/FitSearch.h"

#include "autopar/Plan/Degrees.h"

#include <tuple>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;

//===----------------------------------------------------------------------===//
// Mesh, model, memory and FLOPs of a report
//===----------------------------------------------------------------------===//

Result<Report::Mesh> autopar::evaluation::meshOf(const PricedStep &step) {
  Report::Mesh mesh;
  Network network(step.pool(), step.layout.devices);
  mesh.devices = step.layout.devices;
  for (const PlanAxis &axis : step.plan.axes) {
    GroupAxis group{*step.plan.strideOf(axis.name), *axis.size};
    const Tier *tier = network.tierOf({group});
    mesh.axes.push_back({axis.name, tier && group.size > 1 ? tier->name : "",
                         group.size, group.stride});
    mesh.degrees[axis.name] = *axis.size;
  }
  for (const PlanDegree &degree : step.plan.degrees)
    mesh.degrees[degree.name] = *step.plan.sizeOf(degree.name);
  // The degree fsdp is left out, because it is dp*cp unless the plan sets it.
  for (Degree degree : allDegrees)
    if (degree != Degree::fsdp)
      mesh.degrees[std::string(nameOf(degree))] = *step.plan.sizeOf(degree);
  Narrowing narrow(step);
  mesh.expertsPerDevice =
      narrow(step.strategy.total.expertsPerDevice, "experts of a device");
  return narrow.finish(std::move(mesh));
}

Result<Report::Model> autopar::evaluation::modelOf(const PricedStep &step) {
  const TotalNodes &total = step.strategy.total;
  Narrowing narrow(step);
  return narrow.finish<Report::Model>(
      {step.program.model, narrow(total.parameters, "parameters"),
       narrow(total.activeParameters, "active parameters"),
       narrow(total.checkpointBytes, "checkpoint bytes"),
       narrow(total.storedOnlyParameters, "stored parameters")});
}

/// Returns whether each further sequence takes the same memory on the device
/// that holds it. It does if all caches are split by sequence alike and the
/// reserved memory does not grow with sequences.
static bool areSequencesAlike(const PricedStep &step) {
  const Runtime &runtime = step.runtime;
  bool reserves = runtime.profileTokens.value > 0 ||
                  runtime.budgetRule == BudgetRule::reserve;
  return reserves && step.strategy.splitsSequencesAlike;
}

Result<Report::Capacity>
autopar::evaluation::capacityOf(const PricedStep &step,
                                const Report::Memory &memory) {
  const TotalNodes &total = step.strategy.total;
  Report::Capacity capacity;
  Narrowing narrow(step);
  Checked replicas = step.whole(total.replicas);
  Checked sequences = step.whole(total.capacitySequences);
  capacity.replicas = narrow(replicas, "replicas");
  capacity.sequencesPerReplica = narrow(sequences, "sequences");
  bool keeps = !step.whole(total.blocksPerSequence).isZero();
  // Pipeline stages hold the caches of several microbatches.
  bool isStage = step.layout.microbatches > 1;
  capacity.sequences = keeps && !isStage && !areSequencesAlike(step)
                           ? FitSearch(step).findMost()
                           : narrow(replicas * sequences, "sequences");
  Checked tokens = replicas * memory.kvCapacityTokens;
  capacity.tokens = narrow(tokens, "KV capacity tokens");
  capacity.tokensPerDevice =
      narrow(floorDiv(tokens, std::max<int64_t>(1, step.layout.devices)),
             "KV capacity tokens");
  return narrow.finish(capacity);
}

Result<Report::Memory> autopar::evaluation::memoryOf(const PricedStep &step) {
  const TotalNodes &total = step.strategy.total;
  Report::Memory memory;
  Report::DeviceMemory &device = memory.perDevice;
  Narrowing narrow(step);
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
  device.fits = step.whole(total.fits) == 1;
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
  return narrow.finish(std::move(memory));
}

Result<Report::Flops> autopar::evaluation::flopsOf(const PricedStep &step) {
  const TotalNodes &total = step.strategy.total;
  Report::Flops flops;
  Narrowing narrow(step);
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
    sum = step.whole(node);
    if (!sum.valid())
      narrow.fail(what, "127");
  }
  return narrow.finish(flops);
}

//===- MemoryCost.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

using Kind = Resident::Kind;

static const char *recordName(Kind kind) {
  switch (kind) {
  case Kind::weight:
    return "weight";
  case Kind::kv_cache:
    return "KV cache";
  case Kind::state:
    return "state";
  }
  return "";
}

/// Bytes of all residents of `kind` that one device loads, caches in whole
/// blocks.
static Checked countResidents(const CostProgram &program, Kind kind,
                              int64_t block, Sizes &sizes) {
  Checked bytes;
  for (const Resident &resident : program.residents) {
    if (resident.kind != kind || resident.stored)
      continue;
    sizes.enter(recordName(kind), resident.name);
    Checked elements =
        sizes.localPaged(resident.shape, resident.pagedDim, block);
    bytes += bytesOf(elements * resident.count, resident.type);
  }
  return bytes;
}

/// Bytes that one more cached token of one sequence takes where no window is
/// full: of the whole model, each value once (`local` false), or of one device.
/// Works on a copy of the sizes, as a batch of one need not divide.
static Checked countKvPerToken(const CostProgram &program, bool local,
                               Sizes sizes) {
  Checked bytes;
  sizes.setSymbol("batch", 1);
  for (const Resident &cache : program.residents) {
    std::optional<Dims> token = shapeOfToken(cache, program, "context");
    if (!token)
      continue;
    Checked elements = local ? sizes.local(*token) : sizes.logical(*token);
    bytes += bytesOf(elements * cache.count, cache.type);
  }
  return bytes;
}

/// The most bytes of temporaries that are live at once: a sweep over launches,
/// with a buffer live from `begin` to `end` inclusive. Loop bodies appear once,
/// as one layer's buffers are reused by the next.
static Checked countActivations(const CostProgram &program, Sizes &sizes) {
  std::vector<std::pair<uint64_t, Checked>> events;
  for (const Activation &activation : program.activations) {
    sizes.enter("activation", activation.name);
    Checked bytes = bytesOf(sizes.local(activation.shape), activation.type);
    events.emplace_back(activation.begin, bytes);
    events.emplace_back(uint64_t(activation.end) + 1, Checked(0) - bytes);
  }
  std::sort(events.begin(), events.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  Checked live, peak;
  for (size_t i = 0; i < events.size(); ++i) {
    live += events[i].second;
    bool last =
        i + 1 == events.size() || events[i + 1].first != events[i].first;
    if (last && live > peak)
      peak = live;
  }
  // An overflow anywhere must not hide behind the comparison.
  return live.valid() ? peak : live;
}

/// What the runtime keeps from the KV cache for temporaries: those of the run
/// by which it sizes them, where that needs more than this step.
static Checked countReserved(Evaluation &evaluation, Checked activations) {
  const Runtime &runtime = evaluation.runtime;
  int64_t tokens = evaluation.useCount(runtime.profileTokens);
  int64_t sequences = evaluation.useCount(runtime.profileSequences);
  Checked reserved = activations;
  if (tokens > 0) {
    Sizes profile = evaluation.sizes;
    profile.setSymbol("batch", 1);
    profile.setSymbol("query", tokens);
    profile.setSymbol("context", tokens);
    reserved =
        std::max(reserved, countActivations(evaluation.program, profile));
  }
  for (const Kernel &kernel : evaluation.program.kernels)
    if (kernel.flopClass == FlopClass::logits && kernel.count > 0) {
      Checked scores = evaluation.sizes.logical(kernel.columns) * sequences;
      double bytes =
          scores.real() * evaluation.use(runtime.samplerBytesPerLogit);
      reserved = std::max(reserved, Checked(static_cast<int64_t>(bytes)));
    }
  return reserved;
}

static Checked countRuntime(Evaluation &evaluation) {
  const Runtime &runtime = evaluation.runtime;
  Checked bytes = Checked(evaluation.useCount(runtime.contextBytes)) +
                  evaluation.useCount(runtime.libraryBytes) +
                  evaluation.useCount(runtime.graphBytes);
  if (evaluation.communicates())
    bytes += evaluation.useCount(runtime.communicationBytes);
  return bytes;
}

static int64_t countBudget(Evaluation &evaluation, int64_t capacity) {
  const Figure &figure = evaluation.runtime.memoryUtilization;
  if (evaluation.plan.memoryUtilization)
    evaluation.memoryUtilization = *evaluation.plan.memoryUtilization;
  else
    evaluation.memoryUtilization = evaluation.use(figure);
  double budget =
      std::floor(evaluation.memoryUtilization * static_cast<double>(capacity));
  return static_cast<int64_t>(budget);
}

/// Tokens of a replica whose caches and states fit in the budget, in whole
/// blocks, at the bytes per token that sequences of the workload's context
/// have.
static void addKvCapacity(Evaluation &evaluation, int64_t block) {
  auto &memory = evaluation.report.memory;
  const Report::DeviceMemory &device = memory.perDevice;
  int64_t left = memory.budgetBytes - device.weightBytes -
                 evaluation.reservedBytes - device.runtimeBytes;
  memory.kvCapacityBytes = std::max<int64_t>(0, left);
  Sizes single = evaluation.sizes;
  single.setSymbol("batch", 1);
  Checked perSequence =
      countResidents(evaluation.program, Kind::kv_cache, block, single) +
      countResidents(evaluation.program, Kind::state, 1, single);
  Checked context = roundUp(Checked(evaluation.workload.context), block);
  Sizes &sizes = evaluation.sizes;
  if (perSequence == Checked(0))
    return;
  Checked tokens =
      floorDiv(Checked(memory.kvCapacityBytes) * context, perSequence);
  memory.kvCapacityTokens =
      sizes.narrow(floorDiv(tokens, block) * block, "KV capacity tokens");
}

void autopar::addMemory(Evaluation &evaluation) {
  const CostProgram &program = evaluation.program;
  Sizes &sizes = evaluation.sizes;
  auto &memory = evaluation.report.memory;
  Report::DeviceMemory &device = memory.perDevice;
  int64_t block = evaluation.useCount(evaluation.runtime.kvBlockTokens);
  block = std::max<int64_t>(1, block);

  Checked weights = countResidents(program, Kind::weight, 1, sizes);
  Checked caches = countResidents(program, Kind::kv_cache, block, sizes) *
                   evaluation.microbatches;
  Checked states =
      countResidents(program, Kind::state, 1, sizes) * evaluation.microbatches;
  Checked activations = countActivations(program, sizes);
  Checked runtime = countRuntime(evaluation);
  device.weightBytes = sizes.narrow(weights, "weight bytes");
  device.kvCacheBytes = sizes.narrow(caches, "KV cache bytes");
  device.stateBytes = sizes.narrow(states, "state bytes");
  device.activationBytes = sizes.narrow(activations, "activation bytes");
  device.runtimeBytes = sizes.narrow(runtime, "runtime bytes");
  device.totalBytes = sizes.narrow(
      weights + caches + states + activations + runtime, "bytes on a device");
  device.capacityBytes = evaluation.useCount(evaluation.pool.chip.memoryUsable);
  memory.budgetBytes = countBudget(evaluation, device.capacityBytes);
  device.fits = device.totalBytes <= memory.budgetBytes;
  memory.kvBytesPerToken = sizes.narrow(countKvPerToken(program, false, sizes),
                                        "KV bytes per token");
  memory.kvBytesPerTokenPerDevice =
      sizes.narrow(countKvPerToken(program, true, sizes), "KV bytes per token");
  memory.kvBytesPerSequence =
      sizes.narrow(countPerSequence(program, Kind::kv_cache, sizes),
                   "KV bytes per sequence");
  memory.stateBytesPerSequence =
      sizes.narrow(countPerSequence(program, Kind::state, sizes),
                   "state bytes of a sequence");
  evaluation.reservedBytes = sizes.narrow(
      countReserved(evaluation, activations), "bytes of temporaries");
  memory.reservedBytes = evaluation.reservedBytes;
  if (!sizes.failed())
    addKvCapacity(evaluation, block);
  memory.worstDevice = "stage 0";
  memory.perStage = {device};
}

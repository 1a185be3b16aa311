//===- Explain.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

using Side = RecordText::Side;

/// The path of a number of the device with the largest total.
static std::string device(const char *name) {
  return std::string("memory.per_device.") + name;
}

//===----------------------------------------------------------------------===//
// What was given, and the model
//===----------------------------------------------------------------------===//

void Explainer::explainDegree(const std::string &name) {
  std::vector<std::string> axes = evaluation.plan.axesOf(name);
  Explanation product;
  for (const std::string &axis : axes)
    product.input("mesh." + axis, report.mesh.degrees.at(axis));
  if (axes.empty())
    add("mesh." + name, "1 where the plan has no such axis",
        Explanation().from("plan"));
  else
    add("mesh." + name, "product of the inputs", product);
}

void Explainer::explainMesh() {
  const auto &mesh = report.mesh;
  Explanation inside;
  for (size_t i = mesh.axes.size(); i-- > 0;) {
    std::string path = "axes[" + std::to_string(i) + "].";
    if (i + 1 == mesh.axes.size())
      add("mesh." + path + "stride", "1 of the innermost axis",
          Explanation().from("plan"));
    else
      add("mesh." + path + "stride", "product of the inputs", inside);
    std::string size = "mesh." + path + "size";
    add(size, "the input",
        Explanation().input("plan." + path + "size", mesh.axes[i].size));
    add("mesh." + mesh.axes[i].name, "the input",
        Explanation().input(size, mesh.axes[i].size));
    inside.input(size, mesh.axes[i].size);
  }
  add("mesh.devices", "product of the inputs", inside);
  for (const auto &[name, size] : mesh.degrees)
    if (!evaluation.plan.axis(name))
      explainDegree(name);
}

void Explainer::explainWorkload() {
  for (const char *name : {"batch", "query_length", "context_length",
                           "source_length", "memory_length"})
    add(std::string("workload.") + name, "given",
        Explanation().from("workload"));
}

void Explainer::explainModel() {
  using Weight = Contribution<Resident>;
  addSum(
      "model.parameters", alone.weights,
      [](const Report &part) { return Checked(part.model.parameters); },
      [&](const Weight &part) { return text.elements(*part.record); });
  addSum(
      "model.active_parameters", alone.weights,
      [](const Report &part) { return Checked(part.model.activeParameters); },
      [&](const Weight &part) { return text.activeElements(*part.record); },
      Explanation().note("of routed experts, top_k / experts"));
  addSum(
      "model.checkpoint_bytes", alone.weights,
      [](const Report &part) { return Checked(part.model.checkpointBytes); },
      [&](const Weight &part) { return text.checkpointBytes(*part.record); });
  if (report.model.storedOnlyParameters == 0)
    return;
  addSum(
      "model.stored_only_parameters", alone.weights,
      [](const Report &part) {
        return Checked(part.model.storedOnlyParameters);
      },
      [&](const Weight &part) { return text.elements(*part.record); },
      Explanation().note("of functions that the step does not call"));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void Explainer::explainDevice() {
  using Stored = Contribution<Resident>;
  const Report::DeviceMemory &memory = report.memory.perDevice;
  auto bytes = [&](const Stored &part) { return text.bytes(*part.record); };
  addSum(
      device("weight_bytes"), alone.weights,
      [](const Report &part) {
        return Checked(part.memory.perDevice.weightBytes);
      },
      bytes);
  addSum(
      device("kv_cache_bytes"), alone.caches,
      [](const Report &part) {
        return Checked(part.memory.perDevice.kvCacheBytes);
      },
      bytes,
      Explanation()
          .restsOn(evaluation.runtime.kvBlockTokens)
          .note("tokens rounded up to whole blocks"));
  addSum(
      device("state_bytes"), alone.states,
      [](const Report &part) {
        return Checked(part.memory.perDevice.stateBytes);
      },
      bytes);
  explainActivations();
  explainRuntimeBytes();
  add(device("total_bytes"), "sum of the inputs",
      Explanation()
          .input(device("weight_bytes"), memory.weightBytes)
          .input(device("kv_cache_bytes"), memory.kvCacheBytes)
          .input(device("state_bytes"), memory.stateBytes)
          .input(device("activation_bytes"), memory.activationBytes)
          .input(device("runtime_bytes"), memory.runtimeBytes));
  add(device("capacity_bytes"), "the input",
      Explanation()
          .figure(evaluation.pool.chip.memoryUsable)
          .note("usable memory of the chip, in whole bytes"));
  add(device("fits"), "total_bytes <= budget_bytes",
      Explanation()
          .input(device("total_bytes"), memory.totalBytes)
          .input("memory.budget_bytes", report.memory.budgetBytes));
}

/// The first launch at which what is live adds up to the peak.
void Explainer::explainActivations() {
  using Live = Contribution<Activation>;
  auto bytes = [](const Live &part) {
    return Checked(part.report.memory.perDevice.activationBytes);
  };
  auto isLive = [](const Live &part, uint32_t launch) {
    return part.record->begin <= launch && launch <= part.record->end;
  };
  Explanation peak;
  for (const Live &candidate : alone.activations) {
    uint32_t launch = candidate.record->begin;
    Checked sum;
    Explanation live;
    for (const Live &part : alone.activations)
      if (isLive(part, launch)) {
        sum += bytes(part);
        live.input(part.name, bytes(part), text.bytes(*part.record));
      }
    if (sum != report.memory.perDevice.activationBytes)
      continue;
    peak = std::move(live);
    peak.note("what is live in launch " + std::to_string(launch) +
              ", where most is; loop bodies appear once");
    break;
  }
  add(device("activation_bytes"), "sum of the inputs",
      peak.from("cost program of the IR"));
}

void Explainer::explainRuntimeBytes() {
  const Runtime &runtime = evaluation.runtime;
  std::vector<const Figure *> figures = {
      &runtime.contextBytes, &runtime.libraryBytes, &runtime.graphBytes};
  if (evaluation.communicates())
    figures.push_back(&runtime.communicationBytes);
  Explanation sum;
  for (const Figure *figure : figures)
    sum.from(figure->source.str())
        .input(figure->path, std::floor(figure->value));
  add(device("runtime_bytes"), "sum of the inputs",
      sum.note("in whole bytes; buffers for communication where a collective "
               "spans devices"));
}

/// There is one stage, whose worst device is the worst device of all.
void Explainer::explainStage() {
  const Report::DeviceMemory &memory = report.memory.perDevice;
  std::pair<const char *, int64_t> numbers[] = {
      {"weight_bytes", memory.weightBytes},
      {"kv_cache_bytes", memory.kvCacheBytes},
      {"state_bytes", memory.stateBytes},
      {"activation_bytes", memory.activationBytes},
      {"runtime_bytes", memory.runtimeBytes},
      {"total_bytes", memory.totalBytes},
      {"capacity_bytes", memory.capacityBytes}};
  const std::string stage = "memory.per_stage[0].";
  for (auto [name, value] : numbers)
    add(stage + name, "the input", Explanation().input(device(name), value));
  add(stage + "fits", "total_bytes <= budget_bytes",
      Explanation()
          .input(stage + "total_bytes", memory.totalBytes)
          .input("memory.budget_bytes", report.memory.budgetBytes));
}

void Explainer::explainBudget() {
  Explanation budget;
  budget.input(device("capacity_bytes"), report.memory.perDevice.capacityBytes);
  if (evaluation.plan.memoryUtilization)
    budget.input("plan.memory_utilization", evaluation.memoryUtilization)
        .from("plan");
  else
    budget.figure(evaluation.runtime.memoryUtilization);
  add("memory.budget_bytes", "floor(memory_utilization * capacity_bytes)",
      budget);
}

void Explainer::explainKvSizes() {
  using Cache = Contribution<Resident>;
  addSum(
      "memory.kv_bytes_per_token", alone.caches,
      [](const Report &part) { return Checked(part.memory.kvBytesPerToken); },
      [&](const Cache &part) {
        return text.bytesPerToken(*part.record, Side::logical);
      },
      Explanation().note("one more token of one sequence where no window is "
                         "full, each value once"));
  addSum(
      "memory.kv_bytes_per_token_per_device", alone.caches,
      [](const Report &part) {
        return Checked(part.memory.kvBytesPerTokenPerDevice);
      },
      [&](const Cache &part) {
        return text.bytesPerToken(*part.record, Side::local);
      },
      Explanation().note("one more token of one sequence where no window is "
                         "full, on one device"));
  addSum(
      "memory.kv_bytes_per_sequence", alone.caches,
      [](const Report &part) {
        return Checked(part.memory.kvBytesPerSequence);
      },
      [&](const Cache &part) { return text.bytesPerSequence(*part.record); },
      Explanation().note("one sequence of this context, each value once, "
                         "without blocks"));
}

void Explainer::explainStatePerSequence() {
  addSum(
      "memory.state_bytes_per_sequence", alone.states,
      [](const Report &part) {
        return Checked(part.memory.stateBytesPerSequence);
      },
      [&](const Contribution<Resident> &part) {
        return text.bytesPerSequence(*part.record);
      },
      Explanation().note("one sequence, each value once"));
}

void Explainer::explainKvCapacity() {
  const auto &memory = report.memory;
  add("memory.kv_capacity_bytes",
      "max(0, budget_bytes - weight_bytes - reserved_bytes - runtime_bytes)",
      Explanation()
          .input("memory.budget_bytes", memory.budgetBytes)
          .input(device("weight_bytes"), memory.perDevice.weightBytes)
          .input("memory.reserved_bytes", evaluation.reservedBytes)
          .input(device("runtime_bytes"), memory.perDevice.runtimeBytes));
  explainReserve();
  Explanation tokens;
  tokens.input("memory.kv_capacity_bytes", memory.kvCapacityBytes)
      .input("workload.context_length", report.workload.contextLength)
      .figure(evaluation.runtime.kvBlockTokens);
  for (const Contribution<Resident> &part : keptOfOneSequence(evaluation)) {
    const Report::DeviceMemory &device = part.report.memory.perDevice;
    tokens.input(part.name, device.kvCacheBytes + device.stateBytes,
                 "of one sequence");
  }
  add("memory.kv_capacity_tokens",
      "floor(kv_capacity_bytes * tokens / bytes), rounded down to "
      "kv_block_tokens: tokens is context_length rounded up to "
      "kv_block_tokens, bytes the sum of the caches and states",
      tokens.note("at the bytes per token of a sequence of this length; 0 "
                  "where it keeps nothing"));
}

/// What the KV cache leaves to temporaries: this step's, or those of the run
/// by which the runtime sizes them.
void Explainer::explainReserve() {
  const Runtime &runtime = evaluation.runtime;
  Explanation most;
  most.input(device("activation_bytes"),
             report.memory.perDevice.activationBytes);
  auto tokens = static_cast<int64_t>(runtime.profileTokens.value);
  if (tokens > 0) {
    CostProgram program = frameOf(evaluation);
    program.activations = evaluation.program.activations;
    Workload run = evaluation.workload;
    run.batch = 1;
    run.query = run.context = tokens;
    Report profile = reportOf(program, evaluation, run);
    most.restsOn(runtime.profileTokens)
        .input("activations", profile.memory.perDevice.activationBytes,
               "of one sequence of " + std::to_string(tokens) + " tokens");
  }
  for (const Kernel &kernel : evaluation.program.kernels)
    if (kernel.flopClass == FlopClass::logits && kernel.count > 0) {
      Checked scores = evaluation.sizes.logical(kernel.columns) *
                       static_cast<int64_t>(runtime.profileSequences.value);
      double each = runtime.samplerBytesPerLogit.value;
      most.restsOn(runtime.profileSequences)
          .restsOn(runtime.samplerBytesPerLogit)
          .input("kernels/" + kernel.name, std::floor(scores.real() * each),
                 scores.str() + " scores x " + decimal(each) + " B");
    }
  add("memory.reserved_bytes", "largest of the inputs", most);
}

//===----------------------------------------------------------------------===//
// FLOPs
//===----------------------------------------------------------------------===//

void Explainer::explainFlops() {
  using Part = Contribution<Kernel>;
  const auto &flops = report.flops;
  auto product = [&](const Part &part) {
    return text.flops(*part.record, Side::logical);
  };
  addSum(
      "flops.layers_linear", alone.kernels,
      [](const Report &part) { return part.flops.layersLinear; }, product);
  addSum(
      "flops.attention", alone.kernels,
      [](const Report &part) { return part.flops.attention; }, product);
  addSum(
      "flops.attention_full_square", alone.kernels,
      [](const Report &part) { return part.flops.attentionFullSquare; },
      [&](const Part &part) { return text.fullSquareFlops(*part.record); });
  addSum(
      "flops.recurrence", alone.kernels,
      [](const Report &part) { return part.flops.recurrence; }, product,
      Explanation().note("a convention: FLOPs of the recurrence itself, "
                         "whatever a chunked kernel does"));
  addSum(
      "flops.logits", alone.kernels,
      [](const Report &part) { return part.flops.logits; }, product);
  add("flops.total", "sum of the inputs",
      Explanation()
          .input("flops.layers_linear", flops.layersLinear)
          .input("flops.attention", flops.attention)
          .input("flops.recurrence", flops.recurrence)
          .input("flops.logits", flops.logits));
  addSum(
      "flops.per_device", alone.kernels,
      [](const Report &part) { return part.flops.perDevice; },
      [&](const Part &part) { return text.flops(*part.record, Side::local); });
}

void Explainer::run() {
  explainMesh();
  explainPlacement();
  explainWorkload();
  explainModel();
  explainDevice();
  explainStage();
  explainBudget();
  explainKvSizes();
  explainStatePerSequence();
  explainKvCapacity();
  explainFlops();
  explainCommunication();
  explainKernels();
  explainOverhead();
  explainStep();
  explainBounds();
}

void autopar::addDerivations(Evaluation &evaluation) {
  Explainer(evaluation).run();
}

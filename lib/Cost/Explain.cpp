//===- Explain.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;

namespace {

using Inputs = std::vector<std::pair<std::string, std::string>>;

/// Writes down how each number of a report came about.
class Explainer {
public:
  explicit Explainer(Evaluation &evaluation)
      : evaluation(evaluation), report(evaluation.report) {}
  void run();

private:
  void explainModel();
  void explainDevice(const std::string &prefix);
  void explainDeviceTotals(const std::string &prefix);
  void explainBudget();
  void explainKvCapacity();
  void explainFlops();
  void explainCommunication();
  void explainCollective(size_t row);
  void explainRoofline();
  void explainOverhead();
  void explainStep();
  void explainBounds();

  void add(const std::string &path, std::string formula, Inputs inputs = {},
           std::vector<std::string> sources = {}) {
    report.derivations[path] = {std::move(formula), std::move(inputs),
                                std::move(sources)};
  }
  /// An input that is a figure; its source goes to `sources`.
  static std::pair<std::string, std::string>
  figure(const Figure &figure, std::vector<std::string> &sources) {
    std::string source = figure.source.str();
    if (std::find(sources.begin(), sources.end(), source) == sources.end())
      sources.push_back(std::move(source));
    return {figure.path, formatNumber(figure.value)};
  }
  static std::pair<std::string, std::string> input(std::string path,
                                                   int64_t value) {
    return {std::move(path), std::to_string(value)};
  }
  static std::pair<std::string, std::string> input(std::string path,
                                                   double value) {
    return {std::move(path), formatNumber(value)};
  }
  /// Batch, query, context and the sizes of the axes.
  Inputs workloadAndMesh() const;
  Inputs mesh() const;
  /// The peaks that kernels of the program run at.
  Inputs peaks(std::vector<std::string> &sources) const;

  Evaluation &evaluation;
  Report &report;
  const std::string program = "cost program of the IR";
};

} // namespace

Inputs Explainer::mesh() const {
  Inputs inputs;
  for (const Report::Axis &axis : report.mesh.axes)
    inputs.push_back(input("mesh." + axis.name, axis.size));
  return inputs;
}

Inputs Explainer::workloadAndMesh() const {
  Inputs inputs = {
      input("workload.batch", report.workload.batch),
      input("workload.query_length", report.workload.queryLength),
      input("workload.context_length", report.workload.contextLength)};
  for (auto &entry : mesh())
    inputs.push_back(std::move(entry));
  return inputs;
}

void Explainer::explainModel() {
  add("model.parameters", "sum over weights of count * elements", {},
      {program});
  add("model.active_parameters",
      "as model.parameters, routed experts times top_k / experts", {},
      {program});
  add("model.checkpoint_bytes",
      "sum over weights of count * elements * bits as stored / 8", {},
      {program});
  add("mesh.devices", "product of the axes of the mesh", mesh(), {"plan"});
}

void Explainer::explainDevice(const std::string &prefix) {
  add(prefix + "weight_bytes",
      "sum over weights of count * local elements * bits as stored / 8", mesh(),
      {program});
  std::vector<std::string> sources = {program};
  Inputs inputs = workloadAndMesh();
  inputs.push_back(figure(evaluation.runtime.kvBlockTokens, sources));
  add(prefix + "kv_cache_bytes",
      "sum over caches of count * local elements * bits / 8, tokens rounded "
      "up to whole blocks",
      std::move(inputs), sources);
  add(prefix + "activation_bytes",
      "largest sum of local bytes live at one launch; loop bodies once",
      workloadAndMesh(), {program});
  explainDeviceTotals(prefix);
}

void Explainer::explainDeviceTotals(const std::string &prefix) {
  const Runtime &runtime = evaluation.runtime;
  const Report::DeviceMemory &device = report.memory.perDevice;
  std::vector<std::string> sources;
  Inputs inputs = {figure(runtime.contextBytes, sources),
                   figure(runtime.libraryBytes, sources),
                   figure(runtime.graphBytes, sources)};
  if (!evaluation.collectives.empty())
    inputs.push_back(figure(runtime.communicationBytes, sources));
  add(prefix + "runtime_bytes",
      "context + libraries + captured graphs + communication where a "
      "collective spans devices",
      std::move(inputs), sources);
  add(prefix + "total_bytes", "weights + KV cache + activations + runtime",
      {input(prefix + "weight_bytes", device.weightBytes),
       input(prefix + "kv_cache_bytes", device.kvCacheBytes),
       input(prefix + "activation_bytes", device.activationBytes),
       input(prefix + "runtime_bytes", device.runtimeBytes)});
  sources.clear();
  inputs = {figure(evaluation.pool.chip.memoryUsable, sources)};
  add(prefix + "capacity_bytes", "usable memory of the chip", std::move(inputs),
      sources);
  add(prefix + "fits", "total_bytes <= budget_bytes",
      {input(prefix + "total_bytes", device.totalBytes),
       input("memory.budget_bytes", report.memory.budgetBytes)});
}

void Explainer::explainBudget() {
  const auto &memory = report.memory;
  const Report::DeviceMemory &device = memory.perDevice;
  std::vector<std::string> sources;
  const char *share = "plan.memory_utilization";
  Inputs inputs = {
      input("memory.per_device.capacity_bytes", device.capacityBytes)};
  if (evaluation.plan.memoryUtilization) {
    inputs.push_back(input(share, evaluation.memoryUtilization));
    sources.push_back("plan");
  } else {
    inputs.push_back(figure(evaluation.runtime.memoryUtilization, sources));
  }
  add("memory.budget_bytes", "floor(memory_utilization * capacity_bytes)",
      std::move(inputs), sources);
}

void Explainer::explainKvCapacity() {
  const auto &memory = report.memory;
  const Report::DeviceMemory &device = memory.perDevice;
  add("memory.kv_bytes_per_token",
      "sum over caches of count * elements of one token of one sequence * "
      "bits / 8, each value once",
      {}, {program});
  add("memory.kv_bytes_per_token_per_device",
      "as memory.kv_bytes_per_token, local elements", mesh(), {program});
  add("memory.kv_capacity_bytes",
      "max(0, budget - weights - activations - runtime)",
      {input("memory.budget_bytes", memory.budgetBytes),
       input("memory.per_device.weight_bytes", device.weightBytes),
       input("memory.per_device.activation_bytes", device.activationBytes),
       input("memory.per_device.runtime_bytes", device.runtimeBytes)});
  std::vector<std::string> sources;
  Inputs inputs = {input("memory.kv_capacity_bytes", memory.kvCapacityBytes),
                   input("context in whole blocks", evaluation.contextInBlocks),
                   input("KV bytes of one sequence on a device",
                         evaluation.kvBytesPerSequence),
                   figure(evaluation.runtime.kvBlockTokens, sources)};
  add("memory.kv_capacity_tokens",
      "floor(kv_capacity_bytes * context / bytes of one sequence), rounded "
      "down to whole blocks",
      std::move(inputs), sources);
}

void Explainer::explainFlops() {
  const auto &flops = report.flops;
  const char *product = "2 * rows * columns * contraction";
  add("flops.layers_linear",
      std::string("sum over linear kernels of count * ") + product,
      workloadAndMesh(), {program});
  add("flops.attention",
      std::string("sum over attentions of count * 2 * pairs * heads * (d_qk + "
                  "d_v); causal pairs are q*c - q*(q-1)/2, fewer under a "
                  "window"),
      workloadAndMesh(), {program});
  add("flops.attention_full_square", "as flops.attention with pairs q*c",
      workloadAndMesh(), {program});
  add("flops.logits", std::string("count * ") + product, workloadAndMesh(),
      {program});
  add("flops.total", "layers_linear + attention + logits",
      {input("flops.layers_linear", flops.layersLinear),
       input("flops.attention", flops.attention),
       input("flops.logits", flops.logits)});
  add("flops.per_device", "as flops.total with local dimensions",
      workloadAndMesh(), {program});
}

void Explainer::explainCollective(size_t row) {
  const auto &record = report.communication.collectives[row];
  const CollectiveCost &cost = evaluation.collectives[evaluation.rowStart[row]];
  std::string prefix =
      "communication.collectives[" + std::to_string(row) + "].";
  bool twice = cost.record->kind == CollectiveKind::all_reduce;
  add(prefix + "count", "sum of the counts of " + record.name, {}, {program});
  add(prefix + "bytes",
      cost.record->kind == CollectiveKind::all_gather
          ? "local bytes of the operand * group size"
          : "local bytes of the operand",
      workloadAndMesh(), {program});
  add(prefix + "wire_bytes_per_device",
      twice ? "ceil(2 * (n-1) / n * bytes)" : "ceil((n-1) / n * bytes)",
      {input("n", record.groupSize), input(prefix + "bytes", record.bytes)});
  std::vector<std::string> sources;
  Inputs inputs = {input(prefix + "bytes", record.bytes),
                   input("n", record.groupSize)};
  const Tier &tier = *cost.time.tier;
  std::string formula = "curve of " + record.kind + " on " + tier.name +
                        " at (n, bytes), log-log between its points";
  if (evaluation.runtime.ideal) {
    formula = "wire bytes / bandwidth of the tier, summed over its levels";
    inputs.push_back(figure(tier.bandwidth, sources));
  } else if (const CollectiveCurve *curve = cost.curve()) {
    sources.push_back(curve->source.str());
  } else {
    formula = "latency * ceil(log2 n) + wire bytes / (bandwidth * "
              "efficiency), summed over the levels of the network";
    for (const Figure *used :
         {&tier.latency, &tier.bandwidth, &tier.efficiency})
      inputs.push_back(figure(*used, sources));
  }
  add(prefix + "time_us", std::move(formula), std::move(inputs), sources);
}

void Explainer::explainCommunication() {
  Inputs inputs;
  for (size_t i = 0; i < report.communication.collectives.size(); ++i) {
    const auto &row = report.communication.collectives[i];
    std::string prefix =
        "communication.collectives[" + std::to_string(i) + "].";
    inputs.push_back(input(prefix + "count", row.count));
    inputs.push_back(
        input(prefix + "wire_bytes_per_device", row.wireBytesPerDevice));
    explainCollective(i);
  }
  add("communication.bytes_per_device",
      "sum over collectives of count * wire_bytes_per_device",
      std::move(inputs));
}

Inputs Explainer::peaks(std::vector<std::string> &sources) const {
  Inputs inputs;
  const auto &used = evaluation.figures;
  for (const auto &[type, peak] : evaluation.pool.chip.peakFlops)
    if (std::find(used.begin(), used.end(), &peak) != used.end())
      inputs.push_back(figure(peak, sources));
  return inputs;
}

void Explainer::explainRoofline() {
  std::vector<std::string> sources;
  Inputs inputs = peaks(sources);
  inputs.push_back(figure(evaluation.pool.chip.memoryBandwidth, sources));
  for (auto [kind, curve] : evaluation.curves) {
    const std::string &path = curve->path;
    inputs.push_back(
        input(path + ".compute_efficiency", curve->computeEfficiency));
    inputs.push_back(
        input(path + ".memory_efficiency", curve->memoryEfficiency));
    inputs.push_back(input(path + ".exponent", curve->exponent));
    std::string source = curve->source.str();
    if (std::find(sources.begin(), sources.end(), source) == sources.end())
      sources.push_back(std::move(source));
  }
  std::string roof =
      "sum over launches of count * (tc^q + tm^q)^(1/q), tc = FLOPs / "
      "(compute_efficiency * peak), tm = bytes / (memory_efficiency * "
      "bandwidth), of the launches where ";
  add("latency.compute_time_us", roof + "tc > tm", inputs, sources);
  add("latency.memory_time_us", roof + "tc <= tm", inputs, sources);
}

void Explainer::explainOverhead() {
  const auto &latency = report.latency;
  std::vector<std::string> sources;
  Inputs inputs = {input("latency.kernel_launches", latency.kernelLaunches),
                   input("sum of floors in us", evaluation.floorTimeUs),
                   figure(evaluation.runtime.kernelFloorUs, sources),
                   figure(evaluation.runtime.hostTimeUs, sources)};
  for (auto [kind, curve] : evaluation.curves)
    inputs.push_back(input(curve->path + ".floor", curve->floorUs));
  add("latency.overhead_time_us",
      "host time + sum over launches of count * max(floor of the curve, "
      "floor of the runtime)",
      std::move(inputs), sources);
  add("latency.kernel_launches",
      "sum of the counts of kernels, those launched as one counted once", {},
      {program, "runtime: " + evaluation.runtime.name});
  inputs.clear();
  const auto &rows = report.communication.collectives;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string row = "communication.collectives[" + std::to_string(i) + "].";
    inputs.push_back(input(row + "count", rows[i].count));
    inputs.push_back(input(row + "time_us", rows[i].timeUs));
  }
  add("latency.communication_time_us",
      "sum over collectives of count * time_us; none is overlapped",
      std::move(inputs));
}

void Explainer::explainStep() {
  const auto &latency = report.latency;
  add("latency.step_time_us", "compute + memory + communication + overhead",
      {input("latency.compute_time_us", latency.computeTimeUs),
       input("latency.memory_time_us", latency.memoryTimeUs),
       input("latency.communication_time_us", latency.communicationTimeUs),
       input("latency.overhead_time_us", latency.overheadTimeUs)});
  bool prefill = report.workload.phase == "prefill";
  add("throughput.tokens_per_s",
      prefill ? "batch * query / step time" : "batch / step time",
      {input("workload.batch", report.workload.batch),
       input("workload.query_length", report.workload.queryLength),
       input("latency.step_time_us", latency.stepTimeUs)});
}

void Explainer::explainBounds() {
  const auto &bounds = report.latency.bounds;
  std::vector<std::string> sources;
  Inputs inputs = peaks(sources);
  inputs.push_back(input("flops.per_device", report.flops.perDevice));
  add("latency.bounds.compute_time_us", "local FLOPs / dense peak",
      std::move(inputs), sources);
  sources.clear();
  inputs = {input("latency.bounds.weights_and_kv_read_bytes",
                  bounds.weightsAndKvReadBytes),
            figure(evaluation.pool.chip.memoryBandwidth, sources)};
  add("latency.bounds.memory_time_us",
      "weights_and_kv_read_bytes / memory bandwidth", std::move(inputs),
      sources);
  add("latency.bounds.weights_and_kv_read_bytes",
      "sum over kernels of count * local bytes of weights and KV read; of "
      "routed experts E*(1-(1-k/E)^tokens)",
      workloadAndMesh(), {program});
  sources.clear();
  inputs = {input("communication.bytes_per_device",
                  report.communication.bytesPerDevice)};
  for (const CollectiveCost &cost : evaluation.collectives) {
    auto entry = figure(cost.time.tier->bandwidth, sources);
    if (std::find(inputs.begin(), inputs.end(), entry) == inputs.end())
      inputs.push_back(std::move(entry));
  }
  add("latency.bounds.communication_time_us",
      "sum over collectives of count * wire bytes / bandwidth, by level",
      std::move(inputs), sources);
}

void Explainer::run() {
  explainModel();
  explainDevice("memory.per_device.");
  explainDevice("memory.per_stage[0].");
  explainBudget();
  explainKvCapacity();
  explainFlops();
  explainCommunication();
  explainRoofline();
  explainOverhead();
  explainStep();
  explainBounds();
}

void autopar::addDerivations(Evaluation &evaluation) {
  Explainer(evaluation).run();
}

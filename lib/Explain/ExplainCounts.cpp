//===- ExplainCounts.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"

#include "autopar/Program/ProgramFacts.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

/// Returns the path of the number `name` of the device with the largest memory.
static std::string device(const char *name) {
  return std::string("memory.per_device.") + name;
}

static constexpr const char *programSource = "cost program of the IR";

//===----------------------------------------------------------------------===//
// Adding derivations
//===----------------------------------------------------------------------===//

Explainer::Explainer(const EvaluatedStep &step)
    : step(step), report(step.report), total(step.strategy.total), text(step) {
  nameNodes();
}

void Explainer::nameNodes() {
  const Graph &graph = step.strategy.graph;
  static constexpr const char *symbols[symbolCount] = {
      "workload.batch", "workload.query_length", "workload.context_length",
      "workload.encoder_tokens", "workload.cross_tokens"};
  const auto &figures = step.values.figures();
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node &node = graph[id];
    if (node.op == Op::symbol)
      text.name(id, symbols[node.a]); // Strategies of reports have one group.
    else if (node.op == Op::axis)
      text.name(id, "mesh." + step.program.axes[node.a]);
    else if (node.op == Op::microbatches)
      text.name(id, "schedule.microbatches");
    else if (node.op == Op::figure && figures[node.a].figure)
      text.name(id, figures[node.a].figure->path);
    else if (node.op == Op::figure && step.strategy.figures[node.a].kind ==
                                          FigureUse::Kind::memory_utilization)
      text.name(id, "plan.memory_utilization");
  }
  std::pair<NodeId, std::string> numbers[] = {
      {total.weightBytes, device("weight_bytes")},
      {total.kvCacheBytes, device("kv_cache_bytes")},
      {total.stateBytes, device("state_bytes")},
      {total.updateBytes, device("update_bytes")},
      {total.activationBytes, device("activation_bytes")},
      {total.runtimeBytes, device("runtime_bytes")},
      {total.totalBytes, device("total_bytes")},
      {total.capacityBytes, device("capacity_bytes")},
      {total.budgetBytes, device("budget_bytes")},
      {total.reservedBytes, device("reserved_bytes")},
      {total.communicationBytes, device("communication_bytes")},
      {total.graphBytes, device("graph_bytes")},
      {total.reserveBytes, device("rule_bytes")},
      {total.kvCapacityBytes, "memory.kv_capacity_bytes"},
      {total.blocksPerSequence, "memory.bytes_of_one_sequence"},
      {total.profileBytes, device("profile_bytes")},
      {total.samplerBytes, device("sampler_bytes")},
      {total.linearFlops, "flops.layers_linear"},
      {total.attentionFlops, "flops.attention"},
      {total.recurrenceFlops, "flops.recurrence"},
      {total.logitsFlops, "flops.logits"}};
  for (const auto &[node, path] : numbers)
    if (operandsOf(graph[node].op) != 0)
      text.name(node, path);
}

void Explainer::add(const std::string &path, std::string formula,
                    Explanation explanation) {
  explanation.derivation.formula = std::move(formula);
  result.derivations[path] = std::move(explanation.derivation);
}

void Explainer::add(const std::string &path, NodeId node,
                    Explanation explanation) {
  std::vector<NodeId> used;
  std::string formula = text.formula(node, used);
  for (NodeId id : used) {
    const Node &input = step.strategy.graph[id];
    const Figure *figure = input.op == Op::figure
                               ? step.values.figures()[input.a].figure
                               : nullptr;
    if (figure)
      explanation.figure(*figure);
    else
      explanation.input(text.allNames().at(id), text.value(id));
  }
  add(path, std::move(formula), std::move(explanation));
}

void Explainer::addSum(const std::string &path,
                       const std::vector<Contribution> &parts,
                       Explanation explanation) {
  for (const Contribution &part : parts)
    if (part.value != "0")
      explanation.input(part.name, part.value, part.term);
  add(path, "sum of the inputs", std::move(explanation.from(programSource)));
}

//===----------------------------------------------------------------------===//
// Derivations of given numbers, and of the model
//===----------------------------------------------------------------------===//

void Explainer::explainDegree(const std::string &name) {
  std::vector<std::string> axes = step.plan.axesOf(name);
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
    if (!step.plan.axis(name))
      explainDegree(name);
}

void Explainer::explainMachine() {
  add("machine.nodes", "given", Explanation().from("parallel.target"));
  add("machine.devices", "given",
      Explanation().from("nodes of " + report.machine.hardware));
  if (report.mesh.expertsPerDevice)
    add("mesh.experts_per_device", "given",
        Explanation().from(
            "slots of routed experts per layer, divided by the devices of ep"));
}

void Explainer::explainWorkload() {
  for (const char *name : {"batch", "query_length", "context_length",
                           "encoder_tokens", "cross_tokens"})
    add(std::string("workload.") + name, "given",
        Explanation().from("workload"));
}

std::string autopar::explanation::recordName(const CostProgram &program,
                                             const Resident &record) {
  static constexpr const char *folders[] = {"weights/", "caches/", "states/",
                                            "gradients/", "optimizer/"};
  return folders[static_cast<size_t>(record.kind)] +
         program.layers[record.layer].name + "/" + record.name;
}

void Explainer::addResidents(const std::string &path, Resident::Kind kind,
                             NodeId ResidentNodes::*column, const char *unit,
                             Checked copies, Explanation explanation) {
  std::vector<Contribution> parts;
  for (size_t i = 0; i < step.program.residents.size(); ++i) {
    const Resident &record = step.program.residents[i];
    const ResidentNodes &nodes = step.strategy.residents[i];
    if (record.kind != kind || nodes.*column == noNode)
      continue;
    Checked count = step.whole(nodes.count) * copies;
    parts.push_back({recordName(step.program, record),
                     (step.whole(nodes.*column) * count).str(),
                     times(count.str(), text.sizes(nodes.*column)) + unit});
  }
  addSum(path, parts, std::move(explanation));
}

void Explainer::explainModel() {
  using Nodes = ResidentNodes;
  auto isUnused = [&](const Resident &record) {
    return record.stored || isForDrafts(step.program, record);
  };
  auto addWeights = [&](const char *path, NodeId Nodes::*column,
                        const char *unit, std::optional<bool> stored,
                        Explanation explanation = {}) {
    std::vector<Contribution> parts;
    for (size_t i = 0; i < step.program.residents.size(); ++i) {
      const Resident &record = step.program.residents[i];
      const Nodes &nodes = step.strategy.residents[i];
      if (record.kind != Resident::Kind::weight ||
          (stored && *stored != isUnused(record)))
        continue;
      Checked count = step.whole(nodes.count);
      parts.push_back({recordName(step.program, record),
                       (step.whole(nodes.*column) * count).str(),
                       times(count.str(), text.sizes(nodes.*column)) + unit});
    }
    addSum(path, parts, std::move(explanation));
  };
  addWeights("model.parameters", &Nodes::parameters, "", false);
  addWeights("model.active_parameters", &Nodes::activeParameters, "", false,
             Explanation().note("of routed experts, top_k / experts"));
  addWeights("model.checkpoint_bytes", &Nodes::storedBytes, " B", std::nullopt);
  if (report.model.storedOnlyParameters != 0)
    addWeights("model.stored_only_parameters", &Nodes::parameters, "", true,
               Explanation().note("of functions that the step does not call"));
}

//===----------------------------------------------------------------------===//
// Derivations of memory
//===----------------------------------------------------------------------===//

void Explainer::explainResidents() {
  using Nodes = ResidentNodes;
  using Kind = Resident::Kind;
  int64_t copies = step.layout.microbatches;
  addResidents(device("weight_bytes"), Kind::weight, &Nodes::localBytes, " B",
               1);
  addResidents(device("kv_cache_bytes"), Kind::kv_cache, &Nodes::localBytes,
               " B", copies,
               Explanation()
                   .restsOn(step.runtime.kvBlockTokens)
                   .note("tokens rounded up to whole blocks"));
  addResidents(device("state_bytes"), Kind::state, &Nodes::localBytes, " B",
               copies);
  if (step.strategy.trains) {
    addResidents(device("gradient_bytes"), Kind::gradient, &Nodes::localBytes,
                 " B", 1);
    addResidents(device("optimizer_bytes"), Kind::optimizer, &Nodes::localBytes,
                 " B", 1);
    add(device("update_bytes"), total.updateBytes,
        Explanation().note("copies of gradients that an update makes, some of "
                           "them in memory that was freed"));
  }
  addResidents("memory.kv_bytes_per_token", Kind::kv_cache, &Nodes::perToken,
               " B", 1,
               Explanation().note("for one more token of one sequence, if no "
                                  "window is full; each value counts once"));
  addResidents("memory.kv_bytes_per_token_per_device", Kind::kv_cache,
               &Nodes::localPerToken, " B", 1,
               Explanation().note("for one more token of one sequence on one "
                                  "device, if no window is full"));
  addResidents(
      "memory.kv_bytes_per_sequence", Kind::kv_cache, &Nodes::perSequence, " B",
      1,
      Explanation().note("for one sequence of this context; each value counts "
                         "once, without rounding to KV blocks"));
  addResidents("memory.state_bytes_per_sequence", Kind::state,
               &Nodes::perSequence, " B", 1,
               Explanation().note("for one sequence; each value counts once"));
}

/// Adds the first set of buffers that are live at the same time and have the
/// sum `peak`. `column` has the bytes of each buffer.
void Explainer::addLiveSet(const std::string &path, Checked peak,
                           NodeId LiveNodes::*sum,
                           const std::vector<NodeId> &column) {
  for (const LiveNodes &set : step.strategy.live) {
    const KindCounts &counts = step.layout.part.kinds;
    bool runs = counts.empty() || counts[set.layer] > 0;
    if (!runs || step.whole(set.*sum) != peak)
      continue;
    std::vector<Contribution> parts;
    for (uint32_t i : set.activations) {
      const Activation &record = step.program.activations[i];
      parts.push_back({"activations/" + record.name,
                       step.whole(column[i]).str(),
                       text.sizes(column[i]) + " B, live in launches " +
                           std::to_string(record.begin) + " to " +
                           std::to_string(record.end)});
    }
    return addSum(
        path, parts,
        Explanation().note("temporaries that are in memory at once, where "
                           "these are largest; bodies of loops count once"));
  }
  addSum(path, {});
}

void Explainer::explainActivations() {
  addLiveSet(device("activation_bytes"), step.whole(total.activationBytes),
             &LiveNodes::bytes, step.strategy.activations);
}

void Explainer::explainProfile() {
  Checked peak = step.whole(total.profileBytes);
  if (peak.isZero())
    return addSum(device("profile_bytes"), {});
  addLiveSet(device("profile_bytes"), peak, &LiveNodes::profileBytes,
             step.strategy.profiled);
}

void Explainer::explainRuntimeBytes() {
  add(device("communication_bytes"), total.communicationBytes,
      Explanation().note("only if a collective spans devices"));
  add(device("graph_bytes"), total.graphBytes);
  add(device("runtime_bytes"), total.runtimeBytes);
}

void Explainer::explainMemory() {
  const Report::DeviceMemory &memory = report.memory.perDevice;
  explainResidents();
  explainActivations();
  explainRuntimeBytes();
  static constexpr const char *parts[] = {"weight_bytes", "kv_cache_bytes",
                                          "state_bytes", "reserved_bytes",
                                          "runtime_bytes"};
  const int64_t values[] = {memory.weightBytes, memory.kvCacheBytes,
                            memory.stateBytes, memory.reservedBytes,
                            memory.runtimeBytes};
  Explanation sum;
  for (size_t i = 0; i < std::size(parts); ++i)
    sum.input(device(parts[i]), values[i]);
  if (step.strategy.trains)
    sum.input(device("gradient_bytes"), memory.gradientBytes)
        .input(device("optimizer_bytes"), memory.optimizerBytes)
        .input(device("update_bytes"), memory.updateBytes);
  add(device("total_bytes"), "sum of the inputs", sum);
  add(device("capacity_bytes"), total.capacityBytes,
      Explanation().note("usable memory of the chip, in whole bytes"));
  auto fits = [&](const std::string &folder) {
    add(folder + "fits", "total_bytes <= budget_bytes",
        Explanation()
            .input(folder + "total_bytes", memory.totalBytes)
            .input(folder + "budget_bytes", memory.budgetBytes));
  };
  fits("memory.per_device.");
  // With a single pipeline stage, the worst device of this stage is the worst
  // of all devices.
  const std::string stage = "memory.per_stage[0].";
  auto same = [&](const char *name, int64_t value) {
    add(stage + name, "the input", Explanation().input(device(name), value));
  };
  for (size_t i = 0; i < std::size(parts); ++i)
    same(parts[i], values[i]);
  same("activation_bytes", memory.activationBytes);
  same("communication_bytes", memory.communicationBytes);
  same("graph_bytes", memory.graphBytes);
  same("profile_bytes", memory.profileBytes);
  same("sampler_bytes", memory.samplerBytes);
  same("rule_bytes", memory.ruleBytes);
  same("total_bytes", memory.totalBytes);
  same("budget_bytes", memory.budgetBytes);
  same("capacity_bytes", memory.capacityBytes);
  fits(stage);
  add(device("budget_bytes"), total.budgetBytes,
      step.plan.memoryUtilization ? Explanation().from("plan") : Explanation());
  add("memory.budget_bytes", "the input",
      Explanation().input(device("budget_bytes"), memory.budgetBytes));
  explainProfile();
  add(device("sampler_bytes"), total.samplerBytes);
  add(device("rule_bytes"), total.reserveBytes,
      step.plan.memoryUtilization ? Explanation().from("plan") : Explanation());
  add(device("reserved_bytes"), total.reservedBytes,
      Explanation().note(
          "the largest of: temporaries of this step, of the run by which the "
          "runtime sizes them, of its sampler, and the reserve of its rule"));
  add("memory.kv_capacity_bytes", total.kvCapacityBytes);
  add("memory.kv_capacity_tokens", total.kvCapacityTokens,
      Explanation().note("computed with the bytes per token of a sequence of "
                         "this length; 0 if it keeps nothing"));
}

void Explainer::explainCapacity() {
  add("capacity.replicas", total.replicas,
      Explanation().note("groups of devices with sequences of their own"));
  std::string perReplica = "capacity.sequences_per_replica";
  add(perReplica, total.capacitySequences);
  auto replicas = [&] {
    return Explanation().input("capacity.replicas", report.capacity.replicas);
  };
  Checked product =
      Checked(report.capacity.replicas) * report.capacity.sequencesPerReplica;
  if (product == Checked(report.capacity.sequences))
    add("capacity.sequences", "product of the inputs",
        replicas().input(perReplica, report.capacity.sequencesPerReplica));
  else
    add("capacity.sequences", "given",
        Explanation().from(
            "the largest --batch that fits, found by search: reserved or kept "
            "memory grows unevenly with the batch"));
  add("capacity.tokens", "product of the inputs",
      replicas().input("memory.kv_capacity_tokens",
                       report.memory.kvCapacityTokens));
  add("capacity.tokens_per_device", "floor(tokens / devices)",
      Explanation()
          .input("capacity.tokens", report.capacity.tokens)
          .input("mesh.devices", report.mesh.devices));
}

//===----------------------------------------------------------------------===//
// Derivations of FLOPs
//===----------------------------------------------------------------------===//

void Explainer::addKernels(const std::string &path, FlopClass flopClass,
                           NodeId KernelNodes::*column,
                           Explanation explanation) {
  std::vector<Contribution> parts;
  for (size_t i = 0; i < step.program.kernels.size(); ++i) {
    const Kernel &kernel = step.program.kernels[i];
    if (flopClass != FlopClass::none && kernel.flopClass != flopClass)
      continue;
    NodeId node = step.strategy.kernels[i].*column;
    Checked count = step.countOf(static_cast<uint32_t>(i));
    parts.push_back({"kernels/" + kernel.name, (step.whole(node) * count).str(),
                     times(count.str(), text.sizes(node))});
  }
  addSum(path, parts, std::move(explanation));
}

void Explainer::explainSquare() {
  addKernels("flops.attention_full_square", FlopClass::attention,
             &KernelNodes::squareFlops);
}

void Explainer::explainFlops() {
  using Nodes = KernelNodes;
  addKernels("flops.layers_linear", FlopClass::linear, &Nodes::flops);
  addKernels("flops.attention", FlopClass::attention, &Nodes::flops);
  explainSquare();
  addKernels(
      "flops.recurrence", FlopClass::recurrence, &Nodes::flops,
      Explanation().note("by convention, FLOPs of the recurrence itself, even "
                         "if a chunked kernel computes more"));
  addKernels("flops.logits", FlopClass::logits, &Nodes::flops);
  add("flops.total", "sum of the inputs",
      Explanation()
          .input("flops.layers_linear", report.flops.layersLinear)
          .input("flops.attention", report.flops.attention)
          .input("flops.recurrence", report.flops.recurrence)
          .input("flops.logits", report.flops.logits));
  addKernels("flops.per_device", FlopClass::none, &Nodes::localFlops);
}

Explanations Explainer::run() {
  explainMesh();
  explainMachine();
  explainPlacement();
  explainWorkload();
  explainModel();
  explainMemory();
  explainCapacity();
  if (step.steps.empty()) {
    explainFlops();
    explainCommunication();
    explainLaunches();
    explainOverhead();
    explainHost();
    explainStep();
    explainRate();
    explainBounds();
  } else {
    explainSquare();
    explainSteps(step, result.derivations);
    explainRate();
  }
  explainBreakdown();
  result.waterfall = waterfallOf(report);
  return std::move(result);
}

Derivations Explainer::explainCalls() {
  explainCommunication();
  return std::move(result.derivations);
}

Explanations autopar::explanation::explain(const EvaluatedStep &step) {
  return Explainer(step).run();
}

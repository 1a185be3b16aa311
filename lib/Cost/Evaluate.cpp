//===- Evaluate.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "autopar/Plan/Degrees.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace autopar;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static std::optional<Error> checkWorkload(const Workload &workload) {
  std::tuple<const char *, int64_t, int64_t> sizes[] = {
      {"batch", workload.batch, 1},
      {"query", workload.query, 1},
      {"context", workload.context, 1},
      {"source", workload.source, 0},
      {"memory", workload.memory, 0}};
  for (auto [name, size, least] : sizes)
    if (size < least || size > limits::maxTokens)
      return Error{"",
                   std::string(name) + " of the workload is " +
                       std::to_string(size) + ", expected " +
                       std::to_string(least) + " to " +
                       std::to_string(limits::maxTokens),
                   ""};
  if (workload.context < workload.query)
    return Error{"",
                 "context " + std::to_string(workload.context) +
                     " is shorter than the " + std::to_string(workload.query) +
                     " new tokens of each sequence",
                 "the context counts cached tokens after the step"};
  return std::nullopt;
}

static std::optional<Error> checkDevices(const Plan &plan,
                                         const Machine &machine) {
  for (const PlanAxis &axis : plan.axes)
    if (!axis.size)
      return refuseOpenAxis(axis.name);
  for (const PlanDegree &degree : plan.degrees)
    if (!plan.sizeOf(degree.name))
      return Error{
          "", "degree '" + degree.name + "' has a factor that is no axis", ""};
  std::optional<int64_t> devices = plan.devices();
  if (!devices || *devices < 1 || *devices > limits::maxDevices)
    return Error{"",
                 "the mesh must have from 1 to " +
                     std::to_string(limits::maxDevices) + " devices",
                 ""};
  if (*devices <= machine.devices())
    return std::nullopt;
  const Pool &pool = machine.pools.front();
  int64_t nodes = (*devices - 1) / pool.devicesPerNode + 1;
  return Error{"",
               "plan needs " + std::to_string(*devices) + " devices but " +
                   machine.name + " with " + std::to_string(pool.nodes) +
                   (pool.nodes == 1 ? " node has " : " nodes has ") +
                   std::to_string(machine.devices()),
               "give --nodes=" + std::to_string(nodes) +
                   " or a larger --hardware"};
}

static std::optional<Error> checkMachine(const Machine &machine) {
  if (machine.pools.size() == 1 && machine.pools.front().devicesPerNode >= 1)
    return std::nullopt;
  return Error{"",
               "machine '" + machine.name + "' has " +
                   std::to_string(machine.pools.size()) +
                   " pools of devices, expected 1",
               "a plan is priced on devices of one kind"};
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

Evaluation::Evaluation(const CostProgram &program, const Plan &plan,
                       const Machine &machine, const Runtime &runtime,
                       const Workload &workload, int64_t microbatches)
    : program(program), plan(plan), machine(machine),
      pool(machine.pools.front()), runtime(runtime), workload(workload),
      microbatches(microbatches), sizes(program, plan, workload),
      network(pool, *plan.devices()) {}

double Evaluation::use(const Figure &figure) {
  if (std::find(figures.begin(), figures.end(), &figure) == figures.end())
    figures.push_back(&figure);
  return figure.value;
}

int64_t Evaluation::useCount(const Figure &figure) {
  double value = std::floor(use(figure));
  if (value >= 0 && value < 9e18)
    return static_cast<int64_t>(value);
  sizes.fail("'" + figure.path + "' is " + formatNumber(figure.value) +
             ", expected a number from 0 to 9e18");
  return 0;
}

void Evaluation::useCurve(KernelKind kind, const KernelCurve *curve) {
  if (!curve) {
    if (std::find(kindsWithoutCurve.begin(), kindsWithoutCurve.end(), kind) ==
        kindsWithoutCurve.end())
      kindsWithoutCurve.push_back(kind);
    return;
  }
  std::pair<KernelKind, const KernelCurve *> entry(kind, curve);
  if (std::find(curves.begin(), curves.end(), entry) == curves.end())
    curves.push_back(entry);
}

bool Evaluation::communicates() const {
  if (plan.pipeline.isGiven() && plan.sizeOf("pp") > 1)
    return true;
  return std::any_of(program.collectives.begin(), program.collectives.end(),
                     [&](const Collective &collective) {
                       return sizes.groupSize(collective.axes) > 1;
                     });
}

GroupLayout Evaluation::layoutOf(const std::vector<AxisId> &ids) const {
  GroupLayout layout;
  for (AxisId id : ids)
    layout.push_back({*plan.strideOf(program.axes[id]), sizes.axisSize(id)});
  return layout;
}

//===----------------------------------------------------------------------===//
// What the report says about its inputs
//===----------------------------------------------------------------------===//

static void addInputs(Evaluation &evaluation) {
  Report &report = evaluation.report;
  report.model.name = evaluation.program.model;
  report.workload.phase = nameOf(evaluation.workload.phase);
  report.workload.batch = evaluation.workload.batch;
  report.workload.queryLength = evaluation.workload.query;
  report.workload.contextLength = evaluation.workload.context;
  report.workload.sourceLength = evaluation.workload.source;
  report.workload.memoryLength = evaluation.workload.memory;
  report.machine.hardware = evaluation.machine.name;
  report.machine.hardwareTitle = evaluation.machine.title;
  report.machine.chip = evaluation.pool.chip.name;
  report.machine.runtime = evaluation.runtime.name;
  report.machine.devices = evaluation.machine.devices();
  report.machine.nodes = evaluation.pool.nodes;
  report.plan = writePlan(evaluation.plan);
}

static void addMesh(Evaluation &evaluation) {
  Report &report = evaluation.report;
  report.mesh.devices = *evaluation.plan.devices();
  for (const PlanAxis &axis : evaluation.plan.axes) {
    GroupAxis group{*evaluation.plan.strideOf(axis.name), *axis.size};
    const Tier *tier = evaluation.network.tierOf({group});
    report.mesh.axes.push_back({axis.name,
                                tier && group.size > 1 ? tier->name : "",
                                group.size, group.stride});
    report.mesh.degrees[axis.name] = *axis.size;
  }
  for (const PlanDegree &degree : evaluation.plan.degrees)
    report.mesh.degrees[degree.name] = *evaluation.plan.sizeOf(degree.name);
  for (const char *name : degreeNames)
    report.mesh.degrees[name] = *evaluation.plan.sizeOf(name);
}

/// The most of all layers.
static void addExperts(Evaluation &evaluation) {
  Sizes &sizes = evaluation.sizes;
  Checked most = 0;
  for (const Resident &weight : evaluation.program.residents) {
    // Biases may be whole where products are summed over the parts of experts.
    bool isMatrix = weight.parameters().size() > 2;
    if (weight.topK == 0 || weight.stored || weight.count == 0 || !isMatrix)
      continue;
    sizes.enter("weight", weight.name);
    most = std::max(most, sizes.local(weight.parameters().front()));
  }
  evaluation.report.mesh.expertsPerDevice =
      sizes.narrow(most, "experts of a device");
}

static void addModel(Evaluation &evaluation) {
  Checked parameters, active, bytes, storedOnly;
  Sizes &sizes = evaluation.sizes;
  for (const Resident &weight : evaluation.program.residents) {
    if (weight.kind != Resident::Kind::weight)
      continue;
    WeightCounts counts = countWeight(weight, sizes);
    bytes += counts.bytes;
    (weight.stored ? storedOnly : parameters) += counts.parameters;
    if (!weight.stored)
      active += counts.active;
  }
  auto &model = evaluation.report.model;
  model.parameters = sizes.narrow(parameters, "parameters");
  model.activeParameters = sizes.narrow(active, "active parameters");
  model.checkpointBytes = sizes.narrow(bytes, "checkpoint bytes");
  model.storedOnlyParameters = sizes.narrow(storedOnly, "stored parameters");
}

Result<Report> autopar::evaluate(const CostProgram &program, const Plan &plan,
                                 const Machine &machine, const Runtime &runtime,
                                 const Workload &workload, bool explain) {
  return plan.pipeline.stages.empty()
             ? evaluateDevice(program, plan, machine, runtime, workload,
                              /*microbatches=*/1, explain)
             : evaluatePipeline(program, plan, machine, runtime, workload,
                                explain);
}

Result<Report> autopar::evaluateDevice(const CostProgram &program,
                                       const Plan &plan, const Machine &machine,
                                       const Runtime &runtime,
                                       const Workload &workload,
                                       int64_t microbatches, bool explain) {
  if (auto error = checkMachine(machine))
    return *error;
  if (auto error = checkDevices(plan, machine))
    return *error;
  if (auto error = checkWorkload(workload))
    return *error;
  Evaluation evaluation(program, plan, machine, runtime, workload,
                        microbatches);
  static constexpr void (*steps[])(Evaluation &) = {
      addInputs,  addMesh,        addExperts, addPlacement,
      addModel,   addMemory,      addFlops,   addCommunication,
      addLatency, addAssumptions, addWarnings};
  for (auto step : steps) {
    if (evaluation.sizes.failed())
      return evaluation.sizes.takeError();
    step(evaluation);
  }
  if (evaluation.sizes.failed())
    return evaluation.sizes.takeError();
  if (explain)
    addDerivations(evaluation);
  return std::move(evaluation.report);
}

//===- Refusals.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/EvaluatedStep.h"

#include "autopar/Program/ProgramFacts.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <tuple>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

//===----------------------------------------------------------------------===//
// Refusals of inputs
//===----------------------------------------------------------------------===//

/// Returns the error for an axis without a size.
static Error refuseOpenAxis(const std::string &axis) {
  bool hasFlag = axis == "tp" || axis == "cp" || axis == "dp";
  return {"", "axis '" + axis + "' of the mesh has no size",
          "give --mesh=" + axis + "=8" +
              (hasFlag ? " or --shard-" + axis + "=8" : "")};
}

static std::optional<Error> checkWorkload(const Workload &workload) {
  std::tuple<const char *, int64_t, int64_t> sizes[] = {
      {"batch", workload.batch, 1},
      {"query", workload.query, 1},
      {"context", workload.context, 1},
      {"encoder_tokens", workload.encoderTokens, 0},
      {"cross_tokens", workload.crossTokens, 0}};
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

/// Refuses encoded or cross-attended positions for a model without an encoder
/// or without cross attention.
static std::optional<Error> checkEncoded(const CostProgram &program,
                                         const Workload &workload) {
  if (workload.encoderTokens > 0 && !readsSymbol(program, "encoder_tokens"))
    return Error{"",
                 "--encoder-tokens=" + std::to_string(workload.encoderTokens) +
                     ": '" + program.model +
                     "' has no encoder that a step runs",
                 "leave out --encoder-tokens, or name a config that has one "
                 "(vision_config, audio_config, encoder_layers)"};
  if (workload.crossTokens > 0 && !readsSymbol(program, "cross_tokens"))
    return Error{"",
                 "--cross-tokens=" + std::to_string(workload.crossTokens) +
                     ": no layer of '" + program.model +
                     "' has cross attention",
                 "leave out --cross-tokens"};
  return std::nullopt;
}

/// Refuses contexts beyond learned positions. Other kinds of positions can be
/// extrapolated, with a warning.
static std::optional<Error> checkContext(const Positions &positions,
                                         int64_t context) {
  if (!positions.areLearned || positions.longest == 0 ||
      context <= positions.longest)
    return std::nullopt;
  return Error{"",
               "a context of " + formatInteger(context) +
                   " tokens is beyond the " + formatInteger(positions.longest) +
                   " positions that the model has learned",
               "give --context=" + std::to_string(positions.longest) +
                   " or less"};
}

static std::optional<Error> checkDevices(const PlanInputs &inputs) {
  const Plan &plan = inputs.plan;
  const Machine &machine = inputs.machine;
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

/// Refuses a decode step with more sequences than the engine runs at once.
static std::optional<Error> checkSequences(const PlanInputs &inputs) {
  const Workload &step = inputs.workload;
  if (!inputs.plan.maxSequences || step.phase != Phase::decode)
    return std::nullopt;
  int64_t replicas = std::max<int64_t>(1, replicasOf(inputs.plan));
  int64_t own = step.batch / replicas + (step.batch % replicas != 0);
  if (own <= *inputs.plan.maxSequences)
    return std::nullopt;
  return Error{"",
               "a step decodes " + formatInteger(own) +
                   " sequences of a replica, and --max-num-seqs=" +
                   formatInteger(*inputs.plan.maxSequences) +
                   " runs fewer at once",
               "give a smaller --batch or a larger --max-num-seqs"};
}

/// Refuses flags of the engine's launch that would change nothing.
static std::optional<Error> checkLaunch(const PlanInputs &inputs) {
  const Plan &plan = inputs.plan;
  if (inputs.program.trains() && (plan.maxSequences || plan.eager))
    return Error{
        "",
        std::string(plan.eager ? "--enforce-eager" : "--max-num-seqs") +
            " is for serving engines, and this step trains",
        "leave it out"};
  if (plan.eager && inputs.runtime.eagerStepUs.value == 0)
    return Error{"",
                 "--enforce-eager changes nothing: runtime \"" +
                     inputs.runtime.label() + "\" captures no graphs on " +
                     inputs.machine.pools.front().chip.name,
                 "leave it out"};
  return checkSequences(inputs);
}

std::optional<Error>
autopar::evaluation::checkInputs(const PlanInputs &inputs) {
  if (auto error = checkMachine(inputs.machine))
    return error;
  if (auto error = checkDevices(inputs))
    return error;
  if (auto error = checkWorkload(inputs.workload))
    return error;
  if (auto error = checkLaunch(inputs))
    return error;
  if (auto error = checkEncoded(inputs.program, inputs.workload))
    return error;
  if (auto error =
          checkContext(inputs.program.positions, inputs.workload.context))
    return error;
  for (const std::string &name : inputs.program.axes)
    if (!inputs.plan.axis(name))
      return refuseOpenAxis(name);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Explanation of requirements that are not met
//===----------------------------------------------------------------------===//

namespace {

/// Explains why a plan was refused.
class RefusalText {
public:
  RefusalText(const PlanInputs &inputs, const ExactValues &values)
      : inputs(inputs), values(values) {}

  Error explain(const Requirement &requirement) const;

private:
  Error explainSplit(const Requirement &requirement) const;
  std::string recordText(RecordRef record) const;
  std::string axesText(const std::vector<AxisId> &axes) const;

  const PlanInputs &inputs;
  const ExactValues &values;
};

} // namespace

/// Returns the legal degrees, at most ten of them: divisors of `extent` and,
/// with `cap`, also multiples of it.
static std::string legalSizes(int64_t extent, bool cap) {
  std::string text;
  int found = 0;
  for (int64_t size = 1; size <= 1024 && found < 10; ++size) {
    if (extent % size != 0 && !(cap && extent > 0 && size % extent == 0))
      continue;
    text += (found++ ? ", " : "") + std::to_string(size);
  }
  return text;
}

/// Returns the names of axes as a product: "tp", "dpi*tp".
static std::string namesOf(const std::vector<AxisId> &axes,
                           const CostProgram &program) {
  std::vector<std::string> names;
  for (AxisId axis : axes)
    names.push_back(program.axes[axis]);
  return join(names, "*");
}

/// Returns the names of axes with the product of their sizes: "tp = 8", "dpi*tp
/// = 64".
std::string RefusalText::axesText(const std::vector<AxisId> &axes) const {
  Checked devices = 1;
  for (AxisId axis : axes)
    devices *= *inputs.plan.axis(inputs.program.axes[axis])->size;
  return namesOf(axes, inputs.program) + " = " +
         std::to_string(devices.int64().value_or(0));
}

std::string RefusalText::recordText(RecordRef record) const {
  const CostProgram &program = inputs.program;
  auto text = [](const char *kind, const std::string &name) {
    return std::string(kind) + " '" + name + "'";
  };
  switch (record.kind) {
  case RecordRef::Kind::program:
    return text("model", program.model);
  case RecordRef::Kind::weight:
    return text("weight", program.residents[record.index].name);
  case RecordRef::Kind::kv_cache:
    return text("KV cache", program.residents[record.index].name);
  case RecordRef::Kind::state:
    return text("state", program.residents[record.index].name);
  case RecordRef::Kind::activation:
    return text("activation", program.activations[record.index].name);
  case RecordRef::Kind::saved:
    return text("saved value", program.saved[record.index].name);
  case RecordRef::Kind::kernel:
    return text("kernel", program.kernels[record.index].name);
  case RecordRef::Kind::collective:
    return text("collective", program.collectives[record.index].name);
  }
  return "";
}

Error RefusalText::explainSplit(const Requirement &requirement) const {
  bool cap = requirement.kind == Requirement::Kind::caps;
  std::optional<int64_t> extent = values.whole(requirement.extent).int64();
  std::string number = extent ? std::to_string(*extent) : "an extent";
  return {"",
          recordText(requirement.record) + ": " + number +
              " does not divide by " + axesText(requirement.axes) +
              (cap ? ", nor the other way round" : ""),
          extent ? "sizes that work: " + legalSizes(*extent, cap) : ""};
}

Error RefusalText::explain(const Requirement &requirement) const {
  const CostProgram &program = inputs.program;
  switch (requirement.kind) {
  case Requirement::Kind::sizes:
    return {"",
            "dimension '" + program.symbols[requirement.index] +
                "' has no size",
            "a workload gives sizes to batch, query, context, encoder_tokens "
            "and cross_tokens"};
  case Requirement::Kind::places: {
    int64_t slots = program.placement->slots;
    return {"",
            countOf(slots, "slot") + " of experts do not lie on " +
                axesText(requirement.axes) + " devices",
            "sizes that work: " + legalSizes(slots, false)};
  }
  case Requirement::Kind::divides:
  case Requirement::Kind::caps:
    return explainSplit(requirement);
  case Requirement::Kind::joins: {
    const Collective &record = program.collectives[requirement.record.index];
    int64_t group = 1;
    for (AxisId axis : record.axes)
      group *= *inputs.plan.axis(program.axes[axis])->size;
    return {"",
            "no link of " + inputs.machine.name + " joins the " +
                std::to_string(group) + " devices of '" + record.name +
                "' over " + namesOf(record.axes, program),
            "make the axis smaller, or give a machine with a larger domain"};
  }
  case Requirement::Kind::multiplies: {
    const Kernel &kernel = program.kernels[requirement.record.index];
    return {"",
            "chip " + inputs.pool().chip.name + " does not multiply " +
                std::string(nameOf(kernel.compute)),
            "give another --dtype or --hardware"};
  }
  }
  return {};
}

Error autopar::evaluation::explainRefusal(const PlanInputs &inputs,
                                          const Strategy &strategy,
                                          const ExactValues &values,
                                          Refusal refusal) {
  if (refusal.kind == Refusal::Kind::requirement)
    return RefusalText(inputs, values)
        .explain(strategy.requirements[refusal.index]);
  if (refusal.kind == Refusal::Kind::exponent) {
    const FigureUse &use = strategy.figures[refusal.index];
    double exponent = values.figures()[refusal.index].value;
    return {"",
            "exponent " + formatNumber(exponent) + " of the " +
                std::string(nameOf(use.kernel)) + " curve of " +
                inputs.pool().chip.name + " is not 1, 1.5, 2, 3 or 4",
            ""};
  }
  return {"",
          "a number of '" + inputs.program.model +
              "' is above 2^53, the most that times are counted in",
          ""};
}

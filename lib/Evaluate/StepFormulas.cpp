//===- StepFormulas.cpp
//-----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/StepFormulas.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::runtime;

StepFormulas::StepFormulas(const CostProgram &program, const Plan &plan,
                           const Machine &machine, Runtime ofPlan,
                           const Workload &ofStep)
    : runtime(std::move(ofPlan)), workload(ofStep),
      strategy(compile(program, launchingOf(runtime), Counting::whole,
                       {workload.phase})),
      step({program, plan, machine, runtime, workload}, strategy) {}

/// Refuses steps that are simulated instead of given by formulas.
static std::optional<Error> refuseSimulated(const PlanInputs &inputs) {
  if (inputs.program.trains())
    return Error{"", "an iteration of training is simulated, and no formula",
                 "steps of prefill and decode are formulas"};
  if (!inputs.plan.pipeline.stages.empty())
    return Error{"", "a step through stages is simulated, and no formula",
                 "leave out --stage-pp: the step of one stage is formulas"};
  return std::nullopt;
}

Result<std::unique_ptr<StepFormulas>>
StepFormulas::price(const CostProgram &program, const Plan &plan,
                    const Machine &machine, const Runtime &runtime,
                    const Workload &workload) {
  Runtime own = runtimeOf(plan, runtime, workload);
  PlanInputs inputs{program, plan, machine, own, workload};
  if (auto error = checkInputs(inputs))
    return *error;
  if (auto error = refuseSimulated(inputs))
    return *error;
  std::unique_ptr<StepFormulas> formulas(
      new StepFormulas(program, plan, machine, own, workload));
  PricedStep &step = formulas->step;
  if (auto error = step.price(layoutOf(inputs)))
    return *error;
  int64_t replicas =
      step.whole(step.strategy.total.replicas).int64().value_or(1);
  Result<std::vector<PrefillChunk>> chunks = chunksOf(inputs, replicas);
  if (!chunks)
    return chunks.error();
  if (!chunks->empty())
    return Error{"",
                 "the prefill takes " + std::to_string(chunks->size()) +
                     " kinds of steps, each with formulas of its own",
                 "give --prefill-chunk=none for one step, or fewer tokens"};
  return formulas;
}

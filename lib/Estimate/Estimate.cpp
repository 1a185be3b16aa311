//===- Estimate.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"

#include "autopar/Advise/Warnings.h"
#include "autopar/Evaluate/Sections.h"
#include "autopar/Evaluate/Services.h"
#include "autopar/Explain/Assumptions.h"
#include "autopar/Explain/Explain.h"
#include "autopar/Explain/Impacts.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::advice;
using namespace autopar::cost;
using namespace autopar::estimation;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::hardware;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;

namespace {

class Estimator {
public:
  Estimator(const CostProgram &program, const Plan &plan,
            const Machine &machine, const Runtime &runtime, ReportDetail detail)
      : program(program), plan(plan), machine(machine), runtime(runtime),
        detail(detail) {}

  Result<Estimate> operator()(const Step &step) {
    return estimateStep(step.workload);
  }
  Result<Estimate> operator()(const Iteration &iteration) {
    return estimateStep(iteration.workload);
  }
  Result<Estimate> operator()(const Service &service);

private:
  Result<Estimate> estimateStep(const Workload &workload);
  Result<Report> report(const PlanInputs &inputs);
  template <typename Evaluated>
  Report compose(const Evaluated &evaluated);

  const CostProgram &program;
  const Plan &plan;
  const Machine &machine;
  const Runtime &runtime;
  const ReportDetail detail;
};

} // namespace

/// Completes the report on a step or on a pipeline with the details that were
/// requested.
template <typename Evaluated>
Report Estimator::compose(const Evaluated &evaluated) {
  Report report = evaluated.report;
#define SECTION(Name) add##Name(report, machine);
#include "autopar/Report/Sections.def"
  report.assumptions = assumptionsOf(evaluated);
  report.warnings = warningsOf(evaluated);
  if (detail.impact)
    report.impacts = impactsOf(evaluated);
  if (!detail.explain)
    return report;
  Explanations why = explain(evaluated);
  report.derivations = std::move(why.derivations);
#define SECTION(Name) explain##Name(report, machine, report.derivations);
#include "autopar/Report/Sections.def"
  report.byKernel = std::move(why.byKernel);
  report.memoryBandwidthBytesPerS = why.memoryBandwidthBytesPerS;
  report.waterfall = std::move(why.waterfall);
  return report;
}

Result<Report> Estimator::report(const PlanInputs &inputs) {
  if (auto error = checkInputs(inputs))
    return *error;
  if (!plan.pipeline.stages.empty()) {
    Result<std::unique_ptr<EvaluatedPipeline>> pipeline =
        evaluatePipeline(inputs, detail.boundsStages);
    if (!pipeline)
      return pipeline.error();
    return compose(**pipeline);
  }
  if (program.trains())
    return Error{"", "training goes through stages, and the plan has none",
                 "of one stage, training.microbatches says what goes through"};
  Strategy strategy = compile(program, launchingOf(inputs.runtime),
                              Counting::whole, {inputs.workload.phase});
  Result<std::unique_ptr<EvaluatedStep>> step =
      evaluateStep(inputs, strategy, layoutOf(inputs));
  if (!step)
    return step.error();
  return compose(**step);
}

Result<Estimate> Estimator::estimateStep(const Workload &workload) {
  Runtime own = runtimeOf(plan, runtime, workload);
  Result<Report> made = report({program, plan, machine, own, workload});
  if (!made)
    return made.error();
  return Estimate{std::move(*made), workload};
}

/// Adds the assumptions of a service. They replace those assumptions of the
/// step that have the same name.
static void take(Assumptions all, Assumptions &assumptions) {
  for (Assumption &one : all) {
    assumptions.erase(std::remove_if(assumptions.begin(), assumptions.end(),
                                     [&](const Assumption &other) {
                                       return other.name == one.name;
                                     }),
                      assumptions.end());
    assumptions.push_back(std::move(one));
  }
}

/// Drops the advice to run another batch, because the load of a service says
/// how many sequences run, and a single replica may saturate under this load.
static void dropAdviceOnBatch(std::vector<Warning> &warnings) {
  warnings.erase(std::remove_if(warnings.begin(), warnings.end(),
                                [](const Warning &warning) {
                                  return warning.kind == "idle-memory";
                                }),
                 warnings.end());
}

Result<Estimate> Estimator::operator()(const Service &service) {
  Result<EvaluatedService> served = evaluateService(
      program, plan, machine, runtime, service, detail.simulation);
  if (!served)
    return served.error();
  Result<Estimate> made =
      estimateStep(service.showsStep ? service.step : served->serving.step);
  if (!made)
    return made.error();
  Report &report = made->report;
  dropAdviceOnBatch(report.warnings);
  for (Assumption &one : assumptionsOf(served->serving))
    report.assumptions.push_back(std::move(one));
  take(assumptionsOf(program, service, served->encoderUs), report.assumptions);
  report.serving = std::move(served->serving);
  if (detail.explain && report.serving->isServed)
    report.derivations.merge(explainService(report, machine));
  return made;
}

Result<Estimate>
autopar::estimation::estimate(const CostProgram &program, const Plan &plan,
                              const Machine &machine, const Runtime &runtime,
                              const Question &question, ReportDetail detail) {
  return std::visit(Estimator(program, plan, machine, runtime, detail),
                    question);
}

Result<Report>
autopar::estimation::estimate(const CostProgram &program, const Plan &plan,
                              const Machine &machine, const Runtime &runtime,
                              const Workload &workload, ReportDetail detail) {
  Result<Estimate> made =
      estimate(program, plan, machine, runtime, questionOf(workload), detail);
  if (!made)
    return made.error();
  return std::move(made->report);
}

//===- Pipelines.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/Pipelines.h"

#include "PassList.h"
#include "autopar/Hardware/Figures.h"
#include "autopar/Pipelines/PlanPasses.h"
#include "autopar/Plan/PlanText.h"
#include "autopar/Program/RequestTrace.h"
#include "autopar/Support/Count.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"
#include "autopar/Transforms/Passes.h"

#include "mlir/Pass/PassRegistry.h"

#include <cmath>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::transforms;
using namespace mlir;

namespace {

/// Turns options into passes. The plan is read first, from its file and then
/// from the flags; every pass takes its options from the plan.
class PlanPipeline {
public:
  PlanPipeline(OpPassManager &pm, const PlanOptions &options,
               PipelineErrorHandler onError)
      : pm(pm), options(options), onError(onError) {}

  LogicalResult build(FindPlan findPlan) {
    if (failed(verifyPurpose()) || failed(verifyCounts()))
      return failure();
    if (!options.diffPlans.empty())
      return addDiff();
    if (failed(addPlan(!!findPlan)) || (findPlan && failed(findPlan())))
      return failure();
    addEstimate();
    return success();
  }

  FailureOr<PlanRequest> readRequest() {
    if (failed(verifyCounts()))
      return failure();
    FailureOr<Plan> plan = readPlanOptions(options, onError);
    if (failed(plan))
      return failure();
    FailureOr<Target> target = readTarget();
    if (failed(target))
      return failure();
    target->memoryUtilization = plan->memoryUtilization;
    target->prefillChunk = plan->prefillChunk;
    target->launch = {plan->maxSequences, plan->eager};
    FailureOr<RequestsChoice> requests = readRequests();
    if (failed(requests))
      return failure();
    FailureOr<WorkloadChoice> step = readWorkload(requests->isGiven());
    if (failed(step))
      return failure();
    return PlanRequest{std::move(*plan), std::move(*target), *step,
                       std::move(*requests)};
  }

private:
  /// Refuses flags that only a report uses if no report is asked for.
  LogicalResult verifyPurpose() {
    if (!options.diffPlans.empty())
      return verifyDiff();
    if (!options.estimate.empty())
      return verifyBrief();
    std::pair<StringRef, bool> flags[] = {
        {"explain", options.explain},
        {"impact", options.impact},
        {"verbose", options.verbose},
        {"brief", options.brief},
        {"trace", !options.trace.empty()},
        {"simulate", options.simulate != 0},
        {"requests-output", !options.requestsOutput.empty()},
        {"report-output", options.reportOutput.getNumOccurrences() != 0}};
    for (auto [flag, given] : flags)
      if (given)
        return onError("--" + flag + " has no effect without --estimate");
    return success();
  }

  /// Refuses flags that add to a report if the report is brief.
  LogicalResult verifyBrief() {
    if (!options.brief)
      return success();
    if (options.estimate != "text")
      return onError("--brief has no effect on --estimate=" + options.estimate +
                     ": it shortens text");
    for (auto [flag, given] : {std::pair("explain", bool(options.explain)),
                               std::pair("impact", bool(options.impact)),
                               std::pair("verbose", bool(options.verbose))})
      if (given)
        return onError(Twine("--brief leaves out what --") + flag +
                       " adds: give one of them");
    return success();
  }

  LogicalResult verifyDiff() {
    if (!options.plan.empty())
      return onError("--plan and --diff-plans exclude each other");
    for (auto [flag, given] :
         {std::pair("explain", bool(options.explain)),
          std::pair("impact", bool(options.impact)),
          std::pair("verbose", bool(options.verbose)),
          std::pair("brief", bool(options.brief)),
          std::pair("simulate", options.simulate != 0),
          std::pair("requests", !options.requests.empty()),
          std::pair("requests-output", !options.requestsOutput.empty())})
      if (given)
        return onError(Twine("--") + flag +
                       " has no effect with --diff-plans: give --estimate and "
                       "--plan for each of the two");
    if (splitPlans(options.diffPlans.getValue()).size() != 2)
      return onError("--diff-plans=" + options.diffPlans +
                     ": expected two plans, as in --diff-plans='tp8; tp4,pp2' "
                     "or --diff-plans=a.json,b.json");
    return success();
  }

  /// Adds the passes that turn a module into the program of the plan or, if
  /// `isToBeFound`, into the input of a search for a plan.
  LogicalResult addPlan(bool isToBeFound = false) {
    FailureOr<PlanRequest> request = readRequest();
    if (failed(request))
      return failure();
    isToBeFound ? addBindingPasses(pm, std::move(*request))
                : addPlanPasses(pm, std::move(*request));
    return success();
  }

  FailureOr<Target> readTarget() {
    Result<std::vector<Override>> overrides =
        parseOverrides({options.overrides.begin(), options.overrides.end()});
    if (!overrides) {
      (void)onError("--set: " + overrides.error().str());
      return failure();
    }
    Target target;
    if (!options.hardware.empty())
      target.hardware = options.hardware;
    if (!options.runtime.empty())
      target.runtime = options.runtime;
    if (options.nodes != 0)
      target.nodes = options.nodes;
    target.overrides = std::move(*overrides);
    if (failed(readPrice(target)))
      return failure();
    return target;
  }

  /// Reads `--price`, the price of whichever machine is used.
  LogicalResult readPrice(Target &target) {
    auto isPrice = [](double price) {
      return price >= 0 && price <= units::dollarsPerHour.max;
    };
    std::optional<double> price;
    if (failed(readNumber(options.price,
                          "dollars per device-hour, as in --price=2.5", isPrice,
                          price)))
      return failure();
    if (price)
      target.overrides.push_back({"systems.*.price", *price});
    return success();
  }

  FailureOr<RequestsChoice> readRequests() {
    RequestsChoice requests;
    if (failed(readNumber(
            options.rate, "requests per second, from 1e-6 to 1e9",
            [](double rate) { return rate >= 1e-6 && rate <= 1e9; },
            requests.ratePerS)) ||
        failed(readNumbers(requests)))
      return failure();
    if (options.concurrency != 0)
      requests.concurrency = options.concurrency;
    if (requests.ratePerS && requests.concurrency)
      return onError(Error{"",
                           "--rate and --concurrency exclude each other: one "
                           "is an open loop, the other a closed loop",
                           "leave out one of them"}
                         .str());
    requests.answer = options.outputTokens;
    requests.limits = options.sla;
    if (failed(readTrace(requests)))
      return failure();
    if (!requests.isGiven())
      return requests;
    if (requests.prompt.empty())
      requests.prompt = options.prompt;
    for (const Option *lengths : {&options.prompt, &options.outputTokens})
      if (!lengths->empty())
        if (auto read = TokenLengths::parse(*lengths); !read)
          return refuse(*lengths, read.error());
    if (auto limits = parseServiceLimits(options.sla, std::nullopt); !limits)
      return refuse(options.sla, limits.error());
    return requests;
  }

  /// Reads the flags of `requestKnobs`.
  LogicalResult readNumbers(RequestsChoice &requests) {
    for (const auto &[knob, option] : options.requestKnobs()) {
      if (option->empty())
        continue;
      std::optional<std::vector<double>> numbers = readNumbers(*knob, *option);
      if (!numbers)
        return onError("--" + option->getArgStr() + "=" + shorten(*option) +
                       ": expected " + knob->expected + ", " + knob->range() +
                       (knob->example ? ", as in " : "") +
                       (knob->example ? knob->example : ""));
      requests.numbers.push_back({knob, std::move(*numbers)});
    }
    return success();
  }

  /// Parses a list of numbers that lie in the range of `knob`. Returns nothing
  /// if `text` contains anything else.
  static std::optional<std::vector<double>>
  readNumbers(const RequestKnob &knob, const std::string &text) {
    std::vector<double> numbers;
    for (StringRef word :
         knob.isList ? wordsOf(text, ",") : std::vector<std::string>{text})
      if (word.getAsDouble(numbers.emplace_back()) || !knob.has(numbers.back()))
        return std::nullopt;
    if (numbers.empty())
      return std::nullopt;
    return numbers;
  }

  /// A trace gives everything but concurrency and latency limits.
  LogicalResult readTrace(RequestsChoice &requests) {
    if (options.requests.empty()) {
      if (options.seed.getNumOccurrences() != 0 && options.simulate == 0)
        return onError(Error{"", "--seed has no effect without --simulate",
                             "give --simulate as well: it draws requests"}
                           .str());
      if (!options.requestsOutput.empty() && options.simulate == 0)
        return onError(Error{"",
                             "--requests-output has no effect without "
                             "--simulate or --requests",
                             "give --simulate as well, with --rate or "
                             "--concurrency"}
                           .str());
      return success();
    }
    SmallVector<const Option *> said = {&options.rate, &options.prompt,
                                        &options.outputTokens};
    for (const auto &[knob, option] : options.requestKnobs())
      if (knob->isOfTrace)
        said.push_back(option.get());
    for (const Option *flag : said)
      if (!flag->empty())
        return onError(Error{"",
                             "--" + flag->getArgStr().str() +
                                 " and --requests exclude each other: the file "
                                 "says it",
                             "leave out --" + flag->getArgStr().str()}
                           .str());
    if (options.requests == "-")
      return onError("--requests=-: give a file, which is read twice");
    if (options.simulate != 0)
      return onError("--simulate and --requests exclude each other: all "
                     "requests of the file are simulated");
    Result<std::vector<Request>> trace = readRequestTrace(options.requests);
    if (!trace)
      return onError(trace.error().str());
    Requests asked = requestsOf(*trace);
    if (!requests.concurrency && trace->back().arrivalUs == 0)
      return onError("--requests=" + options.requests +
                     ": all requests arrive at once, at no rate; with "
                     "--concurrency=N each arrives when another has ended");
    if (auto error = asked.verify(); error && !requests.concurrency)
      return onError("--requests=" + options.requests + ": " + error->message);
    if (!requests.concurrency)
      requests.ratePerS = asked.ratePerS;
    requests.prompt = asked.prompt.str();
    requests.answer = asked.answer.str();
    for (const RequestKnob &knob : requestKnobs())
      if (knob.isOfTrace)
        requests.numbers.push_back({&knob, knob.get(asked)});
    return success();
  }

  using Option = PlanOptions::Option<std::string>;

  LogicalResult refuse(const Option &option, const Error &error) {
    return onError("--" + option.getArgStr() + "=" + error.str());
  }

  /// Reads a number if `option` is given; `isLegal` must accept the number.
  LogicalResult readNumber(const Option &option, const char *expected,
                           bool (*isLegal)(double),
                           std::optional<double> &number) {
    double value = 0;
    if (option.empty())
      return success();
    if (StringRef(option).getAsDouble(value) || !std::isfinite(value) ||
        !isLegal(value))
      return onError("--" + option.getArgStr() + "=" + option + ": expected " +
                     expected);
    number = value;
    return success();
  }

  /// Reads the sizes of the step. With requests, a prompt may belong to them
  /// instead.
  FailureOr<WorkloadChoice> readWorkload(bool hasRequests) {
    auto given = [](int64_t value, int64_t unset) {
      return value == unset ? std::optional<int64_t>() : value;
    };
    WorkloadChoice step;
    step.phase = parsePhase(options.phase.getValue());
    step.batch = given(options.batch, 0);
    if (!hasRequests && !options.prompt.empty()) {
      step.prompt = parseCount(options.prompt);
      if (!step.prompt || *step.prompt < 1 || *step.prompt > limits::maxTokens)
        return onError(
            "--prompt=" + shorten(options.prompt) +
            ": expected a number from 1 to " +
            std::to_string(limits::maxTokens) +
            (isDistribution(options.prompt)
                 ? "; a distribution of lengths needs a service: --rate=20"
                 : ""));
    }
    step.context = given(options.context, 0);
    // The report on a service shows a decode step, unless the user chose the
    // sizes of the step.
    if (hasRequests && step.phase && *step.phase != Phase::decode &&
        !step.batch && !step.context)
      return onError(
          Error{"",
                "--phase=" + options.phase.getValue() +
                    " has no effect on a service, which prefills and decodes",
                "leave out --phase, or give --batch and --context "
                "of the step"}
              .str());
    step.encoderTokens = given(options.encoderTokens, -1);
    step.crossTokens = given(options.crossTokens, -1);
    return step;
  }

  static bool isDistribution(const std::string &prompt) {
    return prompt.find(':') != std::string::npos && TokenLengths::parse(prompt);
  }

  /// Applies each of the two plans to a clone of the module, which is named
  /// after the plan's file.
  LogicalResult addDiff() {
    std::vector<std::string> plans = splitPlans(options.diffPlans.getValue());
    CloneModulePassOptions clone;
    clone.names = {plans[0], plans[1] + (plans[0] == plans[1] ? "#2" : "")};
    pm.addPass(createCloneModulePass(clone));
    DiffModulesPassOptions diff;
    for (auto [plan, name] : llvm::zip_equal(plans, clone.names)) {
      OpPassManager passes(ModuleOp::getOperationName());
      PlanOptions ofOne;
      ofOne.copyOptionValuesFrom(options);
      ofOne.plan = plan;
      PlanPipeline one(passes, ofOne, onError);
      if (failed(one.addPlan()))
        return failure();
      RunOnModulePassOptions run;
      run.module = name;
      run.pipeline = pipelineText(passes);
      pm.addPass(createRunOnModulePass(std::move(run)));
    }
    fillReport(diff);
    pm.addPass(createDiffModulesPass(std::move(diff)));
    return success();
  }

  /// Checks the ranges of counts that were given, because 0 does not mean
  /// "unset" to a user.
  LogicalResult verifyCounts() {
    if (!options.phase.empty() && !parsePhase(options.phase.getValue()))
      return onError("--phase=" + options.phase +
                     ": expected prefill, decode or train");
    for (const PlanOptions::Count &count : options.counts())
      if (count.option->getNumOccurrences() && !count.has(*count.option))
        return onError(count.refusal(std::to_string(*count.option)));
    return success();
  }

  /// Fills in the options that all reporting passes share.
  template <typename PassOptions>
  void fillReport(PassOptions &report) {
    if (!options.estimate.empty())
      report.format = options.estimate;
    report.output = options.reportOutput;
  }

  void addEstimate() {
    if (options.estimate.empty())
      return;
    EstimatePassOptions estimate;
    fillReport(estimate);
    fillDetail(options, estimate);
    estimate.brief = options.brief;
    estimate.trace = options.trace;
    estimate.requestsOutput = options.requestsOutput;
    pm.addPass(createEstimatePass(std::move(estimate)));
  }

  OpPassManager &pm;
  const PlanOptions &options;
  PipelineErrorHandler onError;
};

} // namespace

FailureOr<PlanRequest>
autopar::pipelines::readPlanRequest(const PlanOptions &options,
                                    PipelineErrorHandler onError) {
  OpPassManager none;
  return PlanPipeline(none, options, onError).readRequest();
}

SmallVector<PlanOptions::Count, 6> PlanOptions::counts() const {
  return {{&batch, 1, limits::maxTokens},
          {&concurrency, 1, limits::maxTokens},
          {&simulate, 1, limits::maxSimulatedRequests},
          {&seed, 0, limits::maxTokens},
          {&context, 1, limits::maxTokens},
          {&encoderTokens, 0, limits::maxTokens},
          {&crossTokens, 0, limits::maxTokens},
          {&nodes, 1, limits::maxDevices}};
}

std::string PlanOptions::Count::refusal(const std::string &text) const {
  return "--" + option->getArgStr().str() + "=" + text +
         ": expected a number from " + std::to_string(least) + " to " +
         std::to_string(most);
}

LogicalResult autopar::pipelines::addPlanPipeline(OpPassManager &pm,
                                                  const PlanOptions &options,
                                                  PipelineErrorHandler onError,
                                                  FindPlan findPlan) {
  return PlanPipeline(pm, options, onError).build(findPlan);
}

void autopar::pipelines::registerPipelines() {
  registerPassPipeline(
      "autopar-plan",
      "Bind, shard and estimate as the product flags of autopar-opt do",
      [](OpPassManager &pm, StringRef text,
         function_ref<LogicalResult(const Twine &)> onError) {
        PlanOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        if (pm.getOpAnchorName() != ModuleOp::getOperationName())
          return onError("autopar-plan works on builtin.module, not on " +
                         pm.getOpAnchorName());
        return addPlanPipeline(pm, options, onError);
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> visit) {
        visit(PlanOptions());
      });
}

//===- QuestionKind.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuestionKind.h"

#include "TargetSearch.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::search;

double QuestionKind::tokensPerS(const Workload &step, int64_t batch,
                                const BatchPrice &price) const {
  bool isDecode = step.phase == Phase::decode;
  auto tokens = static_cast<double>(isDecode ? 1 : step.query);
  return static_cast<double>(batch) * tokens / price.timeUs * 1e6;
}

std::string QuestionKind::atBatch(int64_t batch) const {
  return " at batch " + formatInteger(batch);
}

std::string QuestionKind::phaseKey(const SearchProblem &problem) const {
  return std::string(nameOf(problem.workload().phase));
}

namespace {

class StepKind final : public QuestionKind {
  void price(TargetSearch &search, uint32_t strategy,
             Findings &found) const override {
    search.priceSteps(strategy, found);
  }
  bool hasBounds() const override { return true; }
  std::optional<double>
  stepLimitUs(const SearchProblem &problem) const override {
    return problem.workload().phase == Phase::prefill ? problem.limits.ttftUs
                                                      : problem.limits.tpotUs;
  }
  std::string timed() const override { return "step"; }
  std::string text(const SearchProblem &problem) const override {
    const Workload &step = problem.workload();
    return step.phase == Phase::prefill
               ? "prefill of " + formatInteger(step.query) + " tokens each"
               : "decode at context " + formatInteger(step.context);
  }
};

class IterationKind final : public QuestionKind {
  void price(TargetSearch &search, uint32_t strategy,
             Findings &found) const override {
    search.priceIterations(strategy, found);
  }
  bool comparesMemory() const override { return true; }
  Knob silentKnob() const override { return Knob::attention_tp; }
  std::string timed() const override { return "iteration"; }
  std::string oneTimed() const override { return "an iteration"; }
  std::string text(const SearchProblem &problem) const override {
    return "training on sequences of " +
           formatInteger(problem.workload().query) + " tokens";
  }
};

class RequestsKind final : public QuestionKind {
  void price(TargetSearch &search, uint32_t strategy,
             Findings &found) const override {
    search.priceRequests(strategy, found);
  }
  bool hasTokenTimes() const override { return true; }
  double tokensPerS(const Workload &, int64_t,
                    const BatchPrice &price) const override {
    return price.tokensPerS;
  }
  std::string timed() const override { return "request"; }
  std::string text(const SearchProblem &problem) const override {
    const auto &asked = std::get<FollowingRequests>(problem.question);
    return "requests of " + formatInteger(asked.prompt) + " tokens and " +
           formatInteger(asked.answer) + " of answer";
  }
  std::string batchWord() const override { return "at once"; }
  std::string batchesWord() const override { return "requests at once"; }
  std::string atBatch(int64_t batch) const override {
    return " with " + formatInteger(batch) + " at once";
  }
  std::string phaseKey(const SearchProblem &) const override {
    return "request";
  }
  std::string timeKey() const override { return "request_time_us"; }
};

struct KindOf {
  const QuestionKind &operator()(const Step &) const {
    static const StepKind kind;
    return kind;
  }
  const QuestionKind &operator()(const Iteration &) const {
    static const IterationKind kind;
    return kind;
  }
  const QuestionKind &operator()(const FollowingRequests &) const {
    static const RequestsKind kind;
    return kind;
  }
};

struct StepOf {
  const Workload &operator()(const Step &step) const { return step.workload; }
  const Workload &operator()(const Iteration &iteration) const {
    return iteration.workload;
  }
  const Workload &operator()(const FollowingRequests &requests) const {
    return requests.step;
  }
};

} // namespace

const QuestionKind &SearchProblem::kind() const {
  return std::visit(KindOf(), question);
}

std::optional<double> SearchProblem::stepLimitUs() const {
  return kind().stepLimitUs(*this);
}

const Workload &SearchProblem::workload() const {
  return std::visit(StepOf(), question);
}

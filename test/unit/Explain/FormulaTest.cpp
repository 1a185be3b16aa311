//===- FormulaTest.cpp - Derivations evaluate from their inputs -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"
#include "autopar/Write/Json.h"

#include "../Cost/TrainingFixtures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::estimation;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;
using namespace autopar::writing;
using nlohmann::json;

namespace {

/// Evaluates a formula, whose names are the last parts of those of the inputs.
class Evaluator {
public:
  explicit Evaluator(const Derivation &derivation) : derivation(derivation) {}

  /// Nothing where the formula is no expression of its inputs.
  std::optional<double> evaluate() {
    double value = comparison();
    return failed || *rest ? std::nullopt : std::optional<double>(value);
  }

private:
  bool take(const char *token);
  std::string word();
  double comparison();
  double sum();
  double product();
  double factor();
  double call(const std::string &function);
  double input(const std::string &name);

  const Derivation &derivation;
  const char *rest = derivation.formula.c_str();
  bool failed = false;
};

} // namespace

bool Evaluator::take(const char *token) {
  while (*rest == ' ')
    ++rest;
  size_t length = std::strlen(token);
  if (std::strncmp(rest, token, length) != 0)
    return false;
  rest += length;
  return true;
}

std::string Evaluator::word() {
  const char *begin = rest;
  while (std::isalnum(static_cast<unsigned char>(*rest)) || *rest == '_')
    ++rest;
  return std::string(begin, rest);
}

double Evaluator::comparison() {
  double left = sum();
  if (take("<="))
    return left <= sum();
  return take(">") ? left > sum() : left;
}

double Evaluator::sum() {
  double value = product();
  while (true)
    if (take("+"))
      value += product();
    else if (take("-"))
      value -= product();
    else
      return value;
}

double Evaluator::product() {
  double value = factor();
  while (true)
    if (take("*"))
      value *= factor();
    else if (take("/"))
      value /= factor();
    else
      return value;
}

double Evaluator::factor() {
  if (take("(")) {
    double value = comparison();
    failed |= !take(")");
    return value;
  }
  take("");
  if (std::isdigit(static_cast<unsigned char>(*rest))) {
    char *end = nullptr;
    double value = std::strtod(rest, &end);
    rest = end;
    return value;
  }
  std::string name = word();
  if (name.empty())
    failed = true;
  return !name.empty() && take("(") ? call(name) : input(name);
}

double Evaluator::call(const std::string &function) {
  double value = comparison();
  while (take(",")) {
    double other = comparison();
    failed |= function != "max" && function != "min";
    value = function == "max" ? std::max(value, other) : std::min(value, other);
  }
  failed |= !take(")");
  if (function == "floor")
    return std::floor(value);
  if (function == "ceil")
    return std::ceil(value);
  if (function == "log2")
    return std::log2(value);
  failed |= function != "max" && function != "min";
  return value;
}

double Evaluator::input(const std::string &name) {
  for (const auto &[path, value] : derivation.inputs)
    if (path.substr(path.rfind('.') + 1) == name)
      return std::strtod(value.c_str(), nullptr);
  failed = true;
  return 0;
}

/// Formulas in words, of numbers that have none, and of curves.
static bool isExpression(const std::string &formula) {
  for (const char *words :
       {"sum of the inputs", "sum over", "the input", "product of",
        "largest of", "given", "1 where", "1 of", "curve", "time_us)), f = "})
    if (formula.find(words) != std::string::npos)
      return false;
  return true;
}

/// How many formulas of `report` are expressions; all give its numbers.
static int checkExpressions(const Report &report) {
  json root = json::parse(writeJson(report));
  int expressions = 0;
  for (const auto &[path, derivation] : report.derivations) {
    if (!isExpression(derivation.formula))
      continue;
    std::optional<double> value = Evaluator(derivation).evaluate();
    EXPECT_TRUE(value) << path << " = " << derivation.formula;
    json expected = numberAt(root, path);
    if (!value || expected.is_null())
      continue;
    ++expressions;
    double number =
        expected.is_boolean() ? expected.get<bool>() : expected.get<double>();
    // Calls take whole picoseconds; their wire bytes are rounded up to whole
    // ones, each of which takes 2.8 at 360 GB/s.
    bool isCall = path.rfind("communication.", 0) == 0;
    EXPECT_NEAR(*value, number,
                std::max(isCall ? 3.3e-6 : 0, 1e-9 * std::fabs(number)))
        << path << " = " << derivation.formula;
  }
  return expressions;
}

TEST(Formulas, EvaluateFromTheirInputs) {
  Decoder small{64, 3, 8, 2, 16, 128, 250};
  small.window = 20;
  Runtime profiles = makeBusyRuntime();
  profiles.profileTokens = {
      8192, {"datasheet", "test"}, "runtimes.test.tokens"};
  for (const CostProgram &program :
       {makeDecoder(), makeDecoder(small), makeBorderedDecoder(),
        makeExperts(6, 8, {5, 1, 2, 7, 1, 1})})
    for (const Runtime &runtime : {makeRuntime(), makeBusyRuntime(), profiles})
      for (int64_t devices : {1, 2, 8}) {
        Result<Report> report =
            estimate(program, makePlan(devices), makeMeasuredMachine(), runtime,
                     prefill(3, 50), {/*explain=*/true});
        ASSERT_TRUE(report) << report.error().str();
        EXPECT_GE(checkExpressions(*report), 9);
      }
}

/// A budget that the weights alone are above leaves nothing.
TEST(Formulas, EvaluateWhereNothingFits) {
  Plan plan = makePlan(1);
  plan.memoryUtilization = 0.25;
  Result<Report> report =
      estimate(makeDecoder(), plan, makeMachine(), makeBusyRuntime(),
               decode(4, 4097), {/*explain=*/true});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->memory.kvCapacityBytes, 0);
  EXPECT_GE(checkExpressions(*report), 9);
}

/// Those of stages, and of what they hand on.
TEST(Formulas, EvaluateOfStages) {
  Plan plan = makePlan(4);
  plan.axes.insert(plan.axes.begin(), {"pp", 4});
  plan.pipeline.interleave = 1;
  plan.pipeline.microbatches = 2;
  for (int64_t i = 0; i < 4; ++i)
    plan.pipeline.stages.push_back({20 * i, 20 * i + 20});
  for (bool ideal : {false, true})
    for (ScheduleKind kind :
         {ScheduleKind::inference, ScheduleKind::one_f_one_b}) {
      plan.pipeline.schedule = kind;
      Runtime runtime = makeBusyRuntime();
      runtime.ideal = ideal;
      Result<Report> report =
          estimate(makeBorderedStack(), plan, makeMeasuredMachine(8), runtime,
                   prefill(4, 2048), {/*explain=*/true});
      ASSERT_TRUE(report) << report.error().str();
      EXPECT_GE(checkExpressions(*report), 20);
    }
}

/// Those of iterations of training.
TEST(Formulas, EvaluateOfIterations) {
  Runtime runtime = makeBusyRuntime();
  for (bool saysHow : {false, true}) {
    if (saysHow)
      runtime.training = makeTrainingFigures();
    for (ScheduleKind kind :
         {ScheduleKind::one_f_one_b, ScheduleKind::zero_bubble}) {
      Result<Report> report = estimate(
          makeTrained(), makeTrainingPlan(4, 2, 2, 8, kind),
          makeMeasuredMachine(8), runtime, train(16, 512), {/*explain=*/true});
      ASSERT_TRUE(report) << report.error().str();
      EXPECT_GE(checkExpressions(*report), 60);
    }
  }
}

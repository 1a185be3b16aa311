//===- TrainingTest.cpp - Reports of iterations ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Cost/TrainingFixtures.h"

#include "autopar/Report/Evaluate.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::test;
using nlohmann::json;

static Runtime makeTrainer() {
  Runtime runtime = makeRuntime();
  runtime.training = makeTrainingFigures();
  return runtime;
}

static Report trained(const Plan &plan, const Workload &workload,
                      const Runtime &runtime = makeTrainer(),
                      bool explain = false) {
  Result<Report> report = evaluate(makeTrained(), plan, makeMachine(8), runtime,
                                   workload, {explain});
  EXPECT_TRUE(report) << (report ? "" : report.error().str());
  return report ? *report : Report();
}

TEST(Training, ReportsAnIteration) {
  Report report = trained(makeTrainingPlan(2, 2, 2, 4), train(16, 512));
  std::puts(writeText(report).c_str());
  std::puts(writeJson(report).c_str());
}

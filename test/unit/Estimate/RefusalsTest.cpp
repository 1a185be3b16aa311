//===- RefusalsTest.cpp - What keeps a plan from being priced -------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"

#include "../Cost/Fixtures.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::test;

/// The refusal of a kernel whose rows are `rows`, on 8 devices.
static Error refusedRows(const Dim &rows) {
  CostProgram program;
  program.model = "rows";
  program.axes = {"tp"};
  program.layers = {{"layer", 1}};
  Kernel &kernel = program.kernels.emplace_back();
  kernel.name = "layer/q_proj";
  kernel.flopFactor = 2;
  kernel.rows = {rows};
  Result<Report> report = estimate(program, makePlan(8), makeMachine(),
                                   makeRuntime(), prefill(1, 1));
  EXPECT_FALSE(report);
  return report ? Error() : report.error();
}

TEST(Refusals, SplitsSayTheirNumbers) {
  EXPECT_EQ(refusedRows(split(12)).message,
            "kernel 'layer/q_proj': 12 does not divide by tp = 8");
  EXPECT_EQ(refusedRows(split(12, SplitRule::cap)).message,
            "kernel 'layer/q_proj': 12 does not divide by tp = 8, nor the "
            "other way round");
  EXPECT_EQ(refusedRows(split(3, SplitRule::cap)).note,
            "sizes that work: 1, 3, 6, 9, 12, 15, 18, 21, 24, 27");
}

TEST(Refusals, CurvesHaveCertainExponents) {
  Machine machine = makeMeasuredMachine();
  machine.pools[0].chip.kernels[KernelKind::matmul]["bf16"].exponent = 2.5;
  Result<Report> report = estimate(makeDecoder(), makePlan(8), machine,
                                   makeRuntime(), prefill(1, 16));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "exponent 2.5 of the matmul curve of h100-sxm is not 1, 1.5, 2, 3 "
            "or 4");
}

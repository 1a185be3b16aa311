//===- TrainingFixtures.h - A program of training ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_UNIT_COST_TRAININGFIXTURES_H
#define AUTOPAR_TEST_UNIT_COST_TRAININGFIXTURES_H

#include "Fixtures.h"

namespace autopar::test {

/// A stack of products of `hidden` x 4 `hidden`, behind a table and before a
/// head of `vocabulary` x `hidden`, split by "tp", its sequences by "dp": with
/// backwards and an Adam whose states "dp" splits, after a reduction of all
/// gradients, and whose weights are gathered.
struct Trained {
  int64_t hidden = 1024, layers = 8, vocabulary = 32000;
};
program::CostProgram makeTrained(const Trained &sizes = {});

/// Figures of a framework that overlaps what it can.
runtime::TrainingFigures makeTrainingFigures();
plan::Plan makeTrainingPlan(
    int64_t stages, int64_t dataParallel, int64_t tensorParallel,
    int64_t microbatches,
    schedule::ScheduleKind schedule = schedule::ScheduleKind::one_f_one_b,
    int64_t interleave = 1, int64_t layers = 8);
program::Workload train(int64_t batchSize, int64_t tokens);

} // namespace autopar::test

#endif // AUTOPAR_TEST_UNIT_COST_TRAININGFIXTURES_H

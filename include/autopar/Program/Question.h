//===- Question.h - Questions that estimates answer -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_QUESTION_H
#define AUTOPAR_PROGRAM_QUESTION_H

#include "autopar/Program/Requests.h"
#include "autopar/Program/Workload.h"

#include <variant>

namespace autopar::program {

/// Asks for one prefill or decode step.
struct Step {
  Workload workload;
};

/// The question how long one training iteration takes.
struct Iteration {
  Workload workload;
};

/// Asks for a service with arriving requests. Each request has the encoder
/// tokens and cross tokens of `step`, besides its text.
struct Service {
  Requests requests;
  Workload step;
  /// Whether the report shows the step `step`, instead of the decode step of
  /// the steady state.
  bool showsStep = false;
};

using Question = std::variant<Step, Iteration, Service>;

/// Returns the question that a workload alone asks: a training iteration if its
/// phase is `train`, else a step.
Question questionOf(const Workload &workload);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_QUESTION_H

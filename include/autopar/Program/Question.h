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

/// One step of a prefill or of decoding.
struct Step {
  Workload workload;
};

/// One iteration of training.
struct Iteration {
  Workload workload;
};

/// Requests that arrive at engines. Besides its text, each request has the
/// encoder tokens and the cross tokens of `step`.
struct Service {
  Requests requests;
  Workload step;
  /// Whether the step that a report shows is `step`, and not the one that
  /// decodes in the steady state.
  bool showsStep = false;
};

using Question = std::variant<Step, Iteration, Service>;

/// The question for a workload: a step, or an iteration if its phase is
/// `train`.
Question questionOf(const Workload &workload);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_QUESTION_H

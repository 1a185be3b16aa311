//===- TrainingParts.h - Parts of what is said of an iteration ---*- C++
//-*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_EXPLAIN_TRAININGPARTS_H
#define AUTOPAR_LIB_EXPLAIN_TRAININGPARTS_H

#include "Explanation.h"

namespace autopar::explanation {

// Each function adds some derivations to the `derivations` of an iteration's
// report.

/// Explains the sum of gradients whose weight has copies at both ends of a
/// pipeline.
void explainCopies(const evaluation::EvaluatedIteration &iteration,
                   Derivations &derivations);
/// Explains how many tokens experts accept and drop.
void explainCapacity(const evaluation::EvaluatedIteration &iteration,
                     const report::Report &report, Derivations &derivations);
/// Explains the FLOPs of each section of a step of the whole model.
void explainTrainingFlops(const evaluation::EvaluatedStep &whole,
                          Derivations &derivations);
void explainTraining(const evaluation::EvaluatedIteration &iteration,
                     const report::Report &report, Derivations &derivations);

} // namespace autopar::explanation

#endif // AUTOPAR_LIB_EXPLAIN_TRAININGPARTS_H

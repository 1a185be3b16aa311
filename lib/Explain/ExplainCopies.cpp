//===- ExplainCopies.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingParts.h"

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::program;

/// Explains the bytes of copied gradients by the gradients of the first
/// pipeline stage.
static Explanation explainBytes(const EvaluatedIteration &iteration,
                                const Derivations &derivations) {
  const CostProgram &program = iteration.parts.program;
  const auto &all = derivations.at("memory.per_stage[0].gradient_bytes").inputs;
  Explanation sum;
  for (const Resident &gradient : program.residents)
    for (const auto &[name, value] : all)
      if (gradient.kind == Resident::Kind::gradient &&
          isCopied(program, gradient) && name == recordName(program, gradient))
        sum.input(name, value);
  return sum.formula("sum of the inputs")
      .note("the first and the last stage each have a copy")
      .from("cost program of the IR");
}

void autopar::explanation::explainCopies(const EvaluatedIteration &iteration,
                                         Derivations &derivations) {
  if (!iteration.copies)
    return;
  const std::string folder = "training.copied_gradients.";
  auto add = [&](const char *name, Explanation explanation) {
    derivations[folder + name] = std::move(explanation.derivation);
  };
  add("bytes", explainBytes(iteration, derivations));
  const PipelineParts &parts = iteration.parts;
  add("time_us", explainPair(parts.machine.pools.front(), parts.runtime.ideal,
                             CollectiveKind::all_reduce, iteration.copies->tier,
                             folder, iteration.copies->bytes));
}

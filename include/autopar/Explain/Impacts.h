//===- Impacts.h - The effect of 1 % of each figure -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EXPLAIN_IMPACTS_H
#define AUTOPAR_EXPLAIN_IMPACTS_H

#include "autopar/Evaluate/EvaluatedPipeline.h"

namespace autopar::explanation {

/// Returns how much each figure affects the result, sorted by falling effect on
/// the step time, then on memory.
std::vector<report::Impact> impactsOf(const evaluation::EvaluatedStep &step);
std::vector<report::Impact>
impactsOf(const evaluation::EvaluatedPipeline &pipeline);

} // namespace autopar::explanation

#endif // AUTOPAR_EXPLAIN_IMPACTS_H

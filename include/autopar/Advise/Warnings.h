//===- Warnings.h - Warnings about a plan -----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_ADVISE_WARNINGS_H
#define AUTOPAR_ADVISE_WARNINGS_H

#include "autopar/Evaluate/EvaluatedPipeline.h"

namespace autopar::advice {

/// Returns the warnings about a priced plan, most of them with an alternative
/// that was priced and works.
std::vector<report::Warning> warningsOf(const evaluation::EvaluatedStep &step);
std::vector<report::Warning>
warningsOf(const evaluation::EvaluatedPipeline &pipeline);

} // namespace autopar::advice

#endif // AUTOPAR_ADVISE_WARNINGS_H

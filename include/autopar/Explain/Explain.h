//===- Explain.h - How the numbers of a report came about -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EXPLAIN_EXPLAIN_H
#define AUTOPAR_EXPLAIN_EXPLAIN_H

#include "autopar/Evaluate/EvaluatedPipeline.h"

namespace autopar::explanation {

using Derivations = std::map<std::string, report::Derivation>;

/// What a report says beyond its numbers, of each number how it came about.
struct Explanations {
  Derivations derivations;
  std::vector<report::KernelRow> byKernel;
  /// Of the chip.
  double memoryBandwidthBytesPerS = 0;
  /// The time of the step as a sum; empty where backwards are assumed.
  std::vector<report::WaterfallStep> waterfall;
};
Explanations explain(const evaluation::EvaluatedStep &step);
Explanations explain(const evaluation::EvaluatedPipeline &pipeline);
/// Of what tokens of a report on `machine` cost and draw.
Derivations explainCosts(const report::Report &report,
                         const hardware::Machine &machine);
/// Of the service of a report that has one.
Derivations explainService(const report::Report &report,
                           const hardware::Machine &machine);

} // namespace autopar::explanation

#endif // AUTOPAR_EXPLAIN_EXPLAIN_H

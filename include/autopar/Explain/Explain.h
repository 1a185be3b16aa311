//===- Explain.h - Derivations of a report's numbers ------------*- C++ -*-===//
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

/// The explanations of a report: for each number its derivation, and tables
/// that divide the step's time.
struct Explanations {
  Derivations derivations;
  std::vector<report::KernelRow> byKernel;
  /// The memory bandwidth of the chip in bytes/s.
  double memoryBandwidthBytesPerS = 0;
  /// The step's time as a sum of terms; empty if the time of backwards is
  /// assumed as a multiple of the forward's.
  std::vector<report::WaterfallStep> waterfall;
};
Explanations explain(const evaluation::EvaluatedStep &step);
Explanations explain(const evaluation::EvaluatedPipeline &pipeline);
// Declares, for each section of a report, the function that adds its
// derivations for a report on `machine`.
#define SECTION(Name)                                                          \
  void explain##Name(const report::Report &report,                             \
                     const hardware::Machine &machine,                         \
                     Derivations &derivations);
#include "autopar/Report/Sections.def"
/// Returns the derivations of the numbers in the report's section on serving.
Derivations explainService(const report::Report &report,
                           const hardware::Machine &machine);

} // namespace autopar::explanation

#endif // AUTOPAR_EXPLAIN_EXPLAIN_H

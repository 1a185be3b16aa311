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

/// The explanations of a report: the derivation of each number, and tables.
struct Explanations {
  Derivations derivations;
  std::vector<report::KernelRow> byKernel;
  /// Bandwidth of the chip.
  double memoryBandwidthBytesPerS = 0;
  /// The time of the step as a sum; empty if the time of backwards is assumed.
  std::vector<report::WaterfallStep> waterfall;
};
Explanations explain(const evaluation::EvaluatedStep &step);
Explanations explain(const evaluation::EvaluatedPipeline &pipeline);
// Each adds the derivations of its section of a report on `machine`.
#define SECTION(Name)                                                          \
  void explain##Name(const report::Report &report,                             \
                     const hardware::Machine &machine,                         \
                     Derivations &derivations);
#include "autopar/Report/Sections.def"
/// Derivations of the numbers of a report's service.
Derivations explainService(const report::Report &report,
                           const hardware::Machine &machine);

} // namespace autopar::explanation

#endif // AUTOPAR_EXPLAIN_EXPLAIN_H

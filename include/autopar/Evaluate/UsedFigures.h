//===- UsedFigures.h - Figures that a step's numbers use --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_USEDFIGURES_H
#define AUTOPAR_EVALUATE_USEDFIGURES_H

#include "autopar/Evaluate/EvaluatedStep.h"

namespace autopar::evaluation {

/// The hardware and runtime figures, and the measured curves, that a step's
/// report uses.
struct UsedFigures {
  std::vector<const hardware::Figure *> figures;
  std::vector<std::pair<program::KernelKind, const hardware::KernelCurve *>>
      curves;
  std::vector<program::KernelKind> kindsWithoutCurve;
  /// Descriptions of launches that are larger than any launch to which their
  /// curve was fitted.
  std::vector<std::string> beyondFit;
};
UsedFigures figuresOf(const EvaluatedStep &step);

/// Returns the part of a curve's path that says what it is for:
/// "grouped_matmul.bf16" for "chips.h100-sxm.kernels.grouped_matmul.bf16".
std::string useOf(const hardware::KernelCurve &curve);
/// Whether curves named `use` serve kernels of any number format.
bool servesAll(std::string_view use);
/// Returns the name that a curve measured for `kernel` would have, if `curve`,
/// which prices it, was measured for other kernels; else "".
std::string substitutedUse(const PricedStep &step,
                           const program::Kernel &kernel,
                           const hardware::KernelCurve &curve);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_USEDFIGURES_H

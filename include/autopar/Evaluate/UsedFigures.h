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

/// The figures and curves that a number of a report uses.
struct UsedFigures {
  std::vector<const hardware::Figure *> figures;
  std::vector<std::pair<program::KernelKind, const hardware::KernelCurve *>>
      curves;
  std::vector<program::KernelKind> kindsWithoutCurve;
  /// Launches larger than any that their curve was fitted to.
  std::vector<std::string> beyondFit;
};
UsedFigures figuresOf(const EvaluatedStep &step);

/// Returns "grouped_matmul.bf16" for
/// "chips.h100-sxm.kernels.grouped_matmul.bf16".
std::string useOf(const hardware::KernelCurve &curve);
/// Whether curves of `use` are of kernels of any format.
bool servesAll(std::string_view use);
/// If `curve`, which prices `kernel`, was measured on other kernels, the name
/// that a curve of its own would have; else "".
std::string substitutedUse(const PricedStep &step,
                           const program::Kernel &kernel,
                           const hardware::KernelCurve &curve);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_USEDFIGURES_H

//===- ExpertFormulas.h - What tokens ask experts for -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_EXPERTFORMULAS_H
#define AUTOPAR_LIB_COST_EXPERTFORMULAS_H

#include "Formulas.h"

namespace autopar::cost {

/// The formulas of one kernel's rows and experts, of the device that has most
/// of them.
class ExpertFormulas {
public:
  ExpertFormulas(Formulas &formulas, uint32_t kernel);

  /// Of the kernel's rows, and of an activation of them; `even` is what the
  /// mean device has.
  Expr rows(Expr even, const Groups &groups);
  Expr elements(Expr even, const Groups &groups);
  /// The share of the experts `weights` that tokens reach.
  Expr reached(const program::Traffic &weights, const Groups &groups);

private:
  Expr local(const program::Dims &dims, const Groups &groups) {
    return formulas.local(dims, ref, groups);
  }
  Expr dispersion(Expr experts, Expr ranks);
  Expr busiest(const Groups &groups);

  Formulas &formulas;
  const program::Kernel &kernel;
  RecordRef ref;
  /// Null where all devices are alike.
  const program::Traffic *shared;
};

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_EXPERTFORMULAS_H

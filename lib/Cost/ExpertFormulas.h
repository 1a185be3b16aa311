//===- ExpertFormulas.h - Tokens and their experts --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_EXPERTFORMULAS_H
#define AUTOPAR_LIB_COST_EXPERTFORMULAS_H

#include "Formulas.h"

namespace autopar::cost {

/// Writes the formulas of one kernel's rows and experts on the most loaded
/// device.
class ExpertFormulas {
public:
  ExpertFormulas(Formulas &formulas, uint32_t kernel);

  /// `rows` returns the rows of the kernel, `elements` the elements of an
  /// activation with these rows, both on the most loaded device. `even` is the
  /// value on a device with the mean load.
  Expr rows(Expr even, const Groups &groups);
  Expr elements(Expr even, const Groups &groups);
  /// Returns the share of the experts in `weights` that tokens reach.
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
  /// The weights of the experts that the devices share among them; null if all
  /// devices have the same load.
  const program::Traffic *shared;
};

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_EXPERTFORMULAS_H

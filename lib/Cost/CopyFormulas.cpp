//===- CopyFormulas.cpp - Gradients that two stages have ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"

#include "autopar/Program/Stages.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

/// The sums run over all records of the program, not over those of one part:
/// both ends of a copy hold the same bytes.
void autopar::cost::addCopyFormulas(Formulas &formulas) {
  const std::vector<Resident> &residents = formulas.program.residents;
  Expr sum = formulas.number(0);
  for (size_t i = 0; i < residents.size(); ++i)
    if (residents[i].kind == Resident::Kind::gradient &&
        isCopied(formulas.program, residents[i]))
      sum += formulas.number(residents[i].count) *
             Expr(formulas.graph, formulas.strategy.residents[i].localBytes);
  formulas.strategy.total.copiedGradientBytes = sum.node();
}

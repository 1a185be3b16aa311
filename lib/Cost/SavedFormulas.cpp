//===- SavedFormulas.cpp - Values saved for the backward ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

void autopar::cost::addSavedFormulas(Formulas &formulas) {
  const std::vector<Saved> &saved = formulas.program.saved;
  Expr sum = formulas.number(0);
  for (uint32_t i = 0; i < saved.size(); ++i) {
    const Saved &value = saved[i];
    Expr elements = formulas.local(value.shape, {RecordRef::Kind::saved, i});
    Expr bytes =
        formulas.bytes(formulas.ofChunk(elements, value.chunks), value.type);
    formulas.strategy.saved.push_back(bytes.node());
    sum += formulas.countOf(value.layer, value.count) * bytes;
  }
  formulas.strategy.total.savedBytes = sum.node();
}

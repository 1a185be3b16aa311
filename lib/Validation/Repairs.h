//===- Repairs.h - Rows as they were meant ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_REPAIRS_H
#define AUTOPAR_VALIDATION_REPAIRS_H

#include "autopar/Validation/Rules.h"

#include <set>

namespace autopar::validation {

/// The enabled repairs of a table.
class Repairs {
public:
  /// `rows` say which sources store products of degrees. `rules` outlive it.
  Repairs(const std::vector<ServingRow> &rows, const RuleSet &rules);

  void apply(ServingRow &row, RowJudgement &judgement) const;

private:
  double smallestDegree() const;
  void applyToDegrees(ServingRow &row, RowJudgement &judgement) const;
  void applyToPools(ServingRow &row, RowJudgement &judgement) const;

  const RuleSet &rules;
  std::set<std::string> sourcesOfProducts;
};

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_REPAIRS_H

//===- Repairs.h - Rows as they were meant ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_REPAIRS_H
#define AUTOPAR_VALIDATION_REPAIRS_H

#include "autopar/Validation/Rules.h"

namespace autopar {

/// Applies the enabled repairs to an aggregated row.
void repairRow(ServingRow &row, const RuleSet &rules, RowJudgement &judgement);

} // namespace autopar

#endif // AUTOPAR_VALIDATION_REPAIRS_H

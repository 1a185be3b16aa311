//===- MoneyText.h ----------------------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_WRITE_MONEYTEXT_H
#define AUTOPAR_WRITE_MONEYTEXT_H

#include "autopar/Report/Report.h"
#include "autopar/Support/TextTables.h"

namespace autopar::writing {

/// Adds rows for the dollars and the joules per token, if they are known.
void addCostRows(TextTable &table, const report::Report &report);
/// Returns an amount of dollars with three digits: "$0.42".
std::string dollarText(double dollars);
/// Returns an energy, given in joules, with its unit: "3.1 J".
std::string energyText(double joules);

} // namespace autopar::writing

#endif // AUTOPAR_WRITE_MONEYTEXT_H

//===- MoneyText.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Write/MoneyText.h"

#include "autopar/Write/Phrases.h"

using namespace autopar;
using namespace autopar::report;
using namespace autopar::writing;

/// Returns an amount of money with two decimals and separators, "2,158.67";
/// below 1 with three significant digits.
static std::string amount(double value) {
  if (value < 1)
    return print("%#.3g", value);
  std::string text = print("%.2f", value);
  for (size_t end = text.size() - 3; end > 3; end -= 3)
    text.insert(end - 3, ",");
  return text;
}

std::string autopar::writing::dollarText(double dollars) {
  return "$" + amount(dollars);
}

std::string autopar::writing::energyText(double joules) {
  if (joules >= 1e6)
    return amount(joules / 1e6) + " MJ";
  return joules >= 1e4 ? amount(joules / 1e3) + " kJ" : amount(joules) + " J";
}

void autopar::writing::addCostRows(TextTable &table, const Report &report) {
  const auto &cost = report.cost;
  std::string kind(tokenKind(report));
  if (cost.dollarsPerMillionTokens)
    table.add({"price", dollarText(*cost.dollarsPerMillionTokens) +
                            " per million " + kind + " tokens, at " +
                            dollarText(*cost.dollarsPerDeviceHour) +
                            " per device-hour"});
  if (!cost.joulesPerToken)
    return;
  std::string idle =
      cost.idlePowerW ? ", " + print("%g W", *cost.idlePowerW) + " idle" : "";
  table.add({"energy", "at most " + energyText(*cost.joulesPerToken) + " per " +
                           kind + " token, at " +
                           print("%g W", *cost.boardPowerW) + " per device" +
                           idle});
}

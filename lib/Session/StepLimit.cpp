//===- StepLimit.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/StepLimit.h"

#include "autopar/Support/Text.h"

#include "llvm/ADT/StringRef.h"

using namespace autopar;

Result<std::optional<double>> autopar::parseStepLimit(const std::string &text,
                                                      Phase phase) {
  if (text.empty())
    return std::optional<double>();
  bool isPrefill = phase == Phase::prefill;
  std::string name = isPrefill ? "ttft" : "tpot";
  llvm::StringRef rest = text;
  double value = 0;
  constexpr std::pair<const char *, double> units[] = {
      {"us", 1}, {"ms", 1e3}, {"s", 1e6}};
  if (rest.consume_front(name) && rest.consume_front(":"))
    for (auto [unit, us] : units) {
      llvm::StringRef digits = rest;
      if (digits.consume_back(unit) && !digits.getAsDouble(value) && value > 0)
        return std::optional<double>(value * us);
    }
  return Error{"",
               "--sla=" + shorten(text) + ": expected " + name + " and a time",
               "as in --sla=" + name + (isPrefill ? ":500ms" : ":30ms")};
}

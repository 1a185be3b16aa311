//===- ServiceLimits.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/RequestKnobs.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <charconv>
#include <cmath>

using namespace autopar;
using namespace autopar::program;

/// Parses a time such as "30ms". Returns it in us.
static std::optional<double> readTime(std::string_view text) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"us", 1}, {"ms", 1e3}, {"s", 1e6}};
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view rest = text.substr(end - text.data());
  for (auto [unit, us] : units)
    if (error == std::errc() && rest == unit && value > 0 &&
        std::isfinite(value * us))
      return value * us;
  return std::nullopt;
}

Result<ServiceLimits>
autopar::program::parseServiceLimits(const std::string &text,
                                     std::optional<Phase> phase) {
  ServiceLimits limits;
  if (phase == Phase::train && !text.empty())
    return Error{
        "",
        shorten(text) +
            ": training serves no requests, so it has no ttft or tpot to limit",
        "leave it out"};
  std::string example = !phase                     ? "ttft:500ms,tpot:30ms"
                        : *phase == Phase::prefill ? "ttft:500ms"
                                                   : "tpot:30ms";
  std::string names = !phase                     ? "ttft, tpot"
                      : *phase == Phase::prefill ? "ttft"
                                                 : "tpot";
  for (const std::string &word : wordsOf(text, ",")) {
    size_t colon = std::min(word.find(':'), word.size());
    std::string name = word.substr(0, colon);
    std::optional<double> us =
        colon == word.size()
            ? std::nullopt
            : readTime(std::string_view(word).substr(colon + 1));
    if (us && name == "ttft" && phase != Phase::decode)
      limits.ttftUs = us;
    else if (us && name == "tpot" && phase != Phase::prefill)
      limits.tpotUs = us;
    else
      return Error{"", shorten(text) + ": expected " + names + " and a time",
                   "as in " + example};
  }
  return limits;
}

std::optional<Error> Requests::verify() const {
  constexpr double minRate = 1e-6, maxRate = 1e9;
  auto refuse = [](const char *name, double value,
                   const std::string &expected) {
    return Error{"",
                 std::string(name) + " = " + formatNumber(value) +
                     ": expected a number " + expected,
                 ""};
  };
  if (ratePerS != 0 && concurrency != 0)
    return Error{"", "both a rate and a concurrency",
                 "a rate is an open loop, a concurrency a closed loop"};
  if (concurrency == 0 && !(ratePerS >= minRate && ratePerS <= maxRate))
    return refuse("rate", ratePerS, "from 1e-6 to 1e9");
  if (concurrency < 0 || concurrency > limits::maxTokens)
    return refuse("concurrency", static_cast<double>(concurrency),
                  "above 0, up to 1099511627776");
  constexpr size_t maxDrafts = 64;
  if (acceptance.size() > maxDrafts)
    return Error{"",
                 std::to_string(acceptance.size()) +
                     " drafts of a step: expected at most 64",
                 ""};
  for (const RequestKnob &knob : requestKnobs())
    for (double number : knob.get(*this))
      if (!knob.has(number))
        return refuse(knob.key, number, knob.range());
  if (draftCost && acceptance.empty())
    return Error{"", "a draft_cost without drafts",
                 "say how many are accepted: acceptance"};
  return std::nullopt;
}

//===- RequestKnobs.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/RequestKnobs.h"

#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::program;

using Numbers = std::vector<double>;

std::string RequestKnob::range() const {
  return "from " + formatNumber(least) + " to " +
         (isBelowMost ? "below " : "") + formatNumber(most);
}

//===----------------------------------------------------------------------===//
// Reading and writing what requests hold
//===----------------------------------------------------------------------===//

static Numbers listOf(double number) { return {number}; }
static Numbers listOf(const Numbers &numbers) { return numbers; }
static Numbers listOf(const std::optional<double> &number) {
  return number ? Numbers{*number} : Numbers{};
}

template <typename T>
static void assign(T &member, const Numbers &numbers) {
  if constexpr (std::is_same_v<T, Numbers>)
    member = numbers;
  else
    member = numbers.front();
}

namespace {

/// A knob, and what the table says of it after its names.
struct Row : RequestKnob {
  Row &&expects(const char *words, const char *flagAndValue = nullptr) && {
    expected = words;
    example = flagAndValue;
    return std::move(*this);
  }
  /// Limits the range to numbers below `bound`, which is not in the range.
  Row &&below(double bound) && {
    most = bound;
    isBelowMost = true;
    return std::move(*this);
  }
  /// Marks a knob whose value a trace of requests gives.
  Row &&ofTraces() && {
    isOfTrace = true;
    return std::move(*this);
  }
};

} // namespace

/// Makes the knob for `member` of requests. It is a share unless the table says
/// otherwise.
template <auto member>
static Row row(const char *flag, const char *value, const char *option,
               const char *key, const char *reportKey, const char *help) {
  Row made;
  made.flag = flag;
  made.value = value;
  made.help = help;
  made.option = option;
  made.key = key;
  made.reportKey = reportKey;
  made.get = [](const Requests &requests) { return listOf(requests.*member); };
  made.set = [](Requests &requests, const Numbers &numbers) {
    assign(requests.*member, numbers);
  };
  made.isList = std::is_same_v<decltype(member), Numbers Requests::*>;
  return made;
}

//===----------------------------------------------------------------------===//
// The table of all knobs of requests
//===----------------------------------------------------------------------===//

const std::vector<RequestKnob> &autopar::program::requestKnobs() {
  static const std::vector<RequestKnob> knobs = {
      row<&Requests::cachedShare>("prefix-hits", "share", "cached", "cached",
                                  "cached_share",
                                  "Share of prompt tokens that hit the prefix "
                                  "cache, from 0 to below 1 (default: 0)")
          .expects("a share of tokens")
          .below(1)
          .ofTraces(),
      row<&Requests::acceptance>(
          "acceptance", "shares", "acceptance", "acceptance", "acceptance",
          "Speculative decoding: acceptance rate of each draft token of a "
          "step, given that those before it were accepted: 0.85,0.7")
          .expects("shares of drafts", "--acceptance=0.85,0.7"),
      row<&Requests::draftCost>(
          "draft-cost", "part", "draft-cost", "draft_cost", "draft_cost",
          "Time of one draft token, as a share of a step without drafts "
          "(default: one layer of the model)")
          .expects("a part of a step", "--draft-cost=0.02"),
  };
  return knobs;
}

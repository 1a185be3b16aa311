//===- SearchWhy.cpp - A plan beside the best -----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/SearchReport.h"

using namespace autopar;
using namespace autopar::search;

std::string_view autopar::search::nameOf(SearchWhy::Answer answer) {
  constexpr std::string_view names[] = {"best", "beaten", "too_slow", "unfit",
                                        "illegal"};
  return names[static_cast<size_t>(answer)];
}

SearchWhy autopar::search::compareWith(const SearchResult &all,
                                       const SearchResult &one) {
  SearchWhy why;
  if (!one.frontier.empty()) {
    const SearchPoint &own = one.frontier[one.best.value_or(0)];
    why.batch = own.batch;
    why.timeUs = own.timeUs;
    why.tokensPerS = own.tokensPerS;
    why.dollarsPerMillionTokens = own.dollarsPerMillionTokens;
    bool isBest = false;
    if (all.best && one.best) {
      const SearchPoint &best = all.frontier[*all.best];
      isBest = best.timeUs == own.timeUs && best.tokensPerS == own.tokensPerS;
    }
    why.answer = !one.best ? SearchWhy::Answer::too_slow
                 : isBest  ? SearchWhy::Answer::best
                           : SearchWhy::Answer::beaten;
  } else if (one.closest) {
    why.answer = SearchWhy::Answer::unfit;
    why.batch = one.closest->batch;
    why.totalBytes = one.closest->totalBytes;
  } else {
    why.answer = SearchWhy::Answer::illegal;
  }
  return why;
}

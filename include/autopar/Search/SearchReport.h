//===- SearchReport.h - What a search found, to read ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SEARCH_SEARCHREPORT_H
#define AUTOPAR_SEARCH_SEARCHREPORT_H

#include "autopar/Report/Report.h"
#include "autopar/Search/CloseCalls.h"
#include "autopar/Search/Search.h"

namespace autopar::search {

/// What is wrong with a plan that somebody had in mind.
struct SearchWhy {
  enum class Answer : uint8_t { best, beaten, too_slow, unfit, illegal };
  /// As it was given.
  std::string plan;
  Answer answer = Answer::best;
  /// Why it is illegal.
  std::string refusal;
  /// Its best batch for the goal, or where it holds least.
  int64_t batch = 0;
  double timeUs = 0, tokensPerS = 0, totalBytes = 0;
  std::optional<double> dollarsPerMillionTokens = std::nullopt;
};
std::string_view nameOf(SearchWhy::Answer answer);

/// The answer of a search through the space of that plan alone, beside that of
/// `all`. Why it is illegal is left open.
SearchWhy compareWith(const SearchResult &all, const SearchResult &one);

/// A search, and what readers add to it.
struct SearchReport {
  std::string model;
  SearchProblem problem;
  SearchResult result;
  std::optional<SearchWhy> why = std::nullopt;
  /// The estimate of the best plan, or else of the one that comes closest to
  /// fitting.
  std::optional<report::Report> best = std::nullopt, closest = std::nullopt;
  std::vector<CloseCall> closeCalls = {};
  /// Where no plan is legal, why a first one is not: "tp3,dp2: ...". Empty
  /// elsewhere, and where there is none.
  std::string refusal = {};
};

/// For a terminal: the best plan, the frontier, what matters, the proof.
std::string writeText(const SearchReport &report);
/// As JSON text, valid against lib/Search/schema/search.schema.json.
std::string writeJson(const SearchReport &report);
/// As a page, with the report of the best plan. Errors: files of pages that are
/// not installed.
Result<std::string> writePage(const SearchReport &report);
/// The frontier as a table.
std::string writeCsv(const SearchReport &report);

/// The plan of a point in words, and the order of its axes where that is not
/// the one that they have by themselves.
std::string labelOf(const SearchPoint &point);

} // namespace autopar::search

#endif // AUTOPAR_SEARCH_SEARCHREPORT_H

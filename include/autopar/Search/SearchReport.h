//===- SearchReport.h - The findings of a search, to read -------*- C++ -*-===//
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

/// The answer to `--why`: how the user's plan compares with the best one.
struct SearchWhy {
  enum class Answer : uint8_t { best, beaten, too_slow, unfit, illegal };
  /// The plan about which `--why` asks, as the user wrote it.
  std::string plan;
  Answer answer = Answer::best;
  /// The message of the pass that refuses the plan, if the plan is illegal.
  std::string refusal;
  /// The batch of the user's plan that is best for the goal or, if none fits,
  /// the batch that needs the least memory.
  int64_t batch = 0;
  double timeUs = 0, tokensPerS = 0, totalBytes = 0;
  std::optional<double> dollarsPerMillionTokens = std::nullopt;
};
std::string_view nameOf(SearchWhy::Answer answer);

/// Compares `one`, the search result of a space with a single plan, with `all`,
/// that of the whole space. Leaves `refusal` empty.
SearchWhy compareWith(const SearchResult &all, const SearchResult &one);

/// A search result with the estimates and texts that are shown to users.
struct SearchReport {
  std::string model;
  SearchProblem problem;
  SearchResult result;
  std::optional<SearchWhy> why = std::nullopt;
  /// The full estimate of the best plan or, if no plan fits, of the plan that
  /// needs the least memory.
  std::optional<report::Report> best = std::nullopt, closest = std::nullopt;
  std::vector<CloseCall> closeCalls = {};
  /// If no plan is legal, the first refused plan and the reason: "tp3,dp2:
  /// ..."; else "".
  std::string refusal = {};
};

/// Writes text for a terminal: the best plan, the frontier, the choices that
/// matter, and the proof.
std::string writeText(const SearchReport &report);
/// Writes JSON that is valid against lib/Search/schema/search.schema.json.
std::string writeJson(const SearchReport &report);
/// Writes an HTML page that includes the report of the best plan. Error: files
/// of the page are not installed.
Result<std::string> writePage(const SearchReport &report);
/// Writes the frontier as a CSV table.
std::string writeCsv(const SearchReport &report);

/// Returns the plan of a point in words, with the order of its axes if that is
/// not the default.
std::string labelOf(const SearchPoint &point);

} // namespace autopar::search

#endif // AUTOPAR_SEARCH_SEARCHREPORT_H

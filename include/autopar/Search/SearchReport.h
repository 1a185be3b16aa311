//===- SearchReport.h - What a search found, to read ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SEARCH_SEARCHREPORT_H
#define AUTOPAR_SEARCH_SEARCHREPORT_H

#include "autopar/Search/Search.h"

namespace autopar {

/// A search, and what readers add to it.
struct SearchReport {
  std::string model;
  SearchProblem problem;
  SearchResult result;
};

/// For a terminal: the best plan, the frontier, what matters, the proof.
std::string writeText(const SearchReport &report);
/// As JSON text, valid against lib/Search/schema/search.schema.json.
std::string writeJson(const SearchReport &report);
/// The frontier as a table.
std::string writeCsv(const SearchReport &report);

/// The plan of a point in words, and the order of its axes where that is not
/// the one that they have by themselves.
std::string labelOf(const SearchPoint &point);

} // namespace autopar

#endif // AUTOPAR_SEARCH_SEARCHREPORT_H

//===- SearchWriter.h - Writes the findings of a search as text -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_SEARCHWRITER_H
#define AUTOPAR_LIB_SEARCH_SEARCHWRITER_H

#include "QuestionKind.h"

#include "autopar/Search/SearchReport.h"
#include "autopar/Support/TextTables.h"

namespace autopar::search {

/// Writes the parts of a text report. The answers are in SearchText.cpp, the
/// tables and the plot in SearchTables.cpp.
class SearchWriter {
public:
  explicit SearchWriter(const SearchReport &report)
      : report(report), problem(report.problem), kind(problem.kind()),
        result(report.result) {}

  std::string write() const {
    return headText() + bestText() + whyText() + frontierText() + plotText() +
           rivalsText() + effectsText() + proofText();
  }

private:
  bool hasTargets() const { return problem.targets.size() > 1; }
  std::string targetText(const SearchTarget &target) const;
  std::string differenceText(const SearchTarget &target) const;
  bool isOfAllTargets(const GivenFlag &flag) const;
  std::string timesText(const SearchPoint &point) const;
  std::string loadsText() const;
  std::string headText() const;
  std::string bestText() const;
  std::string noneText() const;
  std::string interruptedText() const;
  std::string unfitText() const;
  std::string tooSlowText() const;
  std::string whyText() const;
  std::string commandText(const SearchPoint &point) const;
  std::string frontierText() const;
  std::string plotText() const;
  std::string rivalsText() const;
  std::string callText(const CloseCall &call) const;
  std::string effectsText() const;
  std::string proofText() const;
  void addTraining(TextTable &table) const;

  const SearchReport &report;
  const SearchProblem &problem;
  const QuestionKind &kind;
  const SearchResult &result;
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_SEARCHWRITER_H

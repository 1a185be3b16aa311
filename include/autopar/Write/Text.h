//===- Text.h - Reports for a terminal --------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_WRITE_TEXT_H
#define AUTOPAR_WRITE_TEXT_H

#include "autopar/Report/Deployment.h"
#include "autopar/Report/ModelReport.h"
#include "autopar/Report/PlanDifferences.h"
#include "autopar/Report/PlanTable.h"
#include "autopar/Report/Report.h"
#include "autopar/Support/TextStyle.h"

namespace autopar::writing {

// These functions write texts for a terminal, in lines of at most 100 columns
// (`TextStyle::width`).
std::string writeText(const report::Report &report);
std::string writeText(const report::DeploymentReport &deployment);
std::string writeText(const report::ModelReport &model);
std::string writeText(const report::PlanDifferences &differences);
std::string writeText(const std::vector<report::PlanTableRow> &rows);

/// Writes a list of models: one line per model, beginning with its name.
std::string writeList(
    const std::vector<std::pair<std::string, report::ModelReport>> &models);
/// Writes the numbers in which two models differ, in columns.
std::string writeDifferences(const report::ModelReport &first,
                             const report::ModelReport &second);

/// Writes a report in the style of a terminal.
template <typename AnyReport>
std::string writeText(const AnyReport &report, const TextStyle &style) {
  TextStyleScope scope(style);
  return finishText(writeText(report), style);
}

} // namespace autopar::writing

#endif // AUTOPAR_WRITE_TEXT_H

//===- TextParts.h - Sections of a report as text ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_WRITE_TEXT_TEXTPARTS_H
#define AUTOPAR_LIB_WRITE_TEXT_TEXTPARTS_H

#include "autopar/Report/Deployment.h"
#include "autopar/Report/Report.h"
#include "autopar/Support/TextTables.h"

namespace autopar::writing {

// Return sections of the report; each begins with a blank line.
std::string pipelineText(const report::Report::Pipeline &pipeline);
std::string servingText(const report::ServingReport &serving);
/// Returns the section of a brief report about a service: the requests that are
/// served, and their times.
std::string servingAnswer(const report::ServingReport &serving);
/// Returns the section about the pools of a deployment.
std::string poolsText(const report::PoolsReport &pools);
/// Adds the rows of training to the answer: tokens, utilisation, cost of an
/// iteration.
void addTrainingRows(TextTable &table, const report::Report &report);
/// Writes the times of an iteration, the memory of its stages, and the values
/// that are alive at the peak.
std::string trainingText(const report::Report &report);

} // namespace autopar::writing

#endif // AUTOPAR_LIB_WRITE_TEXT_TEXTPARTS_H

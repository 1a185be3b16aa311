//===- TrainingText.h - An iteration for a terminal and as JSON -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_REPORT_TRAININGTEXT_H
#define AUTOPAR_LIB_REPORT_TRAININGTEXT_H

#include "autopar/Report/Report.h"
#include "autopar/Report/TextTables.h"

namespace autopar::report {

/// Rows of the answer: tokens, utilisation, what an iteration costs.
void addTrainingRows(TextTable &table, const Report &report);
/// Where the time of an iteration goes, what its stages hold, and what is alive
/// where that is the most.
std::string trainingText(const Report &report);

} // namespace autopar::report

#endif // AUTOPAR_LIB_REPORT_TRAININGTEXT_H

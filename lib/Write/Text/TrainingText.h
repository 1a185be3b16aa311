//===- TrainingText.h - An iteration for a terminal and as JSON -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_WRITE_TEXT_TRAININGTEXT_H
#define AUTOPAR_LIB_WRITE_TEXT_TRAININGTEXT_H

#include "autopar/Report/Report.h"
#include "autopar/Support/TextTables.h"

namespace autopar::writing {

/// Rows of the answer: tokens, utilisation, what an iteration costs.
void addTrainingRows(TextTable &table, const report::Report &report);
/// Where the time of an iteration goes, what its stages hold, and what is alive
/// where that is the most.
std::string trainingText(const report::Report &report);

} // namespace autopar::writing

#endif // AUTOPAR_LIB_WRITE_TEXT_TRAININGTEXT_H

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

/// Adds rows to the answer: tokens, utilisation, cost of an iteration.
void addTrainingRows(TextTable &table, const report::Report &report);
/// Writes the times of an iteration, the memory of its stages, and the values
/// that are alive at the peak.
std::string trainingText(const report::Report &report);

} // namespace autopar::writing

#endif // AUTOPAR_LIB_WRITE_TEXT_TRAININGTEXT_H

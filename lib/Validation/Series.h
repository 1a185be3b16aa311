//===- Series.h - Rows that belong together ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_SERIES_H
#define AUTOPAR_VALIDATION_SERIES_H

#include "autopar/Validation/Rules.h"

#include <vector>

namespace autopar::validation {

/// Model, machine, runtime, formats, lengths and degrees of a row, as a key.
std::string configurationKey(const ServingRow &row, bool withVersion);
/// The same with the source, but without the numbers of runs in it: everything
/// but concurrency and measurements.
std::string seriesKey(const ServingRow &row);

/// For each of `values`, whether it is in the longest chain, in their order, in
/// which none is below its predecessor by more than `tolerance` times that.
std::vector<bool> longestChain(const std::vector<double> &values,
                               double tolerance);

/// Sets one round for the rows of each series whose requests came all at once,
/// by the rule "one-wave": from TTFT alone, where rows do not state rounds.
void findOneWaves(std::vector<ServingRow> &rows,
                  std::vector<RowJudgement> &judgements, const RuleSet &rules);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_SERIES_H

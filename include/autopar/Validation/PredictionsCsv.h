//===- PredictionsCsv.h - Predictions of all rows ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_PREDICTIONSCSV_H
#define AUTOPAR_VALIDATION_PREDICTIONSCSV_H

#include "autopar/Validation/MemoryRows.h"
#include "autopar/Validation/ThroughputRows.h"

namespace autopar::validation {

/// Writes a line for every row, excluded or not: CSV with a head. Columns of
/// other kinds of rows are empty.
std::string predictionsCsv(const std::vector<PredictedRow> &rows,
                           const std::vector<ThroughputRow> &throughput = {},
                           const std::vector<MemoryRow> &memory = {},
                           const std::vector<TrainedRow> &trained = {});

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_PREDICTIONSCSV_H

//===- LoggedRow.h - Shared columns of engines' logs ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_LOGGEDROW_H
#define AUTOPAR_VALIDATION_LOGGEDROW_H

#include "RowReader.h"
#include "autopar/Validation/ServingRow.h"

namespace autopar::validation {

/// Reads the model, its formats, the machine and the degrees. `precision` is
/// the column with the format of the weights.
ServingRow readLoggedRow(RowReader &reader, const char *precision);

/// Whether a row of a table of memory is one of training.
bool isOfTraining(const RowReader &reader);

/// Returns an error that lists the `needed` columns that `table`, of kind
/// `what`, lacks.
std::optional<Error> checkColumns(const DataTable &table,
                                  const std::vector<std::string> &needed,
                                  const std::string &what);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_LOGGEDROW_H

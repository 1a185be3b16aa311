//===- LoggedRow.h - What tables of engines' logs share ---------*- C++ -*-===//
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

/// Who served what: the model, its formats, the machine and the degrees.
/// `precision` is the column that has the format of the weights.
ServingRow readLoggedRow(RowReader &reader, const char *precision);

/// Whether a row of a table of memory is one of training.
bool isOfTraining(const RowReader &reader);

/// Names those of `needed` that `table`, one of `what`, does not have.
std::optional<Error> checkColumns(const DataTable &table,
                                  const std::vector<std::string> &needed,
                                  const std::string &what);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_LOGGEDROW_H

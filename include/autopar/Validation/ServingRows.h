//===- ServingRows.h - Serving rows of a table ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_SERVINGROWS_H
#define AUTOPAR_VALIDATION_SERVINGROWS_H

#include "autopar/Support/Table.h"
#include "autopar/Validation/ServingRow.h"

#include <string>
#include <vector>

namespace autopar::validation {

/// The columns that `readServingRows` looks at, for mappings.
const std::vector<std::string> &servingColumns();

struct ServingRows {
  std::vector<ServingRow> rows;
  /// An error per unreadable row: its location, the column, and the cell.
  std::vector<Error> unreadable;
};

/// Reads the rows of a table with the columns of `servingColumns()`. Errors:
/// a column that is needed is not there. `nan`, `null`, `None` and `NA` are
/// empty cells.
Result<ServingRows> readServingRows(const DataTable &table);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_SERVINGROWS_H

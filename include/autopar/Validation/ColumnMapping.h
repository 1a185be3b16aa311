//===- ColumnMapping.h - Other people's columns -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_COLUMNMAPPING_H
#define AUTOPAR_VALIDATION_COLUMNMAPPING_H

#include "autopar/Support/Table.h"

#include <map>
#include <string>
#include <vector>

namespace autopar::validation {

/// The mapping of a file of schema `autopar.columns/1`:
///   {"schema": "autopar.columns/1",
///    "columns": {"model_path": "Model", "isl": "Prompt tokens"},
///    "constants": {"backend": "vllm"}}
struct ColumnMapping {
  /// The file, for messages.
  std::string name;
  /// Column of ours to column of the table.
  std::map<std::string, std::string> columns;
  /// Values that a column of ours has in every row.
  std::map<std::string, std::string> constants;
};

Result<ColumnMapping> readColumnMapping(const std::string &path);
Result<ColumnMapping> parseColumnMapping(std::string_view text,
                                         const std::string &name);

/// Gives `table` the columns that `mapping` names. Errors: a column of ours
/// that is not in `known`, or one of theirs that the table does not have.
Result<bool> applyMapping(DataTable &table, const ColumnMapping &mapping,
                          const std::vector<std::string> &known);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_COLUMNMAPPING_H

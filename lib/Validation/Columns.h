//===- Columns.h - Aligned columns of text ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_COLUMNS_H
#define AUTOPAR_VALIDATION_COLUMNS_H

#include <string>
#include <vector>

namespace autopar::validation {

/// `text` without control characters.
std::string printable(std::string text);

/// Rows of cells in columns two spaces apart; one letter a column, 'l' or 'r',
/// says how it is aligned. Cells are cut at 44 characters.
class AlignedColumns {
public:
  explicit AlignedColumns(std::string alignment)
      : alignment(std::move(alignment)) {}
  void add(std::vector<std::string> cells);
  /// Lines indented by two.
  std::string str() const;

private:
  std::string alignment;
  std::vector<std::vector<std::string>> rows;
};

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_COLUMNS_H

//===- Book.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Book.h"

using namespace autopar;
using namespace autopar::spreadsheet;

/// Returns the name of a column by its number: 0 is A, 26 is AA.
static std::string columnName(size_t column) {
  std::string name;
  for (++column; column > 0; column = (column - 1) / 26)
    name.insert(name.begin(), static_cast<char>('A' + (column - 1) % 26));
  return name;
}

std::string Sheet::here(size_t row, size_t column) {
  return "$" + columnName(column) + "$" + std::to_string(row + 1);
}

std::string Sheet::address(size_t row, size_t column) const {
  return name + "!" + here(row, column);
}

std::string Sheet::range(size_t first, size_t last, size_t firstColumn,
                         size_t lastColumn) {
  return here(first, firstColumn) + ":" + here(last - 1, lastColumn - 1);
}

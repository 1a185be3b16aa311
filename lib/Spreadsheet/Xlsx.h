//===- Xlsx.h - Books as files -------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SPREADSHEET_XLSX_H
#define AUTOPAR_LIB_SPREADSHEET_XLSX_H

#include "Book.h"

#include "autopar/Support/Result.h"

namespace autopar::spreadsheet {

/// Returns the bytes of an .xlsx file. Equal books give equal bytes.
Result<std::string> writeXlsx(const Book &book);

} // namespace autopar::spreadsheet

#endif // AUTOPAR_LIB_SPREADSHEET_XLSX_H

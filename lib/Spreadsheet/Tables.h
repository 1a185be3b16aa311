//===- Tables.h - Sheets of records --------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SPREADSHEET_TABLES_H
#define AUTOPAR_LIB_SPREADSHEET_TABLES_H

#include "Inputs.h"

namespace autopar::spreadsheet {

// Each sheet has a row for each record of the program, and a column for each
// number that the total is made of.
Sheet memorySheet(const evaluation::PricedStep &step);
Sheet flopsSheet(const evaluation::PricedStep &step);
Sheet communicationSheet(const evaluation::PricedStep &step);
Sheet timeSheet(const evaluation::PricedStep &step);
/// Returns the sheet of the requirements of splits, each of which says that one
/// number divides another.
Sheet checksSheet(const evaluation::PricedStep &step);

} // namespace autopar::spreadsheet

#endif // AUTOPAR_LIB_SPREADSHEET_TABLES_H

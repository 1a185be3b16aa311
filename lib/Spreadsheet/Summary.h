//===- Summary.h - Numbers of the report ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SPREADSHEET_SUMMARY_H
#define AUTOPAR_LIB_SPREADSHEET_SUMMARY_H

#include "autopar/Report/Report.h"

#include "Inputs.h"

namespace autopar::spreadsheet {

/// Returns the sheet with a row for each number of the report that is a
/// formula, with its JSON pointer. The numbers of cost come from `report`.
Sheet summarySheet(const evaluation::PricedStep &step,
                   const report::Report &report, Inputs &inputs,
                   const Sheet &checks);

} // namespace autopar::spreadsheet

#endif // AUTOPAR_LIB_SPREADSHEET_SUMMARY_H

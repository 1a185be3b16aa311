//===- Spreadsheet.h - A step as a workbook of formulas ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SPREADSHEET_SPREADSHEET_H
#define AUTOPAR_SPREADSHEET_SPREADSHEET_H

#include "autopar/Evaluate/PricedStep.h"
#include "autopar/Report/Report.h"

namespace autopar::spreadsheet {

/// Returns the bytes of an .xlsx file in which each number of a step is a
/// formula over cells, down to the cells that users change: sizes, and figures
/// of the machine and the runtime. `report` is the step's report. Errors:
/// libxlsxwriter is not installed, or cannot write.
Result<std::string> writeWorkbook(const evaluation::PricedStep &step,
                                  const report::Report &report);

} // namespace autopar::spreadsheet

#endif // AUTOPAR_SPREADSHEET_SPREADSHEET_H

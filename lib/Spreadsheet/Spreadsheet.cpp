//===- Spreadsheet.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Spreadsheet/Spreadsheet.h"

#include "NodeCells.h"
#include "Summary.h"
#include "Tables.h"
#include "Xlsx.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::report;
using namespace autopar::spreadsheet;

Result<std::string> autopar::spreadsheet::writeWorkbook(const PricedStep &step,
                                                        const Report &report) {
  NodeCells cells(step);
  for (Symbol symbol : {Symbol::batch, Symbol::query, Symbol::context})
    cells.inputs().symbol(symbol);
  Book book;
  Sheet checks = checksSheet(step);
  book.sheets = {summarySheet(step, report, cells.inputs(), checks),
                 memorySheet(step), flopsSheet(step), communicationSheet(step),
                 timeSheet(step)};
  book.sheets.push_back(std::move(checks));
  cells.fill(book);
  cells.inputs().write(book);
  // The sheets of inputs go to the end, because readers begin with the results.
  std::rotate(book.sheets.begin() + 1, book.sheets.end() - 1,
              book.sheets.end());
  return writeXlsx(book);
}

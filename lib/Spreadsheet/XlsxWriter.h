//===- XlsxWriter.h - libxlsxwriter, loaded when needed ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SPREADSHEET_XLSXWRITER_H
#define AUTOPAR_LIB_SPREADSHEET_XLSXWRITER_H

#include "autopar/Support/Result.h"
#include "autopar/Support/SharedLibrary.h"

#include <xlsxwriter.h>

namespace autopar::spreadsheet {

/// The functions of libxlsxwriter that write books. They are loaded at run
/// time, as those of libcurl are, because only users who write a book need the
/// library.
struct XlsxWriterApi : LoadedFunctions {
  using LoadedFunctions::LoadedFunctions;

  AUTOPAR_LOADED(workbook_new, newWorkbook);
  AUTOPAR_LOADED(workbook_add_worksheet, addWorksheet);
  AUTOPAR_LOADED(workbook_add_format, addFormat);
  AUTOPAR_LOADED(workbook_define_name, defineName);
  AUTOPAR_LOADED(workbook_set_properties, setProperties);
  AUTOPAR_LOADED(workbook_close, close);
  AUTOPAR_LOADED(worksheet_write_string, writeString);
  AUTOPAR_LOADED(worksheet_write_number, writeNumber);
  AUTOPAR_LOADED(worksheet_write_formula_num, writeFormula);
  AUTOPAR_LOADED(worksheet_set_column, setColumn);
  AUTOPAR_LOADED(format_set_bold, setBold);
  AUTOPAR_LOADED(format_set_italic, setItalic);
  AUTOPAR_LOADED(format_set_bg_color, setBackground);
  AUTOPAR_LOADED(format_set_num_format, setNumberFormat);
  AUTOPAR_LOADED(lxw_strerror, describe);
};

/// Loads libxlsxwriter at the first call; later calls return the same
/// functions.
Result<const XlsxWriterApi *> loadXlsxWriter();

} // namespace autopar::spreadsheet

#endif // AUTOPAR_LIB_SPREADSHEET_XLSXWRITER_H

//===- XlsxWriter.h - libxlsxwriter, loaded when needed ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SPREADSHEET_XLSXWRITER_H
#define AUTOPAR_LIB_SPREADSHEET_XLSXWRITER_H

#include "autopar/Support/Result.h"

#include <xlsxwriter.h>

namespace autopar::spreadsheet {

/// The functions of libxlsxwriter that books are written by. As with libcurl,
/// only who writes one needs the library.
struct XlsxWriterApi {
  decltype(&workbook_new) newWorkbook;
  decltype(&workbook_add_worksheet) addWorksheet;
  decltype(&workbook_add_format) addFormat;
  decltype(&workbook_define_name) defineName;
  decltype(&workbook_set_properties) setProperties;
  decltype(&workbook_close) close;
  decltype(&worksheet_write_string) writeString;
  decltype(&worksheet_write_number) writeNumber;
  decltype(&worksheet_write_formula_num) writeFormula;
  decltype(&worksheet_set_column) setColumn;
  decltype(&format_set_bold) setBold;
  decltype(&format_set_italic) setItalic;
  decltype(&format_set_bg_color) setBackground;
  decltype(&format_set_num_format) setNumberFormat;
  decltype(&lxw_strerror) describe;
};

/// Loads libxlsxwriter, once.
Result<const XlsxWriterApi *> loadXlsxWriter();

} // namespace autopar::spreadsheet

#endif // AUTOPAR_LIB_SPREADSHEET_XLSXWRITER_H

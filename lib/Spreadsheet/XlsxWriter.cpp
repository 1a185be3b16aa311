//===- XlsxWriter.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "XlsxWriter.h"

#include "autopar/Support/SharedLibrary.h"

using namespace autopar;
using namespace autopar::spreadsheet;

static bool findAll(const SharedLibrary &library, XlsxWriterApi &api) {
  return library.find("workbook_new", api.newWorkbook) &&
         library.find("workbook_add_worksheet", api.addWorksheet) &&
         library.find("workbook_add_format", api.addFormat) &&
         library.find("workbook_define_name", api.defineName) &&
         library.find("workbook_set_properties", api.setProperties) &&
         library.find("workbook_close", api.close) &&
         library.find("worksheet_write_string", api.writeString) &&
         library.find("worksheet_write_number", api.writeNumber) &&
         library.find("worksheet_write_formula_num", api.writeFormula) &&
         library.find("worksheet_set_column", api.setColumn) &&
         library.find("format_set_bold", api.setBold) &&
         library.find("format_set_italic", api.setItalic) &&
         library.find("format_set_bg_color", api.setBackground) &&
         library.find("format_set_num_format", api.setNumberFormat) &&
         library.find("lxw_strerror", api.describe);
}

static Result<const XlsxWriterApi *> load() {
  static XlsxWriterApi api;
  // The version is that of the header: it fixes what structs look like.
  if (findAll(SharedLibrary("libxlsxwriter.so." LXW_SOVERSION), api))
    return &api;
  return Error{"",
               "cannot load libxlsxwriter.so." LXW_SOVERSION
               ", which writes spreadsheets",
               "install libxlsxwriter (Debian: libxlsxwriter" LXW_SOVERSION
               "), or take --format=json"};
}

Result<const XlsxWriterApi *> autopar::spreadsheet::loadXlsxWriter() {
  static const Result<const XlsxWriterApi *> loaded = load();
  return loaded;
}

//===- XlsxWriter.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "XlsxWriter.h"

#include <dlfcn.h>

using namespace autopar;

template <typename Function>
static bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

static bool findAll(void *library, XlsxWriterApi &api) {
  return find(library, "workbook_new", api.newWorkbook) &&
         find(library, "workbook_add_worksheet", api.addWorksheet) &&
         find(library, "workbook_add_format", api.addFormat) &&
         find(library, "workbook_define_name", api.defineName) &&
         find(library, "workbook_set_properties", api.setProperties) &&
         find(library, "workbook_close", api.close) &&
         find(library, "worksheet_write_string", api.writeString) &&
         find(library, "worksheet_write_number", api.writeNumber) &&
         find(library, "worksheet_write_formula_num", api.writeFormula) &&
         find(library, "worksheet_set_column", api.setColumn) &&
         find(library, "format_set_bold", api.setBold) &&
         find(library, "format_set_italic", api.setItalic) &&
         find(library, "format_set_bg_color", api.setBackground) &&
         find(library, "format_set_num_format", api.setNumberFormat) &&
         find(library, "lxw_strerror", api.describe);
}

static Result<const XlsxWriterApi *> load() {
  static XlsxWriterApi api;
  // The version is that of the header: it fixes what structs look like.
  void *library =
      dlopen("libxlsxwriter.so." LXW_SOVERSION, RTLD_NOW | RTLD_LOCAL);
  if (library && findAll(library, api))
    return &api;
  return Error{"",
               "cannot load libxlsxwriter.so." LXW_SOVERSION
               ", which writes spreadsheets",
               "install libxlsxwriter (Debian: libxlsxwriter" LXW_SOVERSION
               "), or take --format=json"};
}

Result<const XlsxWriterApi *> autopar::loadXlsxWriter() {
  static const Result<const XlsxWriterApi *> loaded = load();
  return loaded;
}

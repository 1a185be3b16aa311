//===- XlsxWriter.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "XlsxWriter.h"

using namespace autopar;
using namespace autopar::spreadsheet;

static Result<const XlsxWriterApi *> load() {
  // The version of the library must be that of the header, which defines the
  // structs.
  if (const auto *api =
          loadFirst<XlsxWriterApi>({"libxlsxwriter.so." LXW_SOVERSION}))
    return api;
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

//===- Xlsx.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Xlsx.h"

#include "XlsxWriter.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Terminal.h"
#include "autopar/Support/Text.h"

#include <cstdlib>
#include <unistd.h>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::spreadsheet;

namespace {

/// A temporary file. The library can only write to a path; it does not return
/// bytes.
class TemporaryFile {
public:
  TemporaryFile() {
    const char *folder = std::getenv("TMPDIR");
    path = std::string(folder && *folder ? folder : "/tmp") + "/autopar-XXXXXX";
    int file = mkstemp(path.data());
    isOpen = file >= 0;
    if (isOpen)
      ::close(file);
  }
  ~TemporaryFile() {
    if (isOpen)
      ::unlink(path.c_str());
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  std::string path;
  bool isOpen = false;
};

class XlsxFile {
public:
  XlsxFile(const XlsxWriterApi &api, const std::string &path)
      : api(api), book(api.newWorkbook(path.c_str())) {
    lxw_doc_properties properties = {};
    // The time of creation is fixed, so that equal books give equal bytes.
    constexpr time_t firstDayOf2000 = 946684800;
    properties.created = firstDayOf2000;
    api.setProperties(book, &properties);
    makeFormats();
  }

  std::optional<Error> write(const Book &from) {
    for (const Sheet &sheet : from.sheets)
      write(sheet);
    for (const auto &[name, address] : from.names)
      keep(api.defineName(book, name.c_str(), ("=" + address).c_str()));
    keep(api.close(book));
    if (worst == LXW_NO_ERROR)
      return std::nullopt;
    return Error{
        "", std::string("cannot write the spreadsheet: ") + api.describe(worst),
        ""};
  }

private:
  void makeFormats() {
    for (lxw_format *&format : formats)
      format = api.addFormat(book);
    api.setBold(of(Cell::Style::title));
    api.setBold(of(Cell::Style::header));
    api.setBackground(of(Cell::Style::header), 0xDDDDDD);
    api.setBackground(of(Cell::Style::input), 0xFFF2CC);
    api.setItalic(of(Cell::Style::note));
  }
  lxw_format *&of(Cell::Style style) {
    return formats[static_cast<size_t>(style)];
  }

  void write(const Sheet &sheet) {
    lxw_worksheet *into = api.addWorksheet(book, sheet.name.c_str());
    for (size_t i = 0; i < sheet.widths.size(); ++i)
      keep(api.setColumn(into, i, i, sheet.widths[i], nullptr));
    for (size_t row = 0; row < sheet.rows.size(); ++row)
      for (size_t column = 0; column < sheet.rows[row].size(); ++column)
        keep(write(into, row, column, sheet.rows[row][column]));
  }

  /// Returns `text` with only those characters that XML allows.
  static std::string plain(const std::string &text) {
    constexpr size_t most = 4096;
    std::string shown = visible(text.substr(0, most));
    if (!isUtf8(shown))
      for (char &c : shown)
        c = static_cast<unsigned char>(c) < 0x80 ? c : '?';
    return shown;
  }

  lxw_error write(lxw_worksheet *into, lxw_row_t row, lxw_col_t column,
                  const Cell &cell) {
    lxw_format *format = of(cell.style);
    switch (cell.kind) {
    case Cell::Kind::empty:
      return LXW_NO_ERROR;
    case Cell::Kind::text:
      return cell.text.empty()
                 ? LXW_NO_ERROR
                 : api.writeString(into, row, column, plain(cell.text).c_str(),
                                   format);
    case Cell::Kind::number:
      return api.writeNumber(into, row, column, cell.value, format);
    case Cell::Kind::formula:
      return api.writeFormula(into, row, column, ("=" + cell.text).c_str(),
                              format, cell.value);
    }
    return LXW_NO_ERROR;
  }

  void keep(lxw_error error) {
    if (worst == LXW_NO_ERROR)
      worst = error;
  }

  const XlsxWriterApi &api;
  lxw_workbook *book;
  lxw_format *formats[5] = {};
  lxw_error worst = LXW_NO_ERROR;
};

} // namespace

Result<std::string> autopar::spreadsheet::writeXlsx(const Book &book) {
  Result<const XlsxWriterApi *> api = loadXlsxWriter();
  if (!api)
    return api.error();
  TemporaryFile file;
  if (!file.isOpen)
    return Error{file.path, "cannot make a temporary file", "set TMPDIR"};
  if (auto error = XlsxFile(**api, file.path).write(book))
    return *error;
  return readFile(file.path);
}

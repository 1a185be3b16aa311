//===- Csv.h - Lines of fields, located -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLACEMENT_CSV_H
#define AUTOPAR_LIB_PLACEMENT_CSV_H

#include "autopar/Support/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::placement {

/// Reads text line by line, then field by field. Nothing is quoted: fields are
/// numbers. Empty lines, and a byte order mark as Excel writes it, are skipped.
/// As in JsonReader, the first error is kept and every getter continues.
class CsvReader {
public:
  CsvReader(std::string_view text, std::string name);

  /// Reads the first line, whose words must be those of `header`.
  void expectHeader(std::string_view header);
  /// Moves to the next line. Returns false at the end and after an error. The
  /// line must have as many fields as the header.
  bool next();

  int64_t integer(size_t field, int64_t min, int64_t max);
  double number(size_t field, double min, double max);
  /// Reads a field with at most `maxCount` integers that are separated by
  /// spaces.
  std::vector<int64_t> integers(size_t field, int64_t min, int64_t max,
                                size_t maxCount);

  void failAt(size_t field, std::string message, std::string note = "");
  /// Records an error that concerns the whole file.
  void fail(std::string message, std::string note = "");
  bool failed() const { return !error.message.empty(); }
  const Error &takeError() const { return error; }

private:
  bool readLine();
  void split();
  void failIn(std::string_view text, std::string message,
              std::string note = "");
  int64_t parseInteger(std::string_view text, int64_t min, int64_t max);

  std::string_view rest, line;
  std::vector<std::string_view> fields;
  std::string name, header;
  size_t lineNumber = 0, columns = 0;
  Error error;
};

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_CSV_H

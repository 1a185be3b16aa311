//===- CsvText.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/CsvText.h"

using namespace autopar;

std::string autopar::csvCell(const std::string &text) {
  bool isPlain = text.find_first_of(",\"\r\n") == std::string::npos &&
                 (text.empty() || (text.front() != ' ' && text.back() != ' '));
  if (isPlain)
    return text;
  std::string cell = "\"";
  for (char c : text)
    cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

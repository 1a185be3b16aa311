//===- SourceText.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/SourceText.h"

#include "SourceScanner.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"

using namespace autopar;

bool autopar::isBytecode(std::string_view text) {
  return text.substr(0, 4) == "ML\xEFR";
}

static std::string sizeText(uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

std::optional<Error> autopar::checkSourceText(std::string_view text,
                                              const std::string &name) {
  if (text.size() > limits::maxModuleBytes)
    return Error{name,
                 "has " + sizeText(text.size()) +
                     " of MLIR, expected at "
                     "most " +
                     sizeText(limits::maxModuleBytes),
                 ""};
  SourceScanner scanner(text);
  if (scanner.scan())
    return std::nullopt;
  return Error{name + ":" + scanner.location(), scanner.message(), ""};
}

Result<SourceText> autopar::readSourceText(const std::string &path,
                                           bool trustsBytecode) {
  Result<std::string> text = readFile(path);
  if (!text)
    return text.error();
  std::string name = path == "-" ? "<stdin>" : path;
  if (isBytecode(*text) && !trustsBytecode)
    return Error{name,
                 "is MLIR bytecode, whose reader is not hardened against "
                 "hostile files",
                 "give autopar-opt --trust-bytecode where you trust the file"};
  if (!isBytecode(*text))
    if (std::optional<Error> refused = checkSourceText(*text, name))
      return *refused;
  return SourceText{std::move(name), std::move(*text)};
}

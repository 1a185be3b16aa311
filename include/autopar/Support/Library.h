//===- Library.h - Files of the data libraries ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_LIBRARY_H
#define AUTOPAR_SUPPORT_LIBRARY_H

#include "autopar/Support/Json.h"

namespace autopar {

/// Reads the member "name" of a library file: lower-case letters, digits and
/// "-". Records an error for other names.
std::string readName(const JsonReader &reader);
/// Refuses a document whose "schema" is not `schema`.
void checkSchema(const JsonReader &reader, std::string_view schema);

/// Resolves `nameOrPath`: a path if it has a "/" or ends in ".json", else
/// `directory`/<name>.json, which must exist. `what` is "chip", "runtime", ...
Result<std::string> locateFile(const std::string &nameOrPath,
                               const std::string &directory,
                               std::string_view what);
/// Whether it is a path and not a name.
bool isPath(const std::string &nameOrPath);
/// Whether `directory` has a JSON file of that name.
bool isInLibrary(const std::string &name, const std::string &directory);
/// Names of the JSON files in `directory`, without the suffix.
std::vector<std::string> namesIn(const std::string &directory);

/// Checks that the name inside a library file is the name of the file, because
/// overrides use the former and `--system=` the latter.
void checkFileName(const JsonReader &reader, const std::string &name,
                   const std::string &file);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_LIBRARY_H

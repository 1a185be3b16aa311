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

/// Reads the member "name" of a library file, which may have lower-case
/// letters, digits and "-". Records an error for other names.
std::string readName(const JsonReader &reader);
/// Records an error if the member "schema" of a document is not `schema`.
void checkSchema(const JsonReader &reader, std::string_view schema);

/// Returns the path of `nameOrPath`: itself if it has a "/" or ends with
/// ".json", else `directory`/<name>.json, which must exist. `what` is "chip",
/// "runtime", ...
Result<std::string> locateFile(const std::string &nameOrPath,
                               const std::string &directory,
                               std::string_view what);
/// Whether `nameOrPath` is a path instead of a name.
bool isPath(const std::string &nameOrPath);
/// Whether `directory` has a JSON file with this name.
bool isInLibrary(const std::string &name, const std::string &directory);
/// Returns the names of the JSON files in `directory`, without the suffix.
std::vector<std::string> namesIn(const std::string &directory);

/// Records an error if the name inside a library file is not that of the file:
/// overrides use the former and flags such as `--system=` the latter.
void checkFileName(const JsonReader &reader, const std::string &name,
                   const std::string &file);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_LIBRARY_H

//===- File.h - Reading files within limits ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_FILE_H
#define AUTOPAR_SUPPORT_FILE_H

#include "autopar/Support/Result.h"

#include <string>
#include <vector>

namespace autopar {

/// Reads the file `path`, or standard input if it is "-". Errors: the file is
/// missing, a directory, unreadable, or larger than `limits::maxFileBytes`.
Result<std::string> readFile(const std::string &path);
/// Writes `text` to a temporary file in the same directory and renames it to
/// `path`. Follows links, and writes files that are not regular directly.
Result<bool> writeFile(const std::string &path, const std::string &text);
/// Writes `text` to standard output if `path` is "-", else like `writeFile`.
Result<bool> writeOutput(const std::string &path, const std::string &text);
/// Makes writes to a closed pipe fail like other writes, for `main`. By default
/// a signal would end the program.
void outliveClosedPipe();
/// Makes a write to a closed pipe end the program silently with `exitCode`, for
/// programs that only print.
void endOnClosedPipe(int exitCode);
/// Flushes standard output. Succeeds if all output has arrived, or its reader
/// has closed the pipe; errors are those of writing.
Result<bool> flushOutput();
bool isDirectory(const std::string &path);
bool fileExists(const std::string &path);
/// From this call on, only files of the data libraries can be opened, found or
/// written, for processes that serve strangers. It cannot be undone.
void confineFiles();
/// Returns the names (not paths) of the files in `directory` that end with
/// `suffix`, sorted.
std::vector<std::string> listFiles(const std::string &directory,
                                   const std::string &suffix);

/// Returns the directory of a kind of library files ("hardware", "runtimes",
/// "models"): `$AUTOPAR_DATA/<kind>`, else
/// `<executable>/../share/autopar/<kind>`.
std::string dataDirectory(const std::string &kind);
/// Returns the directory of files that a tool needs:
/// `<executable>/../share/autopar/<kind>`, whatever AUTOPAR_DATA is.
std::string installedDirectory(const std::string &kind);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_FILE_H

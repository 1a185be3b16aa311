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

/// Reads `path`, or standard input if it is "-". Errors: missing, a directory,
/// unreadable, larger than `limits::maxFileBytes`.
Result<std::string> readFile(const std::string &path);
/// Writes `text` to a temporary name beside `path` and renames it. Follows
/// links, and writes files that are not regular in place.
Result<bool> writeFile(const std::string &path, const std::string &text);
/// The same, but to standard output if `path` is "-".
Result<bool> writeOutput(const std::string &path, const std::string &text);
/// Makes writes to a closed pipe fail like other writes, for `main`. By default
/// a signal ends the program.
void outliveClosedPipe();
/// Makes such a write end the program silently with `exitCode`, for programs
/// that only print.
void endOnClosedPipe(int exitCode);
/// Returns whether all output has arrived, or its reader has closed the pipe.
/// Errors are those of writing.
Result<bool> flushOutput();
bool isDirectory(const std::string &path);
bool fileExists(const std::string &path);
/// From now on, only files of the data libraries can be opened, found or
/// written, for processes that serve strangers. Cannot be undone.
void confineFiles();
/// Names (not paths) of the files in `directory` that end in `suffix`, sorted.
std::vector<std::string> listFiles(const std::string &directory,
                                   const std::string &suffix);

/// The folder of a kind of library files ("hardware", "runtimes", "models"):
/// `$AUTOPAR_DATA/<kind>`, else `<executable>/../share/autopar/<kind>`.
std::string dataDirectory(const std::string &kind);
/// The folder of files that a tool needs: `<executable>/../share/autopar`.
std::string installedDirectory(const std::string &kind);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_FILE_H

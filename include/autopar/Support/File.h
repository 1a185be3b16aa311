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

/// The text of `path`, or of standard input where it is "-". Errors: missing,
/// a directory, unreadable, larger than `limits::maxFileBytes`.
Result<std::string> readFile(const std::string &path);
/// Writes `text` to a temporary name beside `path` and renames it; follows
/// links, and writes in place what is not a regular file.
Result<bool> writeFile(const std::string &path, const std::string &text);
/// The same, to standard output where `path` is "-".
Result<bool> writeOutput(const std::string &path, const std::string &text);
/// Writes to a pipe that nobody reads then fail as other writes do, for `main`:
/// by default they end the program by a signal.
void outliveClosedPipe();
/// Such a write then ends the program with `exitCode` and without a word, for
/// programs that only print.
void endOnClosedPipe(int exitCode);
/// Whether all that was printed has arrived, or its reader has closed the pipe
/// and needs no more; errors are those of writing.
Result<bool> flushOutput();
bool isDirectory(const std::string &path);
bool fileExists(const std::string &path);
/// From now on, no file is opened, looked for or written but those of the data
/// libraries, for processes that work for strangers. Cannot be undone.
void confineFiles();
/// Names (not paths) of the files in `directory` that end in `suffix`, sorted.
std::vector<std::string> listFiles(const std::string &directory,
                                   const std::string &suffix);

/// Where the library files of a kind ("hardware", "runtimes", "models") lie:
/// `$AUTOPAR_DATA/<kind>`, else `<executable>/../share/autopar/<kind>`.
std::string dataDirectory(const std::string &kind);
/// Where what a tool cannot do without lies: `<executable>/../share/autopar`.
std::string installedDirectory(const std::string &kind);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_FILE_H

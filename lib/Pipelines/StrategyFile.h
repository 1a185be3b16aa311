//===- StrategyFile.h - A file of compiled programs -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PIPELINES_STRATEGYFILE_H
#define AUTOPAR_LIB_PIPELINES_STRATEGYFILE_H

#include "autopar/Support/Result.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>

namespace autopar::pipelines {

/// A file of programs as bytes, by key, with a checksum of all of them.
class StrategyFile {
public:
  /// `origin` describes what the programs depend on: another text uses another
  /// file.
  StrategyFile(const std::string &directory, llvm::StringRef origin);

  /// Returns whether there is a directory in which the file is kept.
  bool isKept() const { return !path.empty(); }
  /// Returns the bytes of the program with this key; empty if there is none.
  llvm::StringRef find(llvm::StringRef key) const {
    return entries.lookup(key);
  }
  /// Adds a program, even if there is no directory for the file.
  void add(llvm::StringRef key, std::string bytes);
  /// Writes the file if a program was added. Returns whether it was written.
  Result<bool> save();

private:
  void read();

  std::string path;
  std::unique_ptr<llvm::MemoryBuffer> text;
  /// Views of the bytes of each program, which `text` or `added` owns.
  llvm::StringMap<llvm::StringRef> entries;
  llvm::StringMap<std::string> added;
};

} // namespace autopar::pipelines

#endif // AUTOPAR_LIB_PIPELINES_STRATEGYFILE_H

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

/// Programs by key, as bytes, with a checksum of all of them.
class StrategyFile {
public:
  /// `origin` describes the content: another text uses another file.
  StrategyFile(const std::string &directory, llvm::StringRef origin);

  /// Whether there is a directory to keep it in.
  bool isKept() const { return !path.empty(); }
  /// Empty if there is none.
  llvm::StringRef find(llvm::StringRef key) const {
    return entries.lookup(key);
  }
  /// Adds a program, also if there is no directory.
  void add(llvm::StringRef key, std::string bytes);
  /// Writes the file if a program was added.
  Result<bool> save();

private:
  void read();

  std::string path;
  std::unique_ptr<llvm::MemoryBuffer> text;
  /// Views of bytes in `text`, or in `added`.
  llvm::StringMap<llvm::StringRef> entries;
  llvm::StringMap<std::string> added;
};

} // namespace autopar::pipelines

#endif // AUTOPAR_LIB_PIPELINES_STRATEGYFILE_H

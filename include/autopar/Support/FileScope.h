//===- FileScope.h - Files that are kept, or stood in for ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_FILESCOPE_H
#define AUTOPAR_SUPPORT_FILESCOPE_H

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopar {

/// Replaces or records the disk for the functions of File.h while it lives.
/// There is one scope at a time, and one thread that reads files meanwhile.
class FileScope {
public:
  /// Texts by path, as it was requested.
  using Files = std::map<std::string, std::string>;

  /// Reads from the disk, and keeps all texts.
  FileScope();
  /// Replaces the disk by these files.
  explicit FileScope(Files files);
  ~FileScope();
  FileScope(const FileScope &) = delete;
  FileScope &operator=(const FileScope &) = delete;

  const Files &read() const { return readFiles; }
  /// Prefix of paths whose files are written to the scope, not to the disk.
  static constexpr const char *memory = "memory:";
  const Files &written() const { return writtenFiles; }

  // For File.h.
  static FileScope *current();
  bool replaces() const { return stand.has_value(); }
  std::optional<std::string> find(const std::string &path) const;
  bool isDirectory(const std::string &path) const;
  std::vector<std::string> list(const std::string &directory) const;
  void keepRead(const std::string &path, const std::string &text) {
    readFiles.emplace(path, text);
  }
  /// Whether `path` is one of those in memory.
  bool write(const std::string &path, const std::string &text);

private:
  std::optional<Files> stand;
  Files readFiles, writtenFiles;
};

} // namespace autopar

#endif // AUTOPAR_SUPPORT_FILESCOPE_H

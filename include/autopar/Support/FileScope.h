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

/// While an object of this class exists, the functions of File.h use its files
/// instead of the disk, or record what they read. There may be one object at a
/// time, and one thread that reads files meanwhile.
class FileScope {
public:
  /// Texts of files, by the path with which they were requested.
  using Files = std::map<std::string, std::string>;

  /// Makes a scope in which files are read from the disk and recorded.
  FileScope();
  /// Makes a scope in which `files` replace the disk.
  explicit FileScope(Files files);
  ~FileScope();
  FileScope(const FileScope &) = delete;
  FileScope &operator=(const FileScope &) = delete;

  const Files &read() const { return readFiles; }
  /// Prefix of paths whose files are written into the scope instead of to the
  /// disk.
  static constexpr const char *memory = "memory:";
  const Files &written() const { return writtenFiles; }

  // The functions below are for File.h only.
  static FileScope *current();
  bool replaces() const { return stand.has_value(); }
  std::optional<std::string> find(const std::string &path) const;
  bool isDirectory(const std::string &path) const;
  std::vector<std::string> list(const std::string &directory) const;
  void keepRead(const std::string &path, const std::string &text) {
    readFiles.emplace(path, text);
  }
  /// Writes a file into the scope if `path` has the prefix `memory`; returns
  /// whether it has.
  bool write(const std::string &path, const std::string &text);

private:
  std::optional<Files> stand;
  Files readFiles, writtenFiles;
};

} // namespace autopar

#endif // AUTOPAR_SUPPORT_FILESCOPE_H

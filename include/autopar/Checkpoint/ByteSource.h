//===- ByteSource.h - Where a checkpoint's bytes come from ---- -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_CHECKPOINT_BYTESOURCE_H
#define AUTOPAR_CHECKPOINT_BYTESOURCE_H

#include "autopar/Support/Result.h"

#include <cstdint>
#include <memory>
#include <string>

namespace autopar::checkpoint {

/// A sequence of bytes that can be read in ranges: a local file, or a file on a
/// server.
class ByteSource {
public:
  virtual ~ByteSource() = default;
  /// The name of the source in error messages: a path or a URL.
  virtual const std::string &name() const = 0;
  virtual uint64_t size() const = 0;
  /// Returns exactly the `count` bytes at `offset`, or an error. Callers ask
  /// for a few large ranges, never beyond `size()`.
  virtual Result<std::string> read(uint64_t offset, uint64_t count) = 0;
};

/// A set of files that belong together: a directory, or a repository on a
/// server.
class ByteFolder {
public:
  virtual ~ByteFolder() = default;
  virtual const std::string &name() const = 0;
  /// Opens the file with this name; null if there is none.
  virtual Result<std::unique_ptr<ByteSource>>
  open(const std::string &file) const = 0;
};

/// Opens a regular file of the local machine.
Result<std::unique_ptr<ByteSource>> openFile(const std::string &path);
/// Returns the local directory `path`; "" is the current directory.
std::unique_ptr<ByteFolder> openFolder(std::string path);

} // namespace autopar::checkpoint

#endif // AUTOPAR_CHECKPOINT_BYTESOURCE_H

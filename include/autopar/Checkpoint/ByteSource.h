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

/// Bytes that can be read in ranges: a file, or a file behind a network.
class ByteSource {
public:
  virtual ~ByteSource() = default;
  /// What errors call it: a path, a URL.
  virtual const std::string &name() const = 0;
  virtual uint64_t size() const = 0;
  /// Exactly the `count` bytes at `offset`, or an error. Readers ask for a few
  /// large ranges, and never beyond `size()`.
  virtual Result<std::string> read(uint64_t offset, uint64_t count) = 0;
};

/// Files beside each other: a directory, a repository.
class ByteFolder {
public:
  virtual ~ByteFolder() = default;
  virtual const std::string &name() const = 0;
  /// The file, or null where there is none of that name.
  virtual Result<std::unique_ptr<ByteSource>>
  open(const std::string &file) const = 0;
};

/// A regular file.
Result<std::unique_ptr<ByteSource>> openFile(const std::string &path);
/// A directory; "" is the current one.
std::unique_ptr<ByteFolder> openFolder(std::string path);

} // namespace autopar::checkpoint

#endif // AUTOPAR_CHECKPOINT_BYTESOURCE_H

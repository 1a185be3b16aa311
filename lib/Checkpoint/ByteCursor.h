//===- ByteCursor.h - Little-endian values, one after the other -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_CHECKPOINT_BYTECURSOR_H
#define AUTOPAR_LIB_CHECKPOINT_BYTECURSOR_H

#include "autopar/Checkpoint/ByteSource.h"

#include <optional>

namespace autopar::checkpoint {

/// Reads the beginning of a source in large ranges. After the first error every
/// getter returns 0, so that a function can read all its fields and check for
/// an error once.
class ByteCursor {
public:
  /// Makes a cursor that fails at byte `limit` of the source.
  ByteCursor(ByteSource &source, uint64_t limit)
      : source(source), limit(limit) {}

  bool failed() const { return error.has_value(); }
  const Error &takeError() const { return *error; }
  /// Records an error at byte `offset`.
  void failAt(uint64_t offset, std::string message, std::string note = "");

  uint64_t position() const { return offset; }
  uint64_t remaining() const { return source.size() - offset; }

  template <typename T>
  T number() {
    T value = 0;
    if (std::optional<std::string_view> bytes = take(sizeof(T)))
      bytes->copy(reinterpret_cast<char *>(&value), sizeof(T));
    return value;
  }
  /// Reads a 64-bit length and as many bytes of UTF-8; errors call the text
  /// `what`.
  std::string text(const std::string &what);
  void skip(uint64_t count);

private:
  /// Fails if the source has less than `count` bytes left.
  bool check(uint64_t count);
  std::optional<std::string_view> take(uint64_t count);

  ByteSource &source;
  uint64_t limit;
  uint64_t offset = 0;
  /// The range that was read last, and its offset in the source.
  std::string window;
  uint64_t windowBegin = 0;
  std::optional<Error> error;
};

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_BYTECURSOR_H

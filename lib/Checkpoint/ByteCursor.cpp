//===- ByteCursor.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ByteCursor.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::checkpoint;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "values are copied as they lie in the file");

/// Bytes per read: so many that few requests read the header of a large model.
static constexpr uint64_t pieceBytes = uint64_t(1) << 20;

void ByteCursor::failAt(uint64_t where, std::string message, std::string note) {
  if (!failed())
    error = Error{source.name() + ": byte " + std::to_string(where),
                  std::move(message), std::move(note)};
}

bool ByteCursor::check(uint64_t count) {
  if (failed())
    return false;
  if (count > remaining())
    failAt(offset,
           std::to_string(count) + " bytes are expected here, but only " +
               std::to_string(remaining()) + " follow",
           "the file is truncated, or a length in it is wrong");
  else if (count > limit - offset)
    failAt(offset,
           "the header is longer than " + std::to_string(limit) + " bytes");
  return !failed();
}

std::optional<std::string_view> ByteCursor::take(uint64_t count) {
  if (!check(count))
    return std::nullopt;
  if (offset + count > windowBegin + window.size()) {
    uint64_t wanted = std::min(std::max(count, pieceBytes), remaining());
    Result<std::string> bytes = source.read(offset, wanted);
    if (!bytes) {
      error = bytes.error();
      return std::nullopt;
    }
    window = std::move(*bytes);
    windowBegin = offset;
  }
  std::string_view taken =
      std::string_view(window).substr(offset - windowBegin, count);
  offset += count;
  return taken;
}

std::string ByteCursor::text(const std::string &what) {
  uint64_t begin = offset;
  auto length = number<uint64_t>();
  std::optional<std::string_view> bytes = take(length);
  if (!bytes)
    return "";
  if (!isUtf8(*bytes))
    failAt(begin, what + " is not UTF-8");
  return std::string(*bytes);
}

void ByteCursor::skip(uint64_t count) {
  if (check(count))
    offset += count;
}

//===- Result.h - A value or a located error --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_RESULT_H
#define AUTOPAR_SUPPORT_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace autopar {

/// An error: where it is, the message, and what would work. Messages start
/// lower-case, state the numbers, and end without a full stop.
struct Error {
  /// The location, `file:line:column` or `file: /json/pointer`; may be "".
  std::string where;
  std::string message;
  /// A note about what would work; may be "".
  std::string note;

  /// Returns the error as text: a line `where: message` and, if there is a
  /// note, a line `note: ...`.
  std::string str() const {
    std::string text = where.empty() ? message : where + ": " + message;
    return note.empty() ? text : text + "\n  note: " + note;
  }

  /// Returns the error with `prefix`, such as "--sla=", before its message.
  Error behind(const std::string &prefix) const {
    return {where, prefix + message, note};
  }
};

/// A value or an `Error`. Libraries without MLIR never print and never throw:
/// they return this.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return assert(value), *value; }
  const T &operator*() const { return assert(value), *value; }
  T *operator->() { return assert(value), &*value; }
  const T *operator->() const { return assert(value), &*value; }
  const Error &error() const { return failure; }

private:
  std::optional<T> value;
  Error failure;
};

} // namespace autopar

#endif // AUTOPAR_SUPPORT_RESULT_H

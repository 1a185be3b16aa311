//===- Checked.h - Exact integer arithmetic that knows overflow -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_CHECKED_H
#define AUTOPAR_SUPPORT_CHECKED_H

#include <cstdint>
#include <optional>
#include <string>

namespace autopar {

/// A signed 128-bit integer that tracks overflow: a result that does not fit is
/// invalid, and so is everything computed from it. Memory, FLOPs and bytes are
/// counted with it.
class Checked {
public:
  constexpr Checked() = default;
  constexpr Checked(int64_t value) : value(value) {}

  bool valid() const { return !overflowed; }
  /// Whether the value is valid and 0.
  bool isZero() const { return valid() && value == 0; }
  /// Returns the value if it fits in 63 bits; nothing if it does not.
  std::optional<int64_t> int64() const {
    if (overflowed || value > INT64_MAX || value < INT64_MIN)
      return std::nullopt;
    return static_cast<int64_t>(value);
  }
  /// Returns the value in decimal, whatever its length; "overflow" if it is
  /// invalid.
  std::string str() const;
  /// Returns the nearest double, for computing times.
  double real() const { return static_cast<double>(value); }

  friend Checked operator+(Checked a, Checked b) {
    Checked r;
    r.overflowed = __builtin_add_overflow(a.value, b.value, &r.value) ||
                   a.overflowed || b.overflowed;
    return r;
  }
  friend Checked operator-(Checked a, Checked b) {
    Checked r;
    r.overflowed = __builtin_sub_overflow(a.value, b.value, &r.value) ||
                   a.overflowed || b.overflowed;
    return r;
  }
  friend Checked operator*(Checked a, Checked b) {
    Checked r;
    r.overflowed = __builtin_mul_overflow(a.value, b.value, &r.value) ||
                   a.overflowed || b.overflowed;
    return r;
  }
  Checked &operator+=(Checked b) { return *this = *this + b; }
  Checked &operator*=(Checked b) { return *this = *this * b; }

  /// Division that rounds towards minus infinity (`floorDiv`) or plus infinity
  /// (`ceilDiv`); `b` must be positive.
  friend Checked floorDiv(Checked a, Checked b) {
    Checked r = a;
    r.overflowed |= b.overflowed;
    r.value = a.value / b.value - (a.value % b.value < 0);
    return r;
  }
  friend Checked ceilDiv(Checked a, Checked b) {
    Checked r = a;
    r.overflowed |= b.overflowed;
    r.value = a.value / b.value + (a.value % b.value > 0);
    return r;
  }
  /// Returns the smallest multiple of `b` that is not below `a`; `b` must be
  /// positive.
  friend Checked roundUp(Checked a, Checked b) { return ceilDiv(a, b) * b; }

  friend bool operator<(Checked a, Checked b) { return a.value < b.value; }
  friend bool operator>(Checked a, Checked b) { return a.value > b.value; }
  friend bool operator<=(Checked a, Checked b) { return a.value <= b.value; }
  friend bool operator>=(Checked a, Checked b) { return a.value >= b.value; }
  friend bool operator==(Checked a, Checked b) { return a.value == b.value; }
  friend bool operator!=(Checked a, Checked b) { return a.value != b.value; }

private:
  __int128 value = 0;
  bool overflowed = false;
};

} // namespace autopar

#endif // AUTOPAR_SUPPORT_CHECKED_H

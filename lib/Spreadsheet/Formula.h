//===- Formula.h - Text of formulas, bound as needed ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SPREADSHEET_FORMULA_H
#define AUTOPAR_LIB_SPREADSHEET_FORMULA_H

#include <cstdint>
#include <string>

namespace autopar::spreadsheet {

/// The text of a formula and how tightly its outermost operation binds.
struct Formula {
  enum class Bind : uint8_t { comparison, sum, product, factor };

  std::string text;
  Bind bind = Bind::factor;
  /// The number of functions and brackets that are nested inside each other;
  /// Excel allows at most 64.
  unsigned depth = 0;

  Formula() = default;
  Formula(std::string text, Bind bind = Bind::factor, unsigned depth = 0)
      : text(std::move(text)), bind(bind), depth(depth) {}
  Formula(const char *text) : Formula(std::string(text)) {}
  /// Makes the formula of a whole number.
  Formula(int64_t value);
  Formula(int value) : Formula(int64_t(value)) {}

  /// Returns the formula as an operand of an operation that binds as tightly as
  /// `least`, in brackets if needed.
  Formula inside(Bind least) const;
};

/// Returns the formula of a number with all its digits.
Formula exactly(double value);

Formula operator+(const Formula &a, const Formula &b);
Formula operator-(const Formula &a, const Formula &b);
Formula operator*(const Formula &a, const Formula &b);
Formula operator/(const Formula &a, const Formula &b);
Formula operator>(const Formula &a, const Formula &b);
Formula power(const Formula &a, const Formula &b);

Formula call(const char *function, const Formula &a);
Formula call(const char *function, const Formula &a, const Formula &b);
Formula call(const char *function, const Formula &a, const Formula &b,
             const Formula &c);

inline Formula least(const Formula &a, const Formula &b) {
  return call("MIN", a, b);
}
inline Formula most(const Formula &a, const Formula &b) {
  return call("MAX", a, b);
}
inline Formula choose(const Formula &condition, const Formula &a,
                      const Formula &b) {
  return call("IF", condition, a, b);
}
/// Return a number rounded down (`below`), up (`atLeast`), or to the nearest
/// integer (`rounded`).
inline Formula below(const Formula &a) { return call("INT", a); }
Formula atLeast(const Formula &a);
inline Formula rounded(const Formula &a) { return call("ROUND", a, 0); }

} // namespace autopar::spreadsheet

#endif // AUTOPAR_LIB_SPREADSHEET_FORMULA_H

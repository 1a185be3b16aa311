//===- Formula.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formula.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::spreadsheet;

using Bind = Formula::Bind;

Formula::Formula(int64_t value)
    : Formula(std::to_string(value), value < 0 ? Bind::sum : Bind::factor) {}

Formula autopar::spreadsheet::exactly(double value) {
  std::string text = formatNumber(value);
  for (char &c : text)
    c = c == 'e' ? 'E' : c;
  return {std::move(text), value < 0 ? Bind::sum : Bind::factor};
}

Formula Formula::inside(Bind least) const {
  return bind < least ? Formula("(" + text + ")", Bind::factor, depth + 1)
                      : *this;
}

/// Joins two formulas by an operator. The right operand must bind more tightly
/// than the left one if the operation is not associative, at least in its last
/// digit.
static Formula binary(const Formula &a, const char *sign, const Formula &b,
                      Bind bind, Bind right) {
  Formula first = a.inside(bind), second = b.inside(right);
  return {first.text + sign + second.text, bind,
          std::max(first.depth, second.depth)};
}

Formula autopar::spreadsheet::operator+(const Formula &a, const Formula &b) {
  return binary(a, "+", b, Bind::sum, Bind::product);
}
Formula autopar::spreadsheet::operator-(const Formula &a, const Formula &b) {
  return binary(a, "-", b, Bind::sum, Bind::product);
}
Formula autopar::spreadsheet::operator*(const Formula &a, const Formula &b) {
  return binary(a, "*", b, Bind::product, Bind::factor);
}
Formula autopar::spreadsheet::operator/(const Formula &a, const Formula &b) {
  return binary(a, "/", b, Bind::product, Bind::factor);
}
Formula autopar::spreadsheet::operator>(const Formula &a, const Formula &b) {
  return binary(a, ">", b, Bind::comparison, Bind::sum);
}

Formula autopar::spreadsheet::power(const Formula &a, const Formula &b) {
  return call("POWER", a, b);
}

Formula autopar::spreadsheet::call(const char *function, const Formula &a) {
  return {std::string(function) + "(" + a.text + ")", Bind::factor,
          a.depth + 1};
}
Formula autopar::spreadsheet::call(const char *function, const Formula &a,
                                   const Formula &b) {
  return call(function, Formula(a.text + "," + b.text, Bind::factor,
                                std::max(a.depth, b.depth)));
}
Formula autopar::spreadsheet::call(const char *function, const Formula &a,
                                   const Formula &b, const Formula &c) {
  return call(function,
              Formula(a.text + "," + b.text + "," + c.text, Bind::factor,
                      std::max({a.depth, b.depth, c.depth})));
}

/// Rounds up. Excel's functions that round up are not exact for all whole
/// quotients.
Formula autopar::spreadsheet::atLeast(const Formula &a) {
  Formula negated("-" + a.inside(Bind::factor).text, Bind::sum, a.depth + 1);
  return {"-" + below(negated).text, Bind::sum, negated.depth + 1};
}

//===- Turn.h - Pairs of elements by an angle -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_TURN_H
#define AUTOPAR_LIB_INTERPRETER_TURN_H

#include <cmath>
#include <cstdint>

namespace autopar::interpreter {

/// Rotates the `width` elements at `x` by the angles of `position`, by the
/// rules of `op`; with a `sign` of -1, back.
template <typename Op>
void turnElements(Op op, double *x, int64_t width, int64_t position,
                  double sign) {
  int64_t turned = op.getWidth() ? int64_t(*op.getWidth()) : width;
  if (op.getLast())
    x += width - turned;
  // `next`: distance of the pairs. `other`: distance of the two elements of a
  // pair.
  int64_t next = op.getInterleaved() ? 2 : 1;
  int64_t other = op.getInterleaved() ? 1 : turned / 2;
  double theta = op.getTheta().convertToDouble();
  for (int64_t i = 0; i < turned / 2; ++i, x += next) {
    double angle = sign * double(position) *
                   std::pow(theta, -2.0 * double(i) / double(turned));
    double a = x[0], b = x[other];
    x[0] = a * std::cos(angle) - b * std::sin(angle);
    x[other] = b * std::cos(angle) + a * std::sin(angle);
  }
}

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_TURN_H

//===- Time.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Time.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <cmath>

using namespace autopar;
using namespace autopar::schedule;

static constexpr double psPerUs = 1e6;

Result<Picoseconds> autopar::schedule::toPicoseconds(double microseconds) {
  constexpr double largest = limits::maxStageTimePs / psPerUs;
  if (microseconds >= 0 && microseconds <= largest)
    return Picoseconds(std::llround(microseconds * psPerUs));
  return Error{"", "a time of " + formatNumber(microseconds) + " us",
               "times are from 0 to " + formatNumber(largest) + " us"};
}

double autopar::schedule::toMicroseconds(Picoseconds time) {
  return static_cast<double>(time) / psPerUs;
}

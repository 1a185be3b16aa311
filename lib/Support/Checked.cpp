//===- Checked.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Checked.h"

#include <algorithm>

using namespace autopar;

std::string Checked::str() const {
  if (overflowed)
    return "overflow";
  std::string digits;
  __int128 rest = value;
  // The remainder has the sign of the value. The value is not negated, because
  // this could overflow.
  do {
    auto digit = static_cast<int>(rest % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    rest /= 10;
  } while (rest != 0);
  if (value < 0)
    digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

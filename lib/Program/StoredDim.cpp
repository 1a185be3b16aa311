//===- StoredDim.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/StoredDim.h"

using namespace autopar;
using namespace autopar::program;

using Base = StoredDim::Base;

std::string_view autopar::program::nameOf(Base base) {
  static constexpr std::string_view names[] = {"", "o", "i", "all"};
  return names[static_cast<unsigned>(base)];
}

std::optional<Base> autopar::program::parseStoredBase(std::string_view name) {
  for (Base base : {Base::o, Base::i, Base::all})
    if (nameOf(base) == name)
      return base;
  return std::nullopt;
}

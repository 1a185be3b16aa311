//===- StoredDim.h - Dimensions of a format's tensors -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_STOREDDIM_H
#define AUTOPAR_PROGRAM_STOREDDIM_H

#include "autopar/Support/Checked.h"

#include <optional>
#include <string_view>

namespace autopar::program {

/// One dimension of a quantised checkpoint tensor: ceil(base * num / den), in
/// which `base` is a dimension of the unquantised tensor.
struct StoredDim {
  enum class Base : uint8_t {
    /// The base is 1, so that the dimension is the number `num`.
    one,
    /// The base is the last dimension but one: the outputs of a linear layer.
    o,
    /// The base is the last dimension: the inputs of a linear layer.
    i,
    /// The base is the product of all dimensions.
    all,
  };
  Base base = Base::one;
  int64_t num = 1, den = 1;

  /// Returns the stored extent, if the base has the extent `extent`.
  Checked of(Checked extent) const { return ceilDiv(extent * num, den); }

  friend bool operator==(const StoredDim &a, const StoredDim &b) {
    return a.base == b.base && a.num == b.num && a.den == b.den;
  }
};

/// Returns the name of a base: "o", "i", "all"; "" for `one`.
std::string_view nameOf(StoredDim::Base base);
std::optional<StoredDim::Base> parseStoredBase(std::string_view name);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_STOREDDIM_H

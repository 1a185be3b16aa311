//===- MlirGrammar.h - Random text by MLIR's grammar ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_FUZZ_MLIRGRAMMAR_H
#define AUTOPAR_FUZZ_MLIRGRAMMAR_H

#include <initializer_list>
#include <random>
#include <string>
#include <vector>

namespace autopar::fuzz {

/// Writes parts of .mlir text at random: most are well-formed, few are modest.
class MlirGrammar {
public:
  enum class Kind { attribute, type, location, affine, number, string, symbol };

  explicit MlirGrammar(unsigned seed) : random(seed) {}

  size_t below(size_t bound) { return bound ? random() % bound : 0; }
  /// From 1 to about 2^`bits`, small ones as often as large ones.
  size_t many(unsigned bits) { return 1 + below(size_t(1) << below(bits + 1)); }

  /// A part of `kind`.
  std::string make(Kind kind) { return expand(kind, 2 + below(12)); }
  /// `inner` inside of `depth` parts of `kind`, with brackets or without.
  std::string nest(Kind kind, std::string inner, size_t depth);
  /// Definitions of aliases of `kind`, attributes or types, of which each may
  /// be made of others: chains, doublings, cycles, uses before the definition.
  /// `name` becomes the one that stands for all.
  std::string aliases(Kind kind, std::string &name);
  /// "x" and a number, for names.
  std::string word() { return "x" + std::to_string(below(100)); }

private:
  std::string expand(Kind kind, size_t fuel);
  std::string number();
  std::string string();

  std::minstd_rand random;
};

} // namespace autopar::fuzz

#endif // AUTOPAR_FUZZ_MLIRGRAMMAR_H

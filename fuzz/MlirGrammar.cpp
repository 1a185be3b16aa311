//===- MlirGrammar.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MlirGrammar.h"

#include <algorithm>
#include <array>
#include <string_view>

using namespace autopar::fuzz;
using Kind = MlirGrammar::Kind;

using Texts = std::vector<std::string>;

/// Those of `kind`, in the order of the kinds.
static const Texts &ofKind(Kind kind, const std::array<const Texts *, 7> &all) {
  return *all[static_cast<size_t>(kind)];
}

/// What a part of a kind may be, the simplest first. In it stand for others:
/// $A attribute, $T type, $L location, $E affine expression, $N number,
/// $S string, $Y symbol.
static const Texts &productionsOf(Kind kind) {
  static const Texts attributes = {
      "1",
      "$N",
      "$N : $T",
      "-$N : $T",
      "$S",
      "$S : $T",
      "$Y",
      "$Y::$Y",
      "$T",
      "unit",
      "false",
      "#x1",
      "#x2",
      "[]",
      "[$A]",
      "[$A, $A]",
      "{}",
      "{a = $A}",
      "{a.b = $A, $S = $A}",
      "dense<$N> : tensor<$Nx$T>",
      "dense<[$N, $N]> : tensor<2x$T>",
      "dense<[[$N], [$A]]> : $T",
      "dense<$S> : tensor<$Nx$T>",
      "dense<$A> : vector<$Nx$T>",
      "dense<($N, $N)> : tensor<$Nxcomplex<$T>>",
      "sparse<[[$N, $N]], [$N]> : tensor<$Nx$Nx$T>",
      "sparse<$N, $A> : $T",
      "array<i64: $N, $N>",
      "array<$T: $N>",
      "array<i1: true, false>",
      "affine_map<(d0, d1)[s0] -> ($E, $E)>",
      "affine_map<() -> ()>",
      "affine_set<(d0, d1)[s0] : ($E >= 0, $E == $E)>",
      "distinct[$N]<$A>",
      "loc($L)",
      "strided<[$N, ?], offset: $N>",
      "dense_resource<x1> : $T",
      "#builtin.int<$N>",
      "opaque<$S, $S> : $T",
      "#transformer.dims<[batch, query, $N, _]>",
      "#parallel.sharding<[batch, _ by tp, _ by tp*dp pad $N] partial [tp]>"};
  static const Texts types = {
      "i1",
      "i$N",
      "si$N",
      "bf16",
      "f8E4M3FN",
      "index",
      "none",
      "!x1",
      "!x2",
      "tensor<$Nx$Nx$T>",
      "tensor<?x?x64xbf16, $A>",
      "tensor<$T, $A>",
      "tensor<*x$T>",
      "vector<$Nx$T>",
      "vector<[$N]x4x$T>",
      "memref<$Nx$T>",
      "memref<$Nx?x$T, affine_map<(d0, d1) -> ($E, $E)>, $A>",
      "memref<?x$T, strided<[$N], offset: ?>>",
      "memref<*x$T, $A>",
      "tuple<$T, $T>",
      "tuple<>",
      "complex<$T>",
      "() -> ()",
      "($T, $T) -> $T",
      "($T) -> ($T, $T)",
      "!builtin.opaque<$S>",
      "!transformer.x<$T>"};
  static const Texts locations = {"unknown",
                                  "$S",
                                  "$S:$N:$N",
                                  "$S:$N:$N to $N:$N",
                                  "$S:$N:$N to :$N",
                                  "$S($L)",
                                  "callsite($L at $L)",
                                  "fused[$L, $L]",
                                  "fused[]",
                                  "fused<$A>[$L, $L]",
                                  "#x1",
                                  "#x2",
                                  "#builtin.x<$A>"};
  static const Texts affine = {"d0",
                               "s0",
                               "d1",
                               "$N",
                               "-$E",
                               "$E + $E",
                               "$E - $E",
                               "$E * $E",
                               "($E)",
                               "$E mod $E",
                               "$E floordiv $E",
                               "$E ceildiv $E",
                               "symbol($E)",
                               "d$N"};
  static const Texts numbers = {"0",
                                "1",
                                "2",
                                "7",
                                "64",
                                "127",
                                "128",
                                "255",
                                "256",
                                "1000",
                                "4096",
                                "65536",
                                "16777215",
                                "16777216",
                                "2147483648",
                                "4294967295",
                                "4294967296",
                                "4611686018427387904",
                                "9223372036854775807",
                                "9223372036854775808",
                                "18446744073709551615",
                                "18446744073709551616",
                                "1.5",
                                "1.0e308",
                                "1.0e-99999",
                                "1.0e99999999999",
                                "0x1p3",
                                "0xFF",
                                "0x7FC00000",
                                "0b1",
                                "01",
                                "0x",
                                "1e5",
                                "-1",
                                "- 1",
                                "true",
                                "?",
                                "_"};
  static const Texts symbols = {"@x1", "@x2", "@main", "@decoder", "@mesh",
                                "@w",  "@$S", "@\"\"", "@x1::@$S"};
  static const Texts strings = {"$S"};
  return ofKind(kind, {&attributes, &types, &locations, &affine, &numbers,
                       &strings, &symbols});
}

static Kind kindOf(char letter) {
  return static_cast<Kind>(std::string_view("ATLENSY").find(letter));
}

/// What goes around a part to make another of the same kind.
static const Texts &wrappersOf(Kind kind) {
  static const Texts attributes = {"[$]",
                                   "{a = $}",
                                   "[1, $]",
                                   "[$, $]",
                                   "{a = {b = $}}",
                                   "[[], {c = $}]",
                                   "distinct[0]<$>",
                                   "dense<$> : tensor<1xi1>",
                                   "loc(fused<$>[unknown])",
                                   "array<i64: $>",
                                   "sparse<0, $> : tensor<1xi1>",
                                   "-$",
                                   "#transformer.x<$>",
                                   "affine_map<(d0) -> ($)>",
                                   "$::@x1",
                                   "$ : tuple<>"};
  static const Texts types = {
      "tuple<$>",         "tuple<$, $>",
      "complex<$>",       "tensor<1x$>",
      "vector<1x$>",      "memref<1x$>",
      "($) -> ()",        "() -> ($)",
      "() -> $",          "($, $) -> ($)",
      "tensor<4xi1, $>",  "memref<4xi1, affine_map<(d0) -> (d0)>, $>",
      "!transformer.x<$>"};
  static const Texts locations = {"\"a\"($)",
                                  "callsite(\"a\" at $)",
                                  "callsite($ at \"a\")",
                                  "fused[$]",
                                  "fused[$, $]",
                                  "fused<1>[$]",
                                  "fused<loc($)>[unknown]",
                                  "callsite($ at $)"};
  static const Texts affine = {"-$",           "- $",
                               "($)",          "-($)",
                               "1 + $",        "$ + s0",
                               "2 * ($)",      "$ * s0",
                               "($) mod 7",    "$ floordiv 3",
                               "$ ceildiv s0", "($) * ($)",
                               "$ - d1",       "(d0 mod ($)) floordiv 2",
                               "($) mod ($)",  "($ + d0 * 3) floordiv 3"};
  static const Texts numbers = {"1$", "$0", "0x$", "$.$", "$e$", "$x$", "-$"};
  static const Texts strings = {"\"$\"", "\"\\$\""};
  static const Texts symbols = {"$::@x1", "@x1::$", "@\"$\""};
  return ofKind(kind, {&attributes, &types, &locations, &affine, &numbers,
                       &strings, &symbols});
}

std::string MlirGrammar::number() {
  const Texts &numbers = productionsOf(Kind::number);
  if (below(40))
    return numbers[below(below(2) ? 8 : numbers.size())];
  static const Texts starts = {"", "0x", "1.", "-", "1e"};
  return starts[below(starts.size())] +
         std::string(many(13), below(2) ? '9' : '0');
}

std::string MlirGrammar::string() {
  static const Texts pieces = {
      "a",  "x1",  "\\00", "\\FF",         "\\22", "\\\\", "\\n", "\\t", "\\\"",
      "\\", "\\0", "\xff", "\xe2\x82\xac", "/",    ".",    "<",   ">",   "[",
      "(",  "]",   "//",   "0x0000803F",   "0x",   "%",    "{}",  "\n",  " "};
  std::string text = "\"";
  for (size_t count = below(20) ? below(4) : many(10); count; --count)
    text += pieces[below(below(2) ? 9 : pieces.size())];
  return text + "\"";
}

std::string MlirGrammar::expand(Kind kind, size_t fuel) {
  if (kind == Kind::number)
    return number();
  if (kind == Kind::string)
    return string();
  const Texts &productions = productionsOf(kind);
  const std::string &chosen = productions[fuel ? below(productions.size()) : 0];
  std::string text;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] != '$')
      text += chosen[i];
    else
      text += expand(kindOf(chosen[++i]), fuel ? fuel - 1 - fuel / 3 : 0);
  }
  return text;
}

/// `pattern` with `inner` for each "$".
static std::string fill(const std::string &pattern, const std::string &inner) {
  std::string text;
  for (char c : pattern)
    text += c == '$' ? inner : std::string(1, c);
  return text;
}

std::string MlirGrammar::nest(Kind kind, std::string inner, size_t depth) {
  constexpr size_t longest = 1 << 16;
  const Texts &wrappers = wrappersOf(kind);
  const std::string &chosen = wrappers[below(wrappers.size())];
  bool mixed = below(4) == 0;
  for (; depth && inner.size() < longest; --depth)
    inner = fill(mixed ? wrappers[below(wrappers.size())] : chosen, inner);
  return inner;
}

std::string MlirGrammar::aliases(Kind kind, std::string &name) {
  std::string stem = (kind == Kind::type ? "!" : "#") + word() + "_";
  bool located = kind == Kind::location;
  const Texts &wrappers = wrappersOf(kind);
  std::string rule = wrappers[below(wrappers.size())];
  bool cyclic = below(8) == 0;
  size_t count = below(2) ? many(5) : many(12);
  Texts lines;
  for (size_t i = 0; i < count; ++i) {
    if (below(10) == 0)
      rule = wrappers[below(wrappers.size())];
    std::string before = stem + std::to_string(i ? i - 1 : count - 1);
    std::string value = i || cyclic ? fill(rule, before) : make(kind);
    lines.push_back(stem + std::to_string(i) + " = " +
                    (located ? "loc(" + value + ")" : value) + "\n");
  }
  if (below(8) == 0)
    std::shuffle(lines.begin(), lines.end(), random);
  name = stem + std::to_string(count - 1);
  std::string text;
  for (const std::string &line : lines)
    text += line;
  return text;
}

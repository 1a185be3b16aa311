//===- MlirMutator.h - Changes MLIR text by its grammar ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_FUZZ_MLIRMUTATOR_H
#define AUTOPAR_FUZZ_MLIRMUTATOR_H

#include "MlirGrammar.h"

namespace autopar::fuzz {

/// One change to a text of .mlir, as someone makes it who knows the grammar and
/// means harm: other attributes, types, locations, numbers, strings and symbols
/// where such stand; nested, repeated, and behind families of aliases.
class MlirMutator {
public:
  MlirMutator(std::string text, unsigned seed)
      : text(std::move(text)), grammar(seed) {}

  std::string mutate();

private:
  using Kind = MlirGrammar::Kind;
  struct Span {
    Kind kind;
    size_t begin, end;
  };

  std::vector<Span> findSpans() const;
  size_t endOfBalanced(size_t open) const;
  size_t endOfWord(size_t from) const;
  Span spanAt(size_t at) const;
  Span anySpan();
  size_t anyEndOfLine();
  std::string textOf(const Span &span) const {
    return text.substr(span.begin, span.end - span.begin);
  }
  void replace(const Span &span, const std::string &with) {
    text.replace(span.begin, span.end - span.begin, with);
  }

  void replaceSpan();
  void swapSpans();
  void nestSpan();
  void repeatSpan();
  void addAliases();
  void nameSpan();
  void addLocation();
  void addAttributes();
  void addResources();
  void changeValue();
  void changeLines();
  void nestAll();

  std::string text;
  MlirGrammar grammar;
};

} // namespace autopar::fuzz

#endif // AUTOPAR_FUZZ_MLIRMUTATOR_H

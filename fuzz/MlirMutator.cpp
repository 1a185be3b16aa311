//===- MlirMutator.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MlirMutator.h"

#include <algorithm>
#include <cctype>

using namespace autopar::fuzz;

static bool isWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '$';
}

size_t MlirMutator::endOfWord(size_t from) const {
  while (from < text.size() && isWordPart(text[from]))
    ++from;
  return from;
}

/// Past the bracket that closes the one at `open`; where none does, past
/// `open`.
size_t MlirMutator::endOfBalanced(size_t open) const {
  constexpr size_t longest = 4096;
  size_t depth = 0, last = std::min(text.size(), open + longest);
  for (size_t i = open; i < last; ++i) {
    depth += std::string_view("<([{").find(text[i]) != std::string_view::npos;
    bool arrow = text[i] == '>' && i && text[i - 1] == '-';
    if (!arrow &&
        std::string_view(">)]}").find(text[i]) != std::string_view::npos &&
        --depth == 0)
      return i + 1;
  }
  return open + 1;
}

/// What stands at `at`; empty where that is nothing of the grammar.
MlirMutator::Span MlirMutator::spanAt(size_t at) const {
  char c = text[at];
  size_t end = endOfWord(at + (c == '#' || c == '!' || c == '@'));
  std::string word = text.substr(at, end - at);
  bool opens = end < text.size() && (text[end] == '<' || text[end] == '(');
  if (c == '"')
    return {Kind::string, at,
            std::min(text.find('"', at + 1), text.size() - 1) + 1};
  if (c == '[' || c == '{')
    return {Kind::attribute, at, endOfBalanced(at)};
  if (c == '@')
    return {Kind::symbol, at, end};
  if (c == '#' || c == '!')
    return {c == '#' ? Kind::attribute : Kind::type, at,
            opens ? endOfBalanced(end) : end};
  if (std::isdigit(static_cast<unsigned char>(c)))
    return {Kind::number, at, end};
  if (opens && word == "loc")
    return {Kind::location, end + 1, std::max(endOfBalanced(end) - 1, end + 1)};
  if (opens && (word == "affine_map" || word == "affine_set"))
    return {Kind::attribute, at, endOfBalanced(end)};
  if (opens && (word == "tensor" || word == "vector" || word == "memref" ||
                word == "tuple"))
    return {Kind::type, at, endOfBalanced(end)};
  if (word == "i1" || word == "i32" || word == "i64" || word == "bf16" ||
      word == "f32" || word == "index")
    return {Kind::type, at, end};
  if (word == "d0" || word == "d1" || word == "s0")
    return {Kind::affine, at, end};
  return {Kind::attribute, at, at};
}

std::vector<MlirMutator::Span> MlirMutator::findSpans() const {
  std::vector<Span> spans;
  for (size_t at = 0; at < text.size();) {
    Span span = spanAt(at);
    if (span.end > span.begin)
      spans.push_back(span);
    // Strings and words are one; brackets have more inside.
    bool whole = text[at] == '"' || span.kind == Kind::symbol;
    at = whole ? std::max(span.end, at + 1) : std::max(endOfWord(at), at + 1);
  }
  return spans;
}

MlirMutator::Span MlirMutator::anySpan() {
  std::vector<Span> spans = findSpans();
  if (spans.empty())
    return {Kind::attribute, text.size(), text.size()};
  return spans[grammar.below(spans.size())];
}

size_t MlirMutator::anyEndOfLine() {
  return std::min(text.find('\n', grammar.below(text.size() + 1)), text.size());
}

void MlirMutator::replaceSpan() {
  Span span = anySpan();
  auto other = static_cast<Kind>(grammar.below(7));
  replace(span, grammar.make(grammar.below(6) ? span.kind : other));
}

void MlirMutator::swapSpans() {
  Span to = anySpan();
  std::string from = textOf(anySpan());
  replace(to, from);
}

void MlirMutator::nestSpan() {
  Span span = anySpan();
  replace(span, grammar.nest(span.kind, textOf(span), grammar.many(12)));
}

void MlirMutator::repeatSpan() {
  Span span = anySpan();
  std::string one = textOf(span), all = one;
  static const char *const between[] = {", ", "", " ", "x", "::", " -> ", "\n"};
  const char *separator = between[grammar.below(2) ? 0 : grammar.below(7)];
  for (size_t count = grammar.many(12); count; --count)
    all += separator + one;
  replace(span, all);
}

void MlirMutator::addAliases() {
  static const Kind kinds[] = {Kind::attribute, Kind::type, Kind::location};
  Kind kind = kinds[grammar.below(3)];
  std::string name, definitions = grammar.aliases(kind, name);
  for (size_t uses = grammar.many(3); uses; --uses) {
    std::vector<Span> spans = findSpans();
    spans.erase(std::remove_if(spans.begin(), spans.end(),
                               [&](const Span &s) { return s.kind != kind; }),
                spans.end());
    if (spans.empty())
      text.insert(anyEndOfLine(), " loc(" + name + ")");
    else
      replace(spans[grammar.below(spans.size())], name);
  }
  // Those of locations stand last.
  bool last = kind == Kind::location ? grammar.below(4) : !grammar.below(8);
  text = last ? text + "\n" + definitions : definitions + text;
}

/// Gives a part a name, which others use.
void MlirMutator::nameSpan() {
  Span span = anySpan();
  char sigil = span.kind == Kind::type ? '!' : '#';
  std::string name = sigil + grammar.word(), value = textOf(span);
  for (size_t uses = grammar.many(4); uses; --uses) {
    replace(span, name);
    span = anySpan();
  }
  text = name + " = " + value + "\n" + text;
}

void MlirMutator::addLocation() {
  text.insert(anyEndOfLine(), " loc(" + grammar.make(Kind::location) + ")");
}

void MlirMutator::addAttributes() {
  std::string value = "{a.b = " + grammar.make(Kind::attribute) + "}";
  if (grammar.below(2))
    text = "module attributes " + value + " {\n" + text + "\n}\n";
  else
    text.insert(anyEndOfLine(), " " + value);
}

void MlirMutator::addResources() {
  text +=
      "\n{-# dialect_resources: { builtin: { x1: " +
      grammar.make(grammar.below(2) ? Kind::string : Kind::attribute) +
      " } }, external_resources: { x: { y: " + grammar.make(Kind::attribute) +
      " } } #-}\n";
}

/// Another number of results, another result, another name of a value.
void MlirMutator::changeValue() {
  size_t at = text.find('%', grammar.below(text.size() + 1));
  if (at == std::string::npos)
    return;
  size_t end = endOfWord(at + 1);
  std::string number = grammar.make(Kind::number);
  switch (grammar.below(4)) {
  case 0:
    return text.insert(end, "#" + number), void();
  case 1:
    return text.insert(end, ":" + number), void();
  case 2:
    return text.replace(at + 1, end - at - 1, number), void();
  default:
    return text.insert(end, ", %x"), void();
  }
}

/// Some lines again, or away.
void MlirMutator::changeLines() {
  size_t begin = anyEndOfLine(), end = begin;
  for (size_t lines = grammar.many(4); lines; --lines)
    end = std::min(text.find('\n', end + 1), text.size());
  std::string some = text.substr(begin, end - begin);
  if (grammar.below(2))
    return text.erase(begin, end - begin), void();
  size_t to = anyEndOfLine();
  for (size_t copies = grammar.many(grammar.below(4) ? 1 : 9); copies; --copies)
    text.insert(to, some);
}

void MlirMutator::nestAll() {
  bool generic = grammar.below(2);
  std::string before = generic ? "\"builtin.module\"() ({\n" : "module {\n";
  std::string after = generic ? "\n}) : () -> ()\n" : "\n}\n";
  for (size_t depth = grammar.many(10); depth; --depth)
    text = before + text + after;
}

std::string MlirMutator::mutate() {
  using Change = void (MlirMutator::*)();
  static const Change changes[] = {
      &MlirMutator::replaceSpan,  &MlirMutator::replaceSpan,
      &MlirMutator::replaceSpan,  &MlirMutator::swapSpans,
      &MlirMutator::nestSpan,     &MlirMutator::repeatSpan,
      &MlirMutator::addAliases,   &MlirMutator::nameSpan,
      &MlirMutator::addLocation,  &MlirMutator::addAttributes,
      &MlirMutator::addResources, &MlirMutator::changeValue,
      &MlirMutator::changeLines,  &MlirMutator::nestAll};
  constexpr size_t count = sizeof(changes) / sizeof(*changes);
  (this->*changes[grammar.below(count)])();
  return std::move(text);
}

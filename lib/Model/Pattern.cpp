//===- Pattern.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pattern.h"

#include "autopar/Support/Limits.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::model;

using Characters = Pattern::Characters;
using State = Pattern::State;

//===----------------------------------------------------------------------===//
// Parsing patterns
//===----------------------------------------------------------------------===//

namespace {

struct Node {
  enum class Kind : uint8_t { character, begin, end, sequence, choice, repeat };
  Kind kind = Kind::sequence;
  Characters characters;
  std::vector<Node> children;
  /// Bounds of a repetition; a `max` of -1 means no bound.
  int min = 0, max = -1;
};

Characters anyCharacter() { return Characters().set(); }

Characters range(unsigned char first, unsigned char last) {
  Characters set;
  for (unsigned c = first; c <= last; ++c)
    set.set(c);
  return set;
}

/// Returns the characters for which `\c` stands.
Characters escaped(char c) {
  Characters digits = range('0', '9');
  Characters words =
      digits | range('a', 'z') | range('A', 'Z') | range('_', '_');
  Characters spaces = range(' ', ' ') | range('\t', '\r');
  switch (c) {
  case 'd':
    return digits;
  case 'D':
    return ~digits;
  case 'w':
    return words;
  case 'W':
    return ~words;
  case 's':
    return spaces;
  case 'S':
    return ~spaces;
  default:
    return range(c, c);
  }
}

/// Parses those of Python's regular expressions that finite automata can match.
class RegexParser {
public:
  explicit RegexParser(std::string_view text) : text(text) {}

  Result<Node> parse() {
    Node node = choice();
    if (error.empty() && position < text.size())
      fail("a ) without a (");
    if (!error.empty())
      return Error{"", error, ""};
    return node;
  }

private:
  void fail(const std::string &message) {
    if (error.empty())
      error = message + " at column " + std::to_string(position + 1);
    position = text.size();
  }

  bool atEnd() const { return position >= text.size(); }
  bool take(std::string_view token) {
    if (text.substr(position, token.size()) != token)
      return false;
    position += token.size();
    return true;
  }

  Node choice() {
    Node node;
    node.kind = Node::Kind::choice;
    do
      node.children.push_back(sequence());
    while (take("|"));
    return node;
  }

  Node sequence() {
    Node node;
    while (!atEnd() && text[position] != '|' && text[position] != ')')
      node.children.push_back(repeated(atom()));
    return node;
  }

  static Node character(Characters characters) {
    Node node;
    node.kind = Node::Kind::character;
    node.characters = characters;
    return node;
  }
  static Node anchor(Node::Kind kind) {
    Node node;
    node.kind = kind;
    return node;
  }

  Node atom() {
    if (take("("))
      return group();
    if (take("["))
      return character(set());
    if (take("."))
      return character(anyCharacter());
    if (take("^"))
      return anchor(Node::Kind::begin);
    if (take("$"))
      return anchor(Node::Kind::end);
    if (take("\\"))
      return character(escape());
    if (std::string_view("*+?{").find(text[position]) !=
        std::string_view::npos) {
      fail("nothing to repeat");
      return {};
    }
    char c = text[position++];
    return character(range(c, c));
  }

  Node group() {
    if (take("?") && !take(":")) {
      fail("groups that begin with (? are not supported");
      return {};
    }
    Node inner = choice();
    if (!take(")"))
      fail("a ( without a )");
    return inner;
  }

  Characters escape() {
    if (atEnd()) {
      fail("a \\ at the end");
      return {};
    }
    char c = text[position++];
    // Escapes such as \b and \1 do not stand for characters and are refused;
    // those such as \d do.
    if (std::isalnum(static_cast<unsigned char>(c)) &&
        std::string_view("dDwWsS").find(c) == std::string_view::npos)
      fail(std::string("\\") + c + " is not supported");
    return escaped(c);
  }

  Characters set() {
    Characters characters;
    bool inverted = take("^");
    for (bool first = true; first || !take("]"); first = false) {
      if (atEnd()) {
        fail("a [ without a ]");
        return {};
      }
      if (take("\\")) {
        characters |= escape();
        continue;
      }
      char low = text[position++], high = low;
      if (position + 1 < text.size() && text[position] == '-' &&
          text[position + 1] != ']') {
        high = text[position + 1];
        position += 2;
      }
      characters |= range(low, high);
    }
    return inverted ? ~characters : characters;
  }

  Node repeated(Node atom) {
    Node node;
    node.kind = Node::Kind::repeat;
    if (take("?"))
      node.max = 1;
    else if (take("+"))
      node.min = 1;
    else if (take("{"))
      readCounts(node);
    else if (!take("*"))
      return atom;
    // A reluctant repetition matches the same texts as a greedy one.
    take("?");
    node.children.push_back(std::move(atom));
    return node;
  }

  void readCounts(Node &node) {
    node.min = count();
    node.max = node.min;
    if (take(","))
      node.max = text.substr(position, 1) == "}" ? -1 : count();
    if (!take("}") || (node.max >= 0 && node.max < node.min))
      fail("expected {n}, {n,} or {m,n}");
  }

  int count() {
    int value = 0, digits = 0;
    for (; !atEnd() && std::isdigit(static_cast<unsigned char>(text[position]));
         ++position)
      if (++digits <= 3)
        value = value * 10 + (text[position] - '0');
    if (digits < 1 || digits > 3)
      fail("expected a count of up to 3 digits");
    return value;
  }

  std::string_view text;
  size_t position = 0;
  std::string error;
};

/// `*` stands for any text, `?` for one character.
Node parseGlobNode(std::string_view text) {
  Node node;
  for (char c : text) {
    Node character;
    character.kind = Node::Kind::character;
    bool any = c == '*' || c == '?';
    character.characters = any ? anyCharacter() : range(c, c);
    Node repeat;
    repeat.kind = Node::Kind::repeat;
    repeat.children = {character};
    node.children.push_back(c == '*' ? repeat : character);
  }
  return node;
}

//===----------------------------------------------------------------------===//
// Matching with automata
//===----------------------------------------------------------------------===//

/// Builds the states of the automaton from the end to the beginning: each part
/// gets the state that follows it.
class Compiler {
public:
  Compiler() { states.emplace_back(); }

  uint32_t emit(const Node &node, uint32_t next) {
    switch (node.kind) {
    case Node::Kind::character:
      return add({State::Kind::character, node.characters, next, 0});
    case Node::Kind::begin:
      return add({State::Kind::begin, {}, next, 0});
    case Node::Kind::end:
      return add({State::Kind::end, {}, next, 0});
    case Node::Kind::sequence:
      for (auto it = node.children.rbegin(); it != node.children.rend(); ++it)
        next = emit(*it, next);
      return next;
    case Node::Kind::choice:
      return emitChoice(node, next);
    case Node::Kind::repeat:
      break;
    }
    return emitRepeat(node, next);
  }

  bool tooLarge() const { return states.size() >= limits::maxPatternStates; }

  std::vector<State> states;

private:
  uint32_t add(State state) {
    if (tooLarge())
      return 0;
    states.push_back(state);
    return states.size() - 1;
  }

  uint32_t emitChoice(const Node &node, uint32_t next) {
    uint32_t start = emit(node.children.back(), next);
    for (size_t i = node.children.size() - 1; i-- > 0;)
      start =
          add({State::Kind::split, {}, emit(node.children[i], next), start});
    return start;
  }

  uint32_t emitRepeat(const Node &node, uint32_t next) {
    const Node &body = node.children.front();
    uint32_t after = next;
    if (node.max < 0) {
      next = add({State::Kind::split, {}, 0, after});
      uint32_t start = emit(body, next);
      states[next].next = start;
    }
    for (int i = node.min; i < node.max && !tooLarge(); ++i)
      next = add({State::Kind::split, {}, emit(body, next), after});
    for (int i = 0; i < node.min && !tooLarge(); ++i)
      next = emit(body, next);
    return next;
  }
};

/// The execution of an automaton on one name: the set of states in which it may
/// be.
class Run {
public:
  Run(const std::vector<State> &states, std::string_view name)
      : states(states), name(name), marks(states.size(), 0) {}

  /// Adds a state, and those that it leads to without reading, to the set
  /// before character `position`.
  void enter(uint32_t first, size_t position) {
    pending.push_back(first);
    while (!pending.empty()) {
      uint32_t index = pending.back();
      pending.pop_back();
      ++steps;
      if (marks[index] == position + 1)
        continue;
      marks[index] = position + 1;
      const State &state = states[index];
      if (state.kind == State::Kind::accept)
        accepted = true;
      if (state.kind == State::Kind::character)
        current.push_back(index);
      if (state.kind == State::Kind::split)
        pending.push_back(state.other);
      if (state.kind == State::Kind::split ||
          (state.kind == State::Kind::begin && position == 0) ||
          (state.kind == State::Kind::end && position == name.size()))
        pending.push_back(state.next);
    }
  }

  /// Reads the character at `position`.
  void advance(size_t position) {
    std::vector<uint32_t> before;
    before.swap(current);
    accepted = false;
    for (uint32_t index : before)
      if (states[index].characters[static_cast<unsigned char>(name[position])])
        enter(states[index].next, position + 1);
  }

  bool accepted = false;
  uint64_t steps = 0;

private:
  const std::vector<State> &states;
  std::string_view name;
  std::vector<size_t> marks;
  std::vector<uint32_t> current, pending;
};

} // namespace

static Result<std::vector<State>> compile(const Node &node, uint32_t &start) {
  Compiler compiler;
  start = compiler.emit(node, 0);
  if (compiler.tooLarge())
    return Error{"",
                 "the pattern needs more than " +
                     std::to_string(limits::maxPatternStates) + " states",
                 ""};
  return std::move(compiler.states);
}

Result<Pattern> Pattern::parseGlob(std::string_view text) {
  Pattern pattern;
  pattern.matchesParts = true;
  pattern.literal = text.substr(0, text.find_first_of("*?"));
  if (text.size() > limits::maxPatternLength)
    return Error{"", "the pattern is too long", ""};
  Result<std::vector<State>> states =
      compile(parseGlobNode(text), pattern.start);
  if (!states)
    return states.error();
  pattern.states = std::move(*states);
  return pattern;
}

Result<Pattern> Pattern::parseRegex(std::string_view text) {
  Pattern pattern;
  if (text.size() > limits::maxPatternLength)
    return Error{"", "the regular expression is too long", ""};
  Result<Node> node = RegexParser(text).parse();
  if (!node)
    return node.error();
  Result<std::vector<State>> states = compile(*node, pattern.start);
  if (!states)
    return states.error();
  pattern.states = std::move(*states);
  return pattern;
}

bool Pattern::matches(std::string_view name, uint64_t &steps) const {
  if (name.find(literal) == std::string_view::npos) {
    steps += name.size();
    return false;
  }
  Run run(states, name);
  bool found = false;
  for (size_t i = 0; i <= name.size(); ++i) {
    if (i > 0)
      run.advance(i - 1);
    if (i == 0 || (matchesParts && name[i - 1] == '.'))
      run.enter(start, i);
    bool atBoundary = i == name.size() || name[i] == '.';
    found = run.accepted && (!matchesParts || atBoundary);
    if (found)
      break;
  }
  steps += run.steps + states.size();
  return found;
}

//===- TextStyle.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/TextStyle.h"

#include "autopar/Support/Terminal.h"

#include <algorithm>
#include <cctype>
#include <charconv>

using namespace autopar;

static constexpr size_t leastWidth = 60, mostWidth = 120;

TextStyle autopar::outputStyle() {
  TextStyle style;
  style.width =
      std::clamp(outputWidth().value_or(style.width), leastWidth, mostWidth);
  style.color = outputHasColor();
  return style;
}

static const TextStyle *&innermost() {
  static thread_local const TextStyle *style = nullptr;
  return style;
}

TextStyleScope::TextStyleScope(const TextStyle &style)
    : style(style), outer(innermost()) {
  innermost() = &this->style;
}

TextStyleScope::~TextStyleScope() { innermost() = outer; }

const TextStyle &TextStyleScope::current() {
  static const TextStyle plain;
  return innermost() ? *innermost() : plain;
}

//===----------------------------------------------------------------------===//
// Breaking long lines
//===----------------------------------------------------------------------===//

/// Wraps a line that is too long; further lines are indented by two more
/// columns.
static std::string broken(const std::string &line, size_t width) {
  size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::string_view text = std::string_view(line).substr(indent);
  std::string first = wrap(std::string(indent, ' '), text, width);
  first.resize(first.find('\n'));
  text.remove_prefix(first.size() - indent);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::string rest = wrap(std::string(indent + 2, ' '), text, width);
  rest.pop_back();
  return first + "\n" + rest;
}

//===----------------------------------------------------------------------===//
// Colouring lines
//===----------------------------------------------------------------------===//

static std::string painted(const std::string &text, const char *color) {
  return std::string("\x1b[") + color + "m" + text + "\x1b[0m";
}

static constexpr const char *bold = "1", *red = "31", *green = "32",
                            *yellow = "33", *cyan = "36", *faint = "2";

static bool begins(const std::string &line, const char *head) {
  return line.rfind(head, 0) == 0;
}

/// Returns the end of a percentage such as "61%", or of a bar, that begins at
/// `i`; `i` if none begins there.
static size_t endOfShare(const std::string &line, size_t i) {
  size_t end = i;
  while (end < line.size() && std::isdigit((unsigned char)line[end]))
    ++end;
  return end > i && end < line.size() && line[end] == '%' ? end + 1 : i;
}

static size_t endOfBar(const std::string &line, size_t i) {
  size_t end = std::min(line.find_first_not_of('#', i), line.size());
  bool alone = end == line.size() && i > 0 && line[i - 1] == ' ';
  return alone ? end : i;
}

static const char *colorOfShare(const std::string &share) {
  constexpr int large = 50, some = 10;
  int percent = 0;
  std::from_chars(share.data(), share.data() + share.size(), percent);
  return percent >= large ? bold : percent >= some ? cyan : faint;
}

static std::string withShares(const std::string &line) {
  std::string text;
  for (size_t i = 0; i < line.size();) {
    bool starts = i == 0 || line[i - 1] == ' ' || line[i - 1] == '(';
    size_t share = starts ? endOfShare(line, i) : i;
    size_t bar = line[i] == '#' ? endOfBar(line, i) : i;
    if (share > i) {
      std::string part = line.substr(i, share - i);
      text += painted(part, colorOfShare(part));
      i = share;
    } else if (bar > i) {
      text += painted(line.substr(i, bar - i), cyan);
      i = bar;
    } else {
      text += line[i++];
    }
  }
  return text;
}

static std::string colored(const std::string &line, bool afterBlank) {
  if (line.empty())
    return line;
  if (line[0] != ' ')
    return afterBlank ? painted(line, bold) : line;
  if (begins(line, "  fits ")) {
    size_t value = line.find_first_not_of(' ', 6);
    bool fits = line.compare(value, 4, "yes:") == 0;
    size_t end = std::min(line.find(':', value), line.size());
    return line.substr(0, value) +
           painted(line.substr(value, end - value), fits ? green : red) +
           line.substr(end);
  }
  if (begins(line, "  ! "))
    return "  " + painted("!", yellow) + line.substr(3);
  return withShares(line);
}

std::string autopar::finishText(const std::string &text,
                                const TextStyle &style) {
  std::string result;
  bool afterBlank = true;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string line =
        visible(std::string_view(text).substr(begin, end - begin));
    bool blank = line.empty();
    if (lengthOf(line) > style.width)
      line = broken(line, style.width);
    result += style.color ? colored(line, afterBlank) : line;
    result += "\n";
    afterBlank = blank;
    begin = end + 1;
  }
  return result;
}

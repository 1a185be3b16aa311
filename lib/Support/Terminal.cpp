//===- Terminal.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Terminal.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace autopar;

static bool continuesCharacter(char c) { return (c & 0xC0) == 0x80; }

size_t autopar::lengthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return !continuesCharacter(c); }));
}

/// Returns the number of bytes of the control character at the start of `text`;
/// 0 if there is none.
static size_t controlAt(std::string_view text) {
  auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x20 || first == 0x7f)
    return 1;
  // The control characters from U+0080 to U+009F have two bytes in UTF-8.
  return first == 0xC2 && text.size() > 1 &&
                 static_cast<unsigned char>(text[1]) < 0xA0
             ? 2
             : 0;
}

std::string autopar::visible(std::string_view text) {
  // Most texts have no control character and are returned as they are.
  if (std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return c >= 0x20 && c != 0x7f && c != 0xC2;
      }))
    return std::string(text);
  std::string result;
  while (!text.empty()) {
    size_t control = controlAt(text);
    if (control == 0) {
      result += text[0];
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\x%02x",
                    static_cast<unsigned char>(text[control - 1]));
      result += escaped;
    }
    text.remove_prefix(std::max<size_t>(1, control));
  }
  return result;
}

/// Returns the number of bytes of the first `characters` characters of `text`.
static size_t bytesOf(std::string_view text, size_t characters) {
  size_t bytes = 0;
  for (; bytes < text.size(); ++bytes)
    if (!continuesCharacter(text[bytes]) && characters-- == 0)
      break;
  return bytes;
}

std::string autopar::wrap(std::string_view head, std::string_view text,
                          size_t width) {
  size_t indent = lengthOf(head), length = indent;
  width = std::max(width, indent + 1);
  std::string line(head), result;
  bool empty = true;
  auto flush = [&] {
    result += line + "\n";
    line.assign(indent, ' ');
    length = indent;
    empty = true;
  };
  while (!text.empty()) {
    size_t space = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (!empty && length + 1 + lengthOf(word) > width)
      flush();
    while (length + lengthOf(word) + !empty > width) {
      size_t room = bytesOf(word, width - length);
      line += word.substr(0, room);
      word.remove_prefix(room);
      flush();
    }
    if (!empty)
      line += ' ';
    line += word;
    length += lengthOf(word) + !empty;
    empty = false;
  }
  flush();
  return result;
}

/// Returns the value of the environment variable COLUMNS; nothing if it is no
/// number.
static std::optional<size_t> columnsVariable() {
  const char *text = std::getenv("COLUMNS");
  size_t columns = 0;
  std::string_view given = text ? text : "";
  auto [end, error] =
      std::from_chars(given.data(), given.data() + given.size(), columns);
  if (error != std::errc() || end != given.data() + given.size() ||
      columns == 0)
    return std::nullopt;
  return columns;
}

std::optional<size_t> autopar::outputWidth() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return columnsVariable();
}

bool autopar::outputHasColor() {
  const char *none = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  return !(none && *none) && terminal && std::string_view(terminal) != "dumb" &&
         isatty(STDOUT_FILENO) == 1;
}

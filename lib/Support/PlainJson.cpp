//===- PlainJson.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlainJson.h"

#include <charconv>

using namespace autopar;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Characters
//===----------------------------------------------------------------------===//

void PlainJson::skipSpace() {
  while (next < end &&
         (*next == ' ' || *next == '\n' || *next == '\r' || *next == '\t'))
    ++next;
}

void PlainJson::skipDigits() {
  while (next < end && *next >= '0' && *next <= '9')
    ++next;
}

bool PlainJson::take(char expected) {
  if (next == end || *next != expected)
    return false;
  ++next;
  return true;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool PlainJson::read() {
  if (!value())
    return false;
  skipSpace();
  return next == end;
}

bool PlainJson::value() {
  skipSpace();
  if (next == end)
    return false;
  switch (*next) {
  case '{':
    return object();
  case '[':
    return array();
  case '"': {
    std::string text;
    return string(text) && events.string(text);
  }
  case 't':
    return word("true") && events.boolean(true);
  case 'f':
    return word("false") && events.boolean(false);
  case 'n':
    return word("null") && events.null();
  default:
    return number();
  }
}

bool PlainJson::object() {
  ++next;
  if (!events.start_object(size_t(-1)))
    return false;
  skipSpace();
  if (take('}'))
    return events.end_object();
  do {
    if (!member())
      return false;
    skipSpace();
  } while (take(','));
  return take('}') && events.end_object();
}

bool PlainJson::member() {
  std::string key;
  skipSpace();
  if (next == end || *next != '"' || !string(key) || !events.key(key))
    return false;
  skipSpace();
  return take(':') && value();
}

bool PlainJson::array() {
  ++next;
  if (!events.start_array(size_t(-1)))
    return false;
  skipSpace();
  if (take(']'))
    return events.end_array();
  do {
    if (!value())
      return false;
    skipSpace();
  } while (take(','));
  return take(']') && events.end_array();
}

bool PlainJson::word(std::string_view expected) {
  if (std::string_view(next, end - next).substr(0, expected.size()) != expected)
    return false;
  next += expected.size();
  return true;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

bool PlainJson::string(std::string &text) {
  const char *begin = next++;
  auto isPlain = [](char c) {
    return c >= ' ' && c < 127 && c != '"' && c != '\\';
  };
  while (next < end && isPlain(*next))
    ++next;
  if (next < end && *next != '"')
    return escapedString(begin, text);
  text.assign(begin + 1, next);
  return take('"');
}

/// Escapes and what is not ASCII are left to the library, token by token.
bool PlainJson::escapedString(const char *begin, std::string &text) {
  for (bool escaped = false; next < end && (escaped || *next != '"'); ++next)
    escaped = !escaped && *next == '\\';
  if (!take('"'))
    return false;
  json token = json::parse(begin, next, nullptr, /*allow_exceptions=*/false);
  if (!token.is_string())
    return false;
  text = std::move(token.get_ref<std::string &>());
  return true;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

template <typename Integer>
bool PlainJson::integer(const char *begin, bool (Events::*event)(Integer)) {
  Integer number;
  return std::from_chars(begin, next, number).ec == std::errc() &&
         (events.*event)(number);
}

bool PlainJson::real(const char *begin) {
  double number;
  return std::from_chars(begin, next, number).ec == std::errc() &&
         events.number_float(number, std::string());
}

bool PlainJson::number() {
  const char *begin = next;
  bool isNegative = take('-');
  const char *whole = next;
  skipDigits();
  if (next == whole || (*whole == '0' && next - whole > 1))
    return false;
  const char *digits = next;
  if (take('.')) {
    skipDigits();
    if (next == digits + 1)
      return false;
  }
  if (take('e') || take('E')) {
    if (!take('-'))
      take('+');
    const char *exponent = next;
    skipDigits();
    if (next == exponent)
      return false;
  }
  if (next > digits)
    return real(begin);
  return isNegative ? integer<int64_t>(begin, &Events::number_integer)
                    : integer<uint64_t>(begin, &Events::number_unsigned);
}

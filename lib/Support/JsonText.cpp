//===- JsonText.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/JsonText.h"

#include <algorithm>

using namespace autopar;
using json = nlohmann::ordered_json;

json autopar::writeInteger(const std::string &digits) {
  return json::binary({digits.begin(), digits.end()});
}

json autopar::writeInteger(Checked value) {
  std::optional<int64_t> narrow = value.int64();
  return narrow ? json(*narrow) : writeInteger(value.str());
}

static std::string dump(const json &value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Appends a string as JSON to `text`. Most strings need no escapes.
static void print(const std::string &value, std::string &text) {
  bool isPlain = std::all_of(value.begin(), value.end(), [](char c) {
    return c >= ' ' && c < 127 && c != '"' && c != '\\';
  });
  if (isPlain)
    text.append("\"").append(value).append("\"");
  else
    text += dump(json(value));
}

static void print(const json &value, const std::string &indent,
                  std::string &text) {
  if (value.is_binary()) {
    text.append(value.get_binary().begin(), value.get_binary().end());
    return;
  }
  if (value.is_string())
    return print(value.get_ref<const std::string &>(), text);
  if (value.is_number_integer() && !value.is_number_unsigned()) {
    text += std::to_string(value.get<int64_t>());
    return;
  }
  if (!value.is_structured() || value.empty()) {
    text += dump(value);
    return;
  }
  std::string inner = indent + "  ";
  const char *separator = "\n";
  text += value.is_object() ? "{" : "[";
  for (auto it = value.begin(); it != value.end(); ++it) {
    text.append(separator).append(inner);
    if (value.is_object()) {
      print(it.key(), text);
      text += ": ";
    }
    print(*it, inner, text);
    separator = ",\n";
  }
  text.append("\n").append(indent).append(value.is_object() ? "}" : "]");
}

std::string autopar::printJson(const json &value) {
  std::string text;
  print(value, "", text);
  return text + "\n";
}

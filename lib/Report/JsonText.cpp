//===- JsonText.cpp
//------------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonText.h"

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

static void print(const json &value, const std::string &indent,
                  std::string &text) {
  if (value.is_binary()) {
    text.append(value.get_binary().begin(), value.get_binary().end());
    return;
  }
  if (!value.is_structured() || value.empty()) {
    text += dump(value);
    return;
  }
  std::string inner = indent + "  ", separator = "\n";
  text += value.is_object() ? "{" : "[";
  for (const auto &[key, element] : value.items()) {
    text += separator + inner;
    if (value.is_object())
      text += dump(json(key)) + ": ";
    print(element, inner, text);
    separator = ",\n";
  }
  text += "\n" + indent + (value.is_object() ? "}" : "]");
}

std::string autopar::printJson(const json &value) {
  std::string text;
  print(value, "", text);
  return text + "\n";
}

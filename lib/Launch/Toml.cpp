//===- Toml.cpp - TOML by toml++ ------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/Toml.h"

#include "autopar/Support/Limits.h"

// The libraries are built without exceptions.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <sstream>

using namespace autopar;
using namespace autopar::launch;
using json = decltype(YamlDocument::value);

namespace {

/// Copies the values of a parsed text.
class TomlCopy {
public:
  explicit TomlCopy(YamlDocument &document) : document(document) {}

  json copy(const toml::node &node, const std::string &pointer);
  bool isTooLarge() const { return values > limits::maxYamlValues; }

private:
  YamlDocument &document;
  size_t values = 0;
};

} // namespace

/// Writes a date or a time as the file has it.
template <typename T>
static json textOf(const toml::value<T> &value) {
  std::ostringstream text;
  text << value.get();
  return text.str();
}

// toml++ limits the nesting of what it parses (TOML_MAX_NESTED_VALUES).
json TomlCopy::copy(const toml::node &node, const std::string &pointer) {
  document.lines[pointer] = int64_t(node.source().begin.line);
  if (++values; isTooLarge())
    return nullptr;
  if (const toml::table *table = node.as_table()) {
    json members = json::object();
    for (const auto &[key, value] : *table)
      members[std::string(key.str())] =
          copy(value, pointer + "/" + std::string(key.str()));
    return members;
  }
  if (const toml::array *array = node.as_array()) {
    json elements = json::array();
    for (const toml::node &element : *array)
      elements.push_back(
          copy(element, pointer + "/" + std::to_string(elements.size())));
    return elements;
  }
  if (const auto *text = node.as_string())
    return text->get();
  if (const auto *integer = node.as_integer())
    return integer->get();
  if (const auto *number = node.as_floating_point())
    return number->get();
  if (const auto *boolean = node.as_boolean())
    return boolean->get();
  if (const auto *date = node.as_date())
    return textOf(*date);
  if (const auto *time = node.as_time())
    return textOf(*time);
  return textOf(*node.as_date_time());
}

Result<YamlDocument> autopar::launch::readToml(const std::string &text,
                                               const std::string &name) {
  toml::parse_result parsed = toml::parse(std::string_view(text));
  if (!parsed)
    return Error{name + ":" +
                     std::to_string(parsed.error().source().begin.line),
                 std::string(parsed.error().description()), ""};
  YamlDocument document;
  TomlCopy copy(document);
  document.value = copy.copy(parsed.table(), "");
  if (copy.isTooLarge())
    return Error{
        name, "more than " + std::to_string(limits::maxYamlValues) + " values",
        ""};
  return document;
}

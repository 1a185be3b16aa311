//===- Yaml.cpp - YAML by libyaml -----------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/Yaml.h"

#include "autopar/Support/Limits.h"

#include <yaml.h>

#include <charconv>
#include <cmath>
#include <optional>

using namespace autopar;
using namespace autopar::launch;
using nlohmann::json;
using nlohmann::ordered_json;

int64_t YamlDocument::lineOf(const std::string &pointer) const {
  auto found = lines.find(pointer);
  return found == lines.end() ? 1 : found->second;
}

//===----------------------------------------------------------------------===//
// Scalars, which are single values
//===----------------------------------------------------------------------===//

static std::optional<json> integerOf(const std::string &text) {
  int64_t number = 0;
  const char *begin = text.data(), *end = begin + text.size();
  if (text.size() > 1 && *begin == '+')
    ++begin;
  auto [rest, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || rest != end)
    return std::nullopt;
  return number;
}

static std::optional<json> numberOf(const std::string &text) {
  if (text.empty() ||
      text.find_first_not_of("0123456789+-.eE") != std::string::npos)
    return std::nullopt;
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (*end || !std::isfinite(number))
    return std::nullopt;
  return number;
}

/// Returns the value of a scalar without quotes.
static json plainScalar(const std::string &text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" ||
      text == "NULL")
    return nullptr;
  if (text == "true" || text == "True" || text == "TRUE")
    return true;
  if (text == "false" || text == "False" || text == "FALSE")
    return false;
  if (std::optional<json> integer = integerOf(text))
    return *integer;
  if (std::optional<json> number = numberOf(text))
    return *number;
  return text;
}

//===----------------------------------------------------------------------===//
// Reading YAML
//===----------------------------------------------------------------------===//

namespace {

constexpr size_t textBytesPerValue = 256;

/// An event of libyaml's parser; the destructor frees it.
class Event {
public:
  Event() = default;
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  ~Event() { yaml_event_delete(&event); }
  yaml_event_t event = {};
};

/// Makes documents from the events of a text.
class YamlReader {
public:
  YamlReader(const std::string &text, const std::string &name) : name(name) {
    if (!yaml_parser_initialize(&parser))
      failure = Error{name, "no memory for a YAML parser", ""};
    yaml_parser_set_input_string(
        &parser, reinterpret_cast<const unsigned char *>(text.data()),
        text.size());
  }
  YamlReader(const YamlReader &) = delete;
  YamlReader &operator=(const YamlReader &) = delete;
  ~YamlReader() { yaml_parser_delete(&parser); }

  Result<std::vector<YamlDocument>> read();

private:
  bool next(Event &event);
  void fail(size_t line, std::string message) {
    if (!failure)
      failure =
          Error{name + ":" + std::to_string(line + 1), std::move(message), ""};
  }
  json readValue(const yaml_event_t &event, const std::string &pointer,
                 unsigned depth);
  json readScalar(const yaml_event_t &event);
  json readAlias(const yaml_event_t &event);
  json readSequence(const std::string &pointer, unsigned depth);
  json readMapping(const std::string &pointer, unsigned depth);
  void count(size_t values, size_t line);

  const std::string &name;
  yaml_parser_t parser = {};
  YamlDocument document;
  /// The values of anchors, each with the number of values in it.
  std::map<std::string, std::pair<json, size_t>> anchors;
  size_t values = 0;
  std::optional<Error> failure;
};

} // namespace

bool YamlReader::next(Event &event) {
  if (failure)
    return false;
  if (yaml_parser_parse(&parser, &event.event))
    return true;
  fail(parser.problem_mark.line,
       parser.problem ? parser.problem : "is not YAML");
  return false;
}

void YamlReader::count(size_t added, size_t line) {
  values += added;
  if (values > limits::maxYamlValues)
    fail(line, "more than " + std::to_string(limits::maxYamlValues) +
                   " values, aliases included");
}

json YamlReader::readScalar(const yaml_event_t &event) {
  const auto &scalar = event.data.scalar;
  std::string text(reinterpret_cast<const char *>(scalar.value), scalar.length);
  return scalar.style == YAML_PLAIN_SCALAR_STYLE ? plainScalar(text)
                                                 : json(text);
}

json YamlReader::readAlias(const yaml_event_t &event) {
  std::string anchor = reinterpret_cast<const char *>(event.data.alias.anchor);
  auto found = anchors.find(anchor);
  if (found == anchors.end()) {
    fail(event.start_mark.line,
         "there is no anchor &" + anchor + " before this alias");
    return nullptr;
  }
  count(found->second.second, event.start_mark.line);
  return failure ? json() : found->second.first;
}

static const unsigned char *anchorOf(const yaml_event_t &event) {
  switch (event.type) {
  case YAML_SCALAR_EVENT:
    return event.data.scalar.anchor;
  case YAML_SEQUENCE_START_EVENT:
    return event.data.sequence_start.anchor;
  case YAML_MAPPING_START_EVENT:
    return event.data.mapping_start.anchor;
  default:
    return nullptr;
  }
}

json YamlReader::readValue(const yaml_event_t &event,
                           const std::string &pointer, unsigned depth) {
  size_t line = event.start_mark.line, before = values;
  count(1, line);
  // A long text counts as several values, because aliases copy it.
  if (event.type == YAML_SCALAR_EVENT)
    count(event.data.scalar.length / textBytesPerValue, line);
  if (depth > limits::maxNestingDepth)
    fail(line,
         "nesting is deeper than " + std::to_string(limits::maxNestingDepth));
  if (failure)
    return nullptr;
  document.lines.emplace(pointer, int64_t(line) + 1);
  json value;
  if (event.type == YAML_SCALAR_EVENT)
    value = readScalar(event);
  else if (event.type == YAML_ALIAS_EVENT)
    value = readAlias(event);
  else if (event.type == YAML_SEQUENCE_START_EVENT)
    value = readSequence(pointer, depth + 1);
  else if (event.type == YAML_MAPPING_START_EVENT)
    value = readMapping(pointer, depth + 1);
  if (const unsigned char *anchor = anchorOf(event))
    anchors[reinterpret_cast<const char *>(anchor)] = {value, values - before};
  return value;
}

json YamlReader::readSequence(const std::string &pointer, unsigned depth) {
  json elements = json::array();
  for (;;) {
    Event event;
    if (!next(event) || event.event.type == YAML_SEQUENCE_END_EVENT)
      return elements;
    elements.push_back(readValue(
        event.event, pointer + "/" + std::to_string(elements.size()), depth));
  }
}

/// Adds those members of merged mappings that are not there yet.
static void addMerged(json &members, const std::vector<json> &merged) {
  for (const json &source : merged)
    if (source.is_object())
      for (const auto &[name, member] : source.items())
        if (!members.contains(name))
          members[name] = member;
}

json YamlReader::readMapping(const std::string &pointer, unsigned depth) {
  json members = json::object();
  // The values of the key `<<`. Members of the mapping itself take precedence
  // over members of these values.
  std::vector<json> merged;
  for (;;) {
    Event keyEvent;
    if (!next(keyEvent) || keyEvent.event.type == YAML_MAPPING_END_EVENT)
      break;
    size_t line = keyEvent.event.start_mark.line;
    std::string key;
    if (keyEvent.event.type == YAML_SCALAR_EVENT)
      key.assign(
          reinterpret_cast<const char *>(keyEvent.event.data.scalar.value),
          keyEvent.event.data.scalar.length);
    else
      fail(line, "a key is not a text");
    Event event;
    if (!next(event))
      break;
    json value = readValue(event.event, pointer + "/" + key, depth);
    if (key == "<<" && value.is_array())
      merged.insert(merged.end(), value.begin(), value.end());
    else if (key == "<<")
      merged.push_back(std::move(value));
    else if (!members.emplace(key, std::move(value)).second)
      fail(line, "the key \"" + key + "\" is there twice");
  }
  addMerged(members, merged);
  return members;
}

Result<std::vector<YamlDocument>> YamlReader::read() {
  std::vector<YamlDocument> documents;
  for (;;) {
    Event event;
    if (!next(event))
      break;
    if (event.event.type == YAML_STREAM_END_EVENT)
      return documents;
    if (event.event.type == YAML_DOCUMENT_START_EVENT ||
        event.event.type == YAML_STREAM_START_EVENT)
      continue;
    if (event.event.type == YAML_DOCUMENT_END_EVENT) {
      documents.push_back(std::move(document));
      document = {};
      anchors.clear();
      continue;
    }
    document.value = readValue(event.event, "", 0);
  }
  return *failure;
}

Result<std::vector<YamlDocument>>
autopar::launch::readYaml(const std::string &text, const std::string &name) {
  return YamlReader(text, name).read();
}

//===----------------------------------------------------------------------===//
// Writing YAML
//===----------------------------------------------------------------------===//

namespace {

/// Writes values as events of libyaml's emitter.
class YamlWriter {
public:
  YamlWriter() {
    yaml_emitter_initialize(&emitter);
    yaml_emitter_set_output(&emitter, append, &text);
    yaml_emitter_set_unicode(&emitter, 1);
    // Lines are not folded, so that commands stay in one line.
    yaml_emitter_set_width(&emitter, -1);
  }
  YamlWriter(const YamlWriter &) = delete;
  YamlWriter &operator=(const YamlWriter &) = delete;
  ~YamlWriter() { yaml_emitter_delete(&emitter); }

  std::string write(const ordered_json &value);

private:
  static int append(void *text, unsigned char *part, size_t size) {
    static_cast<std::string *>(text)->append(
        reinterpret_cast<const char *>(part), size);
    return 1;
  }
  void emit(yaml_event_t &event) { yaml_emitter_emit(&emitter, &event); }
  void writeValue(const ordered_json &value);
  void writeScalar(const std::string &value, yaml_scalar_style_t style);
  void writeText(const std::string &value);

  yaml_emitter_t emitter = {};
  std::string text;
};

} // namespace

void YamlWriter::writeScalar(const std::string &value,
                             yaml_scalar_style_t style) {
  yaml_event_t event;
  yaml_scalar_event_initialize(
      &event, nullptr, nullptr,
      reinterpret_cast<const unsigned char *>(value.data()), int(value.size()),
      1, 1, style);
  emit(event);
}

/// Writes a text, in quotes if it would otherwise be read as another value.
void YamlWriter::writeText(const std::string &value) {
  bool isOther = !plainScalar(value).is_string();
  writeScalar(value, value.find('\n') != std::string::npos
                         ? YAML_LITERAL_SCALAR_STYLE
                     : isOther ? YAML_SINGLE_QUOTED_SCALAR_STYLE
                               : YAML_ANY_SCALAR_STYLE);
}

void YamlWriter::writeValue(const ordered_json &value) {
  yaml_event_t event;
  if (value.is_object()) {
    yaml_mapping_start_event_initialize(
        &event, nullptr, nullptr, 1,
        value.empty() ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE);
    emit(event);
    for (const auto &[key, member] : value.items()) {
      writeText(key);
      writeValue(member);
    }
    yaml_mapping_end_event_initialize(&event);
    emit(event);
  } else if (value.is_array()) {
    bool isFlat = value.empty() || value.front().is_number();
    yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1,
                                         isFlat ? YAML_FLOW_SEQUENCE_STYLE
                                                : YAML_BLOCK_SEQUENCE_STYLE);
    emit(event);
    for (const ordered_json &element : value)
      writeValue(element);
    yaml_sequence_end_event_initialize(&event);
    emit(event);
  } else if (value.is_string()) {
    writeText(value.get<std::string>());
  } else {
    writeScalar(value.dump(), YAML_PLAIN_SCALAR_STYLE);
  }
}

std::string YamlWriter::write(const ordered_json &value) {
  yaml_event_t event;
  yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
  emit(event);
  yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1);
  emit(event);
  writeValue(value);
  yaml_document_end_event_initialize(&event, 1);
  emit(event);
  yaml_stream_end_event_initialize(&event);
  emit(event);
  yaml_emitter_flush(&emitter);
  return std::move(text);
}

std::string autopar::launch::writeYaml(const ordered_json &value) {
  return YamlWriter().write(value);
}

//===- Manifest.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

#include "ValueText.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <charconv>

using namespace autopar;
using namespace autopar::launch;
using model::JsonValue;

namespace {

/// A value of a document and its JSON pointer.
struct Place {
  const JsonValue *value;
  std::string pointer;
};

/// Reads the units of one document.
class UnitReader {
public:
  UnitReader(const YamlDocument &document, const std::string &name)
      : document(document), name(name) {}

  Result<std::vector<ManifestUnit>> read(const JsonReader &forms);

private:
  bool isOf(const JsonReader &form) const;
  std::optional<Error> readUnit(const JsonReader &unit, const Place &place,
                                const std::string &engine);
  std::optional<Error> readCount(const JsonReader &unit, std::string_view key,
                                 const Place &place, int64_t max,
                                 int64_t &count) const;
  std::string readText(const JsonReader &unit, std::string_view key,
                       const Place &place) const;
  void readSettings(const JsonReader &unit, const Place &place,
                    ManifestUnit &result) const;
  std::optional<Error> readContainers(const JsonReader &unit,
                                      const Place &place,
                                      ManifestUnit &result) const;
  ShellCommand commandOf(const Place &container,
                         const std::vector<std::string> &variables) const;
  void addWords(const Place &place, std::vector<ShellWord> &words) const;
  std::string where(const std::string &pointer) const {
    return name + ":" + std::to_string(document.lineOf(pointer));
  }

  const YamlDocument &document;
  const std::string &name;
  std::vector<ManifestUnit> units;
};

} // namespace

/// The member `key`; null if it is not there.
static const JsonValue *memberOf(const JsonValue &value,
                                 const std::string &key) {
  return value.is_object() && value.contains(key) ? &value[key] : nullptr;
}

/// The places at a dotted path below `from`; `*` stands for each member.
static std::vector<Place> placesAt(const Place &from, const std::string &path) {
  std::vector<Place> places = {from};
  for (const std::string &key : wordsOf(path, ".")) {
    std::vector<Place> next;
    for (const Place &place : places) {
      if (key != "*") {
        if (const JsonValue *member = memberOf(*place.value, key))
          next.push_back({member, place.pointer + "/" + key});
      } else if (place.value->is_object()) {
        for (const auto &[name, member] : place.value->items())
          next.push_back({&member, place.pointer + "/" + name});
      } else if (place.value->is_array()) {
        for (size_t i = 0; i < place.value->size(); ++i)
          next.push_back(
              {&(*place.value)[i], place.pointer + "/" + std::to_string(i)});
      }
    }
    places = std::move(next);
  }
  return places;
}

/// Whether the document has the form's kind, or the key that stands for it.
bool UnitReader::isOf(const JsonReader &form) const {
  const JsonValue *kind = memberOf(document.value, "kind");
  if (form.has("kinds")) {
    for (const std::string &one : form.strings("kinds"))
      if (kind && *kind == one)
        return true;
    return false;
  }
  return !kind && memberOf(document.value, form.string("has"));
}

std::optional<Error> UnitReader::readCount(const JsonReader &unit,
                                           std::string_view key,
                                           const Place &place, int64_t max,
                                           int64_t &count) const {
  std::optional<std::string> path = unit.optionalString(key);
  std::vector<Place> found =
      path ? placesAt(place, *path) : std::vector<Place>();
  if (found.empty() || found.front().value->is_null())
    return std::nullopt;
  std::string text = textOf(*found.front().value);
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), count);
  bool isWhole = error == std::errc() && end == text.data() + text.size();
  if (isWhole && count >= 0 && count <= max)
    return std::nullopt;
  return Error{where(found.front().pointer),
               std::string(key) + ": expected a number from 0 to " +
                   std::to_string(max) + ", found " + shorten(text),
               ""};
}

/// The text at a path of the unit, or at a pointer of the document.
std::string UnitReader::readText(const JsonReader &unit, std::string_view key,
                                 const Place &place) const {
  std::string path = unit.optionalString(key).value_or("");
  if (path.empty())
    return "";
  bool isPointer = path.front() == '/';
  std::vector<Place> found =
      isPointer ? placesAt({&document.value, ""}, join(wordsOf(path, "/"), "."))
                : placesAt(place, path);
  return found.empty() || found.front().value->is_null()
             ? ""
             : textOf(*found.front().value);
}

void UnitReader::readSettings(const JsonReader &unit, const Place &place,
                              ManifestUnit &result) const {
  if (!unit.has("settings"))
    return;
  for (const auto &[setting, path] : unit.object("settings").members())
    for (const Place &found : placesAt(place, path.asString()))
      if (!found.value->is_null())
        result.settings[setting] = {*found.value, where(found.pointer) + ": " +
                                                      path.asString()};
}

/// Adds a text as the words of a shell, a list as words.
void UnitReader::addWords(const Place &place,
                          std::vector<ShellWord> &words) const {
  if (place.value->is_string()) {
    Result<ShellScript> script =
        readShell(place.value->get<std::string>(), name);
    if (script && !script->commands.empty())
      for (ShellWord &word : script->commands.front().words) {
        word.line += document.lineOf(place.pointer) - 1;
        words.push_back(std::move(word));
      }
    return;
  }
  if (!place.value->is_array())
    return;
  for (size_t i = 0; i < place.value->size(); ++i)
    words.push_back({textOf((*place.value)[i]),
                     document.lineOf(place.pointer + "/" + std::to_string(i))});
}

/// Adds the variables of a container, which are a list of names and values, of
/// texts, or a mapping.
static void addVariables(const JsonValue &variables, ShellCommand &command) {
  for (const auto &[key, value] : variables.items()) {
    if (variables.is_object()) {
      command.environment[key] = {textOf(value)};
    } else if (value.is_object()) {
      const JsonValue *name = memberOf(value, "name");
      const JsonValue *text = memberOf(value, "value");
      if (name && text)
        command.environment[textOf(*name)] = {textOf(*text)};
    } else if (value.is_string()) {
      std::string text = value.get<std::string>();
      if (size_t equals = text.find('='); equals != std::string::npos)
        command.environment[text.substr(0, equals)] = {text.substr(equals + 1)};
    }
  }
}

/// The image first, then entrypoint, command and arguments.
ShellCommand
UnitReader::commandOf(const Place &container,
                      const std::vector<std::string> &variables) const {
  ShellCommand command;
  for (const char *key : {"env", "environment"})
    if (const JsonValue *member = memberOf(*container.value, key))
      addVariables(*member, command);
  if (const JsonValue *image = memberOf(*container.value, "image"))
    command.words.push_back(
        {textOf(*image), document.lineOf(container.pointer + "/image")});
  for (const char *key : {"entrypoint", "command", "args"})
    for (const Place &words : placesAt(container, key))
      addWords(words, command.words);
  for (const std::string &variable : variables)
    if (auto found = command.environment.find(variable);
        found != command.environment.end())
      if (Result<ShellScript> script = readShell(found->second.text, name);
          script && !script->commands.empty())
        for (const ShellWord &word : script->commands.front().words)
          command.words.push_back(word);
  return command;
}

/// The devices that a container asks for: "nvidia.com/gpu", "amd.com/gpu",
/// "google.com/tpu", or the reservation of a compose file.
static std::optional<int64_t> devicesOf(const JsonValue &container) {
  for (const char *path : {"resources.limits", "resources.requests"})
    for (const Place &place : placesAt({&container, ""}, path))
      for (const auto &[key, value] : place.value->items())
        if (key.find("gpu") != std::string::npos ||
            key.find("tpu") != std::string::npos)
          return std::strtoll(textOf(value).c_str(), nullptr, 10);
  for (const Place &place : placesAt(
           {&container, ""}, "deploy.resources.reservations.devices.*.count"))
    return std::strtoll(textOf(*place.value).c_str(), nullptr, 10);
  return std::nullopt;
}

std::optional<Error> UnitReader::readContainers(const JsonReader &unit,
                                                const Place &place,
                                                ManifestUnit &result) const {
  std::vector<std::string> variables;
  if (unit.has("arguments"))
    variables = unit.strings("arguments");
  for (const std::string &path : unit.strings("containers"))
    for (const Place &container : placesAt(place, path)) {
      ShellCommand command = commandOf(container, variables);
      if (std::optional<std::string> words = unit.optionalString("words"))
        for (const Place &more : placesAt(place, *words))
          addWords(more, command.words);
      std::optional<int64_t> devices = devicesOf(*container.value);
      if (!result.devicesPerNode && devices && *devices > 0 &&
          *devices <= limits::maxDevices)
        result.devicesPerNode = devices;
      result.commands.push_back(std::move(command));
    }
  return std::nullopt;
}

std::optional<Error> UnitReader::readUnit(const JsonReader &unit,
                                          const Place &place,
                                          const std::string &engine) {
  ManifestUnit result;
  result.engine = engine;
  int64_t devices = 0;
  for (auto [key, max, count] :
       {std::tuple<const char *, int64_t, int64_t *>{
            "copies", limits::maxDevices, &result.copies},
        {"nodes", limits::maxDevices, &result.nodes},
        {"devices", limits::maxDevices, &devices}})
    if (std::optional<Error> error = readCount(unit, key, place, max, *count))
      return error;
  if (devices > 0)
    result.devicesPerNode = devices;
  result.role =
      unit.optionalString("role_is").value_or(readText(unit, "role", place));
  result.model = readText(unit, "model", place);
  // "hf://org/name"
  if (size_t scheme = result.model.find("://"); scheme != std::string::npos)
    result.model.erase(0, scheme + 3);
  readSettings(unit, place, result);
  if (std::optional<Error> error = readContainers(unit, place, result))
    return error;
  if (result.copies > 0 && result.nodes > 0)
    units.push_back(std::move(result));
  return std::nullopt;
}

Result<std::vector<ManifestUnit>> UnitReader::read(const JsonReader &forms) {
  for (const JsonReader &form : forms.elements()) {
    if (!isOf(form))
      continue;
    std::string engine = form.optionalString("engine").value_or("");
    for (const JsonReader &unit : form.array("units").elements())
      for (const Place &place :
           placesAt({&document.value, ""}, unit.string("at")))
        if (std::optional<Error> error = readUnit(unit, place, engine))
          return *error;
    break;
  }
  return std::move(units);
}

Result<JsonDocument> autopar::launch::loadManifestForms() {
  return JsonDocument::readFile(dataDirectory("runtimes") +
                                "/manifests/forms.json");
}

Result<std::vector<ManifestUnit>>
autopar::launch::unitsOf(const JsonDocument &forms,
                         const YamlDocument &document,
                         const std::string &name) {
  JsonReader reader = forms.reader();
  checkSchema(reader, "autopar.manifest_forms/1");
  Result<std::vector<ManifestUnit>> units =
      UnitReader(document, name).read(reader.array("forms"));
  if (reader.failed())
    return reader.takeError();
  return units;
}

//===- Scope.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Scope.h"

#include "FieldTypes.h"
#include "autopar/Support/ElementType.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::model;

Scope::Scope(Family family, JsonReader config, ModelNotes &notes, Scope *outer)
    : description(std::move(family)), reader(std::move(config)), notes(notes),
      outer(outer) {}

//===----------------------------------------------------------------------===//
// Looking up names
//===----------------------------------------------------------------------===//

Result<const JsonValue *> Scope::lookUp(const std::string &name) {
  layerWasRead |= name == "i";
  if (auto known = layer.find(name); known != layer.end())
    return &known->second;
  if (auto known = fields.find(name); known != fields.end())
    return &known->second;
  if (active.size() > limits::maxNestingDepth || !active.insert(name).second)
    return Error{description.file, "\"" + name + "\" depends on itself", ""};
  auto keep = [&](auto &values, Result<JsonValue> value) {
    return value ? &values.emplace(name, std::move(*value)).first->second
                 : Result<const JsonValue *>(value.error());
  };
  auto lookUpNew = [&]() -> Result<const JsonValue *> {
    if (layerExpressions && layerExpressions->contains(name))
      return keep(layer, evaluate((*layerExpressions)[name],
                                  "variable \"" + name + "\""));
    if (const JsonValue *field = description.find("fields", name))
      return keep(fields, readField(name, *field));
    size_t dot = name.find('.');
    if (dot == std::string::npos)
      return Error{description.file,
                   "no field or variable is called \"" + name + "\"", ""};
    Result<Scope *> inner = part(name.substr(0, dot));
    return inner ? (*inner)->lookUp(name.substr(dot + 1))
                 : Result<const JsonValue *>(inner.error());
  };
  Result<const JsonValue *> value = lookUpNew();
  active.erase(name);
  return value;
}

bool Scope::has(const std::string &name) {
  const JsonValue *field = description.find("fields", name);
  bool isNull = false;
  if (!field)
    return false;
  if (findKey(name, *field, isNull) && !isNull)
    return true;
  // Looks the field up so that its default is noted, although the value is not
  // needed.
  if (field->contains("default") && !field->contains("silent"))
    (void)lookUp(name);
  return false;
}

Result<Scope *> Scope::part(const std::string &name) {
  auto [it, isNew] = parts.try_emplace(name);
  if (!isNew && it->second)
    return it->second.get();
  const JsonValue *part =
      name == "outer" ? nullptr : description.find("parts", name);
  if (name == "outer" && outer)
    return outer;
  std::string pointer = "/parts/" + name;
  if (!part || !part->contains("config") || !(*part)["config"].is_string())
    return Error{description.file + ": " + pointer,
                 "there is no such part, or it has no \"config\"", ""};
  std::string key = (*part)["config"].get<std::string>();
  // Older configs of some model types have the keys of a part among their own
  // keys.
  bool isFlat = part->value("flat", false) && !reader.has(key);
  JsonReader config = key == "." || isFlat ? reader : reader.object(key);
  if (config.failed())
    return config.takeError();
  JsonValue familyName = config.has("model_type")
                             ? JsonValue(config.string("model_type"))
                             : JsonValue();
  if (part->contains("family")) {
    Result<JsonValue> given = evaluate((*part)["family"], pointer + "/family");
    if (!given)
      return given.error();
    familyName = *given;
  }
  if (!familyName.is_string() || !hasFamily(familyName.get<std::string>())) {
    config.failAt("model_type", "no family is known for this part of a \"" +
                                    description.name + "\" model");
    return config.takeError();
  }
  Result<Family> family = loadFamily(familyName.get<std::string>());
  if (!family)
    return family.error();
  if (part->contains("patch"))
    family->description.merge_patch((*part)["patch"]);
  it->second = std::make_unique<Scope>(std::move(*family), config, notes, this);
  if (auto error = it->second->checkFields())
    return *error;
  return it->second.get();
}

//===----------------------------------------------------------------------===//
// Reading fields of a config
//===----------------------------------------------------------------------===//

/// Returns the config keys of a field: those of its member "key" (a text or a
/// list; nested keys have dots), or the field's own name. "outer.<key>" is a
/// key of the enclosing config.
static std::vector<std::string> keysOf(const std::string &name,
                                       const JsonValue &field) {
  auto key = field.find("key");
  if (key == field.end())
    return {name};
  if (key->is_string())
    return {key->get<std::string>()};
  std::vector<std::string> keys;
  for (const JsonValue &one : *key)
    if (one.is_string())
      keys.push_back(one.get<std::string>());
  return keys;
}

/// Returns the value at `path` below `reader`; nothing if a step is missing, if
/// a step before the last is null, or if a step is a text instead of an object
/// and that text is `text`.
static std::optional<JsonReader> follow(JsonReader reader,
                                        std::string_view path, bool &isNull,
                                        std::string_view text = {}) {
  for (;;) {
    size_t dot = path.find('.');
    std::string key(path.substr(0, dot));
    isNull = reader.isNullMember(key);
    isNull &= dot == std::string_view::npos;
    if (isNull || !reader.has(key))
      return isNull ? std::optional<JsonReader>(reader) : std::nullopt;
    reader = reader.member(key);
    if (dot == std::string_view::npos)
      return reader;
    if (key == text && reader.toJson().is_string())
      return std::nullopt;
    if (!reader.isObject()) {
      reader.fail("expected an object, found " + showValue(reader.toJson()));
      return reader;
    }
    path.remove_prefix(dot + 1);
  }
}

std::optional<JsonReader> Scope::findKey(const std::string &name,
                                         const JsonValue &field, bool &isNull) {
  bool anyNull = false;
  std::optional<JsonReader> null;
  std::string text = field.value("or_text", "");
  for (const std::string &key : keysOf(name, field)) {
    bool isOuter = key.rfind("outer.", 0) == 0;
    if (isOuter && !outer)
      continue;
    isNull = false;
    auto found = follow(isOuter ? outer->reader : reader,
                        isOuter ? key.substr(6) : key, isNull, text);
    if (found && !isNull)
      return found;
    if (found && !anyNull) {
      anyNull = true;
      null = found;
    }
  }
  isNull = anyNull;
  return null;
}

/// Whether the field's default is a constant. A null in the config then
/// replaces it, so that the value is null; other defaults are computed when a
/// null is found.
static bool isConstant(const JsonValue &field, const char *which) {
  auto fixed = field.find(which);
  return fixed != field.end() &&
         (!fixed->is_string() ||
          fixed->get_ref<const std::string &>().substr(0, 1) == "'");
}

const char *Scope::whichDefault(const JsonValue &field) const {
  return outer && field.contains("class_default") ? "class_default" : "default";
}

std::vector<std::string> Scope::placesOf(const std::string &name) {
  const JsonValue *field = description.find("fields", name);
  std::vector<std::string> places;
  if (!field)
    return places;
  bool anyNull = false;
  for (const std::string &key : keysOf(name, *field)) {
    bool isOuter = key.rfind("outer.", 0) == 0, isNull = false;
    if (isOuter && !outer)
      continue;
    auto found = follow(isOuter ? outer->reader : reader,
                        isOuter ? key.substr(6) : key, isNull);
    anyNull |= found && isNull;
    if (found && !isNull)
      places.push_back(found->pointer());
  }
  std::string key = keyOf(name, *field);
  const char *which =
      anyNull && field->contains("null") ? "null" : whichDefault(*field);
  if (!places.empty() || !field->contains(which) ||
      !isConstant(*field, which) || keysOf(name, *field).empty() ||
      key.find('.') != std::string::npos)
    return places;
  return {reader.pointer() + "/" + key};
}

/// Returns the JSON pointer of the key "a.b" below `pointer`: "/a/b".
static std::string pointerOf(std::string pointer, std::string_view key) {
  pointer += '/';
  for (char c : key)
    pointer += c == '.' ? '/' : c;
  return pointer;
}

void Scope::addKnownKeys(std::set<std::string> &pointers) const {
  static constexpr std::string_view enclosing = "outer.";
  auto all = description.description.find("fields");
  if (all != description.description.end() && all->is_object())
    for (auto it = all->begin(); it != all->end(); ++it)
      for (const std::string &key : keysOf(it.key(), *it)) {
        bool isOuter = key.rfind(enclosing, 0) == 0;
        if (!isOuter)
          pointers.insert(pointerOf(reader.pointer(), key));
        else if (outer)
          pointers.insert(
              pointerOf(outer->reader.pointer(), key.substr(enclosing.size())));
      }
  auto configs = description.description.find("parts");
  for (const auto &[name, part] : parts)
    if (part)
      part->addKnownKeys(pointers);
  if (configs == description.description.end() || !configs->is_object())
    return;
  // A part that the model does not use counts as known, too.
  for (auto it = configs->begin(); it != configs->end(); ++it) {
    auto part = parts.find(it.key());
    bool isRead = part != parts.end() && part->second;
    if (!isRead && it->contains("config") && (*it)["config"].is_string())
      pointers.insert(
          pointerOf(reader.pointer(), (*it)["config"].get<std::string>()));
  }
}

std::string Scope::keyOf(const std::string &name,
                         const JsonValue &field) const {
  std::vector<std::string> keys = keysOf(name, field);
  return keys.empty() ? name : keys.front();
}

Error Scope::fieldError(const std::string &name, const JsonValue &field,
                        std::string message, std::string note) const {
  std::string key = keyOf(name, field), pointer;
  for (char c : key)
    pointer += c == '.' ? '/' : c;
  // The error is made by a copy of the reader, so that the document itself does
  // not fail.
  JsonReader at = reader;
  at.failAt(key, std::move(message), std::move(note));
  return at.takeError();
}

std::optional<Error> Scope::errorOf(const std::string &expression,
                                    const std::string &message) const {
  auto isWord = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (size_t end = expression.size(); end > 0;) {
    size_t begin = end;
    while (begin > 0 && isWord(expression[begin - 1]))
      --begin;
    std::string name = expression.substr(begin, end - begin);
    if (const JsonValue *field = description.find("fields", name);
        field && !keysOf(name, *field).empty())
      return fieldError(name, *field, message);
    end = begin == end ? end - 1 : begin;
  }
  return std::nullopt;
}

/// If several keys may state the number of experts, their values must agree:
/// otherwise the order of names in the family file would decide.
std::optional<Error> Scope::findConflict(const std::string &name,
                                         const JsonValue &field,
                                         const JsonValue &value) {
  if (field.value("type", JsonValue()) != "experts")
    return std::nullopt;
  for (const std::string &key : keysOf(name, field)) {
    bool isNull = false;
    auto other = follow(reader, key, isNull);
    if (other && !isNull && other->toJson() != value)
      return fieldError(key, JsonValue::object(),
                        showValue(other->toJson()) + " is not " +
                            showValue(value) + ", the value of " +
                            keyOf(name, field),
                        "both are names of one number");
  }
  return std::nullopt;
}

/// Whether two values of a field differ. For formats, different spellings of
/// the same format do not count.
static bool differ(bool isFormat, const JsonValue &one,
                   const JsonValue &other) {
  if (!isFormat || !one.is_string() || !other.is_string())
    return one != other;
  return parseElementType(one.get_ref<const std::string &>()) !=
         parseElementType(other.get_ref<const std::string &>());
}

/// Notes flags that a config states differently inside and outside of a part,
/// and number formats under their new and old key. They need not agree: the
/// first key is used, and reports say so.
void Scope::noteConflict(const std::string &name, const JsonValue &field,
                         const JsonValue &value) {
  bool isFormat = name == "dtype";
  if (!isFormat && field.value("type", JsonValue()) != "flag")
    return;
  for (const std::string &key : keysOf(name, field)) {
    bool isOuter = key.rfind("outer.", 0) == 0, isNull = false;
    if (isOuter && !outer)
      continue;
    auto other = follow(isOuter ? outer->reader : reader,
                        isOuter ? key.substr(6) : key, isNull);
    if (other && !isNull && differ(isFormat, value, other->toJson()))
      notes.defaults.push_back({name, showValue(value),
                                other->pointer() + " is " +
                                    showValue(other->toJson()) +
                                    ", and not used"});
  }
}

std::optional<Error> Scope::checkFields() {
  auto all = description.description.find("fields");
  if (all == description.description.end() || !all->is_object())
    return std::nullopt;
  for (auto it = all->begin(); it != all->end(); ++it) {
    bool isNull = false, isKnown = it->contains("default");
    if (!it->contains("choices") && !it->contains("equals"))
      continue;
    if (isKnown && !findKey(it.key(), *it, isNull))
      continue;
    Result<const JsonValue *> value = lookUp(it.key());
    if (!value)
      return value.error();
  }
  return std::nullopt;
}

Result<JsonValue> Scope::readField(const std::string &name,
                                   const JsonValue &field) {
  bool isNull = false;
  std::optional<JsonReader> found = findKey(name, field, isNull);
  if (found && !isNull) {
    Result<JsonValue> value = readFieldValue(*found, field);
    if (!value)
      return value;
    if (auto error = findConflict(name, field, *value))
      return *error;
    noteConflict(name, field, *value);
    return checkField(name, field, std::move(*value));
  }
  if (isNull && field.contains("null"))
    return evaluate(field["null"], "/fields/" + name + "/null");
  if (isNull && isConstant(field, whichDefault(field)))
    return fieldError(name, field, "is null",
                      "leave it out to have the default of " +
                          description.source);
  return readDefault(name, field);
}

Result<JsonValue> Scope::readDefault(const std::string &name,
                                     const JsonValue &field) {
  std::string key = keyOf(name, field);
  const char *which = whichDefault(field);
  if (!field.contains(which)) {
    // The error names the step of a nested key that is missing.
    JsonReader at = reader;
    for (size_t dot; (dot = key.find('.')) != std::string::npos;
         key.erase(0, dot + 1))
      if (key.rfind("outer.", 0) == 0 && outer)
        at = outer->reader;
      else if (at.has(key.substr(0, dot)))
        at = at.object(key.substr(0, dot));
    at.member(key);
    // If the config does not have the object, it may have the key itself.
    if (!at.failed())
      at.failAt(key, "missing field \"" + key + "\"");
    Error error = at.takeError();
    std::vector<std::string> others = keysOf(name, field);
    if (others.size() > 1)
      error.note = "or " + join(std::vector<std::string>(others.begin() + 1,
                                                         others.end()),
                                ", ");
    return error;
  }
  Result<JsonValue> value =
      evaluate(field[which], "/fields/" + name + "/" + which);
  if (!value)
    return fieldError(name, field,
                      "the field is missing, and its default " +
                          field[which].dump() + " of " + description.source +
                          " has no value: " + value.error().message,
                      "give " + key);
  auto reason = field.find("reason");
  if (!field.contains("silent"))
    notes.defaults.push_back({key, showValue(*value),
                              reason != field.end() && reason->is_string()
                                  ? reason->get<std::string>()
                                  : "default of " + description.source});
  return checkField(name, field, std::move(*value));
}

Result<JsonValue> Scope::checkField(const std::string &name,
                                    const JsonValue &field, JsonValue value) {
  for (const char *relation :
       {"divides", "at_most", "multiple_of", "length", "equals"}) {
    auto other = field.find(relation);
    if (other == field.end())
      continue;
    Result<JsonValue> bound =
        evaluate(*other, "/fields/" + name + "/" + relation);
    if (!bound)
      return bound;
    std::string problem = relationProblem(relation, value, *bound);
    if (!problem.empty())
      return fieldError(
          name, field,
          problem + " " +
              (other->is_string() ? other->get<std::string>() + " = " : "") +
              showValue(*bound));
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Evaluating expressions
//===----------------------------------------------------------------------===//

Result<JsonValue> Scope::evaluate(const JsonValue &expression,
                                  const std::string &pointer) {
  if (!expression.is_string())
    return expression;
  auto located = [&](const Error &error) {
    return error.where.empty()
               ? Error{description.file + ": " + pointer,
                       expression.get<std::string>() + ": " + error.message,
                       error.note}
               : error;
  };
  const auto &text = expression.get_ref<const std::string &>();
  auto known = parsed.find(text);
  if (known == parsed.end()) {
    Result<Expression> fresh = Expression::parse(text);
    if (!fresh)
      return located(fresh.error());
    known = parsed.emplace(text, std::move(*fresh)).first;
  }
  Result<JsonValue> value = known->second.evaluate(*this);
  if (!value)
    return located(value.error());
  return value;
}

Result<std::string> Scope::interpolate(const std::string &text,
                                       const std::string &pointer) {
  std::string result;
  for (size_t position = 0;;) {
    size_t open = text.find('{', position);
    result += text.substr(position, open - position);
    if (open == std::string::npos)
      return result;
    size_t close = text.find('}', open);
    if (close == std::string::npos)
      return Error{description.file + ": " + pointer, "a { has no }", ""};
    Result<JsonValue> value =
        evaluate(JsonValue(text.substr(open + 1, close - open - 1)), pointer);
    if (!value)
      return value.error();
    result += value->is_string() ? value->get<std::string>() : value->dump();
    position = close + 1;
  }
}

void Scope::enterLayer(const JsonValue *variables, int64_t i) {
  layerExpressions = variables;
  layer = {{"i", i}};
  layerWasRead = false;
}

std::map<std::string, JsonValue>
Scope::enterLayer(std::map<std::string, JsonValue> variables) {
  layerExpressions = nullptr;
  return std::exchange(layer, std::move(variables));
}

void Scope::leaveLayer() {
  layerExpressions = nullptr;
  layer.clear();
}

//===- Scope.h - The fields of a config under its family --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_SCOPE_H
#define AUTOPAR_MODEL_SCOPE_H

#include "autopar/Model/Family.h"
#include "autopar/Support/Json.h"

#include <map>
#include <memory>
#include <set>

namespace autopar::model {

/// A choice that a config leaves open, the assumed value, and its source.
/// Without a value it is a remark.
struct ModelDefault {
  std::string name, value = {}, source = {};

  /// "head_dim = 128 (default of Qwen3Config)".
  std::string str() const {
    return value.empty() ? name : name + " = " + value + " (" + source + ")";
  }
  bool operator==(const ModelDefault &other) const {
    return name == other.name && value == other.value && source == other.source;
  }
};

/// Decisions that were taken while a config was read.
struct ModelNotes {
  std::vector<ModelDefault> defaults;
};

/// The names in a family's expressions: fields of the config with their
/// defaults, variables of the layer, fields of parts ("text.hidden_size"). A
/// field is read, and can be missing, only when an expression uses it.
class Scope : public Names {
public:
  /// `outer` is the scope whose config this one's is a part of.
  Scope(Family family, JsonReader config, ModelNotes &notes,
        Scope *outer = nullptr);

  Result<const JsonValue *> lookUp(const std::string &name) override;
  bool has(const std::string &name) override;

  /// Evaluates an expression of the family (a text), or takes another value as
  /// it is. Errors name the place `pointer` of the family file.
  Result<JsonValue> evaluate(const JsonValue &expression,
                             const std::string &pointer);
  /// Replaces each {expression} in `text`.
  Result<std::string> interpolate(const std::string &text,
                                  const std::string &pointer);

  /// JSON pointers of the field in the config: its place, under each of its
  /// names, or the place of a fixed default. Empty if its value follows from
  /// other fields.
  std::vector<std::string> placesOf(const std::string &name);

  const Family &family() const { return description; }
  const JsonReader &config() const { return reader; }

  /// Enters a layer: `variables` are expressions in `i`, its number.
  void enterLayer(const JsonValue *variables, int64_t i);
  /// Enters a layer with known variables; returns the variables of the previous
  /// layer.
  std::map<std::string, JsonValue>
  enterLayer(std::map<std::string, JsonValue> variables);
  void leaveLayer();
  /// Whether any expression has asked for `i` since the layer was entered.
  bool dependsOnLayer() const { return layerWasRead; }

  /// Reads the fields with `choices` or `equals`, though nothing may ask for
  /// them.
  std::optional<Error> checkFields();

  /// A problem of the field that `expression` mentions last; none where it
  /// mentions none.
  std::optional<Error> errorOf(const std::string &expression,
                               const std::string &message) const;

  /// The part `name` of the model, read with a family of its own.
  Result<Scope *> part(const std::string &name);

  /// Adds the JSON pointers of all keys that the fields of this scope and of
  /// its parts name, and of the configs of parts, whether anything has asked
  /// for them or not.
  void addKnownKeys(std::set<std::string> &pointers) const;

private:
  Result<JsonValue> readField(const std::string &name, const JsonValue &field);
  Result<JsonValue> readDefault(const std::string &name,
                                const JsonValue &field);
  Result<JsonValue> checkField(const std::string &name, const JsonValue &field,
                               JsonValue value);
  /// The first key of the field that the config has: where, and whether null.
  std::optional<JsonReader> findKey(const std::string &name,
                                    const JsonValue &field, bool &isNull);
  std::optional<Error> findConflict(const std::string &name,
                                    const JsonValue &field,
                                    const JsonValue &value);
  void noteConflict(const std::string &name, const JsonValue &field,
                    const JsonValue &value);
  /// The member of the field that has the default in this scope.
  const char *whichDefault(const JsonValue &field) const;
  std::string keyOf(const std::string &name, const JsonValue &field) const;
  Error fieldError(const std::string &name, const JsonValue &field,
                   std::string message, std::string note = "") const;

  Family description;
  JsonReader reader;
  ModelNotes &notes;
  Scope *outer;
  std::map<std::string, JsonValue> fields;
  /// Expressions are few, and evaluated for every layer.
  std::map<std::string, Expression> parsed;
  std::set<std::string> active;
  std::map<std::string, std::unique_ptr<Scope>> parts;
  const JsonValue *layerExpressions = nullptr;
  std::map<std::string, JsonValue> layer;
  bool layerWasRead = false;
};

} // namespace autopar::model

#endif // AUTOPAR_MODEL_SCOPE_H

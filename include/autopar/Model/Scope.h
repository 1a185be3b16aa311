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

/// A value that the config leaves open: its name, the value that was assumed,
/// and the source of that value. Without a value it is only a remark.
struct ModelDefault {
  std::string name, value = {}, source = {};

  /// Returns the text "head_dim = 128 (default of Qwen3Config)".
  std::string str() const {
    return value.empty() ? name : name + " = " + value + " (" + source + ")";
  }
  bool operator==(const ModelDefault &other) const {
    return name == other.name && value == other.value && source == other.source;
  }
};

/// Remarks and assumed values that were collected while a config was read.
struct ModelNotes {
  std::vector<ModelDefault> defaults;
};

/// Gives values to the names in a family's expressions: fields of the config
/// with their defaults, variables of the current layer, and fields of parts
/// ("text.hidden_size"). A field is read, and can be reported as missing, only
/// when an expression uses it.
class Scope : public Names {
public:
  /// `outer` is the scope of the whole config, if this scope's config is a part
  /// of it.
  Scope(Family family, JsonReader config, ModelNotes &notes,
        Scope *outer = nullptr);

  Result<const JsonValue *> lookUp(const std::string &name) override;
  bool has(const std::string &name) override;

  /// Evaluates an expression of the family (a text), or returns any other value
  /// unchanged. Errors name the position `pointer` in the family file.
  Result<JsonValue> evaluate(const JsonValue &expression,
                             const std::string &pointer);
  /// Replaces each {expression} in `text` by its value.
  Result<std::string> interpolate(const std::string &text,
                                  const std::string &pointer);

  /// Returns the JSON pointers of a field in the config: one for each name that
  /// the field may have, or that of a fixed default. Empty if the field's value
  /// follows from other fields.
  std::vector<std::string> placesOf(const std::string &name);

  const Family &family() const { return description; }
  const JsonReader &config() const { return reader; }

  /// Enters layer number `i`: `variables` are expressions that may use `i`.
  void enterLayer(const JsonValue *variables, int64_t i);
  /// Enters a layer whose variables have known values; returns the variables of
  /// the previous layer.
  std::map<std::string, JsonValue>
  enterLayer(std::map<std::string, JsonValue> variables);
  void leaveLayer();
  /// Whether any expression has used `i` since the layer was entered.
  bool dependsOnLayer() const { return layerWasRead; }

  /// Reads the fields with `choices` or `equals`, so that they are checked even
  /// if no expression uses them.
  std::optional<Error> checkFields();

  /// Returns an error with `message` at the config field that `expression`
  /// mentions last; nothing if it mentions none.
  std::optional<Error> errorOf(const std::string &expression,
                               const std::string &message) const;

  /// Returns the scope of the model's part `name`, which has a family of its
  /// own.
  Result<Scope *> part(const std::string &name);

  /// Adds the JSON pointers of all config keys that fields of this scope and of
  /// its parts name, whether they were read or not, and of the configs of
  /// parts.
  void addKnownKeys(std::set<std::string> &pointers) const;

private:
  Result<JsonValue> readField(const std::string &name, const JsonValue &field);
  Result<JsonValue> readDefault(const std::string &name,
                                const JsonValue &field);
  Result<JsonValue> checkField(const std::string &name, const JsonValue &field,
                               JsonValue value);
  /// Returns the first key of a field that the config has, and sets `isNull` if
  /// its value is null.
  std::optional<JsonReader> findKey(const std::string &name,
                                    const JsonValue &field, bool &isNull);
  std::optional<Error> findConflict(const std::string &name,
                                    const JsonValue &field,
                                    const JsonValue &value);
  void noteConflict(const std::string &name, const JsonValue &field,
                    const JsonValue &value);
  /// Returns the name of the member ("default", ...) that holds the field's
  /// default in this scope.
  const char *whichDefault(const JsonValue &field) const;
  std::string keyOf(const std::string &name, const JsonValue &field) const;
  Error fieldError(const std::string &name, const JsonValue &field,
                   std::string message, std::string note = "") const;

  Family description;
  JsonReader reader;
  ModelNotes &notes;
  Scope *outer;
  std::map<std::string, JsonValue> fields;
  /// Parsed expressions by text. They are few, and are evaluated for every
  /// layer.
  std::map<std::string, Expression> parsed;
  std::set<std::string> active;
  std::map<std::string, std::unique_ptr<Scope>> parts;
  const JsonValue *layerExpressions = nullptr;
  std::map<std::string, JsonValue> layer;
  bool layerWasRead = false;
};

} // namespace autopar::model

#endif // AUTOPAR_MODEL_SCOPE_H

//===- Json.h - Checked reading of JSON -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All JSON that autopar reads goes through here. Depth and size are limited,
// duplicate keys are refused, syntax errors carry file:line:column and wrong
// values carry file and JSON pointer. No getter throws or aborts.
//
//   Result<JsonDocument> document = JsonDocument::readFile("chip.json");
//   if (!document) return document.error();
//   JsonReader reader = document->reader();
//   chip.name = reader.string("name");
//   chip.devices = reader.integer("devices", 1, limits::maxDevices);
//   if (reader.failed()) return reader.takeError();
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_JSON_H
#define AUTOPAR_SUPPORT_JSON_H

#include "autopar/Support/Result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopar {

class JsonReader;
class JsonTree;
struct JsonNode;

/// A JSON value that owns its memory, with the file name that errors state.
class JsonDocument {
public:
  /// `python` also accepts NaN and Infinity, which Python writes and JSON does
  /// not have. They become texts, which getters of numbers refuse.
  enum class Dialect { json, python };
  /// Reads the file `path`, or standard input if it is "-".
  static Result<JsonDocument> readFile(const std::string &path,
                                       Dialect dialect = Dialect::json);
  /// Parses `text`; errors state `name` as the file.
  static Result<JsonDocument> parse(std::string_view text, std::string name);

  JsonDocument(JsonDocument &&);
  JsonDocument &operator=(JsonDocument &&);
  ~JsonDocument();

  const std::string &name() const { return file; }
  /// Returns a reader at the root. The document must outlive it.
  JsonReader reader() const;
  /// Returns a copy of the value, for writers and for changes.
  nlohmann::json toJson() const;
  /// Replaces the value. This invalidates all readers.
  void set(const nlohmann::json &value);

private:
  JsonDocument(std::string file, std::unique_ptr<JsonTree> tree);
  std::string file;
  std::unique_ptr<JsonTree> tree;
};

/// A position in a document, from which values are read. All readers from one
/// root share the first error; after it every getter returns a neutral value,
/// so that a function can read all its fields and check for an error once.
class JsonReader {
public:
  bool failed() const;
  /// Returns the first error. Call it once, and only if `failed()`.
  Error takeError() const;
  /// Records an error at this position (`fail`), or at the member `key` of this
  /// object (`failAt`).
  void fail(std::string message, std::string note = "") const;
  void failAt(std::string_view key, std::string message,
              std::string note = "") const;

  bool isObject() const;
  bool isArray() const;
  bool isString() const;
  bool isNumber() const;
  bool isBoolean() const;
  /// Whether this object has `key` with a value other than null.
  bool has(std::string_view key) const;
  /// Whether this object has `key` with the value null.
  bool isNullMember(std::string_view key) const;
  /// Returns a copy of the value at this position.
  nlohmann::json toJson() const;
  /// Returns the JSON pointer of this value; "" at the root.
  std::string pointer() const;

  /// Return the member `key`, which must exist and must be an object or an
  /// array, respectively.
  JsonReader object(std::string_view key) const;
  JsonReader array(std::string_view key) const;
  /// Returns the member `key` of any kind; it is an error if it is missing.
  JsonReader member(std::string_view key) const;
  /// `elements` returns the elements of an array; `members` returns the members
  /// of an object, sorted by key.
  std::vector<JsonReader> elements() const;
  /// Returns the texts of the member `key`, which must be an array of texts.
  std::vector<std::string> strings(std::string_view key) const;
  std::vector<std::pair<std::string, JsonReader>> members() const;

  /// Return a member that must exist. An error names the key, what was found,
  /// and the allowed range.
  std::string string(std::string_view key) const;
  bool boolean(std::string_view key) const;
  int64_t integer(std::string_view key, int64_t min, int64_t max) const;
  double number(std::string_view key, double min, double max) const;

  /// Return a member that may be missing or null, in which case they return
  /// nothing, or `absent`.
  std::optional<int64_t> optionalInteger(std::string_view key, int64_t min,
                                         int64_t max) const;
  std::optional<double> optionalNumber(std::string_view key, double min,
                                       double max) const;
  std::optional<std::string> optionalString(std::string_view key) const;
  bool booleanOr(std::string_view key, bool absent) const;

  /// Return the value at this position, which must be of the given kind.
  std::string asString() const;
  /// Returns the text at this position as a view, which is valid while the
  /// document exists.
  std::string_view asStringView() const;
  int64_t asInteger(int64_t min, int64_t max) const;
  double asNumber(double min, double max) const;

  /// Records an error for members that are not in `known`, with the nearest
  /// known key. It is meant for autopar's own formats, in which an unknown key
  /// is a typing error.
  void allowOnly(const std::vector<std::string_view> &known) const;

private:
  friend class JsonDocument;
  struct State;
  JsonReader(std::shared_ptr<State> state, const JsonNode *value)
      : state(std::move(state)), value(value) {}
  const JsonNode *find(std::string_view key) const;
  const JsonNode *require(std::string_view key) const;

  std::shared_ptr<State> state;
  const JsonNode *value;
};

} // namespace autopar

#endif // AUTOPAR_SUPPORT_JSON_H

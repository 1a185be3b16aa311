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

/// An owned JSON value with the name it is reported under.
class JsonDocument {
public:
  /// Python writes NaN and Infinity, which JSON does not have. They become
  /// texts, which getters of numbers refuse.
  enum class Dialect { json, python };
  /// Reads `path`, or standard input if it is "-".
  static Result<JsonDocument> readFile(const std::string &path,
                                       Dialect dialect = Dialect::json);
  /// Parses `text`; errors name `name`.
  static Result<JsonDocument> parse(std::string_view text, std::string name);

  JsonDocument(JsonDocument &&);
  JsonDocument &operator=(JsonDocument &&);
  ~JsonDocument();

  const std::string &name() const { return file; }
  /// A reader at the root. The document must outlive it.
  JsonReader reader() const;
  /// A copy of the value, for writers and for changes.
  nlohmann::json toJson() const;
  /// Replaces the value. Invalidates all readers.
  void set(const nlohmann::json &value);

private:
  JsonDocument(std::string file, std::unique_ptr<JsonTree> tree);
  std::string file;
  std::unique_ptr<JsonTree> tree;
};

/// A position in a document. All readers from one root share the first error:
/// after it every getter returns a neutral value, so that a function reads all
/// its fields and checks once.
class JsonReader {
public:
  bool failed() const;
  /// The first error. Call once, after `failed()`.
  Error takeError() const;
  /// Records an error at this position (or at `key` of this object).
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
  /// A copy of the value at this position.
  nlohmann::json toJson() const;
  /// This value's JSON pointer, "" at the root.
  std::string pointer() const;

  /// The member `key`, which must exist and must be an object / an array.
  JsonReader object(std::string_view key) const;
  JsonReader array(std::string_view key) const;
  /// The member `key` of any kind; an error if it is missing.
  JsonReader member(std::string_view key) const;
  /// Elements of an array; members of an object, in key order.
  std::vector<JsonReader> elements() const;
  /// The texts in the member `key`, which must be an array of texts.
  std::vector<std::string> strings(std::string_view key) const;
  std::vector<std::pair<std::string, JsonReader>> members() const;

  /// Required members. An error names the key, what was found, and the range.
  std::string string(std::string_view key) const;
  bool boolean(std::string_view key) const;
  int64_t integer(std::string_view key, int64_t min, int64_t max) const;
  double number(std::string_view key, double min, double max) const;

  /// Optional members: missing or null yields nothing, or `absent`.
  std::optional<int64_t> optionalInteger(std::string_view key, int64_t min,
                                         int64_t max) const;
  std::optional<double> optionalNumber(std::string_view key, double min,
                                       double max) const;
  std::optional<std::string> optionalString(std::string_view key) const;
  bool booleanOr(std::string_view key, bool absent) const;

  /// The value at this position.
  std::string asString() const;
  /// The same as a view, valid while the document lives.
  std::string_view asStringView() const;
  int64_t asInteger(int64_t min, int64_t max) const;
  double asNumber(double min, double max) const;

  /// Refuses members that are not in `known`, and names the nearest one. It is
  /// meant for autopar's own formats, in which an unknown key is a typing
  /// error.
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

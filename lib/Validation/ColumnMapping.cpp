//===- ColumnMapping.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/ColumnMapping.h"

#include "autopar/Support/Json.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using namespace autopar::validation;

/// The text that a constant is in a cell: of a text, a number or a truth.
static std::string constantText(const JsonReader &value) {
  if (value.isString())
    return value.asString();
  if (value.isNumber() || value.isBoolean())
    return value.toJson().dump();
  value.fail("expected a text or a number");
  return "";
}

static Result<ColumnMapping> readMapping(const JsonDocument &document) {
  JsonReader reader = document.reader();
  ColumnMapping mapping;
  mapping.name = document.name();
  reader.allowOnly({"schema", "columns", "constants"});
  checkSchema(reader, "autopar.columns/1");
  if (reader.has("columns"))
    for (const auto &[ours, theirs] : reader.object("columns").members())
      mapping.columns[ours] = theirs.asString();
  if (reader.has("constants"))
    for (const auto &[ours, value] : reader.object("constants").members()) {
      if (mapping.columns.count(ours))
        value.fail("\"" + shorten(ours) +
                   "\" is a column of the table already");
      mapping.constants[ours] = constantText(value);
    }
  if (reader.failed())
    return reader.takeError();
  return mapping;
}

Result<ColumnMapping>
autopar::validation::readColumnMapping(const std::string &path) {
  Result<JsonDocument> document = JsonDocument::readFile(path);
  if (!document)
    return document.error();
  return readMapping(*document);
}

Result<ColumnMapping>
autopar::validation::parseColumnMapping(std::string_view text,
                                        const std::string &name) {
  Result<JsonDocument> document = JsonDocument::parse(text, name);
  if (!document)
    return document.error();
  return readMapping(*document);
}

/// Returns an error if `name` is not in `known`.
static std::optional<Error> checkKnown(const std::string &name,
                                       const std::vector<std::string> &known,
                                       const std::string &where,
                                       const std::string &what) {
  if (std::find(known.begin(), known.end(), name) != known.end())
    return std::nullopt;
  return Error{where,
               what + " \"" + shorten(name) + "\"" + didYouMean(name, known),
               "there are: " + join(known, ", ")};
}

Result<bool>
autopar::validation::applyMapping(DataTable &table,
                                  const ColumnMapping &mapping,
                                  const std::vector<std::string> &known) {
  for (const auto &[ours, theirs] : mapping.columns) {
    std::string where = mapping.name + ": /columns";
    if (auto error = checkKnown(ours, known, where, "autopar has no column"))
      return *error;
    if (auto error = checkKnown(theirs, table.columns(), where,
                                table.name() + " has no column"))
      return *error;
  }
  for (const auto &[ours, text] : mapping.constants)
    if (auto error = checkKnown(ours, known, mapping.name + ": /constants",
                                "autopar has no column"))
      return *error;
  for (const auto &[ours, theirs] : mapping.columns)
    table.rename(ours, theirs);
  for (const auto &[ours, text] : mapping.constants)
    table.setConstant(ours, text);
  return true;
}

//===- Figures.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Hardware/Figures.h"

#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using namespace autopar::hardware;

Source autopar::hardware::readSource(const JsonReader &reader) {
  static const std::vector<std::string> kinds = {"datasheet", "measured",
                                                 "derived", "recalled", "user"};
  JsonReader object = reader.object("source");
  if (reader.failed())
    return {};
  Source source{object.string("kind"), object.string("reference")};
  if (reader.failed())
    return {};
  if (source.kind == "user") {
    object.allowOnly({"kind", "reference", "replaced"});
    if (object.has("replaced"))
      source.replaced = object.number("replaced", -1e300, 1e300);
  } else {
    object.allowOnly({"kind", "reference"});
  }
  if (std::find(kinds.begin(), kinds.end(), source.kind) == kinds.end())
    object.failAt("kind", "expected one of " + join(kinds, ", ") +
                              ", found \"" + shorten(source.kind) + "\"");
  if (source.reference.empty())
    object.failAt("reference", "expected where the figure comes from, found "
                               "an empty string");
  return source;
}

Figure autopar::hardware::readFigure(const JsonReader &reader,
                                     std::string_view key, UnitRange unit,
                                     const std::string &path) {
  Figure figure;
  figure.path = path + "." + std::string(key);
  JsonReader object = reader.object(key);
  if (reader.failed())
    return figure;
  object.allowOnly({"value", "unit", "source"});
  std::string written = object.string("unit");
  if (!reader.failed() && written != unit.unit)
    object.failAt("unit", "expected \"" + std::string(unit.unit) +
                              "\", found \"" + shorten(written) + "\"");
  figure.value = object.number("value", unit.min, unit.max);
  figure.source = readSource(object);
  // The value that the user replaced is kept, because the curves that the
  // figure scales were measured at it.
  if (figure.source.replaced)
    object.object("source").number("replaced", unit.min, unit.max);
  return figure;
}

std::optional<Figure>
autopar::hardware::readOptionalFigure(const JsonReader &reader,
                                      std::string_view key, UnitRange unit,
                                      const std::string &path) {
  if (!reader.has(key))
    return std::nullopt;
  return readFigure(reader, key, unit, path);
}

/// Gives a source to all figures, curves and algorithms that have none. The
/// coefficients of a curve share the source of the curve.
static void spread(nlohmann::json &value, const nlohmann::json &source) {
  bool isCurve = value.is_object() &&
                 (value.contains("exponent") || value.contains("time_us"));
  bool isFigure =
      value.is_object() && (value.contains("unit") || value.contains("hops"));
  if ((isCurve || isFigure) && !value.contains("source"))
    value["source"] = source;
  if (!isCurve && !isFigure && value.is_structured())
    for (nlohmann::json &inside : value)
      spread(inside, source);
}

void autopar::hardware::spreadSource(JsonDocument &document) {
  if (!document.reader().has("source"))
    return;
  nlohmann::json root = document.toJson();
  nlohmann::json source = root["source"];
  if (source.is_string())
    source = {{"kind", "user"}, {"reference", source}};
  for (auto it = root.begin(); it != root.end(); ++it)
    if (it.key() != "source")
      spread(*it, source);
  document.set(root);
}

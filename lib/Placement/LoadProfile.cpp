//===- LoadProfile.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/LoadProfile.h"

#include "Csv.h"
#include "Shape.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <charconv>

using namespace autopar;
using namespace autopar::placement;

static constexpr std::string_view schemaName = "autopar.load/1";
static constexpr double maxLoad = static_cast<double>(limits::maxTokens);

//===----------------------------------------------------------------------===//
// Errors about the shape of loads
//===----------------------------------------------------------------------===//

std::string autopar::placement::wrongLayer(const LoadShape &shape,
                                           int64_t layer) {
  if (shape.layers.empty() ||
      std::binary_search(shape.layers.begin(), shape.layers.end(), layer))
    return "";
  return "layer " + std::to_string(layer) + " has no experts";
}

std::string autopar::placement::layersNote(const LoadShape &shape) {
  if (shape.layers.empty())
    return "";
  return countOf(shape.layers.size(), "layer") + " from " +
         std::to_string(shape.layers.front()) + " to " +
         std::to_string(shape.layers.back()) + " have experts";
}

int64_t autopar::placement::lastExpert(const LoadShape &shape) {
  return shape.experts.value_or(limits::maxPlacedExperts) - 1;
}

bool autopar::placement::endsWith(std::string_view text,
                                  std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.substr(text.size() - suffix.size()) == suffix;
}

//===----------------------------------------------------------------------===//
// Loads as JSON
//===----------------------------------------------------------------------===//

namespace {

/// Reads rows of loads. All rows must have as many experts as the first row or,
/// if the shape gives a number, as the shape.
class LoadReader {
public:
  explicit LoadReader(const LoadShape &shape)
      : experts(shape.experts.value_or(0)), shape(shape) {}

  void readRows(const JsonReader &rows);
  void readLayers(const JsonReader &layers);

  std::map<int64_t, std::vector<double>> layers;
  /// The number of experts; 0 while it is unknown.
  int64_t experts;

private:
  void add(const JsonReader &row, int64_t layer);
  int64_t layerOfRow(size_t row) const {
    return shape.layers.empty() ? static_cast<int64_t>(row) : shape.layers[row];
  }

  const LoadShape &shape;
};

} // namespace

void LoadReader::add(const JsonReader &row, int64_t layer) {
  if (!row.isArray()) {
    row.fail("expected an array of tokens by expert");
    return;
  }
  std::vector<JsonReader> values = row.elements();
  if (values.empty() ||
      values.size() > static_cast<size_t>(limits::maxPlacedExperts)) {
    row.fail("expected 1 to " + std::to_string(limits::maxPlacedExperts) +
             " experts, found " + std::to_string(values.size()));
    return;
  }
  auto count = static_cast<int64_t>(values.size());
  if (!experts)
    experts = count;
  if (count != experts) {
    row.fail("expected " + std::to_string(experts) + " experts, found " +
                 std::to_string(count),
             shape.experts ? "" : "every layer has as many as the first");
    return;
  }
  std::vector<double> &tokens = layers[layer];
  for (const JsonReader &value : values)
    tokens.push_back(value.asNumber(0, maxLoad));
}

void LoadReader::readRows(const JsonReader &rows) {
  std::vector<JsonReader> elements = rows.elements();
  size_t expected = shape.layers.size();
  if (expected && elements.size() != expected) {
    rows.fail("expected " + countOf(expected, "row") + ", found " +
                  std::to_string(elements.size()),
              layersNote(shape));
    return;
  }
  if (elements.size() > static_cast<size_t>(limits::maxConfigLayers)) {
    rows.fail("expected at most " + std::to_string(limits::maxConfigLayers) +
              " layers, found " + std::to_string(elements.size()));
    return;
  }
  for (size_t i = 0; i < elements.size() && !rows.failed(); ++i)
    add(elements[i], layerOfRow(i));
}

/// Returns the layer number in a key, which must be spelled as JSON would write
/// the number.
static std::optional<int64_t> layerNumber(const std::string &key) {
  int64_t value = 0;
  auto [end, status] =
      std::from_chars(key.data(), key.data() + key.size(), value);
  bool same = status == std::errc() && std::to_string(value) == key;
  if (!same || value < 0 || value >= limits::maxLayers)
    return std::nullopt;
  return value;
}

void LoadReader::readLayers(const JsonReader &object) {
  auto members = object.members();
  if (members.size() > static_cast<size_t>(limits::maxConfigLayers))
    object.fail("expected at most " + std::to_string(limits::maxConfigLayers) +
                " layers, found " + std::to_string(members.size()));
  for (const auto &[key, row] : members) {
    if (object.failed())
      return;
    std::optional<int64_t> layer = layerNumber(key);
    if (!layer)
      row.fail("expected the number of a layer, found \"" + shorten(key) +
               "\"");
    else if (std::string wrong = wrongLayer(shape, *layer); !wrong.empty())
      row.fail(wrong, layersNote(shape));
    else
      add(row, *layer);
  }
}

Result<LoadProfile>
autopar::placement::readLoadJson(const JsonDocument &document,
                                 const LoadShape &shape) {
  JsonReader root = document.reader(), layers = root;
  LoadReader reader(shape);
  if (!root.isArray()) {
    checkSchema(root, schemaName);
    root.allowOnly({"schema", "layers"});
    layers = root.member("layers");
  }
  if (layers.isArray())
    reader.readRows(layers);
  else if (layers.isObject())
    reader.readLayers(layers);
  else
    layers.fail("expected an object or an array of layers");
  if (!root.failed())
    if (std::string missing = missingLayer(shape, reader.layers);
        !missing.empty())
      layers.fail(missing, layersNote(shape));
  if (root.failed())
    return root.takeError();
  LoadProfile profile = {reader.experts, {}};
  for (auto &[layer, tokens] : reader.layers)
    profile.layers.push_back({layer, std::move(tokens)});
  return profile;
}

std::string autopar::placement::writeLoads(const LoadProfile &profile) {
  std::string text =
      "{\"schema\": \"" + std::string(schemaName) + "\", \"layers\": {";
  bool first = true;
  for (const LayerLoads &layer : profile.layers) {
    std::vector<std::string> numbers;
    for (double tokens : layer.tokens)
      numbers.push_back(formatNumber(tokens));
    text += (first ? "\n  \"" : ",\n  \"") + std::to_string(layer.layer) +
            "\": [" + join(numbers, ", ") + "]";
    first = false;
  }
  return text + "\n}}\n";
}

//===----------------------------------------------------------------------===//
// Loads as CSV
//===----------------------------------------------------------------------===//

using LoadsByExpert = std::map<int64_t, double>;

/// Returns a text about the first line that is missing; "" if none is.
static std::string missingLine(const std::map<int64_t, LoadsByExpert> &found,
                               int64_t experts) {
  for (const auto &[layer, loads] : found) {
    int64_t missing = 0;
    for (auto at = loads.begin(); at != loads.end() && at->first == missing;
         ++at)
      ++missing;
    if (missing < experts)
      return "layer " + std::to_string(layer) + " has no line for expert " +
             std::to_string(missing);
  }
  return "";
}

static LoadProfile profileOf(const std::map<int64_t, LoadsByExpert> &found,
                             int64_t experts) {
  LoadProfile profile = {experts, {}};
  for (const auto &[layer, loads] : found) {
    std::vector<double> &tokens =
        profile.layers.emplace_back(LayerLoads{layer, {}}).tokens;
    for (auto [expert, count] : loads)
      tokens.push_back(count);
  }
  return profile;
}

Result<LoadProfile> autopar::placement::readLoadCsv(std::string_view text,
                                                    const std::string &name,
                                                    const LoadShape &shape) {
  CsvReader csv(text, name);
  csv.expectHeader("layer,expert,tokens");
  std::map<int64_t, LoadsByExpert> found;
  int64_t experts = shape.experts.value_or(1), lines = 0;
  while (csv.next()) {
    if (++lines > limits::maxLoadNumbers)
      csv.failAt(0, "expected at most " +
                        std::to_string(limits::maxLoadNumbers) + " lines");
    int64_t layer = csv.integer(0, 0, limits::maxLayers - 1);
    int64_t expert = csv.integer(1, 0, lastExpert(shape));
    double tokens = csv.number(2, 0, maxLoad);
    if (std::string wrong = wrongLayer(shape, layer); !wrong.empty())
      csv.failAt(0, wrong, layersNote(shape));
    else if (!found[layer].emplace(expert, tokens).second)
      csv.failAt(1, "a second line for expert " + std::to_string(expert) +
                        " of layer " + std::to_string(layer));
    experts = std::max(experts, expert + 1);
  }
  if (std::string missing = missingLayer(shape, found); !missing.empty())
    csv.fail(missing, layersNote(shape));
  if (std::string missing = missingLine(found, experts); !missing.empty())
    csv.fail(missing, "every expert of every layer has a line: tokens are 0 "
                      "where it worked on none");
  if (csv.failed())
    return csv.takeError();
  return profileOf(found, experts);
}

Result<LoadProfile> autopar::placement::readLoadFile(const std::string &path,
                                                     const LoadShape &shape) {
  if (endsWith(path, ".csv")) {
    Result<std::string> text = readFile(path);
    return text ? readLoadCsv(*text, path, shape) : text.error();
  }
  // Python writes NaN, which is then refused with its place in the file.
  Result<JsonDocument> document =
      JsonDocument::readFile(path, JsonDocument::Dialect::python);
  return document ? readLoadJson(*document, shape) : document.error();
}

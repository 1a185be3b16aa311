//===- RoutingTrace.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/RoutingTrace.h"

#include "Csv.h"
#include "Shape.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::placement;

static constexpr double maxCount = static_cast<double>(limits::maxTokens);

namespace {

/// Sums the records of a trace by layer and set of experts.
class TraceBuilder {
public:
  explicit TraceBuilder(const LoadShape &shape) : shape(shape) {}

  /// Adds a record. Returns its error; "" if there is none.
  std::string add(int64_t layer, std::vector<int64_t> experts, double tokens);
  /// Returns the error of the whole trace, such as a missing layer; "" if there
  /// is none.
  std::string missing() const { return missingLayer(shape, layers); }
  RoutingTrace build() &&;

private:
  const LoadShape &shape;
  std::map<int64_t, std::map<std::vector<int32_t>, double>> layers;
  size_t records = 0;
};

} // namespace

std::string TraceBuilder::add(int64_t layer, std::vector<int64_t> experts,
                              double tokens) {
  if (std::string wrong = wrongLayer(shape, layer); !wrong.empty())
    return wrong;
  if (++records > limits::maxTraceRecords)
    return "expected at most " + std::to_string(limits::maxTraceRecords) +
           " records";
  if (experts.empty())
    return "no expert fired";
  std::sort(experts.begin(), experts.end());
  auto twice = std::adjacent_find(experts.begin(), experts.end());
  if (twice != experts.end())
    return "expert " + std::to_string(*twice) + " is there twice";
  layers[layer][{experts.begin(), experts.end()}] += tokens;
  return "";
}

RoutingTrace TraceBuilder::build() && {
  RoutingTrace trace;
  trace.experts = shape.experts.value_or(0);
  for (auto &[layer, sets] : layers) {
    trace.layers.push_back({layer, {}});
    for (auto &[experts, tokens] : sets) {
      trace.layers.back().routed.push_back({experts, tokens});
      trace.experts = std::max<int64_t>(trace.experts, experts.back() + 1);
    }
  }
  return trace;
}

const LayerTrace *RoutingTrace::find(int64_t layer) const {
  auto at = std::lower_bound(layers.begin(), layers.end(), layer,
                             [](const LayerTrace &trace, int64_t value) {
                               return trace.layer < value;
                             });
  return at != layers.end() && at->layer == layer ? &*at : nullptr;
}

/// Adds the record of a line. An error that it returns does not name file and
/// line yet.
static std::optional<Error>
addLine(std::string_view line, const LoadShape &shape, TraceBuilder &trace) {
  Result<JsonDocument> document = JsonDocument::parse(line, "");
  if (!document)
    return document.error();
  JsonReader root = document->reader();
  root.allowOnly({"layer", "experts", "tokens"});
  int64_t layer = root.integer("layer", 0, limits::maxLayers - 1);
  JsonReader list = root.array("experts");
  std::vector<int64_t> experts;
  for (const JsonReader &expert : list.elements()) {
    if (experts.size() == limits::maxRoutedExperts)
      list.fail("expected at most " + std::to_string(limits::maxRoutedExperts) +
                " experts");
    experts.push_back(expert.asInteger(0, lastExpert(shape)));
    if (root.failed())
      break;
  }
  double tokens = root.optionalNumber("tokens", 0, maxCount).value_or(1);
  if (root.failed())
    return root.takeError();
  std::string wrong = trace.add(layer, std::move(experts), tokens);
  if (!wrong.empty())
    return Error{"", wrong, layersNote(shape)};
  return std::nullopt;
}

Result<RoutingTrace> autopar::placement::readTraceJsonLines(
    std::string_view text, const std::string &name, const LoadShape &shape) {
  TraceBuilder trace(shape);
  for (size_t number = 1; !text.empty(); ++number) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    if (auto error = addLine(line, shape, trace)) {
      // An error begins with ":1:column" in the line if it concerns the syntax,
      // else with ": /pointer".
      std::string where = name + ":" + std::to_string(number);
      bool syntax = error->where.rfind(":1:", 0) == 0;
      error->where = where + error->where.substr(syntax ? 2 : 0);
      return *error;
    }
  }
  if (std::string missing = trace.missing(); !missing.empty())
    return Error{name, missing, layersNote(shape)};
  return std::move(trace).build();
}

Result<RoutingTrace> autopar::placement::readTraceCsv(std::string_view text,
                                                      const std::string &name,
                                                      const LoadShape &shape) {
  TraceBuilder trace(shape);
  CsvReader csv(text, name);
  csv.expectHeader("layer,experts,tokens");
  while (csv.next()) {
    int64_t layer = csv.integer(0, 0, limits::maxLayers - 1);
    std::vector<int64_t> experts =
        csv.integers(1, 0, lastExpert(shape), limits::maxRoutedExperts);
    double tokens = csv.number(2, 0, maxCount);
    if (csv.failed())
      break;
    std::string wrong = trace.add(layer, std::move(experts), tokens);
    if (!wrong.empty())
      csv.failAt(0, wrong, layersNote(shape));
  }
  std::string missing = trace.missing();
  if (!missing.empty())
    csv.fail(missing, layersNote(shape));
  if (csv.failed())
    return csv.takeError();
  return std::move(trace).build();
}

Result<RoutingTrace> autopar::placement::readTraceFile(const std::string &path,
                                                       const LoadShape &shape) {
  Result<std::string> text = readFile(path);
  if (!text)
    return text.error();
  return endsWith(path, ".csv") ? readTraceCsv(*text, path, shape)
                                : readTraceJsonLines(*text, path, shape);
}

std::string autopar::placement::writeTrace(const RoutingTrace &trace) {
  std::string text;
  for (const LayerTrace &layer : trace.layers)
    for (const RoutedTokens &routed : layer.routed) {
      std::vector<std::string> experts;
      for (int32_t expert : routed.experts)
        experts.push_back(std::to_string(expert));
      text += "{\"layer\": " + std::to_string(layer.layer) +
              ", \"experts\": [" + join(experts, ", ") +
              "], \"tokens\": " + formatNumber(routed.tokens) + "}\n";
    }
  return text;
}

LoadProfile autopar::placement::loadsOf(const RoutingTrace &trace) {
  LoadProfile profile;
  profile.experts = trace.experts;
  for (const LayerTrace &layer : trace.layers) {
    std::vector<double> tokens(static_cast<size_t>(trace.experts));
    for (const RoutedTokens &routed : layer.routed)
      for (int32_t expert : routed.experts)
        tokens[static_cast<size_t>(expert)] += routed.tokens;
    profile.layers.push_back({layer.layer, std::move(tokens)});
  }
  return profile;
}

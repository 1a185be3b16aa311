//===- LoadSource.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/LoadSource.h"

#include "autopar/Support/Text.h"

#include <charconv>

using namespace autopar;
using namespace autopar::placement;

//===----------------------------------------------------------------------===//
// Loads that are given by a word
//===----------------------------------------------------------------------===//

static constexpr const char *wordsNote =
    "words: even, zipf:1.0, log_normal:0.24, and behind them tokens=N and "
    "seed=N, as in zipf:1.0,tokens=65536,seed=3; a file of such a name is "
    "given as ./even";

/// Returns the text up to `separator`, and removes this text and the separator
/// from `text`.
static std::string_view takeUntil(std::string_view &text, char separator) {
  size_t end = text.find(separator);
  std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? "" : text.substr(end + 1);
  return part;
}

template <typename Number>
static bool parse(std::string_view text, Number &number) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

static bool parseWord(std::string_view word, SyntheticLoad &load) {
  std::string_view name = takeUntil(word, ':');
  if (name == "even")
    load.kind = LoadShapeKind::even;
  else if (name == "zipf")
    load.kind = LoadShapeKind::zipf;
  else if (name == "log_normal")
    load.kind = LoadShapeKind::log_normal;
  else
    return false;
  load.skew = load.kind == LoadShapeKind::log_normal ? measuredGini : 1;
  return true;
}

/// Sets the skew from the number after the colon of a word such as "zipf:1.0".
static bool parseSkew(std::string_view word, SyntheticLoad &load) {
  size_t colon = word.find(':');
  if (colon == std::string_view::npos)
    return true;
  return load.kind != LoadShapeKind::even &&
         parse(word.substr(colon + 1), load.skew);
}

static bool parseSetting(std::string_view setting, SyntheticLoad &load) {
  std::string_view name = takeUntil(setting, '=');
  if (name == "tokens")
    return parse(setting, load.tokens) && load.tokens >= 0;
  return name == "seed" && parse(setting, load.seed);
}

Result<std::optional<SyntheticLoad>>
autopar::placement::parseSyntheticLoad(std::string_view text) {
  SyntheticLoad load;
  std::string_view rest = text, word = takeUntil(rest, ',');
  if (!parseWord(word, load))
    return std::optional<SyntheticLoad>();
  bool good = parseSkew(word, load);
  while (good && !rest.empty())
    good = parseSetting(takeUntil(rest, ','), load);
  if (!good)
    return Error{"", "bad loads \"" + shorten(text) + "\"", wordsNote};
  return std::optional<SyntheticLoad>(load);
}

//===----------------------------------------------------------------------===//
// Reading loads
//===----------------------------------------------------------------------===//

static Result<LoadProfile> synthesise(SyntheticLoad load,
                                      const std::string &source,
                                      const LoadShape &shape) {
  if (!shape.experts || shape.layers.empty())
    return Error{"", "loads \"" + shorten(source) + "\" are of no layers",
                 "a word needs numbers of experts and of layers"};
  load.experts = *shape.experts;
  load.layers = static_cast<int64_t>(shape.layers.size());
  Result<LoadProfile> profile = makeLoads(load);
  if (!profile)
    return Error{
        "", "loads \"" + shorten(source) + "\": " + profile.error().message,
        profile.error().note};
  for (size_t i = 0; i < profile->layers.size(); ++i)
    profile->layers[i].layer = shape.layers[i];
  return profile;
}

Result<LoadProfile> autopar::placement::readLoads(const std::string &source,
                                                  const LoadShape &shape) {
  Result<std::optional<SyntheticLoad>> word = parseSyntheticLoad(source);
  if (!word)
    return word.error();
  return *word ? synthesise(**word, source, shape)
               : readLoadFile(source, shape);
}

Result<ExpertLoads> autopar::placement::readSources(const LoadSources &sources,
                                                    const LoadShape &shape) {
  ExpertLoads read;
  if (!sources.trace.empty()) {
    Result<RoutingTrace> trace = readTraceFile(sources.trace, shape);
    if (!trace)
      return trace.error();
    read.trace = std::move(*trace);
  }
  if (sources.load.empty()) {
    read.loads = loadsOf(*read.trace);
    return read;
  }
  Result<LoadProfile> loads = readLoads(sources.load, shape);
  if (!loads)
    return loads.error();
  read.loads = std::move(*loads);
  return read;
}

//===- SweepAxes.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/SweepAxes.h"

#include "autopar/Pipelines/FlagValues.h"
#include "autopar/Pipelines/Pipelines.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/NumberList.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <set>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::pipelines;
using namespace autopar::session;
using namespace autopar::sweep;

using Axes = std::vector<SweepAxis>;

//===----------------------------------------------------------------------===//
// Reading lists of values
//===----------------------------------------------------------------------===//

static int64_t mostOf(const PlanFlags &flags, const std::string &name) {
  for (const PlanOptions::Count &count : flags.options().counts())
    if (count.option->getArgStr() == name)
      return count.most;
  return name == "prompt" ? limits::maxTokens : limits::maxDevices;
}

static Result<Axes> readCountAxis(const PlanFlags &flags,
                                  const std::string &name,
                                  const std::string &text) {
  auto counts = readCounts("--" + name, text, mostOf(flags, name));
  if (!counts)
    return counts.error();
  return Axes{{name, {counts->begin(), counts->end()}}};
}

static Result<Axes> readMachines(const std::string &text) {
  std::vector<std::string> machines = wordsOf(text, "|,");
  if (machines.empty())
    return Error{"", "--hardware= is empty", ""};
  return Axes{{"hardware", {machines.begin(), machines.end()}}};
}

static Result<Axes> readRates(const std::string &text) {
  auto rates = readNumbers("--rate", text);
  if (!rates)
    return rates.error();
  return Axes{{"rate", {rates->begin(), rates->end()}}};
}

/// Parses a figure with one or more values: "path=2e12" or "path=2e12|4e12".
static Result<SweepAxis> readFigure(const std::string &text) {
  size_t equals = text.find('=');
  std::string path = text.substr(0, equals);
  // The parser of a single override reports errors in the path.
  Result<Override> first =
      parseOverride(equals == text.npos ? text : path + "=1");
  if (!first)
    return first.error();
  auto numbers = readNumbers("--set=" + path, text.substr(equals + 1));
  if (!numbers)
    return numbers.error();
  return SweepAxis{path, {numbers->begin(), numbers->end()}};
}

/// Parses a list of figures such as "path=2e12,4e12,path=1". A word without "="
/// is another value of the last path.
static Result<Axes> readFigures(const std::string &text) {
  std::vector<std::string> figures;
  for (const std::string &word : wordsOf(text, ","))
    if (word.find('=') != word.npos || figures.empty())
      figures.push_back(word);
    else
      figures.back() += "|" + word;
  Axes axes;
  for (const std::string &figure : figures) {
    Result<SweepAxis> axis = readFigure(figure);
    if (!axis)
      return axis.error();
    axes.push_back(std::move(*axis));
  }
  return axes;
}

static std::optional<Error> checkNames(const Axes &axes) {
  std::set<std::string> names;
  for (const SweepAxis &axis : axes)
    if (!names.insert(axis.name).second)
      return Error{"", "--set gives " + shorten(axis.name) + " twice",
                   "give all of its values in one list"};
  if (!names.empty())
    return std::nullopt;
  return Error{"", "nothing is swept",
               "give lists: --batch=1..256, --context=4k|32k, --prompt, "
               "--devices, --hardware or --set=path=2e12|4e12"};
}

//===----------------------------------------------------------------------===//
// Taking the axes out of flags
//===----------------------------------------------------------------------===//

bool autopar::session::isOfRequests(const PlanFlags &flags,
                                    PlanValues &values) {
  return !valuesOf(flags, values, "rate").empty() ||
         !valuesOf(flags, values, "concurrency").empty();
}

Result<Axes> autopar::session::takeAxes(const std::vector<std::string> &order,
                                        const std::string &devices,
                                        const PlanFlags &flags,
                                        PlanValues &values) {
  static const std::set<std::string> lists = {
      "batch", "context",  "prompt",      "rate",
      "set",   "hardware", "concurrency", "devices"};
  Axes all;
  const char *phase = "decode";
  bool isService = isOfRequests(flags, values);
  for (const std::string &name : order) {
    if (lists.count(name) == 0 || (isService && name == "prompt"))
      continue;
    if (isService && (name == "batch" || name == "context"))
      return Error{"", "--" + name + " is for steps, not for requests",
                   "leave it out, or --rate and --concurrency"};
    std::string text = devices;
    if (name != "devices") {
      text = join(valuesOf(flags, values, name), ",");
      valuesOf(flags, values, name).clear();
    }
    Result<Axes> axes = name == "set"        ? readFigures(text)
                        : name == "hardware" ? readMachines(text)
                        : name == "rate"     ? readRates(text)
                                             : readCountAxis(flags, name, text);
    if (!axes)
      return axes;
    all.insert(all.end(), axes->begin(), axes->end());
    phase = name == "prompt" ? "prefill" : phase;
  }
  if (std::optional<Error> error = checkNames(all))
    return *error;
  if (!isService && valuesOf(flags, values, "phase").empty())
    valuesOf(flags, values, "phase") = {phase};
  return all;
}

static std::string flagText(const nlohmann::ordered_json &value) {
  return value.is_string()         ? value.get<std::string>()
         : value.is_number_float() ? formatNumber(value)
                                   : value.dump();
}

PlanValues autopar::session::valuesAt(const Axes &axes, const SweepPoint &point,
                                      const PlanFlags &flags,
                                      PlanValues values) {
  for (size_t i = 0; i < point.size(); ++i) {
    const SweepAxis &axis = axes[i];
    std::string text = flagText(axis.values[point[i]]);
    if (axis.name.find('.') != axis.name.npos)
      valuesOf(flags, values, "set").push_back(axis.name + "=" + text);
    else if (axis.name != "devices")
      valuesOf(flags, values, axis.name) = {text};
  }
  return values;
}

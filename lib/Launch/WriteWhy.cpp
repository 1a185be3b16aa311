//===- WriteWhy.cpp - Measured numbers beside predicted ones --------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/Log.h"
#include "autopar/Support/JsonText.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace autopar;
using namespace autopar::launch;
using model::JsonValue;
using nlohmann::ordered_json;

/// The sum of the members; nothing if one is not there.
static std::optional<double> sumOf(const std::vector<std::string> &pointers,
                                   const JsonValue &report) {
  double sum = 0;
  for (const std::string &text : pointers) {
    bool isNegative = !text.empty() && text.front() == '-';
    JsonValue::json_pointer pointer(isNegative ? text.substr(1) : text);
    if (!report.contains(pointer) || !report.at(pointer).is_number())
      return std::nullopt;
    sum += (isNegative ? -1 : 1) * report.at(pointer).get<double>();
  }
  return sum;
}

void autopar::launch::predict(LogReading &reading, const JsonValue &report) {
  for (LogNumber &number : reading.numbers) {
    if (number.pointers.empty())
      continue;
    if (std::optional<double> sum = sumOf(number.pointers, report))
      number.predicted = *sum * number.scale;
  }
}

/// (predicted - measured) / measured; nothing without both.
static std::optional<double> differenceOf(const LogNumber &number) {
  if (!number.predicted || number.measured == 0)
    return std::nullopt;
  return (*number.predicted - number.measured) / number.measured;
}

/// Numbers with a prediction, the largest difference first; then the others.
static std::vector<LogNumber> ranked(std::vector<LogNumber> numbers) {
  auto rank = [](const LogNumber &number) {
    std::optional<double> difference = differenceOf(number);
    return std::make_tuple(
        !difference, difference ? -std::fabs(*difference) : 0.0, number.name);
  };
  std::sort(numbers.begin(), numbers.end(),
            [&](const LogNumber &first, const LogNumber &second) {
              return rank(first) < rank(second);
            });
  return numbers;
}

std::string autopar::launch::writeWhy(const LogReading &reading) {
  ordered_json json = {{"schema", "autopar.why/1"},
                       {"engine", reading.engine},
                       {"version", reading.version}};
  json["numbers"] = ordered_json::array();
  for (const LogNumber &number : ranked(reading.numbers)) {
    ordered_json one = {{"name", number.name},
                        {"what", number.what},
                        {"unit", number.unit},
                        {"lines", number.lines},
                        {"measured", number.measured}};
    if (number.predicted)
      one["predicted"] = *number.predicted;
    if (std::optional<double> difference = differenceOf(number))
      one["difference"] = *difference;
    json["numbers"].push_back(std::move(one));
  }
  json["values"] = reading.values;
  json["findings"] = reading.findings;
  return printJson(json);
}

static std::string valueText(double value, const std::string &unit) {
  std::string text = value == std::floor(value) && std::fabs(value) < 1e15
                         ? formatInteger(int64_t(value))
                         : print("%.2f", value);
  return unit.empty() || unit == "1" ? text : text + " " + unit;
}

static std::string percentText(double difference) {
  std::string text = print("%+.1f%%", difference * 100);
  return text;
}

std::string autopar::launch::whyText(const LogReading &reading) {
  std::vector<LogNumber> numbers = ranked(reading.numbers);
  TextTable table("lrrrw");
  table.add({"number", "measured", "predicted", "difference", "what"});
  for (const LogNumber &number : numbers) {
    std::optional<double> difference = differenceOf(number);
    table.add(
        {number.name, valueText(number.measured, number.unit),
         number.predicted ? valueText(*number.predicted, number.unit) : "",
         difference ? percentText(*difference) : "", number.what});
  }
  std::string text = reading.engine +
                     (reading.version.empty() ? "" : " " + reading.version) +
                     "\n\n" + table.str();
  if (!numbers.empty())
    if (std::optional<double> largest = differenceOf(numbers.front()))
      text += "\nLargest difference: " + numbers.front().what + ", " +
              percentText(*largest) +
              ".\nautopar estimate --from=LOG --explain derives what is "
              "predicted.\n";
  for (const std::string &finding : reading.findings)
    text += "  - " + finding + "\n";
  return text;
}

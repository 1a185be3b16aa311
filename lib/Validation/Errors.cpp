//===- Errors.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/Errors.h"

#include "autopar/Support/Text.h"
#include "autopar/Validation/Statistics.h"

#include <cmath>
#include <map>
#include <tuple>

using namespace autopar;
using namespace autopar::validation;

std::optional<double>
autopar::validation::signedError(const MeasuredPoint &point) {
  if (!point.predicted || !std::isfinite(*point.predicted) ||
      *point.predicted <= 0 || !(point.measured > 0))
    return std::nullopt;
  return *point.predicted / point.measured - 1;
}

ErrorFigures
autopar::validation::errorFigures(const std::vector<MeasuredPoint> &points) {
  ErrorFigures figures;
  figures.rows = points.size();
  std::vector<double> errors;
  double total = 0;
  for (const MeasuredPoint &point : points)
    if (std::optional<double> error = signedError(point)) {
      errors.push_back(std::abs(*error));
      total += *error;
    }
  figures.n = errors.size();
  if (errors.empty())
    return figures;
  double count = double(errors.size());
  figures.bias = total / count;
  // 11 / 10 - 1 is a little above 0.1.
  constexpr double slack = 1e-9;
  for (double error : errors) {
    figures.mape += error / count;
    figures.within10 += (error <= 0.1 + slack) / count;
    figures.within20 += (error <= 0.2 + slack) / count;
    figures.within30 += (error <= 0.3 + slack) / count;
  }
  figures.median = quantile(errors, 0.5);
  figures.p90 = quantile(errors, 0.9);
  return figures;
}

bool GroupKey::operator<(const GroupKey &other) const {
  return std::tie(order, text) < std::tie(other.order, other.text);
}

ErrorTable
autopar::validation::errorTable(std::string by,
                                const std::vector<MeasuredPoint> &points,
                                const std::function<GroupKey(size_t)> &keyOf) {
  std::map<GroupKey, std::vector<MeasuredPoint>> groups;
  for (size_t i = 0; i < points.size(); ++i)
    groups[keyOf(i)].push_back(points[i]);
  ErrorTable table{std::move(by), {}};
  for (const auto &[key, members] : groups)
    table.groups.push_back({key.text, errorFigures(members)});
  return table;
}

GroupKey autopar::validation::concurrencyBucket(int64_t concurrency) {
  int64_t below = 0, last = 4;
  while (last < concurrency && last < (int64_t(1) << 40)) {
    below = last;
    last *= 4;
  }
  return {formatInteger(below + 1) + " to " + formatInteger(last),
          double(last)};
}

/// 1000 -> {1024, "1k"}.
static std::pair<int64_t, std::string> roundedLength(int64_t tokens) {
  constexpr int64_t kilo = 1024;
  int64_t power = 1;
  while (power < tokens && power < (int64_t(1) << 40))
    power *= 2;
  return {power, power < kilo ? std::to_string(power)
                              : formatInteger(power / kilo) + "k"};
}

GroupKey autopar::validation::lengthBucket(int64_t inputTokens,
                                           int64_t outputTokens) {
  auto [input, inputText] = roundedLength(inputTokens);
  auto [output, outputText] = roundedLength(outputTokens);
  // Powers of two up to 2^40: exact, and the order of the pairs.
  double order = std::log2(double(input)) * 64 + std::log2(double(output));
  return {inputText + " + " + outputText, order};
}

ErrorSection::ErrorSection(std::string name, std::string title,
                           std::string unit, std::vector<MeasuredPoint> given)
    : name(std::move(name)), title(std::move(title)), unit(std::move(unit)),
      points(std::move(given)), all(errorFigures(points)) {}

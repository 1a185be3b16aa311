//===- Errors.h - How far predictions are off -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_ERRORS_H
#define AUTOPAR_VALIDATION_ERRORS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace autopar::validation {

/// A figure of a row, and what was predicted for it, if anything.
struct MeasuredPoint {
  double measured = 0;
  std::optional<double> predicted = std::nullopt;
  /// Which row it is of, and of which model.
  std::string id = {}, model = {};
};

/// predicted / measured - 1; nothing where there is no prediction, or one that
/// is no time.
std::optional<double> signedError(const MeasuredPoint &point);

/// Errors of points, as shares: 0.1 is 10 %.
struct ErrorFigures {
  /// Points, and those of them that were predicted.
  size_t rows = 0, n = 0;
  /// Mean and quantiles of the errors without their signs.
  double mape = 0, median = 0, p90 = 0;
  /// Mean of the errors with their signs.
  double bias = 0;
  double within10 = 0, within20 = 0, within30 = 0;

  double coverage() const { return rows ? double(n) / double(rows) : 0; }
};

ErrorFigures errorFigures(const std::vector<MeasuredPoint> &points);

/// What points are grouped by; groups are in order of `order`, then `text`.
struct GroupKey {
  std::string text;
  double order = 0;
  bool operator<(const GroupKey &other) const;
};

/// Errors by one property of rows.
struct ErrorTable {
  /// "model", "concurrency", ...
  std::string by;
  struct Group {
    std::string key;
    ErrorFigures figures;
  };
  std::vector<Group> groups;
};

/// Errors of one kind of figure.
struct ErrorSection {
  /// "tpot", "ttft", ..., the same for people, and what it is measured in.
  std::string name, title, unit;
  std::vector<MeasuredPoint> points;
  ErrorFigures all;
  std::vector<ErrorTable> tables;

  ErrorSection(std::string name, std::string title, std::string unit,
               std::vector<MeasuredPoint> points);
};

/// `keyOf` is asked for the index of each point.
ErrorTable errorTable(std::string by, const std::vector<MeasuredPoint> &points,
                      const std::function<GroupKey(size_t)> &keyOf);

/// Concurrencies in powers of four: 20 -> "17 to 64".
GroupKey concurrencyBucket(int64_t concurrency);
/// Lengths up to the next power of two: 1,000 and 8,192 -> "1k + 8k".
GroupKey lengthBucket(int64_t inputTokens, int64_t outputTokens);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_ERRORS_H

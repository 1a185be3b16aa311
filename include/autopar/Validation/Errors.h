//===- Errors.h - Errors of predictions -------------------------*- C++ -*-===//
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

/// A measured figure of a row, and its prediction, if any.
struct MeasuredPoint {
  double measured = 0;
  std::optional<double> predicted = std::nullopt;
  /// Its row, and the model of the row.
  std::string id = {}, model = {};
};

/// predicted / measured - 1; nothing where there is no prediction, or one that
/// is no time.
std::optional<double> signedError(const MeasuredPoint &point);

/// Errors of points, as shares: 0.1 is 10 %.
struct ErrorFigures {
  /// Number of points, and of predicted points.
  size_t rows = 0, n = 0;
  /// Mean and quantiles of the errors without their signs.
  double mape = 0, median = 0, p90 = 0;
  /// Mean of the errors with their signs.
  double bias = 0;
  double within10 = 0, within20 = 0, within30 = 0;

  double coverage() const { return rows ? double(n) / double(rows) : 0; }
};

ErrorFigures errorFigures(const std::vector<MeasuredPoint> &points);

/// The key of a group of points; groups are sorted by `order`, then `text`.
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
  /// The name, such as "tpot" or "ttft", the title for readers, and the unit.
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

//===- Log.h - Numbers that engines and trainers print ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The files of runtimes/logs say, as regular expressions, where a log has its
// launch and its numbers, and which members of a report predict them.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LAUNCH_LOG_H
#define AUTOPAR_LAUNCH_LOG_H

#include "autopar/Launch/ReadLaunch.h"

namespace autopar::launch {

/// A number of a log, or one of the numbers of a line that repeats.
struct LogNumber {
  /// "kv_tokens"; "points.step_ms" for a number of a repeated line.
  std::string name;
  std::string what, unit;
  /// The last value; of a repeated line the median over settled lines.
  double measured = 0;
  /// How many lines the value stands for.
  int64_t lines = 1;
  /// JSON pointers into a report, whose sum times `scale` predicts it; "-" in
  /// front subtracts. Empty if no member of a report does.
  std::vector<std::string> pointers;
  double scale = 1;
  /// Set by `predict`.
  std::optional<double> predicted;
};

struct LogReading {
  /// The form's table and the version that the log states; "" if none.
  std::string engine, version;
  /// The launch in the log, if it has one.
  std::optional<Launch> launch;
  std::vector<LogNumber> numbers;
  /// All values of each number, repeated lines as lists of objects.
  model::JsonValue values;
  std::vector<std::string> findings;
};

/// Reads a log by the form that most of its lines fit. Errors name `name`: a
/// text that no form fits, a form that is no regular expression.
Result<LogReading> readLog(const std::vector<LaunchTable> &tables,
                           const std::string &text, const std::string &name,
                           const ReadOptions &options);

/// Sets the predicted numbers from `report`, an `autopar.report/1`.
void predict(LogReading &reading, const model::JsonValue &report);

/// The numbers as `autopar.why/1`, and for people; the largest differences come
/// first.
std::string writeWhy(const LogReading &reading);
std::string whyText(const LogReading &reading);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_LOG_H

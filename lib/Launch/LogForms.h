//===- LogForms.h - Regular expressions of logs -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LAUNCH_LOGFORMS_H
#define AUTOPAR_LIB_LAUNCH_LOGFORMS_H

#include "autopar/Model/Expression.h"
#include "autopar/Support/Json.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopar::launch {

/// Members of a report that predict a number.
struct Prediction {
  std::vector<std::string> pointers;
  double scale = 1;
};

/// A number of a log, or the numbers of a line that repeats.
struct NumberForm {
  std::string name, what;
  /// The unit; of a repeated line by name.
  std::string unit;
  std::map<std::string, std::string> units;
  std::map<std::string, Prediction> predictions;
  /// What an occurrence stands for where the pattern has no group.
  model::JsonValue value;
  bool isRepeated = false;
  std::optional<model::Expression> settled;
  std::map<std::string, model::Expression> derived;
};

struct LogForm {
  std::string name, title, table;
  std::vector<NumberForm> numbers;
  std::map<std::string, model::Expression> derived;
  /// "python", "shell" or "dump", by launch pattern.
  std::vector<std::string> launchForms;
};

/// A regular expression of a form: its number, launch or version.
struct LogPattern {
  enum class Kind : uint8_t { version, launch, number };
  Kind kind;
  size_t form;
  /// The number or launch, and the pattern's place among those of the number.
  size_t index = 0, rank = 0;
  std::unique_ptr<RE2> expression;
};

/// All forms of runtimes/logs, and one automaton that finds the patterns of a
/// line.
class LogForms {
public:
  /// Reads the forms in `folder` of the library of runtimes.
  static Result<LogForms> load(const std::string &folder);

  const std::vector<LogForm> &forms() const { return all; }
  const std::vector<LogPattern> &patterns() const { return expressions; }
  /// The patterns that occur in `line`, in ascending order.
  std::vector<int> find(const std::string &line) const;

private:
  std::optional<Error> read(const JsonDocument &document);
  std::optional<Error> add(LogPattern pattern, const JsonReader &text);
  std::optional<Error> readNumber(const JsonReader &reader, size_t form);

  std::vector<LogForm> all;
  std::vector<LogPattern> expressions;
  std::unique_ptr<RE2::Set> set;
};

} // namespace autopar::launch

#endif // AUTOPAR_LIB_LAUNCH_LOGFORMS_H

//===- LogForms.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LogForms.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"

#include <algorithm>
#include <cfloat>

using namespace autopar;
using namespace autopar::launch;
using model::Expression;

/// Memory of the automaton that finds the patterns of a line.
static constexpr int64_t automatonBytes = int64_t(64) << 20;

static RE2::Options regularOptions() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(automatonBytes);
  return options;
}

static std::optional<Expression> readExpression(const JsonReader &reader) {
  Result<Expression> expression = Expression::parse(reader.asString());
  if (expression)
    return std::move(*expression);
  if (!reader.failed())
    reader.fail(expression.error().message);
  return std::nullopt;
}

static std::map<std::string, Expression> readDerived(const JsonReader &reader) {
  std::map<std::string, Expression> derived;
  if (reader.has("derived"))
    for (const auto &[name, text] : reader.object("derived").members())
      if (std::optional<Expression> expression = readExpression(text))
        derived.emplace(name, std::move(*expression));
  return derived;
}

std::optional<Error> LogForms::add(LogPattern pattern, const JsonReader &text) {
  std::string expression = text.asString(), problem;
  pattern.expression = std::make_unique<RE2>(expression, regularOptions());
  if (!pattern.expression->ok() || set->Add(expression, &problem) < 0)
    text.fail("is no regular expression of RE2: " +
              pattern.expression->error() + problem);
  if (text.failed())
    return text.takeError();
  expressions.push_back(std::move(pattern));
  return std::nullopt;
}

static void readPredictions(const JsonReader &reader, NumberForm &number) {
  if (reader.has("predicted"))
    number.predictions[""] = {
        reader.strings("predicted"),
        reader.optionalNumber("scale", -DBL_MAX, DBL_MAX).value_or(1)};
  if (reader.has("predictions"))
    for (const auto &[name, one] : reader.object("predictions").members())
      number.predictions[name] = {one.strings("pointers"),
                                  one.number("scale", -DBL_MAX, DBL_MAX)};
}

std::optional<Error> LogForms::readNumber(const JsonReader &reader,
                                          size_t form) {
  NumberForm number;
  number.name = reader.string("name");
  number.what = reader.string("what");
  JsonReader units = reader.member("units");
  if (units.isString())
    number.unit = units.asString();
  else
    for (const auto &[name, unit] : units.members())
      number.units[name] = unit.asString();
  readPredictions(reader, number);
  if (reader.has("value"))
    number.value = reader.member("value").toJson();
  number.isRepeated = reader.booleanOr("each", false);
  if (reader.has("settled"))
    number.settled = readExpression(reader.member("settled"));
  number.derived = readDerived(reader);
  size_t index = all[form].numbers.size(), rank = 0;
  all[form].numbers.push_back(std::move(number));
  for (const JsonReader &pattern : reader.array("patterns").elements())
    if (std::optional<Error> error = add(
            {LogPattern::Kind::number, form, index, rank++, nullptr}, pattern))
      return error;
  return std::nullopt;
}

std::optional<Error> LogForms::read(const JsonDocument &document) {
  JsonReader reader = document.reader();
  checkSchema(reader, "autopar.log_forms/1");
  size_t form = all.size();
  all.push_back({reader.string("name"),
                 reader.string("title"),
                 reader.string("table"),
                 {},
                 readDerived(reader),
                 {}});
  for (const JsonReader &pattern : reader.array("version").elements())
    if (std::optional<Error> error =
            add({LogPattern::Kind::version, form, 0, 0, nullptr}, pattern))
      return error;
  for (const JsonReader &launch : reader.array("launches").elements()) {
    size_t index = all[form].launchForms.size();
    all[form].launchForms.push_back(launch.string("form"));
    if (std::optional<Error> error =
            add({LogPattern::Kind::launch, form, index, 0, nullptr},
                launch.member("pattern")))
      return error;
  }
  for (const JsonReader &number : reader.array("numbers").elements())
    if (std::optional<Error> error = readNumber(number, form))
      return error;
  if (reader.failed())
    return reader.takeError();
  return std::nullopt;
}

Result<LogForms> LogForms::load(const std::string &folder) {
  LogForms forms;
  forms.set = std::make_unique<RE2::Set>(regularOptions(), RE2::UNANCHORED);
  std::string directory = dataDirectory("runtimes") + "/" + folder;
  for (const std::string &name : namesIn(directory)) {
    Result<JsonDocument> document =
        JsonDocument::readFile(directory + "/" + name + ".json");
    if (!document)
      return document.error();
    if (std::optional<Error> error = forms.read(*document))
      return *error;
  }
  if (!forms.set->Compile())
    return Error{directory, "the regular expressions need too much memory", ""};
  return forms;
}

std::vector<int> LogForms::find(const std::string &line) const {
  std::vector<int> found;
  set->Match(line, &found);
  std::sort(found.begin(), found.end());
  return found;
}

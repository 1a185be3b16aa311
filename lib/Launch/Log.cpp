//===- Log.cpp ------------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/Log.h"

#include "ConfigFile.h"
#include "LaunchNames.h"
#include "LogForms.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::launch;
using model::JsonValue;

/// The number in a text; commas between thousands are left out.
static std::optional<double> numberOf(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(number))
    return std::nullopt;
  return number;
}

namespace {

/// What the lines of one form have given so far.
struct FormState {
  int64_t matches = 0;
  std::string version;
  /// Values by number, and the pattern that gave each.
  std::map<size_t, std::pair<size_t, JsonValue>> values;
  /// Lines of repeated numbers, and whether each is settled.
  std::map<size_t, std::vector<std::pair<JsonValue, bool>>> lines;
  /// The number of the last line that fitted.
  std::optional<size_t> last;
  /// Launches by their form's index, and the pairs of a dump.
  std::vector<std::pair<size_t, std::string>> launches;
  JsonValue dump;
};

/// Reads one log.
class LogReader {
public:
  LogReader(const LogForms &forms, const std::vector<LaunchTable> &tables,
            const std::string &name, const ReadOptions &options)
      : forms(forms), tables(tables), name(name), options(options),
        states(forms.forms().size()) {}

  void readLine(const std::string &line);
  Result<LogReading> finish();

private:
  void readMatch(const LogPattern &pattern, const std::string &line);
  void readNumber(const LogPattern &pattern,
                  const std::vector<std::string> &groups);
  void readRepeated(const LogPattern &pattern,
                    const std::vector<std::string> &groups);
  void addScalars(const LogForm &form, const FormState &state,
                  LogReading &reading) const;
  void addRepeated(const LogForm &form, const FormState &state,
                   LogReading &reading) const;
  std::optional<Launch> readLaunch(const LogForm &form, FormState &state,
                                   LogReading &reading) const;
  std::optional<Launch> readPython(const LaunchTable &table,
                                   const std::string &text,
                                   LogReading &reading) const;
  std::optional<Launch> launchOf(const LaunchTable &table,
                                 const YamlDocument &settings,
                                 LogReading &reading) const;

  const LogForms &forms;
  const std::vector<LaunchTable> &tables;
  const std::string &name;
  const ReadOptions &options;
  std::vector<FormState> states;
};

} // namespace

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

void LogReader::readLine(const std::string &line) {
  // What an engine prints is UTF-8; other bytes are not its.
  if (!isUtf8(line))
    return;
  for (int index : forms.find(line))
    readMatch(forms.patterns()[size_t(index)], line);
}

/// The groups of a match, all of it first.
static std::vector<std::string> groupsOf(const RE2 &expression,
                                         const std::string &line) {
  int count = expression.NumberOfCapturingGroups() + 1;
  std::vector<re2::StringPiece> pieces(size_t(count) + 0);
  if (!expression.Match(line, 0, line.size(), RE2::UNANCHORED, pieces.data(),
                        count))
    return {};
  std::vector<std::string> groups;
  for (const re2::StringPiece &piece : pieces)
    groups.emplace_back(piece.data() ? std::string(piece.data(), piece.size())
                                     : std::string());
  return groups;
}

void LogReader::readMatch(const LogPattern &pattern, const std::string &line) {
  std::vector<std::string> groups = groupsOf(*pattern.expression, line);
  if (groups.empty())
    return;
  FormState &state = states[pattern.form];
  ++state.matches;
  std::string first = groups.size() > 1 ? groups[1] : "";
  if (pattern.kind == LogPattern::Kind::version)
    state.version = first;
  else if (pattern.kind == LogPattern::Kind::number)
    readNumber(pattern, groups);
  else if (groups.size() > 2)
    state.dump[first] = groups[2];
  else
    state.launches.emplace_back(pattern.index, first);
}

void LogReader::readNumber(const LogPattern &pattern,
                           const std::vector<std::string> &groups) {
  const NumberForm &number = forms.forms()[pattern.form].numbers[pattern.index];
  FormState &state = states[pattern.form];
  if (number.isRepeated) {
    readRepeated(pattern, groups);
    state.last = pattern.index;
    return;
  }
  JsonValue value = number.value;
  if (value.is_null() && groups.size() > 1) {
    std::optional<double> parsed = numberOf(groups[1]);
    value = parsed && number.unit != "text" ? JsonValue(*parsed)
                                            : JsonValue(groups[1]);
  }
  auto found = state.values.find(pattern.index);
  if (found == state.values.end() || pattern.rank <= found->second.first)
    state.values[pattern.index] = {pattern.rank, std::move(value)};
}

/// The value of a formula; null if a name in it has none.
static JsonValue valueOf(const model::Expression &expression,
                         LaunchNames &names) {
  Result<JsonValue> value = expression.evaluate(names);
  return value ? std::move(*value) : JsonValue();
}

void LogReader::readRepeated(const LogPattern &pattern,
                             const std::vector<std::string> &groups) {
  const NumberForm &number = forms.forms()[pattern.form].numbers[pattern.index];
  FormState &state = states[pattern.form];
  LaunchNames names(nullptr, {});
  for (const auto &[unit, text] : number.units)
    names.set(unit, nullptr);
  names.set("follows_itself", state.last == pattern.index);
  JsonValue line = JsonValue::object();
  for (const auto &[group, index] : pattern.expression->NamedCapturingGroups())
    if (std::optional<double> value = numberOf(groups[size_t(index)])) {
      line[group] = *value;
      names.set(group, *value);
    }
  for (const auto &[derived, expression] : number.derived)
    if (JsonValue value = valueOf(expression, names); value.is_number())
      line[derived] = value;
  bool isSettled =
      !number.settled || model::isTrue(valueOf(*number.settled, names));
  state.lines[pattern.index].emplace_back(std::move(line), isSettled);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static LogNumber numberFrom(const NumberForm &form, const std::string &member,
                            double measured) {
  LogNumber number;
  number.name = member.empty() ? form.name : form.name + "." + member;
  number.what = form.what;
  auto unit = form.units.find(member);
  number.unit = unit == form.units.end() ? form.unit : unit->second;
  number.measured = measured;
  if (auto found = form.predictions.find(member);
      found != form.predictions.end()) {
    number.pointers = found->second.pointers;
    number.scale = found->second.scale;
  }
  return number;
}

void LogReader::addScalars(const LogForm &form, const FormState &state,
                           LogReading &reading) const {
  LaunchNames names(nullptr, {});
  for (const NumberForm &number : form.numbers)
    names.setIfAbsent(number.name, nullptr);
  for (const auto &[index, value] : state.values) {
    reading.values[form.numbers[index].name] = value.second;
    names.set(form.numbers[index].name, value.second);
  }
  for (const auto &[derived, expression] : form.derived)
    if (JsonValue value = valueOf(expression, names); !value.is_null())
      reading.values[derived] = value;
  for (const NumberForm &number : form.numbers)
    if (auto value = reading.values.find(number.name);
        value != reading.values.end() && value->is_number())
      reading.numbers.push_back(numberFrom(number, "", value->get<double>()));
}

static double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (values[middle - 1] + values[middle]) / 2;
}

void LogReader::addRepeated(const LogForm &form, const FormState &state,
                            LogReading &reading) const {
  for (const auto &[index, lines] : state.lines) {
    const NumberForm &number = form.numbers[index];
    std::map<std::string, std::vector<double>> settled;
    JsonValue &all = reading.values[number.name];
    for (const auto &[line, isSettled] : lines) {
      all.push_back(line);
      for (const auto &[member, value] : line.items())
        if (isSettled)
          settled[member].push_back(value.get<double>());
    }
    for (const auto &[member, values] : settled) {
      reading.numbers.push_back(numberFrom(number, member, medianOf(values)));
      reading.numbers.back().lines = int64_t(values.size());
    }
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// A Python dict as YAML; of a call, its keywords: `Args(a=1, b='x')`.
static std::string yamlOf(const std::string &text) {
  if (!text.empty() && text.front() == '{')
    return text;
  std::string inside = text.substr(text.find('(') + 1), yaml = "{";
  if (!inside.empty() && inside.back() == ')')
    inside.pop_back();
  char quote = 0;
  int64_t depth = 0;
  for (char letter : inside) {
    if (quote)
      quote = letter == quote ? 0 : quote;
    else if (letter == '\'' || letter == '"')
      quote = letter;
    else if (letter == '(' || letter == '[' || letter == '{')
      ++depth;
    else if (letter == ')' || letter == ']' || letter == '}')
      --depth;
    else if (letter == '=' && depth == 0) {
      yaml += ": ";
      continue;
    }
    yaml += letter;
  }
  return yaml + "}";
}

/// Python's None is no text.
static void replaceNone(JsonValue &value) {
  if (value == "None")
    value = nullptr;
  if (value.is_structured())
    for (JsonValue &member : value)
      replaceNone(member);
}

std::optional<Launch> LogReader::launchOf(const LaunchTable &table,
                                          const YamlDocument &settings,
                                          LogReading &reading) const {
  Launch launch;
  launch.engine = table.name;
  launch.version = reading.version.empty() ? options.version : reading.version;
  launch.tableVersion = table.recordedVersion(parseVersion(launch.version));
  readConfig(table, settings, name, launch);
  ModelFacts facts;
  if (options.findModel && !launch.model.empty())
    facts = options.findModel(launch.model);
  if (std::optional<Error> error = planLaunch(table, facts, launch)) {
    reading.findings.push_back("the launch in the log: " + error->str());
    return std::nullopt;
  }
  return launch;
}

std::optional<Launch> LogReader::readPython(const LaunchTable &table,
                                            const std::string &text,
                                            LogReading &reading) const {
  Result<std::vector<YamlDocument>> documents = readYaml(yamlOf(text), name);
  if (!documents || documents->empty()) {
    reading.findings.push_back("the arguments in the log cannot be read");
    return std::nullopt;
  }
  YamlDocument settings = std::move(documents->front());
  JsonValue given = JsonValue::object();
  replaceNone(settings.value);
  if (settings.value.is_object())
    for (const auto &[key, value] : settings.value.items())
      if (!value.is_null())
        given[key] = value;
  settings.value = std::move(given);
  return launchOf(table, settings, reading);
}

std::optional<Launch> LogReader::readLaunch(const LogForm &form,
                                            FormState &state,
                                            LogReading &reading) const {
  auto table =
      std::find_if(tables.begin(), tables.end(), [&](const LaunchTable &one) {
        return one.name == form.table;
      });
  if (table == tables.end())
    return std::nullopt;
  if (state.dump.is_object()) {
    YamlDocument settings;
    settings.value = std::move(state.dump);
    replaceNone(settings.value);
    return launchOf(*table, settings, reading);
  }
  for (const auto &[index, text] : state.launches) {
    if (form.launchForms[index] == "python")
      return readPython(*table, text, reading);
    ReadOptions own = options;
    if (!reading.version.empty())
      own.version = reading.version;
    Result<std::vector<Launch>> launches =
        readLaunches(tables, text, name, own);
    if (launches)
      return std::move(launches->front());
    reading.findings.push_back(launches.error().str());
  }
  return std::nullopt;
}

Result<LogReading> LogReader::finish() {
  auto most = std::max_element(states.begin(), states.end(),
                               [](const FormState &a, const FormState &b) {
                                 return a.matches < b.matches;
                               });
  if (most == states.end() || most->matches == 0)
    return Error{name, "no line is one that an engine or a trainer prints",
                 "forms that are known: runtimes/" + options.logForms};
  const LogForm &form = forms.forms()[size_t(most - states.begin())];
  LogReading reading;
  reading.engine = form.table;
  reading.version = most->version;
  reading.values = JsonValue::object();
  reading.launch = readLaunch(form, *most, reading);
  addScalars(form, *most, reading);
  addRepeated(form, *most, reading);
  return reading;
}

Result<LogReading>
autopar::launch::readLog(const std::vector<LaunchTable> &tables,
                         const std::string &text, const std::string &name,
                         const ReadOptions &options) {
  Result<LogForms> forms = LogForms::load(options.logForms);
  if (!forms)
    return forms.error();
  LogReader reader(*forms, tables, name, options);
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    reader.readLine(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return reader.finish();
}

//===- Measurements.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Calibrate/Measurements.h"

#include "autopar/Launch/Log.h"
#include "autopar/Model/Expression.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cfloat>
#include <cmath>

using namespace autopar;
using namespace autopar::calibration;
using model::JsonValue;

namespace {

/// JSON pointers to a quantity; the first that leads to a value holds. A
/// pointer that begins with "^" starts at the root of the file instead of the
/// run; one that ends with "#" is the number of elements.
struct Place {
  std::string name, unit;
  std::vector<std::string> pointers;
  double scale = 1;
};

/// Numbers of a run, for formulas.
class RunNames : public model::Names {
public:
  explicit RunNames(const MeasuredRun &run) {
    for (const ReadNumber &number : run.numbers)
      values[number.name] = number.value;
  }
  Result<const JsonValue *> lookUp(const std::string &name) override {
    auto found = values.find(name);
    if (found == values.end())
      return Error{"", "there is no number \"" + name + "\"", ""};
    return &found->second;
  }
  bool has(const std::string &name) override { return values.count(name); }

private:
  std::map<std::string, JsonValue> values;
};

} // namespace

struct MeasurementForms::Form {
  std::string name, title, kind, runs;
  std::vector<std::vector<std::string>> recognised;
  std::vector<Place> texts, numbers;
  std::vector<std::pair<std::string, model::Expression>> derived;
  StatedFacts constants;

  /// The number of pointers of the longest alternative that all lead to values
  /// of `run`; 0 if the form does not fit.
  size_t fits(const JsonValue &root, const JsonValue &run) const;
  Result<MeasuredRun> read(const JsonValue &root, const JsonValue &run,
                           std::string where) const;
};

MeasurementForms::MeasurementForms(std::vector<Form> forms)
    : forms(std::move(forms)) {}
MeasurementForms::~MeasurementForms() = default;
MeasurementForms::MeasurementForms(MeasurementForms &&) noexcept = default;

std::optional<double> MeasuredRun::number(const std::string &name) const {
  for (const ReadNumber &one : numbers)
    if (one.name == name)
      return one.value;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static std::vector<Place> readPlaces(const JsonReader &reader,
                                     std::string_view key, bool areNumbers) {
  std::vector<Place> places;
  for (const auto &[name, place] : reader.object(key).members()) {
    Place read{name, "", {}, 1};
    if (areNumbers) {
      read.unit = place.string("units");
      read.pointers = place.strings("pointers");
      read.scale = place.optionalNumber("scale", -DBL_MAX, DBL_MAX).value_or(1);
    } else {
      for (const JsonReader &pointer : place.elements())
        read.pointers.push_back(pointer.asString());
    }
    places.push_back(std::move(read));
  }
  return places;
}

Result<MeasurementForms> MeasurementForms::load() {
  std::vector<Form> forms;
  std::string folder = dataDirectory("runtimes") + "/measurements";
  for (const std::string &name : namesIn(folder)) {
    Result<JsonDocument> document =
        JsonDocument::readFile(folder + "/" + name + ".json");
    if (!document)
      return document.error();
    JsonReader reader = document->reader();
    checkSchema(reader, "autopar.measurement_forms/1");
    Form form;
    form.name = readName(reader);
    form.title = reader.string("title");
    form.kind = reader.string("kind");
    form.runs = reader.string("runs");
    for (const JsonReader &all : reader.array("recognised").elements()) {
      form.recognised.emplace_back();
      for (const JsonReader &pointer : all.elements())
        form.recognised.back().push_back(pointer.asString());
    }
    form.texts = readPlaces(reader, "texts", false);
    form.numbers = readPlaces(reader, "numbers", true);
    for (const auto &[fact, text] : reader.object("constants").members())
      form.constants[fact] = text.asString();
    for (const auto &[number, text] : reader.object("derived").members()) {
      Result<model::Expression> parsed =
          model::Expression::parse(text.asString());
      if (parsed)
        form.derived.emplace_back(number, std::move(*parsed));
      else
        text.fail(parsed.error().message);
    }
    if (reader.failed())
      return reader.takeError();
    forms.push_back(std::move(form));
  }
  return MeasurementForms(std::move(forms));
}

/// Returns the value at `pointer`; null if there is none.
static const JsonValue *valueAt(const JsonValue &root, const JsonValue &run,
                                std::string_view pointer) {
  const JsonValue *value = &run;
  if (!pointer.empty() && pointer.front() == '^') {
    value = &root;
    pointer.remove_prefix(1);
  }
  for (const std::string &key : wordsOf(pointer, "/")) {
    if (value->is_object()) {
      auto member = value->find(key);
      if (member == value->end())
        return nullptr;
      value = &*member;
    } else if (value->is_array() && key == "0" && !value->empty()) {
      value = &value->front();
    } else {
      return nullptr;
    }
  }
  return value->is_null() ? nullptr : value;
}

/// Returns the number in a value, which may be a text in tables.
static std::optional<double> numberIn(const JsonValue &value) {
  if (value.is_number())
    return value.get<double>();
  if (!value.is_string())
    return std::nullopt;
  const std::string &text = value.get_ref<const std::string &>();
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end)
    return std::nullopt;
  return number;
}

/// Returns the value at the first pointer of `place` that leads to one, and the
/// pointer.
static std::pair<std::optional<double>, std::string>
numberAt(const JsonValue &root, const JsonValue &run, const Place &place) {
  for (const std::string &pointer : place.pointers) {
    bool counts = pointer.back() == '#';
    const JsonValue *value = valueAt(
        root, run, counts ? pointer.substr(0, pointer.size() - 1) : pointer);
    if (!value)
      continue;
    if (counts)
      return {static_cast<double>(value->size()), pointer};
    if (std::optional<double> number = numberIn(*value))
      return {*number * place.scale, pointer};
  }
  return {std::nullopt, ""};
}

size_t MeasurementForms::Form::fits(const JsonValue &root,
                                    const JsonValue &run) const {
  size_t most = 0;
  for (const std::vector<std::string> &all : recognised)
    if (std::all_of(all.begin(), all.end(), [&](const std::string &pointer) {
          return valueAt(root, run, pointer) != nullptr;
        }))
      most = std::max(most, all.size());
  return most;
}

Result<MeasuredRun> MeasurementForms::Form::read(const JsonValue &root,
                                                 const JsonValue &value,
                                                 std::string where) const {
  MeasuredRun run{std::move(where), constants, {}};
  for (const Place &place : texts)
    for (const std::string &pointer : place.pointers)
      if (const JsonValue *text = valueAt(root, value, pointer);
          text && text->is_string() && !run.texts.count(place.name))
        run.texts[place.name] = text->get<std::string>();
  for (const Place &place : numbers) {
    auto [number, pointer] = numberAt(root, value, place);
    if (!number)
      continue;
    if (!std::isfinite(*number))
      return Error{run.where,
                   place.name + ": expected a finite number at " + pointer, ""};
    run.numbers.push_back({place.name, place.unit, pointer, *number});
  }
  for (const auto &[name, formula] : derived) {
    RunNames names(run);
    Result<JsonValue> result = formula.evaluate(names);
    if (result && result->is_number() && !run.number(name) &&
        std::isfinite(result->get<double>()))
      run.numbers.push_back({name, "", "from others", result->get<double>()});
  }
  return run;
}

//===----------------------------------------------------------------------===//
// Texts to JSON
//===----------------------------------------------------------------------===//

static bool startsWith(const std::string &text, char a, char b) {
  size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && (text[first] == a || text[first] == b);
}

/// Parses JSON lines as an array, if each line that is not blank is an object.
static std::optional<Result<JsonValue>> readLines(const std::string &text,
                                                  const std::string &file) {
  JsonValue array = JsonValue::array();
  size_t line = 0;
  for (size_t begin = 0; begin < text.size(); ++line) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string one = text.substr(begin, end - begin);
    begin = end + 1;
    if (one.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    size_t last = one.find_last_not_of(" \t\r");
    if (!startsWith(one, '{', '{') || one[last] != '}')
      return std::nullopt;
    Result<JsonDocument> document =
        JsonDocument::parse(one, file + ":" + std::to_string(line + 1));
    if (!document)
      return Result<JsonValue>(document.error());
    array.push_back(document->toJson());
  }
  // One line is a document.
  if (array.size() == 1)
    return std::nullopt;
  return Result<JsonValue>(std::move(array));
}

/// Returns a column's name in lower case with "_" for all but letters and
/// digits: "Mean TPOT (ms)" -> "mean_tpot_ms".
static std::string plainName(const std::string &column) {
  std::string name;
  for (char letter : lower(column)) {
    bool isPlain =
        (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
    if (isPlain)
      name += letter;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  return name;
}

static JsonValue rowsOf(const DataTable &table) {
  JsonValue rows = JsonValue::array();
  for (const DataTable::Row &row : table.rows()) {
    JsonValue &one = rows.emplace_back(JsonValue::object());
    for (const std::string &column : table.columns())
      if (std::string_view cell = table.cell(row, column); !cell.empty())
        one.emplace(plainName(column), std::string(cell));
  }
  return rows;
}

/// Returns a file as JSON.
static Result<JsonValue> jsonOf(const std::string &text,
                                const std::string &file) {
  if (startsWith(text, '{', '[')) {
    if (startsWith(text, '{', '{'))
      if (auto lines = readLines(text, file))
        return *lines;
    Result<JsonDocument> document = JsonDocument::parse(text, file);
    if (!document)
      return document.error();
    return document->toJson();
  }
  launch::ReadOptions options;
  options.logForms = "measurements/text";
  Result<launch::LogReading> printed = launch::readLog({}, text, file, options);
  if (printed)
    return printed->values;
  std::string head = text.substr(0, text.find('\n'));
  if (head.find_first_of(",\t;") == std::string::npos)
    return printed.error();
  Result<DataTable> table = parseCsvTable(text, file);
  if (!table)
    return table.error();
  return rowsOf(*table);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Returns the runs that a form finds in a file, with their pointers: the root,
/// or the elements of the array at `pointer`; "/*" has those of all arrays in
/// the root.
static std::vector<std::pair<std::string, const JsonValue *>>
runsIn(const JsonValue &root, const std::string &pointer) {
  std::vector<std::pair<std::string, const JsonValue *>> runs;
  if (pointer == "/*" && root.is_object())
    for (auto it = root.begin(); it != root.end(); ++it)
      for (size_t i = 0; it->is_array() && i < it->size(); ++i)
        runs.emplace_back("/" + it.key() + "/" + std::to_string(i), &(*it)[i]);
  const JsonValue *found = valueAt(root, root, pointer);
  if (found && found->is_object() && pointer.empty())
    runs.emplace_back("", found);
  if (found && found->is_array())
    for (size_t i = 0; i < found->size(); ++i)
      runs.emplace_back(pointer + "/" + std::to_string(i), &(*found)[i]);
  return runs;
}

Result<MeasuredFile> MeasurementForms::read(const std::string &text,
                                            const std::string &file) const {
  Result<JsonValue> root = jsonOf(text, file);
  if (!root)
    return root.error();
  /// Runs by which a form is recognised.
  constexpr size_t looked = 16;
  const Form *best = nullptr;
  size_t most = 0;
  for (const Form &form : forms) {
    auto runs = runsIn(*root, form.runs);
    // Records may lack what others have.
    size_t pointers = 0;
    for (size_t i = 0; i < std::min(runs.size(), looked); ++i)
      pointers = std::max(pointers, form.fits(*root, *runs[i].second));
    if (pointers > most) {
      most = pointers;
      best = &form;
    }
  }
  if (!best)
    return Error{file, "is no result of a benchmark that is known",
                 "forms that are known: runtimes/measurements; a table needs a "
                 "column tpot_ms or ttft_ms"};
  MeasuredFile read{file, best->name, best->title, best->kind, {}};
  for (const auto &[pointer, value] : runsIn(*root, best->runs)) {
    Result<MeasuredRun> run = best->read(
        *root, *value, pointer.empty() ? file : file + ": " + pointer);
    if (!run)
      return run.error();
    read.runs.push_back(std::move(*run));
  }
  return read;
}

std::string
calibration::measurementsText(const std::vector<MeasuredFile> &files) {
  constexpr size_t shown = 3;
  std::string text;
  for (const MeasuredFile &file : files) {
    text += file.file + ": " + file.title + ", " +
            countOf(file.runs.size(), "run") + "\n";
    for (size_t i = 0; i < std::min(file.runs.size(), shown); ++i) {
      const MeasuredRun &run = file.runs[i];
      for (const auto &[name, value] : run.texts)
        text += "  " + name + " " + shorten(value) + "\n";
      for (const ReadNumber &number : run.numbers)
        text +=
            "  " + number.name + " " + formatNumber(number.value) +
            (number.unit.empty() || number.unit == "1" ? ""
                                                       : " " + number.unit) +
            "  (" + number.from + ")\n";
      if (i + 1 < file.runs.size())
        text += i + 1 < shown ? "\n" : "  ...\n";
    }
  }
  return text;
}

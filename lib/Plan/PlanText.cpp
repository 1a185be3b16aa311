//===- PlanText.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/PlanText.h"

#include "autopar/Plan/Degrees.h"
#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Plan/PlanKnobs.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;

namespace {

/// A member of `Degrees` and its name.
struct NamedDegree {
  const char *name;
  std::optional<int64_t> Degrees::*member;
};
constexpr NamedDegree degreeNames[] = {{"tp", &Degrees::tp},
                                       {"cp", &Degrees::cp},
                                       {"dp", &Degrees::dp},
                                       {"ep", &Degrees::ep},
                                       {"etp", &Degrees::etp},
                                       {"dcp", &Degrees::dcp},
                                       {"attention-tp", &Degrees::attentionTp},
                                       {"fsdp", &Degrees::fsdp}};

/// Returns the word that stands for a knob in a plan's text: "sp" for the flag
/// "shard-sp".
std::string wordOf(const PlanKnob &knob) {
  std::string flag = knob.flag;
  return flag.compare(0, 6, "shard-") == 0 ? flag.substr(6) : flag;
}

std::vector<std::string> knownWords() {
  std::vector<std::string> words = {"pp"};
  for (const NamedDegree &degree : degreeNames)
    words.emplace_back(degree.name);
  for (const PlanKnob &knob : planKnobs())
    if (knob.flag && knob.flag != nameOf(Degree::fsdp))
      words.push_back(wordOf(knob));
  return words;
}

/// A word of a plan's text, split into name and value.
struct Word {
  size_t position = 0;
  std::string name, value;
  bool hasEquals = false;
};

class PlanParser {
public:
  explicit PlanParser(std::string_view text) : text(text) {}
  Result<Plan> run();

private:
  void cut();
  std::optional<Error> add(const Word &word);
  std::optional<Error> addDegree(const Word &word,
                                 std::optional<int64_t> &degree);
  std::optional<Error> addKnob(const Word &word);
  Error fail(const Word &word, std::string message, std::string note = "") {
    return {"plan '" + shorten(text) + "', character " +
                std::to_string(word.position + 1),
            std::move(message), std::move(note)};
  }

  std::string_view text;
  std::vector<Word> words;
  std::vector<std::string> seen;
  Degrees degrees;
  std::optional<int64_t> stages;
  Plan plan;
};

/// Returns whether the word switches something on or off: "fsdp" without a
/// number means all replicas.
bool isSwitch(const Word &word) {
  return word.name == nameOf(Degree::fsdp) &&
         (word.value.empty() || word.value == "true" || word.value == "false" ||
          word.value == "0" || word.value == "1");
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Splits a word such as "tp8", "tp=8" or "kv-dtype=fp8" into name and value.
Word cutWord(std::string_view word, size_t position) {
  size_t equals = word.find('=');
  if (equals != std::string_view::npos)
    return {position, std::string(word.substr(0, equals)),
            std::string(word.substr(equals + 1)), true};
  size_t digits = word.find_last_not_of("0123456789?") + 1;
  return {position, std::string(word.substr(0, digits)),
          std::string(word.substr(digits)), false};
}

void PlanParser::cut() {
  constexpr const char *separators = ", \t";
  size_t at = text.find_first_not_of(separators);
  while (at != std::string_view::npos) {
    size_t end = std::min(text.find_first_of(separators, at), text.size());
    std::string_view word = text.substr(at, end - at);
    // A list such as "stages=0-3,4-7,head" is one word.
    bool goesOn = isDigit(word[0]) || word == rangeText({1, 1});
    if (goesOn && !words.empty() && words.back().hasEquals)
      words.back().value += "," + std::string(word);
    else
      words.push_back(cutWord(word, at));
    std::replace(words.back().name.begin(), words.back().name.end(), '_', '-');
    at = text.find_first_not_of(separators, end);
  }
}

std::optional<Error> PlanParser::addDegree(const Word &word,
                                           std::optional<int64_t> &degree) {
  int64_t size = 0;
  const char *end = word.value.data() + word.value.size();
  auto [read, error] = std::from_chars(word.value.data(), end, size);
  bool isSize = error == std::errc() && read == end && size >= 1 &&
                size <= limits::maxDevices;
  if (word.value != "?" && !isSize)
    return fail(word,
                "expected a number of devices behind '" + word.name +
                    "', from 1 to " + std::to_string(limits::maxDevices) +
                    ", found '" + shorten(word.value) + "'",
                "for example " + word.name + "8");
  degree = isSize ? size : openDegree;
  return std::nullopt;
}

std::optional<Error> PlanParser::addKnob(const Word &word) {
  for (const PlanKnob &knob : planKnobs()) {
    bool isKnob = knob.flag && (wordOf(knob) == word.name ||
                                (knob.alias && knob.alias == word.name));
    if (!isKnob)
      continue;
    bool alone = std::string_view(knob.value) == "true";
    if (word.value.empty() && !alone)
      return fail(word, "'" + word.name + "' needs a value",
                  "as in " + word.name + "=" + knob.value);
    if (std::optional<std::string> expected = knob.set(plan, word.value))
      return fail(word, word.name + "=" + shorten(word.value) + ": expected " +
                            *expected);
    return std::nullopt;
  }
  std::vector<std::string> known = knownWords();
  return fail(word,
              "unknown word '" + shorten(word.name + word.value) + "'" +
                  didYouMean(word.name, known, "'"),
              "a plan is words as in 'tp8,pp2,sp': " + join(known, ", "));
}

std::optional<Error> PlanParser::add(const Word &word) {
  if (std::count(seen.begin(), seen.end(), word.name))
    return fail(word, "'" + word.name + "' is given twice",
                "between plans stands a semicolon, as in 'tp8; tp4,pp2'");
  seen.push_back(word.name);
  if (word.name == "pp")
    return addDegree(word, stages);
  for (const NamedDegree &degree : degreeNames)
    if (word.name == degree.name && !isSwitch(word))
      return addDegree(word, degrees.*degree.member);
  return addKnob(word);
}

Result<Plan> PlanParser::run() {
  cut();
  if (words.empty())
    return Error{"", "a plan has no words", "for example 'tp8,sp'"};
  for (const Word &word : words)
    if (std::optional<Error> error = add(word))
      return *error;
  if (stages)
    plan.setAxis(Degree::pp, *stages == openDegree ? std::nullopt : stages);
  bool hasDegrees =
      std::any_of(std::begin(degreeNames), std::end(degreeNames),
                  [&](const NamedDegree &one) { return degrees.*one.member; });
  if (!hasDegrees)
    return plan;
  fillExpertTensor(degrees);
  Result<MeshPlan> mesh = planCanonicalMesh(degrees);
  if (!mesh)
    return mesh.error();
  setMesh(plan, *mesh);
  if (std::optional<Error> error = completeDegrees(plan))
    return *error;
  splitAsAsked(plan);
  return plan;
}

std::string sizeText(int64_t size) {
  return size == openDegree ? "?" : std::to_string(size);
}

} // namespace

Result<Plan> autopar::plan::parsePlanText(std::string_view text) {
  return PlanParser(text).run();
}

/// Returns `plan` without neutral degrees and axes, so that equivalent plans
/// are spelled alike.
static Plan withoutNeutral(Plan plan) {
  dropNeutralDegrees(plan);
  dropNeutralAxes(plan);
  return plan;
}

std::optional<std::string> autopar::plan::planText(const Plan &plan) {
  std::vector<std::string> words;
  Degrees degrees = degreesOf(plan), filled = degrees;
  fillExpertTensor(filled);
  // An omitted etp would get its default value, so that a different etp must be
  // written.
  if (filled.etp && !degrees.etp)
    degrees.etp = 1;
  if (plan.has(Degree::pp))
    words.push_back("pp" +
                    sizeText(plan.sizeOf(Degree::pp).value_or(openDegree)));
  for (const NamedDegree &degree : degreeNames)
    if (std::optional<int64_t> size = degrees.*degree.member)
      words.push_back(degree.name + sizeText(*size));
  for (const PlanKnob &knob : planKnobs()) {
    std::optional<std::string> value = textOf(knob, plan);
    // A flag is left out if the degree of the same name implies it.
    if (!value || !knob.flag ||
        (degrees.fsdp && knob.flag == nameOf(Degree::fsdp)))
      continue;
    words.push_back(wordOf(knob) + (*value == "true" ? "" : "=" + *value));
  }
  std::string text = join(words, ",");
  Result<Plan> read = parsePlanText(text);
  if (!read ||
      writePlan(withoutNeutral(*read)) != writePlan(withoutNeutral(plan)))
    return std::nullopt;
  return text;
}

static bool isPlanFile(const std::string &text) {
  return text == "-" || isPath(text) || fileExists(text);
}

Result<Plan> autopar::plan::loadPlan(const std::string &fileOrText) {
  if (!fileOrText.empty() && fileOrText.front() == '{') {
    Result<JsonDocument> document = JsonDocument::parse(fileOrText, "plan");
    return document ? readPlan(*document) : document.error();
  }
  if (!isPlanFile(fileOrText))
    return parsePlanText(fileOrText);
  Result<JsonDocument> document = JsonDocument::readFile(fileOrText);
  return document ? readPlan(*document) : document.error();
}

std::vector<std::string> autopar::plan::splitPlans(std::string_view text) {
  std::vector<std::string> plans = wordsOf(text, ";"),
                           files = wordsOf(text, ",");
  if (plans.size() == 1 && std::all_of(files.begin(), files.end(), isPlanFile))
    return files;
  for (std::string &plan : plans) {
    plan.erase(plan.find_last_not_of(" \t") + 1);
    plan.erase(0, plan.find_first_not_of(" \t"));
  }
  plans.erase(std::remove(plans.begin(), plans.end(), ""), plans.end());
  return plans;
}

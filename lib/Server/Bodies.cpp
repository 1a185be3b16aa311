//===- Bodies.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bodies.h"

#include "autopar/Session/SearchChoices.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::hub;
using namespace autopar::importer;
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::session;
using namespace autopar::server;

//===----------------------------------------------------------------------===//
// Reading models from bodies
//===----------------------------------------------------------------------===//

static std::optional<std::string> whyNoName(const std::string &name,
                                            std::string &note) {
  std::vector<std::string> models = bundledModels();
  std::string base = name.substr(0, name.find(':'));
  if (llvm::is_contained(models, base))
    return std::nullopt;
  if (base.find('/') != base.npos) {
    note = "give the text of its config.json as \"config\"";
    return "\"" + shorten(name) +
           "\" is no bundled model, and a server fetches none";
  }
  note = "GET /models has all of them";
  return "unknown model \"" + shorten(name) + "\"" + didYouMean(base, models);
}

Result<ModelRequest> autopar::server::readModel(Session &session,
                                                const JsonReader &body) {
  int count = body.has("model") + body.has("config") + body.has("module");
  if (count != 1)
    body.fail("expected one of \"model\", \"config\" and \"module\", found " +
              std::to_string(count));
  ModelRequest request;
  request.hub.offline = true;
  request.weightFormat = body.optionalString("weight_format").value_or("");
  if (body.has("model")) {
    request.argument = body.string("model");
    std::string note;
    if (!body.failed())
      if (auto why = whyNoName(request.argument, note))
        body.failAt("model", *why, note);
  } else if (body.has("config")) {
    request.argument = "config";
    request.config = body.object("config").toJson().dump();
  } else {
    request.argument = "module";
    std::string text = body.string("module");
    if (!body.failed())
      if (std::optional<Error> error = session.addModel("module", text))
        return *error;
  }
  if (body.failed())
    return body.takeError();
  return request;
}

//===----------------------------------------------------------------------===//
// Reading flags from bodies
//===----------------------------------------------------------------------===//

bool autopar::server::isOfFiles(const std::string &flag) {
  static constexpr std::string_view files[] = {
      "estimate", "explain",       "impact",      "verbose",         "brief",
      "trace",    "report-output", "requests",    "requests-output", "simulate",
      "seed",     "diff-plans",    "expert-trace"};
  return llvm::is_contained(files, flag);
}

bool autopar::server::isOfPlans(const std::string &flag) {
  return !isOfFiles(flag);
}

bool autopar::server::isOfSearches(const std::string &flag) {
  return isOfAllPlans(flag) && isOfPlans(flag);
}

/// Returns whether the text of this flag may be a path.
static bool mayBePath(const std::string &flag) {
  static constexpr std::string_view names[] = {"hardware", "runtime", "plan",
                                               "why", "expert-load"};
  return llvm::is_contained(names, flag);
}

static std::string textOf(const nlohmann::json &value) {
  if (value.is_string())
    return value.get<std::string>();
  if (value.is_number_float())
    return formatNumber(value.get<double>());
  return value.dump();
}

/// Returns the texts of a value, as a command line would have them.
static std::vector<std::string>
textsOf(const JsonReader &value, const std::string &name, bool mayBeList) {
  if (value.isString() || value.isNumber() || value.isBoolean())
    return {textOf(value.toJson())};
  std::vector<std::string> texts;
  if (value.isArray() && (mayBeList || name == "set"))
    for (const JsonReader &element : value.elements()) {
      if (!element.isString() && !element.isNumber())
        element.fail("expected a text or a number");
      texts.push_back(textOf(element.toJson()));
    }
  else
    value.fail(mayBeList || name == "set"
                   ? "expected a text, a number, true, false or a list"
                   : "expected a text, a number, true or false");
  if (name == "set" || texts.empty())
    return texts;
  return {join(texts, name == "hardware" ? "," : "|")};
}

static void refuseName(const JsonReader &value, const std::string &name,
                       const std::vector<std::string> &known, bool isFlag) {
  if (isFlag) {
    value.fail("is no flag here: it is about files, about text, or about "
               "other questions");
    return;
  }
  value.fail("unknown flag \"" + shorten(name) + "\"" +
             didYouMean(name, known));
}

Result<GivenFlags> autopar::server::readFlagObject(const JsonReader &body,
                                                   std::string_view key,
                                                   const PlanFlags &flags,
                                                   const FlagNames &names) {
  GivenFlags given;
  given.values.resize(flags.all().size());
  given.pointer = body.pointer() + "/" + std::string(key);
  std::map<std::string, size_t> numbers;
  std::vector<std::string> known(names.others.begin(), names.others.end());
  for (size_t i = 0; i < flags.all().size(); ++i) {
    const std::string &name = flags.all()[i].name;
    bool isKnown = names.hasFlag ? names.hasFlag(name) : isOfPlans(name);
    if (isKnown)
      known.push_back(name);
    numbers[name] = i;
  }
  if (!body.has(key))
    return given;
  for (const auto &[name, value] : body.object(key).members()) {
    bool isOther = llvm::is_contained(names.others, name);
    if (!llvm::is_contained(known, name)) {
      refuseName(value, name, known, numbers.count(name) != 0);
      break;
    }
    std::vector<std::string> texts = textsOf(value, name, names.haveLists);
    for (const std::string &text : texts)
      if (mayBePath(name) && isPath(text))
        value.fail("is a path, and a server opens none",
                   "give a name, as GET /hardware has them");
    given.order.push_back(name);
    if (isOther)
      given.others[name] = texts.empty() ? "" : texts.front();
    else
      given.values[numbers[name]] = std::move(texts);
  }
  if (body.failed())
    return body.takeError();
  return given;
}

Error autopar::server::atFlag(Error error, const GivenFlags &given) {
  if (!error.where.empty())
    return error;
  error.where = std::string(bodyName) + ": " + given.pointer;
  size_t end = error.message.find_first_of("=:; ");
  if (error.message.compare(0, 2, "--") != 0 || end == error.message.npos)
    return error;
  std::string name = error.message.substr(2, end - 2);
  if (llvm::is_contained(given.order, name))
    error.where += "/" + name;
  return error;
}

Result<PlanRequest> autopar::server::readPlan(const JsonReader &body,
                                              std::string_view key) {
  PlanFlags flags;
  Result<GivenFlags> given = readFlagObject(body, key, flags);
  if (!given)
    return given.error();
  Result<PlanRequest> request = readFlags(given->values);
  if (!request)
    return atFlag(request.error(), *given);
  return request;
}

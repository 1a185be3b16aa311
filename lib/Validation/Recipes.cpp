//===- Recipes.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/Recipes.h"

#include "autopar/Support/Json.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Words.h"

#include <algorithm>
#include <cctype>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::validation;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static RecipeSettings readSettings(const JsonReader &reader) {
  RecipeSettings settings;
  if (std::optional<std::string> text = reader.optionalString("recompute")) {
    Result<Recomputation> parsed = Recomputation::parse(*text);
    if (parsed)
      settings.recomputation = *parsed;
    else
      reader.failAt("recompute", parsed.error().message, parsed.error().note);
  }
  if (reader.has("sends_once"))
    settings.sendsOnce = reader.boolean("sends_once");
  if (reader.has("overlaps_dispatch"))
    settings.overlapsDispatch = reader.boolean("overlaps_dispatch");
  if (reader.has("captures_iteration"))
    settings.capturesIteration = reader.boolean("captures_iteration");
  return settings;
}

static std::string readRelease(const JsonReader &reader, std::string_view key) {
  std::string text = reader.optionalString(key).value_or("");
  if (text != releaseOf(text))
    reader.failAt(key, "expected a release, as in \"26.06\"");
  return text;
}

static Recipe readRecipe(const JsonReader &reader) {
  reader.allowOnly({"models", "chips", "formats", "from", "before", "recompute",
                    "sends_once", "overlaps_dispatch", "captures_iteration",
                    "source"});
  Recipe recipe;
  for (auto [key, texts] :
       {std::pair("models", &recipe.models), std::pair("chips", &recipe.chips),
        std::pair("formats", &recipe.formats)})
    if (reader.has(key))
      *texts = reader.strings(key);
  recipe.from = readRelease(reader, "from");
  recipe.before = readRelease(reader, "before");
  recipe.settings = readSettings(reader);
  reader.string("source");
  return recipe;
}

Result<std::vector<Recipe>>
autopar::validation::readRecipes(const std::string &path) {
  Result<JsonDocument> document = JsonDocument::readFile(path);
  if (!document)
    return document.error();
  JsonReader reader = document->reader();
  reader.allowOnly({"schema", "name", "title", "recipes"});
  checkSchema(reader, "autopar.recipes/1");
  std::vector<Recipe> recipes;
  for (const JsonReader &recipe : reader.array("recipes").elements())
    recipes.push_back(readRecipe(recipe));
  if (reader.failed())
    return reader.takeError();
  return recipes;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

std::string autopar::validation::releaseOf(const std::string &source) {
  constexpr size_t length = 5, dot = 2;
  auto isDigit = [&](size_t i) {
    return i < source.size() &&
           std::isdigit(static_cast<unsigned char>(source[i])) != 0;
  };
  for (size_t i = 0; i + length <= source.size(); ++i) {
    bool isAlone = (i == 0 || !isDigit(i - 1)) && !isDigit(i + length);
    if (isAlone && isDigit(i) && isDigit(i + 1) && source[i + dot] == '.' &&
        isDigit(i + dot + 1) && isDigit(i + dot + 2))
      return source.substr(i, length);
  }
  return "";
}

static std::vector<std::string> wordsOfName(const std::string &name) {
  return wordsOf(lower(name), " -_()/,");
}

/// Whether all words of `some` are among `words`.
static bool areAmong(const std::string &some,
                     const std::vector<std::string> &words) {
  std::vector<std::string> wanted = wordsOfName(some);
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto &word) {
    return std::count(words.begin(), words.end(), word) > 0;
  });
}

static bool isOneOf(const std::vector<std::string> &names,
                    const std::string &text) {
  std::vector<std::string> words = wordsOfName(text);
  return names.empty() ||
         std::any_of(names.begin(), names.end(),
                     [&](const auto &name) { return areAmong(name, words); });
}

static bool holds(const Recipe &recipe, const TrainingRow &row,
                  const std::string &format) {
  std::string release = releaseOf(row.source);
  return isOneOf(recipe.models, row.model) &&
         isOneOf(recipe.chips, row.system) && isOneOf(recipe.formats, format) &&
         release >= recipe.from &&
         (recipe.before.empty() || release < recipe.before);
}

template <typename T>
static void replace(std::optional<T> &old, const std::optional<T> &by) {
  if (by)
    old = by;
}

RecipeSettings
autopar::validation::settingsOf(const std::vector<Recipe> &recipes,
                                const TrainingRow &row,
                                const std::string &format) {
  RecipeSettings all;
  for (const Recipe &recipe : recipes) {
    if (!holds(recipe, row, format))
      continue;
    replace(all.recomputation, recipe.settings.recomputation);
    replace(all.sendsOnce, recipe.settings.sendsOnce);
    replace(all.overlapsDispatch, recipe.settings.overlapsDispatch);
    replace(all.capturesIteration, recipe.settings.capturesIteration);
  }
  return all;
}

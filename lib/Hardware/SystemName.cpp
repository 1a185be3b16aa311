//===- SystemName.cpp - What the name of a machine means ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>

using namespace autopar;

static std::vector<std::string> nameWords(std::string_view name) {
  return wordsOf(lower(name), " -_");
}

std::vector<std::string>
autopar::namesFitting(const std::string &text,
                      const std::vector<std::string> &names) {
  std::vector<std::string> needed = nameWords(text), found;
  if (needed.empty())
    return {};
  for (const std::string &name : names)
    if (hasAll(nameWords(name), needed))
      found.push_back(name);
  return found;
}

/// The aliases of `names.json`.
static Result<Aliases> readAliases(const std::string &file) {
  Result<JsonDocument> document = JsonDocument::readFile(file);
  if (!document)
    return document.error();
  JsonReader reader = document->reader();
  checkSchema(reader, "autopar.names/1");
  JsonReader aliases = reader.object("aliases");
  Aliases all;
  for (const auto &[alias, name] : aliases.members())
    all[alias] = aliases.isNullMember(alias)
                     ? std::nullopt
                     : std::optional<std::string>(name.asString());
  if (reader.failed())
    return reader.takeError();
  return all;
}

/// Which of the `fitting` systems `text` means; "" where nothing decides.
static Result<std::string> choose(const std::string &text,
                                  const std::vector<std::string> &fitting,
                                  const std::string &directory) {
  if (fitting.size() == 1)
    return fitting.front();
  Result<Aliases> aliases = readAliases(directory + "/names.json");
  if (!aliases)
    return aliases.error();
  const Aliases::value_type *alias = findAlias(*aliases, nameWords(text));
  bool isOne = alias && alias->second &&
               std::count(fitting.begin(), fitting.end(), *alias->second);
  return isOne ? *alias->second : std::string();
}

Result<std::optional<TakenName>>
autopar::takeName(const std::string &text, const std::string &directory,
                  const std::vector<std::string> &systems) {
  std::vector<std::string> fitting = namesFitting(text, systems);
  if (fitting.empty())
    return std::optional<TakenName>();
  Result<std::string> chosen = choose(text, fitting, directory);
  if (!chosen)
    return chosen.error();
  if (chosen->empty())
    return Error{"",
                 "\"" + shorten(text) + "\" may be any of " +
                     std::to_string(fitting.size()) +
                     " systems: " + join(fitting, ", "),
                 "give the name of one"};
  fitting.erase(std::find(fitting.begin(), fitting.end(), *chosen));
  return std::optional(TakenName{text, *chosen, std::move(fitting)});
}

std::string TakenName::str() const {
  return "taken for '" + asked + "'" +
         (others.empty()
              ? ""
              : ", which " + join(others, ", ") +
                    (others.size() == 1 ? " fits" : " fit") + " as well");
}

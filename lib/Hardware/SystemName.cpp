//===- SystemName.cpp - Resolves names of machines ------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::hardware;

/// Reads the aliases of `names.json`.
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

/// Removes the number of devices before or after the chip's name: "h100" for
/// "8xh100" and "h100x8".
static std::string withoutCount(const std::string &name) {
  const char *digits = "0123456789";
  size_t first = name.find_first_not_of(digits);
  if (first != std::string::npos && first > 0 && name[first] == 'x')
    return name.substr(first + 1);
  size_t last = name.find_last_not_of(digits);
  if (last != std::string::npos && last > 0 && last + 1 < name.size() &&
      name[last] == 'x')
    return name.substr(0, last);
  return name;
}

Error autopar::hardware::unknownSystem(
    const std::string &text, const std::string &directory,
    const std::vector<std::string> &systems) {
  std::string unknown = "unknown system \"" + shorten(text) + "\"";
  if (text.find('+') != std::string::npos)
    return {"", unknown + ": devices of one plan are of one kind",
            "estimate the stages of each kind of machine apart: memory, step "
            "time and capacity are those of the worse one"};
  std::string name = withoutCount(lower(text));
  Result<Aliases> aliases = readAliases(directory + "/names.json");
  if (!aliases)
    return aliases.error();
  const Aliases::value_type *alias = findAlias(*aliases, nameWords(name));
  std::vector<std::string> meant = alias && alias->second
                                       ? std::vector{*alias->second}
                                       : suggestions(name, systems);
  return {"", unknown + didYouMean(meant),
          "autopar hardware list shows them all; the path of a file of your "
          "own works as well"};
}

/// Returns the system out of `fitting` that `text` means; "" if `text` is
/// ambiguous.
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
autopar::hardware::takeName(const std::string &text,
                            const std::string &directory,
                            const std::vector<std::string> &systems) {
  std::vector<std::string> fitting = namesWithWords(text, systems);
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
  return "for '" + asked + "'" +
         (others.empty() ? "" : " (or: " + join(others, ", ") + ")");
}

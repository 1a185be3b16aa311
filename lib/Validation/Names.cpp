//===- Names.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/Names.h"

#include "NameForms.h"

#include "autopar/Support/Json.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <tuple>

using namespace autopar;
using namespace autopar::validation;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static Result<NameRules> readRules(const JsonDocument &document) {
  JsonReader reader = document.reader();
  reader.allowOnly(
      {"schema", "title", "drop_first", "drop_last", "formats", "aliases"});
  checkSchema(reader, "autopar.names/1");
  NameRules rules;
  if (reader.has("drop_first"))
    rules.dropFirst = reader.strings("drop_first");
  if (reader.has("drop_last"))
    rules.dropLast = reader.strings("drop_last");
  if (reader.has("formats"))
    for (const auto &[word, format] : reader.object("formats").members())
      rules.formats[word] = format.asString();
  for (const auto &[alias, name] : reader.object("aliases").members()) {
    std::optional<std::string> &target = rules.aliases[alias];
    if (!reader.object("aliases").isNullMember(alias))
      target = name.asString();
  }
  if (reader.failed())
    return reader.takeError();
  return rules;
}

Result<NameRules> autopar::validation::readNameRules(const std::string &path) {
  Result<JsonDocument> document = JsonDocument::readFile(path);
  if (!document)
    return document.error();
  return readRules(*document);
}

Result<NameRules> autopar::validation::parseNameRules(std::string_view text,
                                                      const std::string &name) {
  Result<JsonDocument> document = JsonDocument::parse(text, name);
  if (!document)
    return document.error();
  return readRules(*document);
}

/// Nothing found for `text`, a `what`.
static ResolvedName unknown(const std::string &text, std::string_view what,
                            const std::vector<std::string> &names) {
  ResolvedName result;
  result.why = text.empty() ? "no " + std::string(what) + " is stated"
                            : "no " + std::string(what) + " is called \"" +
                                  shorten(text) + "\"";
  if (text.size() <= maxNameLength)
    result.suggestion = nearest(lower(withoutNotes(text)), names);
  return result;
}

static std::string lookAlike(const std::string &text) {
  return "\"" + shorten(text) + "\" is none of those that it looks like";
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// The part behind the organisation.
static std::string lastPart(const std::string &name, std::string_view behind) {
  size_t found = name.rfind(behind);
  return found == std::string::npos ? name : name.substr(found + behind.size());
}

bool ModelNames::Candidate::operator<(const Candidate &other) const {
  return std::tie(cut, isFolder, name) <
         std::tie(other.cut, other.isFolder, other.name);
}

ModelNames::ModelNames(NameRules given, const std::vector<std::string> &bundled,
                       const std::vector<std::string> &folders)
    : rules(std::move(given)) {
  for (const std::string &name : bundled)
    add(name, false);
  for (const std::string &name : folders)
    add(name, true);
  for (const auto &[alias, target] : rules.aliases)
    aliases[fullForm(alias)] = target;
}

void ModelNames::add(const std::string &name, bool isFolder) {
  if (name.size() > maxNameLength)
    return;
  names.push_back(name);
  NameForms cuts = formsOf(lastPart(name, "--"), rules);
  for (size_t cut = 0; cut < cuts.forms.size(); ++cut) {
    Candidate candidate{cut, isFolder, name};
    auto [found, isNew] = forms.emplace(cuts.forms[cut], candidate);
    if (!isNew && candidate < found->second)
      found->second = candidate;
  }
}

std::optional<ModelNames::Candidate>
ModelNames::match(const std::string &text, bool followAliases) const {
  std::string folder = text;
  for (size_t slash; (slash = folder.find('/')) != std::string::npos;)
    folder.replace(slash, 1, "--");
  if (folder != text && std::count(names.begin(), names.end(), folder))
    return Candidate{0, true, folder};

  // An alias that leads nowhere is an answer too: none.
  auto follow = [&](const std::optional<std::string> &target) {
    return target ? match(*target, false) : std::nullopt;
  };
  if (followAliases)
    if (auto alias = aliases.find(fullForm(text)); alias != aliases.end())
      return follow(alias->second);
  NameForms own = formsOf(lastPart(text, "/"), rules);
  std::optional<Candidate> best;
  for (size_t cut = 0; cut < own.forms.size(); ++cut) {
    if (auto found = forms.find(own.forms[cut]); found != forms.end()) {
      Candidate candidate = found->second;
      candidate.cut += cut;
      if (!best || candidate < *best)
        best = candidate;
    }
    auto alias = aliases.find(own.forms[cut]);
    if (followAliases && alias != aliases.end() && (!best || best->cut > cut))
      return follow(alias->second);
  }
  return best;
}

ResolvedName ModelNames::find(const std::string &text) const {
  if (text.size() > maxNameLength)
    return unknown(text, "model", names);
  std::string name = withoutNotes(text);
  NameForms own = formsOf(lastPart(name, "/"), rules);
  ResolvedName result;
  if (std::optional<Candidate> found = match(name, true)) {
    result.name = found->name;
    result.isFolder = found->isFolder;
  } else {
    result = unknown(text, "model", names);
    for (const std::string &form : own.forms)
      if (auto alias = aliases.find(form); alias != aliases.end())
        result.why = alias->second
                         ? "\"" + shorten(text) + "\" is \"" + *alias->second +
                               "\", which has no "
                               "config here"
                         : lookAlike(text);
  }
  result.format = own.format;
  return result;
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

SystemNames::SystemNames(NameRules rules, std::vector<std::string> systems)
    : rules(std::move(rules)), systems(std::move(systems)) {}

/// Words of a machine's name, without "8x " and vendors before it.
static std::vector<std::string> machineWords(std::string name,
                                             const NameRules &rules) {
  size_t digits = name.find_first_not_of("0123456789");
  size_t times = name.find_first_not_of(" \t", digits);
  if (digits != 0 && times != std::string::npos && name[times] == 'x')
    name.erase(0, times + 1);
  std::vector<std::string> words = wordsOf(name, " \t\r\n_/,-()[]");
  const auto &vendors = rules.dropFirst;
  while (!words.empty() &&
         std::count(vendors.begin(), vendors.end(), words.front()))
    words.erase(words.begin());
  return words;
}

/// A note counts if it makes the name more specific: "A100-80GB (Jean Zay)".
static const Aliases::value_type *findMachine(const std::string &text,
                                              const NameRules &rules) {
  auto find = [&](const std::string &name) {
    return findAlias(rules.aliases, machineWords(lower(name), rules));
  };
  const Aliases::value_type *bare = find(withoutNotes(text));
  const Aliases::value_type *noted = find(text);
  bool saysMore = bare && noted &&
                  hasAll(wordsOf(noted->first, " "), wordsOf(bare->first, " "));
  return saysMore ? noted : bare;
}

ResolvedName SystemNames::find(const std::string &text) const {
  if (text.size() > maxNameLength)
    return unknown(text, "system", systems);
  std::string exact = lower(withoutNotes(text));
  std::replace(exact.begin(), exact.end(), '_', '-');
  ResolvedName result;
  if (std::count(systems.begin(), systems.end(), exact)) {
    result.name = exact;
    return result;
  }
  const Aliases::value_type *best = findMachine(text, rules);
  if (best && best->second) {
    result.name = *best->second;
    return result;
  }
  result = unknown(text, "system", systems);
  if (best)
    result.why = lookAlike(text);
  return result;
}

//===----------------------------------------------------------------------===//
// Runtimes
//===----------------------------------------------------------------------===//

/// "0.17" of "TensorRT-LLM 0.17 trtllm-bench": digits, a dot, digits, and on to
/// the next space.
static std::string versionIn(const std::string &text) {
  constexpr std::string_view digits = "0123456789";
  for (size_t at = text.find_first_of(digits); at < text.size();) {
    size_t dot = std::min(text.find_first_not_of(digits, at), text.size());
    if (dot + 1 < text.size() && text[dot] == '.' && text[dot + 1] >= '0' &&
        text[dot + 1] <= '9')
      return text.substr(at, text.find_first_of(" \t", at) - at);
    at = text.find_first_of(digits, dot);
  }
  return "";
}

/// "2025-07" of "vLLM (2025-07)", or "".
static std::string dateIn(std::string_view text) {
  constexpr std::string_view shape = "dddd-dd";
  for (size_t at = 0; at + shape.size() <= text.size(); ++at)
    if (hasShape(text.substr(at, shape.size()), shape))
      return std::string(text.substr(at, shape.size()));
  return "";
}

RuntimeName autopar::validation::resolveRuntime(std::string_view text) {
  static const std::map<std::string, std::string> known = {
      {"atom", "atom"},     {"vllm", "vllm"},          {"sglang", "sglang"},
      {"trtllm", "trtllm"}, {"tensorrtllm", "trtllm"}, {"trt", "trtllm"}};
  std::string bare = withoutNotes(text);
  std::string letters;
  for (char c : lower(bare.substr(0, bare.find_first_of(" \t"))))
    if (c >= 'a' && c <= 'z')
      letters += c;
  auto found = known.find(letters);
  std::string version = versionIn(bare);
  return {found == known.end() ? "" : found->second,
          version.empty() ? dateIn(text) : version};
}

//===- SpaceText.cpp - Spaces in a few words ------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/SearchSpace.h"

#include "autopar/Support/Count.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::search;

//===----------------------------------------------------------------------===//
// Numbers of a space as text
//===----------------------------------------------------------------------===//

bool NumberSet::has(int64_t number) const {
  return ranges.empty() ||
         std::any_of(ranges.begin(), ranges.end(), [&](const Range &range) {
           return range.first <= number && number <= range.last;
         });
}

std::vector<int64_t> NumberSet::divisorsOf(int64_t number) const {
  std::vector<int64_t> divisors;
  auto add = [&](int64_t divisor) {
    if (has(divisor))
      divisors.push_back(divisor);
  };
  for (int64_t i = 1; i * i <= number; ++i)
    if (number % i == 0) {
      add(i);
      if (i != number / i)
        add(number / i);
    }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

std::string NumberSet::str() const {
  std::vector<std::string> words;
  for (const Range &range : ranges)
    words.push_back(
        std::to_string(range.first) +
        (range.first == range.last ? "" : ".." + std::to_string(range.last)));
  return words.empty() ? "any" : join(words, "|");
}

static std::optional<int64_t> parseSize(std::string_view text) {
  std::optional<int64_t> size = parseCount(text);
  return size && *size >= 1 && *size <= limits::maxTokens ? size : std::nullopt;
}

std::optional<NumberSet> NumberSet::parse(std::string_view text) {
  NumberSet set;
  if (text == "any")
    return set;
  for (const std::string &word : wordsOf(text, "|")) {
    size_t dots = word.find("..");
    std::optional<int64_t> first = parseSize(word.substr(0, dots));
    std::optional<int64_t> last =
        dots == word.npos ? first : parseSize(word.substr(dots + 2));
    if (!first || !last || *last < *first)
      return std::nullopt;
    set.ranges.push_back({*first, *last});
  }
  return set.ranges.empty() ? std::nullopt : std::optional(set);
}

NumberSet NumberSet::of(int64_t number) {
  NumberSet set;
  set.ranges.push_back({number, number});
  return set;
}

//===----------------------------------------------------------------------===//
// Words of a space, and its whole text
//===----------------------------------------------------------------------===//

namespace {

/// A word in the text of a space that does not set a size.
struct SpaceWord {
  const char *name, *expected;
  bool (*set)(SearchSpace &space, const std::string &value);
  /// Returns the value of the word as text; "" if the choice is free.
  std::string (*text)(const SearchSpace &space);
};

bool setSwitch(std::vector<bool> &values, const std::string &value) {
  if (value == "any")
    values = {false, true};
  else if (value == "on" || value == "off")
    values = {value == "on"};
  else
    return false;
  return true;
}

std::string switchText(const std::vector<bool> &values) {
  return values.size() > 1 ? "" : values.front() ? "on" : "off";
}

/// Sets `values` to the values that `read` makes of a text such as "a|b", in
/// the order of `all`; "any" sets all of them.
template <typename Value, typename Read>
bool setSome(std::vector<Value> &values, const std::vector<Value> &all,
             const std::string &text, Read read) {
  values = all;
  if (text == "any")
    return true;
  std::vector<Value> some;
  for (const std::string &word : wordsOf(text, "|")) {
    auto value = read(word);
    if (!value || std::find(all.begin(), all.end(), *value) == all.end())
      return false;
    some.push_back(*value);
  }
  values.erase(std::remove_if(values.begin(), values.end(),
                              [&](const Value &value) {
                                return std::find(some.begin(), some.end(),
                                                 value) == some.end();
                              }),
               values.end());
  return !values.empty();
}

/// Returns the names of `values` joined by "|"; "" if all values are allowed.
template <typename Value, typename Name>
std::string someText(const std::vector<Value> &values,
                     const std::vector<Value> &all, Name name) {
  std::vector<std::string> words;
  if (values.size() < all.size())
    for (const Value &value : values)
      words.emplace_back(name(value));
  return join(words, "|");
}

bool setNumbers(NumberSet &numbers, const std::string &value) {
  std::optional<NumberSet> set = NumberSet::parse(value);
  if (set)
    numbers = *set;
  return set.has_value();
}

std::string numbersText(const NumberSet &numbers) {
  std::string text = numbers.str();
  return text == "any" ? "" : text;
}

std::optional<uint32_t> readRecomputation(const std::string &word) {
  Result<Recomputation> read = Recomputation::parse(word);
  const auto &all = searchedRecomputations();
  for (uint32_t i = 0; read && i < all.size(); ++i)
    if (*read == all[i])
      return i;
  return std::nullopt;
}

bool setCopies(std::optional<std::vector<int64_t>> &copies,
               const std::string &text) {
  copies.reset();
  if (text == "any")
    return true;
  std::vector<int64_t> some;
  for (const std::string &word : wordsOf(text, "|")) {
    std::optional<int64_t> count = parseCount(word);
    if (!count || *count < 0 || *count > limits::maxPlacedSlots)
      return false;
    some.push_back(*count);
  }
  std::sort(some.begin(), some.end());
  some.erase(std::unique(some.begin(), some.end()), some.end());
  copies = some;
  return !some.empty();
}

std::string copiesText(const std::optional<std::vector<int64_t>> &copies) {
  std::vector<std::string> words;
  for (int64_t count : copies.value_or(std::vector<int64_t>()))
    words.push_back(std::to_string(count));
  return join(words, "|");
}

const std::vector<ContextKind> everyContextKind = {
    ContextKind::ring, ContextKind::all_to_all, ContextKind::all_gather};

constexpr const char *switchChoices = "on, off or any",
                     *numberChoices = "as in 4, 1..8, 1|4 or any";
constexpr SpaceWord words[] = {
    {"microbatches", numberChoices,
     [](SearchSpace &space, const std::string &value) {
       return setNumbers(space.microbatches, value);
     },
     [](const SearchSpace &space) { return numbersText(space.microbatches); }},
    {"sp", switchChoices,
     [](SearchSpace &space, const std::string &value) {
       return setSwitch(space.sequenceParallel, value);
     },
     [](const SearchSpace &space) {
       return switchText(space.sequenceParallel);
     }},
    {"fsdp", switchChoices,
     [](SearchSpace &space, const std::string &value) {
       return setSwitch(space.fsdp, value);
     },
     [](const SearchSpace &space) { return switchText(space.fsdp); }},
    {"cp_kind", "ring, all_to_all, all_gather or any",
     [](SearchSpace &space, const std::string &value) {
       if (std::optional<ContextKind> kind = parseContextKind(value))
         space.contextKinds = {*kind};
       else if (value == "any")
         space.contextKinds = everyContextKind;
       else
         return false;
       return true;
     },
     [](const SearchSpace &space) {
       return std::string(space.contextKinds.size() > 1
                              ? ""
                              : nameOf(space.contextKinds.front()));
     }},
    {"redundant_experts", "slots of all devices, as in 0|32|64, or any",
     [](SearchSpace &space, const std::string &value) {
       return setCopies(space.redundantExperts, value);
     },
     [](const SearchSpace &space) {
       return copiesText(space.redundantExperts);
     }},
    {"order", "default or all",
     [](SearchSpace &space, const std::string &value) {
       space.allOrders = value == "all";
       return value == "all" || value == "default";
     },
     [](const SearchSpace &space) {
       return std::string(space.allOrders ? "all" : "");
     }}};

/// The words that only spaces of training have.
constexpr SpaceWord trainingWords[] = {
    {"micro_batch", numberChoices,
     [](SearchSpace &space, const std::string &value) {
       return setNumbers(space.microBatch, value);
     },
     [](const SearchSpace &space) { return numbersText(space.microBatch); }},
    {"interleave", numberChoices,
     [](SearchSpace &space, const std::string &value) {
       return setNumbers(space.interleave, value);
     },
     [](const SearchSpace &space) { return numbersText(space.interleave); }},
    {"schedule",
     "one_f_one_b, interleaved, gpipe, zero_bubble, some with | or "
     "any",
     [](SearchSpace &space, const std::string &value) {
       return setSome(space.schedules, SearchSpace().schedules, value,
                      parseScheduleKind);
     },
     [](const SearchSpace &space) {
       return someText(space.schedules, SearchSpace().schedules,
                       [](ScheduleKind kind) { return nameOf(kind); });
     }},
    {"recompute", "none, selective, full, some with | or any",
     [](SearchSpace &space, const std::string &value) {
       return setSome(space.recompute, SearchSpace().recompute, value,
                      readRecomputation);
     },
     [](const SearchSpace &space) {
       return someText(space.recompute, SearchSpace().recompute,
                       [](uint32_t one) {
                         return one == 1 ? std::string("selective")
                                         : searchedRecomputations()[one].str();
                       });
     }},
    {"zero", "0, 1, 2, some with | or any",
     [](SearchSpace &space, const std::string &value) {
       return setSome(space.zero, SearchSpace().zero, value, parseCount);
     },
     [](const SearchSpace &space) {
       return someText(space.zero, SearchSpace().zero,
                       [](int64_t zero) { return std::to_string(zero); });
     }}};

std::vector<std::string> knownWords() {
  std::vector<std::string> known;
  for (Knob knob : allKnobs)
    known.emplace_back(nameOf(knob));
  for (const SpaceWord &word : words)
    known.emplace_back(word.name);
  for (const SpaceWord &word : trainingWords)
    known.emplace_back(word.name);
  return known;
}

const SpaceWord *findWord(const std::string &name) {
  for (const SpaceWord &word : words)
    if (name == word.name)
      return &word;
  for (const SpaceWord &word : trainingWords)
    if (name == word.name)
      return &word;
  return nullptr;
}

std::optional<Error> setWord(SearchSpace &space, const std::string &name,
                             const std::string &value) {
  auto expect = [&](const std::string &expected) {
    return Error{"",
                 "--space: " + name + "=" + shorten(value) + ": expected " +
                     expected,
                 ""};
  };
  for (Knob knob : allKnobs)
    if (name == nameOf(knob)) {
      std::optional<NumberSet> set = NumberSet::parse(value);
      if (!set)
        return expect("numbers, as in 8, 1..8, 1|2|4 or any");
      space.sizes[static_cast<size_t>(knob)] = *set;
      return std::nullopt;
    }
  if (const SpaceWord *word = findWord(name)) {
    if (word->set(space, value))
      return std::nullopt;
    return expect(word->expected);
  }
  return Error{"",
               "--space: unknown word '" + shorten(name) + "'" +
                   didYouMean(name, knownWords(), "'"),
               "words are " + join(knownWords(), ", ")};
}

} // namespace

Result<SearchSpace> autopar::search::parseSearchSpace(std::string_view text) {
  SearchSpace space;
  std::vector<std::string> seen;
  for (const std::string &word : wordsOf(text, ", \t")) {
    size_t equals = word.find('=');
    if (equals == word.npos)
      return Error{"", "--space: '" + shorten(word) + "' has no value",
                   "as in tp=1..8,pp=1,order=all"};
    std::string name = word.substr(0, equals);
    std::replace(name.begin(), name.end(), '-', '_');
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return Error{"", "--space: '" + name + "' is given twice",
                   "several values are one word: " + name + "=1|2|4"};
    seen.push_back(name);
    if (std::optional<Error> error =
            setWord(space, name, word.substr(equals + 1)))
      return *error;
  }
  return space;
}

std::string autopar::search::spaceText(const SearchSpace &space) {
  std::vector<std::string> said;
  for (Knob knob : allKnobs)
    if (std::string text = space[knob].str(); text != "any")
      said.push_back(std::string(nameOf(knob)) + "=" + text);
  auto say = [&](const SpaceWord &word) {
    if (std::string text = word.text(space); !text.empty())
      said.push_back(std::string(word.name) + "=" + text);
  };
  for (const SpaceWord &word : words)
    say(word);
  for (const SpaceWord &word : trainingWords)
    say(word);
  return join(said, ",");
}

static Error refuseWord(std::string_view word, const char *why,
                        const char *note) {
  return {"", "--space: " + std::string(word) + " " + why, note};
}

/// Removes the kinds of context parallelism that the workload cannot use.
/// Training uses all_gather unless the space names other kinds.
static std::optional<Error> setContextKinds(SearchSpace &space, bool trains) {
  std::vector<ContextKind> &kinds = space.contextKinds;
  if (trains && kinds == SearchSpace().contextKinds)
    kinds = {ContextKind::all_gather};
  if (trains)
    return std::nullopt;
  if (kinds == std::vector{ContextKind::all_gather})
    return refuseWord("cp_kind", "all_gather is for steps without a cache",
                      "give ring or all_to_all, or add --phase=train");
  kinds.erase(std::remove(kinds.begin(), kinds.end(), ContextKind::all_gather),
              kinds.end());
  return std::nullopt;
}

std::optional<Error> autopar::search::setTrains(SearchSpace &space,
                                                bool trains) {
  space.trains = trains;
  if (!trains) {
    if (space[Knob::shard_fsdp].str() != "any")
      return refuseWord(nameOf(Knob::shard_fsdp), "is for training",
                        "add --phase=train");
    for (const SpaceWord &word : trainingWords)
      if (!word.text(space).empty())
        return refuseWord(word.name, "is for training", "add --phase=train");
    return setContextKinds(space, trains);
  }
  for (Knob knob : {Knob::attention_tp, Knob::dcp})
    if (space[knob].str() != "any")
      return refuseWord(nameOf(knob), "is for inference",
                        "leave it out of a search for training");
  return setContextKinds(space, trains);
}

std::string autopar::search::spaceHelp() {
  return "words (" + join(knownWords(), ", ") +
         "): sizes as 8, 1..8, 1|2|4 or any; sp and fsdp on, off or any; "
         "cp_kind ring, all_to_all, all_gather or any; order default or all; "
         "redundant_experts, "
         "with --expert-load, slots as in 0|32|64 or any; of training "
         "recompute none, selective or full, zero 0, 1 or 2, and schedule";
}

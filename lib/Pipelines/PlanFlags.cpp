//===- PlanFlags.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/PlanFlags.h"

#include "autopar/Pipelines/Pipelines.h"
#include "autopar/Plan/PlanKnobs.h"
#include "autopar/Support/Count.h"
#include "autopar/Support/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

using namespace autopar;
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::schedule;
using namespace llvm;

/// The headings of help, each with those of its flags that are no knobs of a
/// plan. The knobs follow, in the order of `planKnobs`. `*` stands for the
/// flags of `requestKnobs`.
static constexpr std::pair<StringRef, StringRef> helpGroups[] = {
    {"Most used", "shard-tp hardware phase"},
    {"What to run", "batch prompt context encoder-tokens cross-tokens"},
    {"What to serve",
     "rate concurrency output-tokens * sla requests simulate seed "
     "requests-output"},
    {"How to split", "shard-dp shard-fsdp shard-cp shard-dcp "
                     "shard-attention-tp mesh map plan diff-plans"},
    {"Experts", "shard-ep shard-etp"},
    {"Pipeline", "stage-pp trace"},
    {"Training", ""},
    {"Formats", ""},
    {"Machine and runtime", "nodes price runtime set"},
    {"Report", "estimate brief explain impact verbose report-output"}};

/// Returns the value that a flag gets if it is given without one; "" if it
/// needs a value.
static StringRef bareOf(const cl::Option &option) {
  if (option.ArgStr == "estimate")
    return "text";
  if (option.ArgStr == "simulate")
    return "10000";
  return option.ValueStr == "true" ? "true" : "";
}

PlanFlags::PlanFlags() : plan(std::make_unique<PlanOptions>()) {
  auto options = plan->byName();
  flags.reserve(options.size());
  auto add = [&](StringRef group, StringRef name) {
    if (const cl::Option *option = options.lookup(name))
      flags.push_back({name.str(), option->HelpStr.str(),
                       option->ValueStr.str(), bareOf(*option).str(),
                       group.str()});
    options.erase(name);
  };
  for (auto [group, names] : helpGroups) {
    for (StringRef name : split(names, ' ')) {
      if (name != "*")
        add(group, name);
      else
        for (const program::RequestKnob &knob : program::requestKnobs())
          add(group, knob.flag);
    }
    for (const PlanKnob &knob : planKnobs())
      for (const char *name : {knob.flag, knob.alias})
        if (name && group == knob.group)
          add(group, name);
  }
  SmallVector<StringRef> others =
      llvm::to_vector(llvm::make_first_range(options));
  llvm::sort(others);
  for (StringRef name : others)
    add("Other", name);
}

PlanFlags::~PlanFlags() = default;

std::optional<autopar::Error> PlanFlags::setAll(const PlanValues &values,
                                                const char *tool) {
  // Registers the tool's name for errors about values.
  cl::ParseCommandLineOptions(1, &tool);
  for (auto [flag, given] : zip_equal(flags, values))
    for (const std::string &value : given)
      if (std::optional<autopar::Error> error = set(flag, value))
        return error;
  return std::nullopt;
}

/// Normalises the value `text` of the option `name`: a count is written in
/// digits.
static Result<std::string> readCount(const PlanOptions &options, StringRef name,
                                     const std::string &text) {
  for (const PlanOptions::Count &count : options.counts()) {
    if (count.option->getArgStr() != name)
      continue;
    std::optional<int64_t> value = parseCount(text);
    if (value && count.has(*value))
      return std::to_string(*value);
    return autopar::Error{"", count.refusal(shorten(text)), ""};
  }
  return text;
}

static bool isTruth(StringRef text) {
  return is_contained({"true", "false", "1", "0"}, text);
}

std::optional<autopar::Error> PlanFlags::set(const PlanFlag &flag,
                                             const std::string &text) {
  const std::string &given = text.empty() ? flag.bare : text;
  if (given.empty())
    return autopar::Error{"", "--" + flag.name + "= is empty", ""};
  if (flag.bare == "true" && !isTruth(given))
    return autopar::Error{"",
                          "--" + flag.name + "=" + shorten(given) +
                              ": expected true or false",
                          ""};
  Result<std::string> value = readCount(*plan, flag.name, given);
  if (!value)
    return value.error();
  for (const auto &[name, option] : plan->byName())
    if (name == flag.name)
      return option->addOccurrence(0, option->ArgStr, *value)
                 ? std::optional(autopar::Error())
                 : std::nullopt;
  llvm_unreachable("a flag of other options");
}

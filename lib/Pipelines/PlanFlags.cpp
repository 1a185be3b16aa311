//===- PlanFlags.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/PlanFlags.h"

#include "autopar/Pipelines/Pipelines.h"

#include "llvm/ADT/StringSwitch.h"

using namespace autopar;
using namespace llvm;

/// How values of an option are written in help text.
static StringRef valueOf(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Case("diff-plans", "file,file")
      .Case("estimate", "text|json")
      .Cases({"dispatch-by-node", "explain", "expert-groups-in-node", "fsdp",
              "impact", "shard-sp"},
             "true")
      .Case("expert-load", "file|zipf:1.0|...")
      .Case("place-experts", "block|round_robin|balanced")
      .Case("cp-kind", "ring|all-to-all")
      .Case("hardware", "name|path")
      .Case("runtime", "name[@version]")
      .Case("phase", "prefill|decode")
      .Case("map", "axis,...")
      .Case("mesh", "axis=N,...")
      .Case("set", "path=value")
      .Case("stages", "first-last,...")
      .Case("schedule", "kind")
      .Cases({"expert-trace", "plan", "report-output", "trace"}, "file")
      .Cases({"dispatch-dtype", "dtype", "kv-dtype"}, "format")
      .Case("memory-utilization", "share")
      .Default("N");
}

static StringRef bareOf(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Case("estimate", "text")
      .Cases({"dispatch-by-node", "explain", "expert-groups-in-node", "fsdp",
              "impact", "shard-sp"},
             "true")
      .Default("");
}

PlanFlags::PlanFlags() : plan(std::make_unique<PlanOptions>()) {
  for (const auto &[name, option] : plan->byName())
    flags.push_back({option->ArgStr.str(), option->HelpStr.str(),
                     valueOf(name).str(), bareOf(name).str()});
  llvm::sort(flags, [](const PlanFlag &a, const PlanFlag &b) {
    return a.name < b.name;
  });
}

PlanFlags::~PlanFlags() = default;

bool PlanFlags::set(const PlanFlag &flag, const std::string &text) {
  const std::string &value = text.empty() ? flag.bare : text;
  if (value.empty()) {
    errs() << "error: --" << flag.name << "= is empty\n";
    return false;
  }
  for (const auto &[name, option] : plan->byName())
    if (name == flag.name)
      return !option->addOccurrence(0, option->ArgStr, value);
  llvm_unreachable("a flag of other options");
}

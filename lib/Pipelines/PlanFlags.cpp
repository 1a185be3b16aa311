//===- PlanFlags.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/PlanFlags.h"

#include "autopar/Pipelines/Pipelines.h"

#include "llvm/Support/CommandLine.h"

using namespace autopar;
using namespace llvm;

/// What a flag says alone; "" of one that needs a value.
static StringRef bareOf(const cl::Option &option) {
  if (option.ArgStr == "estimate")
    return "text";
  return option.ValueStr == "true" ? "true" : "";
}

PlanFlags::PlanFlags() : plan(std::make_unique<PlanOptions>()) {
  for (const auto &[name, option] : plan->byName())
    flags.push_back({option->ArgStr.str(), option->HelpStr.str(),
                     option->ValueStr.str(), bareOf(*option).str()});
  llvm::sort(flags, [](const PlanFlag &a, const PlanFlag &b) {
    return a.name < b.name;
  });
}

PlanFlags::~PlanFlags() = default;

bool PlanFlags::setAll(const PlanValues &values, const char *tool) {
  // Names the tool in errors of values.
  cl::ParseCommandLineOptions(1, &tool);
  for (auto [flag, given] : zip_equal(flags, values))
    for (const std::string &value : given)
      if (!set(flag, value))
        return false;
  return true;
}

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

//===- ProductFlags.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductFlags.h"

#include "autopar/Support/SourceText.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"

using namespace autopar;
using namespace mlir;
namespace cl = llvm::cl;

namespace {

/// Stands for one option of the plan on the command line.
struct Flag {
  cl::Option *target;
  std::unique_ptr<cl::list<std::string>> flag;
};

} // namespace

/// How values of an option are written in help text.
static StringRef valueOf(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("estimate", "text|json")
      .Case("explain", "true")
      .Case("hardware", "name|path")
      .Case("runtime", "name|path")
      .Case("phase", "prefill|decode")
      .Case("mesh", "axis=N,...")
      .Case("set", "path=value")
      .Cases({"plan", "report-output"}, "file")
      .Cases({"dtype", "kv-dtype"}, "format")
      .Case("memory-utilization", "share")
      .Default("N");
}

struct ProductFlags::Flags {
  cl::OptionCategory category{"autopar options"};
  PlanOptions options;
  SmallVector<Flag, 0> flags;
  cl::opt<bool> trustBytecode{
      "trust-bytecode", cl::cat(category),
      cl::desc("Read MLIR bytecode, whose reader is not hardened against "
               "hostile files")};
};

ProductFlags::ProductFlags() : flags(std::make_unique<Flags>()) {
  for (const auto &[name, option] : flags->options.byName()) {
    bool bare = name == "estimate" || name == "explain";
    auto flag = std::make_unique<cl::list<std::string>>(
        option->ArgStr, cl::desc(option->HelpStr), cl::cat(flags->category),
        cl::value_desc(valueOf(name)),
        bare ? cl::ValueOptional : cl::ValueRequired);
    flags->flags.push_back({option, std::move(flag)});
  }
}

ProductFlags::~ProductFlags() = default;

void ProductFlags::hideOthers() const {
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (option->Categories.front() != &flags->category && name != "help" &&
        name != "o" && name != "pass-pipeline")
      option->setHiddenFlag(option->getOptionHiddenFlag() == cl::ReallyHidden
                                ? cl::ReallyHidden
                                : cl::Hidden);
}

StringRef ProductFlags::overview() {
  return "Shards a model over machines and says what it costs.\n\n"
         "  autopar-translate --import-hf models/llama-3.3-70b -o model.mlir\n"
         "  autopar-opt --shard-tp=8 --estimate model.mlir\n"
         "  autopar-opt --shard-tp=8 --phase=decode --batch=64 --context=4096 "
         "\\\n"
         "              --hardware=h200-sxm-8 --estimate=json model.mlir\n"
         "  autopar-opt --shard-tp=8 model.mlir          (prints the IR)\n\n"
         "All flags of mlir-opt work too: --help-hidden.";
}

LogicalResult ProductFlags::addPasses(PassManager &pm) const {
  for (const Flag &flag : flags->flags)
    for (const std::string &value : *flag.flag) {
      bool estimates = flag.target->ArgStr == "estimate";
      bool bare = estimates || flag.target->ArgStr == "explain";
      if (value.empty() && !bare) {
        llvm::errs() << "error: --" << flag.target->ArgStr << "= is empty\n";
        return failure();
      }
      StringRef text = estimates && value.empty() ? "text" : StringRef(value);
      if (flag.target->addOccurrence(0, flag.target->ArgStr, text))
        return failure();
    }
  return addPlanPipeline(pm, flags->options, [](const Twine &message) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  });
}

std::optional<Error> ProductFlags::checkInput(std::string_view text,
                                              const std::string &name) const {
  if (!isBytecode(text))
    return checkSourceText(text, name);
  if (flags->trustBytecode)
    return std::nullopt;
  return Error{name,
               "is MLIR bytecode, whose reader is not hardened against "
               "hostile files",
               "give --trust-bytecode where you trust the file"};
}

bool ProductFlags::reportsTo(StringRef file) const {
  return llvm::any_of(flags->flags, [&](const Flag &flag) {
    return flag.target->ArgStr == "report-output" && !flag.flag->empty() &&
           *std::prev(flag.flag->end()) == file;
  });
}

bool ProductFlags::addsPasses() const {
  return llvm::any_of(flags->flags,
                      [](const Flag &flag) { return !flag.flag->empty(); });
}

bool ProductFlags::reportsToStdout(PassManager &pm) {
  std::string text;
  llvm::raw_string_ostream os(text);
  pm.printAsTextualPipeline(os);
  StringRef pipeline(text);
  size_t estimate = pipeline.find("autopar-estimate");
  if (estimate == StringRef::npos)
    return false;
  // The option prints only where it is not the default.
  StringRef options = pipeline.drop_front(estimate);
  size_t output = options.find("output=");
  return output == StringRef::npos ||
         options.drop_front(output).starts_with("output=- ") ||
         options.drop_front(output).starts_with("output=-}");
}

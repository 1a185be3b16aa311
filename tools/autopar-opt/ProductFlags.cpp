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

bool ProductFlags::printsIR(StringRef outputFile) const {
  bool reports = false, redirected = false;
  for (const Flag &flag : flags->flags) {
    bool given = !flag.flag->empty();
    reports |= given && flag.target->ArgStr == "estimate";
    redirected |= given && flag.target->ArgStr == "report-output" &&
                  *std::prev(flag.flag->end()) != "-";
  }
  return !reports || redirected || outputFile != "-";
}

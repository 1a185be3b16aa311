//===- ProductFlags.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductFlags.h"

#include "autopar/Pipelines/PlanFlags.h"

#include "llvm/Support/CommandLine.h"

using namespace autopar;
using namespace mlir;
namespace cl = llvm::cl;

struct ProductFlags::Flags {
  cl::OptionCategory category{"autopar options"};
  PlanFlags plan;
  /// What the command line said, by the number of the flag.
  SmallVector<std::unique_ptr<cl::list<std::string>>, 0> given;
  cl::opt<bool> trustBytecode{
      "trust-bytecode", cl::cat(category),
      cl::desc("Read MLIR bytecode, whose reader is not hardened against "
               "hostile files")};
};

ProductFlags::ProductFlags() : flags(std::make_unique<Flags>()) {
  for (const PlanFlag &flag : flags->plan.all())
    flags->given.push_back(std::make_unique<cl::list<std::string>>(
        StringRef(flag.name), cl::desc(flag.help), cl::cat(flags->category),
        cl::value_desc(flag.value),
        flag.bare.empty() ? cl::ValueRequired : cl::ValueOptional));
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
  for (auto [flag, given] : llvm::zip_equal(flags->plan.all(), flags->given))
    for (const std::string &value : *given)
      if (!flags->plan.set(flag, value))
        return failure();
  return addPlanPipeline(pm, flags->plan.options(), [](const Twine &message) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  });
}

bool ProductFlags::trustsBytecode() const { return flags->trustBytecode; }

bool ProductFlags::reportsTo(StringRef file) const {
  return llvm::any_of(flags->given, [&](const auto &given) {
    return given->ArgStr == "report-output" && !given->empty() &&
           *std::prev(given->end()) == file;
  });
}

bool ProductFlags::addsPasses() const {
  return llvm::any_of(flags->given,
                      [](const auto &given) { return !given->empty(); });
}

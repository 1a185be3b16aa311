//===- ProductFlags.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductFlags.h"

#include "autopar/Bundle/BundlePass.h"
#include "autopar/Pipelines/PlanFlags.h"
#include "autopar/Search/SearchSpace.h"
#include "autopar/Session/SearchPass.h"
#include "autopar/Support/Count.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include "llvm/Support/CommandLine.h"

using namespace autopar;
using namespace autopar::bundle;
using namespace autopar::pipelines;
using namespace autopar::search;
using namespace autopar::session;
using namespace mlir;
namespace cl = llvm::cl;

static const std::string &helpOfSpace() {
  static const std::string help =
      "With --search: limits of plans, as in tp=1..8,pp=1: " + spaceHelp() +
      " (default: all, in default order)";
  return help;
}

struct ProductFlags::Flags {
  cl::OptionCategory category{"autopar options"};
  PlanFlags plan;
  /// The values on the command line, by the index of the flag.
  SmallVector<std::unique_ptr<cl::list<std::string>>, 0> given;
  cl::opt<bool> trustBytecode{
      "trust-bytecode", cl::cat(category),
      cl::desc("Read MLIR bytecode, whose reader is not hardened against "
               "hostile files")};
  cl::opt<bool> search{
      "search", cl::cat(category),
      cl::desc("Split the model by the best plan of a space, for the module's "
               "workload or the one that flags say, on the machine that they "
               "say: what 'autopar search' finds for that batch")};
  cl::opt<std::string> devices{
      "devices", cl::cat(category), cl::value_desc("N"),
      cl::desc("With --search: how many devices (default: all of --nodes)")};
  cl::opt<std::string> space{"space", cl::cat(category),
                             cl::value_desc("limits"), cl::desc(helpOfSpace())};
  cl::opt<std::string> goal{
      "goal", cl::cat(category), cl::value_desc("goal"),
      cl::desc("With --search: what is best, throughput (default), "
               "throughput-per-device, latency, cost or devices")};

  cl::opt<std::string> bundle{
      "bundle", cl::cat(category), cl::value_desc("file"),
      cl::desc("With --estimate: also write what the report rests on, and the "
               "report, to a zip that 'autopar replay' estimates again")};

  /// Returns the flags of the plan as the user wrote them, one after the other.
  std::vector<std::string> asGiven() const;
  LogicalResult checkSearch() const;
  LogicalResult addSearch(OpPassManager &pm) const;
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
         "  autopar-opt --shard-tp=8 model.mlir          (prints the IR)\n"
         "  autopar-opt --search --batch=64 --devices=8 -o best.mlir "
         "model.mlir\n\n"
         "All flags of mlir-opt work too: --help-hidden.";
}

static LogicalResult refuse(const Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return failure();
}

/// Returns whether the flag chooses how to split the model, which a search
/// finds by itself.
static bool isFound(const PlanFlag &flag) {
  if (flag.name == "trace")
    return false;
  return StringRef(flag.name).starts_with("shard-") ||
         llvm::is_contained({"How to split", "Experts", "Pipeline"},
                            flag.group);
}

/// Returns whether the flag is about requests. Latency limits (--sla) are not
/// among these flags, because they also apply to a searched step.
static bool isOfRequests(const PlanFlag &flag) {
  return flag.group == "What to serve" && flag.name != "sla";
}

LogicalResult ProductFlags::Flags::checkSearch() const {
  if (!search) {
    const cl::Option *others[] = {&devices, &space, &goal};
    for (const cl::Option *option : others)
      if (option->getNumOccurrences())
        return refuse("--" + option->ArgStr +
                      " has no effect without --search");
    return success();
  }
  for (auto [flag, values] : llvm::zip_equal(plan.all(), given)) {
    if (values->empty())
      continue;
    if (isFound(flag))
      return refuse("--" + flag.name +
                    " and --search exclude each other: a search finds the "
                    "plan, within the limits of --space");
    if (isOfRequests(flag))
      return refuse("--" + flag.name +
                    " and --search exclude each other: 'autopar search "
                    "--phase=request' finds plans for requests");
  }
  return success();
}

LogicalResult ProductFlags::Flags::addSearch(OpPassManager &pm) const {
  SearchPassOptions options;
  options.space = space;
  if (goal.getNumOccurrences())
    options.goal = goal;
  for (auto [flag, values] : llvm::zip_equal(plan.all(), given))
    if (flag.name == "sla" && !values->empty())
      options.sla = *std::prev(values->end());
  if (devices.getNumOccurrences()) {
    std::optional<int64_t> count = parseCount(devices.getValue());
    if (!count || *count < 1 || *count > limits::maxDevices)
      return refuse("--devices=" + shorten(devices) +
                    ": expected a number from 1 to " +
                    std::to_string(limits::maxDevices));
    options.devices = *count;
  }
  pm.addPass(createSearchPass(std::move(options)));
  return success();
}

std::vector<std::string> ProductFlags::Flags::asGiven() const {
  std::vector<std::string> all;
  for (auto [flag, values] : llvm::zip_equal(plan.all(), given))
    for (const std::string &value : *values)
      all.push_back("--" + flag.name + (value.empty() ? "" : "=" + value));
  return all;
}

LogicalResult ProductFlags::addPasses(PassManager &pm) const {
  if (failed(flags->checkSearch()))
    return failure();
  for (auto [flag, given] : llvm::zip_equal(flags->plan.all(), flags->given))
    for (const std::string &value : *given)
      if (!(flags->search && flag.name == "sla"))
        if (std::optional<Error> error = flags->plan.set(flag, value))
          return error->message.empty() ? failure() : refuse(error->str());
  auto addSearch = [&] { return flags->addSearch(pm); };
  const PlanOptions &options = flags->plan.options();
  if (failed(addPlanPipeline(pm, options, refuse,
                             flags->search ? FindPlan(addSearch) : nullptr)))
    return failure();
  return flags->bundle.getNumOccurrences() == 0
             ? success()
             : addBundle(pm, options, flags->bundle, flags->asGiven(), refuse);
}

bool ProductFlags::trustsBytecode() const { return flags->trustBytecode; }

bool ProductFlags::reportsTo(StringRef file) const {
  return llvm::any_of(flags->given, [&](const auto &given) {
    return given->ArgStr == "report-output" && !given->empty() &&
           *std::prev(given->end()) == file;
  });
}

bool ProductFlags::addsPasses() const {
  return flags->search || llvm::any_of(flags->given, [](const auto &given) {
           return !given->empty();
         });
}

//===- autopar-run.cpp - Executes modules on simulated devices ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Import/ReadModule.h"
#include "autopar/InitAll.h"
#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Interpreter/Compare.h"
#include "autopar/Interpreter/Execution.h"
#include "autopar/Support/File.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"

#include <deque>

using namespace autopar;
using namespace mlir;

static llvm::cl::OptionCategory category("autopar-run");
static llvm::cl::opt<std::string> inputFile(llvm::cl::Positional,
                                            llvm::cl::desc("MODULE.mlir"),
                                            llvm::cl::init("-"),
                                            llvm::cl::cat(category));
static llvm::cl::opt<std::string>
    reference("check", llvm::cl::cat(category), llvm::cl::value_desc("file"),
              llvm::cl::desc("Compare with this module, the unsplit one: the "
                             "exit code is 1 where a value differs"));
static llvm::cl::list<int64_t>
    queries("query", llvm::cl::CommaSeparated, llvm::cl::cat(category),
            llvm::cl::value_desc("tokens,..."),
            llvm::cl::desc("Steps of so many new tokens each, from empty "
                           "caches: 8,1,1 is a prefill and two decodes "
                           "(default: the module's step); of modules with a "
                           "link, the first runs the first step"));
static llvm::cl::opt<int64_t>
    batch("batch", llvm::cl::cat(category), llvm::cl::init(0),
          llvm::cl::desc("Sequences (default: the module's)"));
static llvm::cl::opt<int64_t> encoderTokens(
    "encoder-tokens", llvm::cl::cat(category), llvm::cl::init(0),
    llvm::cl::value_desc("positions"),
    llvm::cl::desc("Positions of each sequence that an encoder reads in "
                   "the first step: patches of images, frames of audio, "
                   "tokens of a source text"));
static llvm::cl::opt<bool> byPosition(
    "inputs-by-position", llvm::cl::cat(category),
    llvm::cl::desc("A token is the same in whatever step it comes: --query=8,1 "
                   "has the tokens of --query=9"));
static llvm::cl::opt<bool>
    showHoldings("holdings", llvm::cl::cat(category),
                 llvm::cl::desc("Print what each device holds after the last "
                                "step, and has sent to other stages in "
                                "it: bytes"));
static llvm::cl::opt<double>
    tolerance("tolerance", llvm::cl::cat(category), llvm::cl::init(1e-9),
              llvm::cl::desc("What may differ, relative to the largest element "
                             "of a value (default: 1e-9)"));

/// An error without a message has been printed already.
static int fail(const Error &error) {
  if (error.message.empty())
    return 1;
  llvm::errs() << "error: " << error.str() << "\n";
  return 1;
}

/// The module's own step, or those of the flags, one after the other.
static std::vector<Workload> stepsOf(ModuleOp module) {
  Workload own;
  if (SymbolBindingOpInterface workload = findWorkload(module))
    own = workload.getWorkload();
  if (batch > 0)
    own.batch = batch;
  if (encoderTokens > 0)
    own.encoderTokens = own.crossTokens = encoderTokens;
  if (queries.empty())
    return {own};
  std::vector<Workload> steps;
  int64_t context = 0;
  for (int64_t query : queries) {
    own.query = query;
    own.context = context += query;
    own.phase = query == 1 && context > 1 ? Phase::decode : Phase::prefill;
    steps.push_back(own);
    own.encoderTokens = 0;
  }
  return steps;
}

static void printDifference(const Difference &difference) {
  if (!difference.op) {
    llvm::errs() << "error: the result differs: " << difference.what << "\n";
    return;
  }
  InFlightDiagnostic diagnostic =
      difference.op->emitError("is the first value that differs");
  if (!difference.layer.empty())
    diagnostic << ", in " << difference.layer;
  if (difference.stage)
    diagnostic << ", on stage " << *difference.stage;
  diagnostic << ": " << difference.what;
}

static void printResults(const Execution &run) {
  for (const LocalTensor &result : run.results()) {
    llvm::outs() << "[";
    llvm::interleaveComma(result.shape, llvm::outs());
    llvm::outs() << "]";
    for (double element : result.data)
      llvm::outs() << " " << llvm::format("%.12g", element);
    llvm::outs() << "\n";
  }
}

static void printHoldings(const Execution &run) {
  for (auto [device, own] : llvm::enumerate(run.holdings()))
    llvm::outs() << "device " << device << ": weights " << own.weights
                 << ", caches " << own.caches << ", states " << own.states
                 << ", sent " << own.sent << "\n";
}

/// The modules that steps run on: that of the file, or the two of its link.
static FailureOr<SmallVector<ModuleOp>> modulesOf(ModuleOp file) {
  SmallVector<parallel::LinkOp> links(file.getOps<parallel::LinkOp>());
  if (links.empty())
    return SmallVector<ModuleOp>{file};
  parallel::LinkOp link = links.front();
  if (links.size() > 1)
    return links[1].emitError("is a second link: only one can be run");
  SmallVector<ModuleOp> modules;
  for (FlatSymbolRefAttr name : {link.getFromAttr(), link.getToAttr()})
    modules.push_back(
        SymbolTable::lookupNearestSymbolFrom<ModuleOp>(link, name));
  return modules;
}

/// Compares the last step of both.
static LogicalResult compare(const Execution &split, const Execution &plain,
                             double &largest) {
  if (failed(haveSameResults(split, plain)))
    return failure();
  if (auto difference = findDifference(split, plain, tolerance)) {
    printDifference(*difference);
    return failure();
  }
  largest = std::max(largest, largestDifference(split, plain));
  return success();
}

static void printSame(const std::deque<Execution> &runs, double largest) {
  llvm::outs() << "the same on ";
  llvm::interleave(
      runs, llvm::outs(),
      [](const Execution &run) { llvm::outs() << run.getGrid().size(); },
      " and then ");
  llvm::outs() << " devices: largest difference "
               << llvm::format("%.1e", largest) << "\n";
}

static int runAll(ModuleOp file, ModuleOp whole) {
  FailureOr<SmallVector<ModuleOp>> modules = modulesOf(file);
  if (failed(modules))
    return 1;
  InputRule inputs = byPosition ? InputRule::position : InputRule::step;
  std::deque<Execution> runs;
  for (ModuleOp module : *modules)
    runs.emplace_back(module, inputs);
  std::vector<Workload> steps = stepsOf(modules->front());
  if (steps.size() < runs.size())
    return fail({"--query",
                 "expected two steps at least: a link hands over "
                 "after the first",
                 ""});
  std::optional<Execution> plain;
  if (whole)
    plain.emplace(whole, inputs);
  double largest = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    bool isFirst = i == 0 || runs.size() == 1;
    Execution &split = isFirst ? runs.front() : runs.back();
    if (!isFirst && i == 1 && failed(split.takeOver(runs.front())))
      return 1;
    if (failed(split.run(steps[i], /*traced=*/bool(whole))))
      return 1;
    if (!plain) {
      printResults(split);
      continue;
    }
    if (failed(plain->run(steps[i], /*traced=*/true)) ||
        failed(compare(split, *plain, largest)))
      return 1;
  }
  if (plain)
    printSame(runs, largest);
  if (showHoldings)
    printHoldings(runs.back());
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  failOnClosedPipe();
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(
      argc, argv,
      "executes a module as its text says, in double precision, each device of "
      "its mesh with arrays of its own; prints the results of each step\n\n"
      "  autopar-opt --shard-tp=4 model.mlir -o split.mlir\n"
      "  autopar-run split.mlir --check=model.mlir --query=8,1\n");
  for (int64_t query : queries)
    if (query < 1 || query > 4096)
      return fail({"--query", "expected 1 to 4,096 tokens in a step", ""});
  if (batch < 0 || batch > 4096)
    return fail({"--batch", "expected 1 to 4,096 sequences", ""});
  if (encoderTokens < 0 || encoderTokens > 4096)
    return fail({"--encoder-tokens", "expected 1 to 4,096 positions", ""});
  DialectRegistry registry;
  registerAllDialects(registry);
  registerExecution(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  Result<std::unique_ptr<ModuleFile>> split =
      ModuleFile::read(context, inputFile);
  if (!split)
    return fail(split.error());
  if (reference.empty())
    return runAll((*split)->module(), ModuleOp());
  Result<std::unique_ptr<ModuleFile>> whole =
      ModuleFile::read(context, reference);
  return whole ? runAll((*split)->module(), (*whole)->module())
               : fail(whole.error());
}

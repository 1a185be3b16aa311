//===- autopar-run.cpp - Executes modules on simulated devices ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/ReadModule.h"
#include "autopar/InitAll.h"
#include "autopar/Interpreter/RunModule.h"
#include "autopar/Support/File.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::interpreter;
using namespace autopar::schedule;
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
                                "step, and in it has sent to other stages "
                                "and has of gradients that several stages "
                                "sum: bytes"));
static llvm::cl::opt<bool> outcome(
    "outcome", llvm::cl::cat(category),
    llvm::cl::desc("With --check: compare what steps return, gradients and "
                   "updates, and not what they follow from"));
static llvm::cl::opt<int64_t>
    iterations("iterations", llvm::cl::cat(category), llvm::cl::init(1),
               llvm::cl::desc("Iterations of training, each with the weights "
                              "that the one before has made (default: 1)"));
static llvm::cl::opt<int64_t> gradients(
    "gradients", llvm::cl::cat(category), llvm::cl::init(0),
    llvm::cl::value_desc("elements"),
    llvm::cl::desc("Compare the gradients of so many elements of each weight "
                   "with differences of the loss: the exit code is 1 where one "
                   "is not the derivative"));
static llvm::cl::opt<bool> derivative(
    "directional-derivative", llvm::cl::cat(category),
    llvm::cl::desc("Compare the derivative of the loss along a random "
                   "direction through all weights, by their gradients, with a "
                   "difference of the loss: the exit code is 1 where they "
                   "differ"));
static llvm::cl::opt<double>
    tolerance("tolerance", llvm::cl::cat(category), llvm::cl::init(1e-9),
              llvm::cl::desc("What may differ, relative to the largest element "
                             "of a value (default: 1e-9)"));

/// Prints `error`, unless it has no message: such an error has been printed
/// already. Returns the exit code.
static int fail(const Error &error) {
  if (error.message.empty())
    return 1;
  llvm::errs() << "error: " << error.str() << "\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  endOnClosedPipe(0);
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(
      argc, argv,
      "executes a module as its text says, in double precision, each device of "
      "its mesh with arrays of its own; prints the results of each step\n\n"
      "  autopar-opt --shard-tp=4 model.mlir -o split.mlir\n"
      "  autopar-run split.mlir --check=model.mlir --query=8,1\n");
  // A check whose output nobody reads must not pass.
  endOnClosedPipe(1);
  for (int64_t query : queries)
    if (query < 1 || query > 4096)
      return fail({"--query", "expected 1 to 4,096 tokens in a step", ""});
  if (batch < 0 || batch > 4096)
    return fail({"--batch", "expected 1 to 4,096 sequences", ""});
  if (encoderTokens < 0 || encoderTokens > 4096)
    return fail({"--encoder-tokens", "expected 1 to 4,096 positions", ""});
  if (iterations < 1 || iterations > 4096)
    return fail({"--iterations", "expected 1 to 4,096", ""});
  if (gradients < 0 || gradients > 4096)
    return fail({"--gradients", "expected 1 to 4,096 elements", ""});
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
  RunOptions options{{queries.begin(), queries.end()},
                     batch,
                     encoderTokens,
                     byPosition ? InputRule::position : InputRule::step,
                     tolerance,
                     showHoldings,
                     !outcome,
                     iterations};
  ModuleOp module = (*split)->module();
  if (gradients > 0)
    return failed(checkGradients(module, options, gradients, llvm::outs()));
  if (derivative && failed(checkDirection(module, options, llvm::outs())))
    return 1;
  auto run = [&](ModuleOp whole) {
    return failed(runModule(module, whole, options, llvm::outs()));
  };
  if (reference.empty())
    return derivative ? 0 : run(ModuleOp());
  Result<std::unique_ptr<ModuleFile>> whole =
      ModuleFile::read(context, reference);
  return whole ? run((*whole)->module()) : fail(whole.error());
}

//===- RunModule.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/RunModule.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Interpreter/Compare.h"
#include "autopar/Interpreter/Execution.h"
#include "autopar/Interpreter/Gradients.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/Format.h"

#include <deque>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace mlir;

/// Returns the steps to execute, in order: those of the options, or the
/// module's own step.
static std::vector<Workload> stepsOf(ModuleOp module,
                                     const RunOptions &options) {
  Workload own;
  if (SymbolBindingOpInterface workload = findWorkload(module))
    own = workload.getWorkload();
  if (options.batch > 0)
    own.batch = options.batch;
  if (options.encoderTokens > 0)
    own.encoderTokens = own.crossTokens = options.encoderTokens;
  if (options.queries.empty())
    return std::vector<Workload>(options.iterations, own);
  std::vector<Workload> steps;
  int64_t context = 0;
  for (int64_t query : options.queries) {
    own.query = query;
    own.context = context += query;
    own.phase = query == 1 && context > 1 ? Phase::decode : Phase::prefill;
    steps.push_back(own);
    own.encoderTokens = 0;
  }
  return steps;
}

static void reportDifference(ModuleOp split, const Difference &difference) {
  if (!difference.op) {
    split.emitError() << "the result differs: " << difference.what;
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

static void printResults(const Execution &run, raw_ostream &os) {
  for (const LocalTensor &result : run.results()) {
    os << "[";
    llvm::interleaveComma(result.shape, os);
    os << "]";
    for (double element : result.data)
      os << " " << llvm::format("%.12g", element);
    os << "\n";
  }
}

static void printHoldings(const Execution &run, raw_ostream &os) {
  for (auto [device, own] : llvm::enumerate(run.holdings())) {
    os << "device " << device << ": weights " << own.weights << ", caches "
       << own.caches << ", states " << own.states << ", sent " << own.sent;
    if (own.summed > 0)
      os << ", summed " << own.summed;
    os << "\n";
  }
}

/// Returns the modules to execute: that of the file, or the two that its link
/// connects.
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

static void printSame(const std::deque<Execution> &runs, double largest,
                      raw_ostream &os) {
  os << "the same on ";
  llvm::interleave(
      runs, os, [&](const Execution &run) { os << run.getGrid().size(); },
      " and then ");
  os << " devices: largest difference " << llvm::format("%.1e", largest)
     << "\n";
}

namespace {

/// The executions of a file's modules, and of the unsplit module.
class Runs {
public:
  Runs(const RunOptions &options, ArrayRef<ModuleOp> modules, ModuleOp whole)
      : options(options), split(modules.front()) {
    for (ModuleOp module : modules)
      runs.emplace_back(module, options.inputs);
    if (whole)
      plain.emplace(whole, options.inputs);
  }

  LogicalResult run(raw_ostream &os) {
    std::vector<Workload> steps = stepsOf(split, options);
    if (steps.size() < runs.size())
      return split.emitError("expected two steps at least: a link hands over "
                             "after the first");
    for (size_t i = 0; i < steps.size(); ++i)
      if (failed(runStep(i, steps[i], os)))
        return failure();
    if (plain)
      printSame(runs, largest, os);
    if (options.showsHoldings)
      printHoldings(runs.back(), os);
    return success();
  }

private:
  LogicalResult runStep(size_t index, const Workload &step, raw_ostream &os) {
    bool isFirst = index == 0 || runs.size() == 1;
    Execution &current = isFirst ? runs.front() : runs.back();
    if (!isFirst && index == 1 && failed(current.takeOver(runs.front())))
      return failure();
    if (failed(current.run(step, isTraced())))
      return failure();
    if (plain)
      return compare(current, step);
    printResults(current, os);
    return success();
  }

  bool isTraced() const { return plain && options.comparesValues; }

  /// Compares the last step of the split and of the unsplit execution.
  LogicalResult compare(const Execution &current, const Workload &step) {
    if (failed(plain->run(step, isTraced())) ||
        failed(haveSameResults(current, *plain)))
      return failure();
    if (auto difference = findDifference(current, *plain, options.tolerance)) {
      reportDifference(split, *difference);
      return failure();
    }
    largest = std::max(largest, largestDifference(current, *plain));
    return compareTraining(current);
  }

  LogicalResult compareTraining(const Execution &current) {
    if (!current.isTraining() && !plain->isTraining())
      return success();
    FailureOr<std::string> difference =
        findTrainingDifference(current, *plain, options.tolerance);
    if (failed(difference))
      return failure();
    if (!difference->empty())
      return split.emitError() << *difference;
    return success();
  }

  const RunOptions &options;
  ModuleOp split;
  std::deque<Execution> runs;
  std::optional<Execution> plain;
  double largest = 0;
};

} // namespace

/// Largest allowed difference, relatively, between gradients and difference
/// quotients.
static constexpr double derivativeTolerance = 1e-5;

static LogicalResult verifyTrains(ModuleOp module, const Execution &run) {
  if (run.isTraining())
    return success();
  return module.emitError("has no gradients: no training.iteration says "
                          "what runs after its forward");
}

LogicalResult autopar::interpreter::checkDirection(ModuleOp module,
                                                   const RunOptions &options,
                                                   raw_ostream &os) {
  Execution run(module, options.inputs);
  if (failed(verifyTrains(module, run)))
    return failure();
  auto slope = measureDirection(run, stepsOf(module, options).front());
  if (failed(slope))
    return failure();
  if (!(slope->relative <= derivativeTolerance)) {
    InFlightDiagnostic error = module.emitError();
    error << "the gradients are not those of the loss: along a random "
             "direction they say "
          << std::to_string(slope->ofGradients) << ", expected "
          << std::to_string(slope->expected);
    error.attachNote() << "--gradients=1 says of which weight";
    return error;
  }
  os << "gradients along a random direction are those of the loss: difference "
     << llvm::format("%.1e", slope->relative) << "\n";
  return success();
}

LogicalResult autopar::interpreter::checkGradients(ModuleOp module,
                                                   const RunOptions &options,
                                                   int64_t count,
                                                   raw_ostream &os) {
  Execution run(module, options.inputs);
  if (failed(verifyTrains(module, run)))
    return failure();
  auto elements =
      measureGradients(run, stepsOf(module, options).front(), count);
  if (failed(elements))
    return failure();
  GradientElement worst;
  for (const GradientElement &element : *elements)
    if (!(element.relative <= worst.relative))
      worst = element;
  if (!(worst.relative <= derivativeTolerance))
    return module.emitError()
           << "the gradient of " << worst.name << " is not that of the loss: "
           << "element " << worst.offset << " is "
           << std::to_string(worst.gradient) << ", expected "
           << std::to_string(worst.expected);
  os << "gradients of " << elements->size()
     << " elements are those of the loss: largest difference "
     << llvm::format("%.1e", worst.relative) << "\n";
  return success();
}

LogicalResult autopar::interpreter::runModule(ModuleOp file, ModuleOp whole,
                                              const RunOptions &options,
                                              raw_ostream &os) {
  FailureOr<SmallVector<ModuleOp>> modules = modulesOf(file);
  if (failed(modules))
    return failure();
  return Runs(options, *modules, whole).run(os);
}

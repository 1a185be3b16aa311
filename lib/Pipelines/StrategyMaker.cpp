//===- StrategyMaker.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StrategyMaker.h"

#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Transforms/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::cost;
using namespace autopar::parallel;
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace mlir;

StrategyMaker::StrategyMaker(ModuleOp module, const StrategyRules &rules)
    : rules(rules), settings{rules.vocabularyMultiple, /*sizesAreOpen=*/true} {
  root.module = module.clone();
}

StrategyMaker::StrategyMaker(StringRef bytecode,
                             const DialectRegistry &registry,
                             const StrategyRules &rules)
    : context(std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED)),
      rules(rules), settings{rules.vocabularyMultiple, /*sizesAreOpen=*/true} {
  context->getDiagEngine().registerHandler([](Diagnostic &) {});
  root.module = parseSourceString<ModuleOp>(
      bytecode, ParserConfig(context.get(), /*verifyAfterParse=*/false));
}

static std::string textOf(Pass &pass) {
  std::string text;
  llvm::raw_string_ostream os(text);
  pass.printAsTextualPipeline(os);
  return text;
}

/// Runs a pass without the verifier, which runs at most once: on the final
/// module.
static LogicalResult run(std::unique_ptr<Pass> pass, ModuleOp module) {
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  pm.addPass(std::move(pass));
  return pm.run(module);
}

/// Runs the passes up to the end of phase `split` on a clone of the module.
/// Returns null if a pass refuses. The result is moved out of its stem, because
/// most results are used only once and others can be made again.
OwningOpRef<ModuleOp> StrategyMaker::grow(PassList passes) {
  // The last stem on the path of passes that still has its module.
  Stem *begin = &root;
  size_t known = 0;
  Stem *stem = &root;
  for (auto [i, one] : llvm::enumerate(passes)) {
    auto next = stem->after.find(textOf(*one.pass));
    if (next == stem->after.end())
      break;
    stem = next->second.get();
    if (!stem)
      return {};
    if (stem->module) {
      begin = stem;
      known = i + 1;
    }
  }
  for (PlannedPass &one : llvm::drop_begin(passes, known)) {
    std::string text = textOf(*one.pass);
    // A plan on other axes begins a new tree. If plans with equal axes are made
    // one after another, results of earlier axes are not needed any more.
    if (one.phase == PassPhase::mesh)
      begin->after.clear();
    std::unique_ptr<Stem> &next = begin->after[text];
    OwningOpRef<ModuleOp> module = begin->module->clone();
    if (failed(run(std::move(one.pass), *module)))
      return {};
    if (!next)
      next = std::make_unique<Stem>();
    next->module = std::move(module);
    begin = next.get();
  }
  bool isSplit = !passes.empty() && passes.back().phase == PassPhase::split;
  return isSplit ? std::move(begin->module) : begin->module->clone();
}

std::string StrategyMaker::namesOf(const Plan &plan) {
  std::string names;
  for (const PlanAxis &axis : plan.axes)
    names += " " + axis.name + (axis.size == 1 ? "=1" : "");
  return names;
}

bool StrategyMaker::trains() {
  SymbolBindingOpInterface step = findWorkload(*root.module);
  return step && step.getWorkload().phase == Phase::train;
}

std::unique_ptr<CompiledProgram> StrategyMaker::make(const Plan &plan) {
  lastAxes = namesOf(plan);
  PlanRequest request{plan, {}, {}};
  if (trains())
    request.workload.phase = Phase::train;
  PassList passes, last;
  for (PlannedPass &one : passesOf(std::move(request), settings))
    // The module is bound already. Experts are not placed if no loads are
    // given.
    if (one.phase != PassPhase::bind && !one.dependsOnSizes &&
        (one.phase != PassPhase::place || rules.loads))
      (one.phase <= PassPhase::split ? passes : last).push_back(std::move(one));
  bool isPlaced = !last.empty() && last.back().phase == PassPhase::place;
  OwningOpRef<ModuleOp> program = grow(std::move(passes));
  if (!program)
    return nullptr;
  for (PlannedPass &one : last)
    if (failed(run(std::move(one.pass), *program)))
      return nullptr;
  // A backward may contain collectives without a sum, which the verifier
  // refuses.
  if (trains() && failed(verify(*program)))
    return nullptr;
  CostProgramAnalysis analysis(*program, isPlaced ? rules.loads : nullptr);
  if (!analysis.isValid())
    return nullptr;
  return std::make_unique<CompiledProgram>(analysis.takeProgram(),
                                           rules.launching);
}

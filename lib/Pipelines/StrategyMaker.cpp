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
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

StrategyMaker::StrategyMaker(ModuleOp module, const StrategyRules &rules)
    : rules(rules) {
  root.module = module.clone();
}

StrategyMaker::StrategyMaker(StringRef bytecode,
                             const DialectRegistry &registry,
                             const StrategyRules &rules)
    : context(std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED)),
      rules(rules) {
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

/// What is true before a pass is asked for once, of what all passes leave.
static LogicalResult run(std::unique_ptr<Pass> pass, ModuleOp module) {
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  pm.addPass(std::move(pass));
  return pm.run(module);
}

/// Whether the mesh of `module` has all axes of `plan`.
static bool hasAxes(ModuleOp module, const Plan &plan) {
  auto meshes = module.getOps<MeshOp>();
  if (meshes.empty())
    return false;
  auto names = (*meshes.begin()).getAxes().getAsValueRange<StringAttr>();
  return llvm::all_of(plan.axes, [&](const PlanAxis &axis) {
    return llvm::is_contained(names, axis.name);
  });
}

/// Programs know axes that split anything: more do not matter.
static LogicalResult addAxes(ModuleOp module, const Plan &plan) {
  if (plan.axes.empty() || hasAxes(module, plan))
    return success();
  BindMeshPassOptions bind;
  Plan axes;
  for (const PlanAxis &axis : plan.axes)
    axes.axes.push_back({axis.name, axis.size == 1 ? axis.size : std::nullopt});
  // Splits are listed in their order.
  for (Degree degree : {Degree::dp, Degree::cp, Degree::tp})
    if (plan.degree(degree))
      axes.setDegree(degree, plan.axesOf(degree));
  bind.axes = meshText(axes);
  return run(createBindMeshPass(std::move(bind)), module);
}

/// What `passes` make of the module of `root`; null where one refuses. It is
/// taken from its stem: most are asked for once, and the others grow again.
OwningOpRef<ModuleOp> StrategyMaker::take(Stem &root, PassList passes) {
  // The last on the way that has its module.
  Stem *begin = &root;
  size_t known = 0;
  Stem *stem = &root;
  for (auto [i, pass] : llvm::enumerate(passes)) {
    auto next = stem->after.find(textOf(*pass));
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
  for (std::unique_ptr<Pass> &pass : llvm::drop_begin(passes, known)) {
    std::unique_ptr<Stem> &next = begin->after[textOf(*pass)];
    OwningOpRef<ModuleOp> module = begin->module->clone();
    if (failed(run(std::move(pass), *module)))
      return {};
    if (!next)
      next = std::make_unique<Stem>();
    next->module = std::move(module);
    begin = next.get();
  }
  return begin == &root ? root.module->clone() : std::move(begin->module);
}

/// The root or, of a step that trains, it with the backward of `plan`.
StrategyMaker::Stem *StrategyMaker::train(const Plan &plan) {
  SymbolBindingOpInterface step = findWorkload(*root.module);
  if (!step || step.getWorkload().phase != Phase::train)
    return &root;
  // Stages are prices, not of a strategy.
  Plan whole;
  whole.training = plan.training;
  PassList passes;
  passes.push_back(createTrainingPass(whole));
  passes.push_back(createBackwardPass(whole));
  std::string text;
  for (const std::unique_ptr<Pass> &pass : passes)
    text += textOf(*pass);
  auto [it, isNew] = trained.try_emplace(text);
  if (isNew) {
    auto next = std::make_unique<Stem>();
    next->module = root.module->clone();
    if (llvm::all_of(passes, [&](std::unique_ptr<Pass> &pass) {
          return succeeded(run(std::move(pass), *next->module));
        }))
      it->second = std::move(next);
  }
  return it->second.get();
}

std::string StrategyMaker::namesOf(const Plan &plan) {
  std::string names = "mesh";
  for (const PlanAxis &axis : plan.axes)
    names += " " + axis.name + (axis.size == 1 ? "=1" : "");
  return names;
}

/// `stem` with the axes of `plan`. Choices between what costs the same follow
/// the order of axes in the mesh: plans of other axes are another tree.
StrategyMaker::Stem *StrategyMaker::bindAxes(Stem &stem, const Plan &plan) {
  std::string names = namesOf(plan);
  auto it = stem.after.find(names);
  if (it == stem.after.end()) {
    // Plans of other axes begin anew: what was made on the way is not needed
    // any more where they come one after another.
    stem.after.clear();
    it = stem.after.try_emplace(names).first;
    auto next = std::make_unique<Stem>();
    next->module = stem.module->clone();
    if (succeeded(addAxes(*next->module, plan)))
      it->second = std::move(next);
  }
  return it->second.get();
}

/// Without tables: where they lie follows how many devices there are.
static LogicalResult addPlacement(ModuleOp module, const Plan &plan) {
  PlaceExpertsPassOptions place;
  for (const std::string &axis : plan.axesOf(Degree::ep))
    place.axes.push_back(axis);
  return run(createPlaceExpertsPass(std::move(place)), module);
}

std::unique_ptr<CompiledProgram> StrategyMaker::make(const Plan &plan) {
  lastAxes = namesOf(plan);
  Stem *whole = train(plan);
  Stem *stem = whole ? bindAxes(*whole, plan) : nullptr;
  if (!stem)
    return nullptr;
  PassList passes = createShardingPasses(plan, rules.vocabularyMultiple);
  if (std::unique_ptr<Pass> formats = createFormatsPass(plan))
    passes.insert(passes.begin(), std::move(formats));
  OwningOpRef<ModuleOp> split = take(*stem, std::move(passes));
  // One device has no mesh, and sends nothing.
  if (!split || (!plan.axes.empty() &&
                 failed(run(createInsertCollectivesPass(reshards), *split))))
    return nullptr;
  if (std::unique_ptr<Pass> dispatch = createDispatchPass(plan))
    if (failed(run(std::move(dispatch), *split)))
      return nullptr;
  // Backwards may meet collectives that have nothing to sum.
  if (whole != &root && failed(verify(*split)))
    return nullptr;
  bool isPlaced = rules.loads && plan.expertPlacement;
  if (isPlaced && failed(addPlacement(*split, plan)))
    return nullptr;
  CostProgramAnalysis analysis(*split, isPlaced ? rules.loads : nullptr);
  if (!analysis.isValid())
    return nullptr;
  return std::make_unique<CompiledProgram>(analysis.takeProgram(),
                                           rules.launching);
}

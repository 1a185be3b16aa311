//===- StrategyLibrary.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/StrategyLibrary.h"

#include "ShardingPasses.h"
#include "StrategyFile.h"
#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Cost/Pricer.h"
#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Plan/StrategyKey.h"
#include "autopar/Reshard/Planner.h"
#include "autopar/Transforms/Passes.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

namespace {

/// A module after some passes, and what further passes made of copies of it:
/// null where they refused. The module is gone where a program was made of it.
struct Stem {
  OwningOpRef<ModuleOp> module;
  llvm::StringMap<std::unique_ptr<Stem>> after;
};

} // namespace

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

/// In place of a program's bytes.
static constexpr StringLiteral refused = "-";

/// What tells this program from others that might have written a file: as
/// compiler caches do it, size and time of the executable.
static std::string versionText() {
  std::string path = llvm::sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&versionText));
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status))
    return path;
  return std::to_string(status.getSize()) + " " +
         std::to_string(
             status.getLastModificationTime().time_since_epoch().count());
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

struct StrategyLibrary::State {
  State(ModuleOp module, const Runtime &runtime, const std::string &directory)
      : launching(launchingOf(runtime)),
        vocabularyMultiple(
            static_cast<int64_t>(runtime.vocabularyMultiple.value)),
        file(directory, directory.empty() ? "" : describe(module)) {
    root.module = module.clone();
  }

  /// All that the programs depend on besides their keys.
  std::string describe(ModuleOp module) const {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << versionText() << " " << launching.mergesSharedInput
       << launching.fusesElementwise << launching.fusesAccumulation
       << launching.loopsExperts << " " << vocabularyMultiple << "\n";
    module.print(os, OpPrintingFlags().useLocalScope());
    return text;
  }

  CompiledProgram *find(const Plan &given);
  Result<bool> save();
  std::unique_ptr<CompiledProgram> make(const Plan &plan);
  OwningOpRef<ModuleOp> take(Stem &root, PassList passes);
  Stem *train(const Plan &plan);
  Stem *bindAxes(Stem &stem, const Plan &plan);

  Launching launching;
  int64_t vocabularyMultiple;
  StrategyFile file;
  Stem root;
  /// Of steps that train, by the passes that made them.
  llvm::StringMap<std::unique_ptr<Stem>> trained;
  std::shared_ptr<KnownReshards> reshards = std::make_shared<KnownReshards>();
  llvm::StringMap<std::unique_ptr<CompiledProgram>> known;
  size_t made = 0;
};

/// What `passes` make of the module of `root`; null where one refuses. It is
/// taken from its stem: most are asked for once, and the others grow again.
OwningOpRef<ModuleOp> StrategyLibrary::State::take(Stem &root,
                                                   PassList passes) {
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
Stem *StrategyLibrary::State::train(const Plan &plan) {
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

/// `stem` with the axes of `plan`. Choices between what costs the same follow
/// the order of axes in the mesh: plans of other axes are another tree.
Stem *StrategyLibrary::State::bindAxes(Stem &stem, const Plan &plan) {
  std::string names = "mesh";
  for (const PlanAxis &axis : plan.axes)
    names += " " + axis.name + (axis.size == 1 ? "=1" : "");
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

std::unique_ptr<CompiledProgram>
StrategyLibrary::State::make(const Plan &plan) {
  Stem *whole = train(plan);
  Stem *stem = whole ? bindAxes(*whole, plan) : nullptr;
  if (!stem)
    return nullptr;
  PassList passes = createShardingPasses(plan, vocabularyMultiple);
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
  CostProgramAnalysis analysis(*split);
  if (!analysis.isValid())
    return nullptr;
  ++made;
  return std::make_unique<CompiledProgram>(analysis.takeProgram(), launching);
}

/// The program of `bytes`, which the file keeps; null of a strategy that passes
/// refuse.
static std::unique_ptr<CompiledProgram> read(StringRef bytes) {
  std::optional<CompiledProgram> found = CompiledProgram::fromBytes(bytes);
  return found ? std::make_unique<CompiledProgram>(std::move(*found)) : nullptr;
}

/// What is made is kept as bytes, which are a tenth of a program's size.
CompiledProgram *StrategyLibrary::State::find(const Plan &given) {
  std::string key = strategyKeyOf(given);
  auto [it, isNew] = known.try_emplace(key);
  if (!isNew)
    return it->second.get();
  if (file.find(key).empty()) {
    Plan plan = given;
    dropNeutralDegrees(plan);
    dropNeutralAxes(plan);
    std::unique_ptr<CompiledProgram> compiled = make(plan);
    file.add(key, compiled ? compiled->toBytes() : refused.str());
  }
  it->second = read(file.find(key));
  return it->second.get();
}

Result<bool> StrategyLibrary::State::save() {
  if (!file.isKept())
    return false;
  for (const auto &entry : known)
    if (entry.second && !entry.second->isStored())
      file.add(entry.first(), entry.second->toBytes());
  return file.save();
}

StrategyLibrary::StrategyLibrary(ModuleOp module, const Runtime &runtime,
                                 std::string directory)
    : state(std::make_unique<State>(module, runtime, directory)) {}
StrategyLibrary::~StrategyLibrary() = default;

CompiledProgram *StrategyLibrary::find(const Plan &plan) {
  return state->find(plan);
}

Result<bool> StrategyLibrary::save() { return state->save(); }

size_t StrategyLibrary::madeCount() const { return state->made; }

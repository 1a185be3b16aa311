//===- SearchModel.cpp - The search of a session --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SessionState.h"

#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Analysis/ExpertLayers.h"
#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Pipelines/StrategyLibrary.h"
#include "autopar/Program/Stages.h"
#include "autopar/Support/Text.h"
#include "autopar/Transforms/Bind/Target.h"
#include "autopar/Transforms/Passes.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::importer;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::search;
using namespace autopar::session;
using namespace autopar::transforms;
using namespace mlir;

namespace {

/// The strategies of a model for one way of launching kernels.
class LibraryPrograms : public ProgramSource {
public:
  LibraryPrograms(ModuleOp module, const Runtime &runtime,
                  const std::string &directory,
                  std::shared_ptr<ExpertPlacer> loads)
      : context(module.getContext()),
        library(module, runtime, directory, std::move(loads)) {}

  CompiledProgram *find(const Plan &plan) override {
    // If passes refuse a strategy, this is no error of the search, so that
    // diagnostics are not shown.
    ScopedDiagnosticHandler silent(context, [](Diagnostic &) {});
    Plan bare = plan;
    bare.dtype.reset();
    bare.kvDtype.reset();
    return library.find(bare);
  }
  Result<bool> save() { return library.save(); }

private:
  MLIRContext *context;
  StrategyLibrary library;
};

class ModelSearch {
public:
  ModelSearch(const SearchRequest &request, const Session::Warn &warn,
              Diagnostics &diagnostics)
      : request(request), warn(warn), diagnostics(diagnostics) {}

  /// Adds the targets of a variant whose model is `module`.
  std::optional<Error> add(size_t variant, ModuleOp module);
  Result<SearchOutcome> run(const SearchControl &control);

private:
  std::optional<Error> addTarget(std::optional<int64_t> devices);
  std::optional<Error> readLoads(ModuleOp bound);
  std::optional<Error> setSpace();
  std::optional<Error> checkPrices();
  SearchQuestion questionOf(ModuleOp bound) const;
  Result<OwningOpRef<ModuleOp>> bind(const Target &target);
  Result<Machine> machineOf(Target &target, std::optional<int64_t> devices);
  ProgramSource *programsOf(ModuleOp bound, const Runtime &runtime);
  void save();

  /// The index of the variant whose targets are being added.
  size_t index = 0;
  const SearchVariant *variant = nullptr;
  ModuleOp model;
  const SearchRequest &request;
  const Session::Warn &warn;
  Diagnostics &diagnostics;
  SearchOutcome outcome;
  /// The loads of experts for all variants; null if they are even.
  std::shared_ptr<ExpertPlacer> loads;
  /// The libraries of strategies, by the text of their module.
  std::map<std::string, std::unique_ptr<LibraryPrograms>> libraries;
};

} // namespace

static Workload workloadOf(ModuleOp module) {
  for (auto op : module.getOps<transformer::WorkloadOp>())
    return op.getWorkload();
  return {};
}

/// Returns the question of the search: the requests if the user gave any, else
/// the step of `bound`.
SearchQuestion ModelSearch::questionOf(ModuleOp bound) const {
  Workload step = workloadOf(bound);
  if (request.requests)
    return FollowingRequests{*request.requests, step};
  if (step.phase == Phase::train)
    return Iteration{step};
  return Step{step};
}

/// Clones the model and runs the passes before the split: they bind target and
/// workload.
Result<OwningOpRef<ModuleOp>> ModelSearch::bind(const Target &target) {
  PlanRequest base = variant->base;
  base.target = target;
  base.workload.isMixed = request.requests.has_value();
  OwningOpRef<ModuleOp> bound(model.clone());
  PassManager pm(model.getContext());
  addBindingPasses(pm, base);
  if (failed(pm.run(*bound)))
    return diagnostics.takeError();
  return std::move(bound);
}

/// Removes what programs do not depend on: the machine, and the sizes of the
/// step.
static void dropSizes(ModuleOp module) {
  for (auto op :
       llvm::make_early_inc_range(module.getOps<parallel::TargetOp>()))
    op.erase();
  for (auto op : module.getOps<transformer::WorkloadOp>()) {
    op.setBatch(1);
    op.setQuery(1);
    op.setContextLength(1);
    op.setAssumedAttr(Builder(module.getContext()).getArrayAttr({}));
  }
}

ProgramSource *ModelSearch::programsOf(ModuleOp bound, const Runtime &runtime) {
  OwningOpRef<ModuleOp> root(bound.clone());
  dropSizes(*root);
  std::string key = runtime.name;
  llvm::raw_string_ostream os(key);
  root->print(os);
  std::unique_ptr<LibraryPrograms> &library = libraries[key];
  if (!library)
    library = std::make_unique<LibraryPrograms>(*root, runtime,
                                                request.cacheDirectory, loads);
  return library.get();
}

static bool hasRoutedExperts(ModuleOp module) {
  auto stop = [](transformer::ExpertsOp) { return WalkResult::interrupt(); };
  return module.walk(stop).wasInterrupted();
}

/// Returns the number of layers, which pipeline stages divide among them.
static Result<int64_t> layersOf(ModuleOp module) {
  CostProgramAnalysis analysis(module);
  if (!analysis.isValid())
    return Error{"", "the model has no layers to price", ""};
  Result<std::vector<uint32_t>> layers = layersInOrder(analysis.getProgram());
  if (!layers)
    return layers.error();
  return static_cast<int64_t>(layers->size());
}

/// Returns the number of nodes of `machine` that `devices` devices need.
static int64_t nodesFor(const Machine &machine, int64_t devices) {
  int64_t perNode = machine.pools.front().devicesPerNode;
  return (devices + perNode - 1) / perNode;
}

std::optional<Error> ModelSearch::readLoads(ModuleOp bound) {
  const std::optional<ExpertPlan> &placed = variant->base.plan.expertPlacement;
  if (!placed || loads)
    return std::nullopt;
  if (workloadOf(bound).phase == Phase::train)
    return Error{"", "--expert-load: loads of training are not searched with",
                 "leave it out, or estimate the plans that you have in mind"};
  FailureOr<ExpertLayers> layers = findExpertLayers(bound);
  if (failed(layers))
    return diagnostics.takeError();
  if (layers->all.empty())
    return Error{"", "--expert-load: the model has no routed experts",
                 "leave it out"};
  Result<ExpertLoads> read = readSources(placed->sources, layers->shape());
  if (!read)
    return read.error();
  loads = std::make_shared<ExpertPlacer>(std::move(read->loads),
                                         placed->options().policy);
  return std::nullopt;
}

std::optional<Error> ModelSearch::addTarget(std::optional<int64_t> devices) {
  Target target = variant->base.target;
  Result<OwningOpRef<ModuleOp>> bound = bind(target);
  if (!bound)
    return bound.error();
  FailureOr<Machine> machine = TargetAnalysis(**bound).readMachine();
  if (failed(machine))
    return diagnostics.takeError();
  int64_t count = devices.value_or(machine->devices());
  if (!target.nodes && count > machine->devices()) {
    target.nodes = nodesFor(*machine, count);
    if (!(bound = bind(target)))
      return bound.error();
  }
  TargetAnalysis analysis(**bound);
  if (failed(machine = analysis.readMachine()) ||
      failed(analysis.verifyOverrides()))
    return diagnostics.takeError();
  if (count > machine->devices())
    return Error{"",
                 machine->name + " with " + countOf(*target.nodes, "node") +
                     " has " + countOf(machine->devices(), "device") +
                     ", not " + formatInteger(count),
                 "leave out --nodes"};
  SearchTarget own;
  own.runtime = analysis.getRuntime();
  const Target &given = analysis.getTarget();
  own.runtime.adaptTo(machine->pools.front(), given.modelType, given.launch);
  if (std::optional<int64_t> chunk = given.prefillChunk)
    own.runtime.setTokenBudget(static_cast<double>(*chunk));
  own.machine = std::move(*machine);
  own.devices = count;
  own.memoryUtilization = analysis.getTarget().memoryUtilization;
  if (std::optional<Error> error = readLoads(**bound))
    return error;
  own.programs = programsOf(**bound, own.runtime);
  own.base = variant->base.plan;
  own.flags = variant->flags;
  outcome.variants.push_back(index);
  outcome.problem.targets.push_back(std::move(own));
  outcome.problem.question = questionOf(**bound);
  outcome.problem.hasExperts = hasRoutedExperts(**bound);
  if (!outcome.problem.trains())
    return std::nullopt;
  Result<int64_t> layers = layersOf(**bound);
  if (!layers)
    return layers.error();
  outcome.problem.layers = *layers;
  return std::nullopt;
}

/// Saves the libraries of strategies. A failure costs time later but changes no
/// answer, so that it is only a warning.
void ModelSearch::save() {
  for (const auto &entry : libraries)
    if (Result<bool> saved = entry.second->save(); !saved && warn)
      warn(saved.error().str());
}

std::optional<Error> ModelSearch::add(size_t which, ModuleOp module) {
  index = which;
  variant = &request.variants[which];
  model = module;
  std::vector<std::optional<int64_t>> devices(request.devices.begin(),
                                              request.devices.end());
  if (devices.empty())
    devices.emplace_back();
  for (const auto &count : devices)
    if (std::optional<Error> error = addTarget(count))
      return error;
  return std::nullopt;
}

/// Sets the space of plans. Requests cannot be priced with pipeline stages.
std::optional<Error> ModelSearch::setSpace() {
  SearchSpace &space = outcome.problem.space;
  space = request.space;
  if (std::optional<Error> error = setTrains(space, outcome.problem.trains()))
    return error;
  if (loads)
    space.loadedExperts = loads->loads().experts;
  else if (space.redundantExperts && space.redundantExperts->back() > 0)
    return Error{"", "--space: redundant_experts needs the loads of experts",
                 outcome.problem.trains() || !outcome.problem.hasExperts
                     ? "leave them out"
                     : "add --expert-load=FILE or --expert-load=zipf:1.0"};
  if (!request.requests)
    return std::nullopt;
  if (!space[Knob::pp].has(1))
    return Error{"", "requests are priced without pipeline stages: pp=1",
                 "steps of plans with stages are priced: --phase=decode"};
  space.sizes[static_cast<size_t>(Knob::pp)] = NumberSet::of(1);
  return std::nullopt;
}

/// If the goal is cost, requires a price for at least one target, and warns
/// about targets without a price.
std::optional<Error> ModelSearch::checkPrices() {
  if (request.goal != Goal::cost)
    return std::nullopt;
  std::set<std::string> unpriced;
  bool isPriced = false;
  for (const SearchTarget &target : outcome.problem.targets)
    if (target.machine.price)
      isPriced = true;
    else
      unpriced.insert(target.machine.name);
  if (unpriced.empty())
    return std::nullopt;
  std::string names =
      join(std::vector<std::string>(unpriced.begin(), unpriced.end()), ", ");
  if (!isPriced)
    return Error{"", "--goal=cost: no price is known for " + names,
                 "give --price=DOLLARS per device-hour, or another --goal"};
  warn("no price is known for " + names +
       ": not compared in cost; --price gives one to each machine");
  return std::nullopt;
}

Result<SearchOutcome> ModelSearch::run(const SearchControl &control) {
  if (std::optional<Error> error = setSpace())
    return *error;
  if (std::optional<Error> error = checkPrices())
    return *error;
  SearchProblem &problem = outcome.problem;
  problem.batches = request.batches;
  problem.goal = request.goal;
  problem.limits = request.limits;
  problem.verify = request.verify;
  Result<SearchResult> result = autopar::search::search(problem, control);
  save();
  if (!result)
    return result.error();
  outcome.result = std::move(*result);
  for (SearchTarget &target : problem.targets)
    target.programs = nullptr;
  return std::move(outcome);
}

Result<SearchOutcome> autopar::session::searchModule(
    ModuleOp module, const SearchRequest &request, const Session::Warn &warn,
    Diagnostics &diagnostics, const SearchControl &control) {
  ModelSearch search(request, warn, diagnostics);
  for (size_t i = 0; i < request.variants.size(); ++i)
    if (std::optional<Error> error = search.add(i, module))
      return *error;
  return search.run(control);
}

Result<SearchOutcome> Session::search(const ModelRequest &model,
                                      const SearchRequest &request,
                                      const SearchControl &control) {
  ModelSearch search(request, state->warn, state->diagnostics);
  for (size_t i = 0; i < request.variants.size(); ++i) {
    ModelRequest own = model;
    if (!request.variants[i].weightFormat.empty())
      own.weightFormat = request.variants[i].weightFormat;
    Result<ModuleOp> module = state->import(own);
    if (!module)
      return module.error();
    if (std::optional<Error> error = search.add(i, *module))
      return *error;
  }
  return search.run(control);
}

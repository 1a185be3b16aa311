//===- ServingPredictor.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServingPredictor.h"

#include "WeightFormats.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Evaluate/PlanLayout.h"
#include "autopar/Import/LoadModel.h"
#include "autopar/Pipelines/StrategyLibrary.h"
#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Transforms/Bind/Target.h"
#include "autopar/Transforms/Passes.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <map>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::importer;
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::serving;
using namespace autopar::transforms;
using namespace autopar::session;
using namespace mlir;

namespace {

/// A model with weights in one format, and its strategies for one runtime.
struct ServedModel {
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<StrategyLibrary> library;
};

/// A deployment that is ready to price loads.
struct Deployment {
  CompiledProgram *program = nullptr;
  Machine machine;
  Runtime runtime;
  Layout layout;
  std::optional<double> memoryUtilization;
  int64_t replicas = 1;
  std::unique_ptr<QueueModel> server;
};

} // namespace

struct ServingPredictor::State {
  explicit State(std::vector<Override> overrides)
      : overrides(overrides), usedByRuntimes(overrides.size()),
        hardware(overrides), context(MLIRContext::Threading::DISABLED),
        handler(&context, [&](Diagnostic &diagnostic) {
          if (said.empty())
            said = diagnostic.str();
          return success();
        }) {
    context.printOpOnDiagnostic(false);
  }

  /// Returns `error`; if it has no message, it gets that of the last
  /// diagnostic.
  Error take(Error error) {
    if (error.message.empty())
      error.message = said.empty() ? "the model cannot be split so" : said;
    said.clear();
    return error;
  }
  Result<std::string> formatOf(const std::string &model);
  /// Returns the weight format: that of the plan or, if the plan has none, that
  /// of the checkpoint.
  Result<std::string> formatOf(const ServedPlan &plan) {
    return plan.weightFormat.empty() ? formatOf(plan.model) : plan.weightFormat;
  }
  Result<const Runtime *> runtime(const std::string &name);
  Result<ServedModel *> model(const ServedPlan &plan, const Runtime &runtime);
  Result<Plan> planOf(const ServedPlan &served, const Runtime &runtime,
                      const Machine &machine, ModuleOp module);
  Result<Deployment *> deployment(const ServedPlan &served);

  std::vector<Override> overrides;
  std::vector<bool> usedByRuntimes;
  HardwareLibrary hardware;
  MLIRContext context;
  std::string said;
  ScopedDiagnosticHandler handler;
  /// The weight formats of checkpoints, by the name of the model.
  std::map<std::string, std::string> formats;
  std::map<std::string, std::unique_ptr<Runtime>> runtimes;
  std::map<std::string, std::unique_ptr<ServedModel>> models;
  std::map<std::string, std::unique_ptr<Deployment>> deployments;
};

/// Returns the request for a model. Nothing is downloaded, because tables name
/// bundled models.
static ModelRequest requestOf(const std::string &model) {
  ModelRequest request;
  request.argument = model;
  request.hub.offline = true;
  request.asServed = true;
  return request;
}

Result<const Runtime *>
ServingPredictor::State::runtime(const std::string &name) {
  std::unique_ptr<Runtime> &known = runtimes[name];
  if (!known) {
    Result<Runtime> read = readRuntime(name, overrides, usedByRuntimes);
    if (!read)
      return read.error();
    known = std::make_unique<Runtime>(std::move(*read));
  }
  return known.get();
}

Result<ServedModel *> ServingPredictor::State::model(const ServedPlan &plan,
                                                     const Runtime &runtime) {
  std::string key = plan.model + "\n" + plan.weightFormat + "\n" + runtime.name;
  std::unique_ptr<ServedModel> &known = models[key];
  if (known)
    return known.get();
  ModelRequest request = requestOf(plan.model);
  request.weightFormat = plan.weightFormat;
  auto served = std::make_unique<ServedModel>();
  Result<OwningOpRef<ModuleOp>> module = loadModel(&context, request);
  if (!module)
    return take(module.error());
  served->module = std::move(*module);
  AbsorbLatentAttentionPassOptions absorb;
  absorb.phase = "each";
  PassManager pm(&context);
  pm.addPass(createAbsorbLatentAttentionPass(std::move(absorb)));
  if (failed(pm.run(*served->module)))
    return take({});
  served->library = std::make_unique<StrategyLibrary>(*served->module, runtime);
  known = std::move(served);
  return known.get();
}

static bool hasRoutedExperts(ModuleOp module) {
  auto stop = [](transformer::ExpertsOp) { return WalkResult::interrupt(); };
  return module.walk(stop).wasInterrupted();
}

Result<Plan> ServingPredictor::State::planOf(const ServedPlan &served,
                                             const Runtime &runtime,
                                             const Machine &machine,
                                             ModuleOp module) {
  Degrees degrees;
  degrees.tp = served.tp;
  degrees.dp = served.dp;
  bool hasExperts = hasRoutedExperts(module);
  if (hasExperts && (served.ep > 1 || served.etp != served.tp)) {
    degrees.ep = served.ep;
    degrees.etp = served.etp;
  }
  Result<MeshPlan> mesh = planCanonicalMesh(degrees);
  if (!mesh)
    return mesh.error();
  Plan plan;
  setMesh(plan, *mesh);
  if (auto error = completeDegrees(plan))
    return *error;
  plan.kvDtype = served.kvFormat;
  Result<std::string> format = formatOf(served);
  if (!format)
    return format.error();
  const Chip &chip = machine.pools.front().chip;
  // Kernels widen 4-bit integers, and keys and values stay as they are.
  bool multipliesQuantized =
      *format != "bf16" && *format != "int4" && *format != "awq-4";
  if (!plan.kvDtype && runtime.keepsCacheInFp8(multipliesQuantized, chip))
    plan.kvDtype = ElementType::fp8_e4m3;
  dropNeutralDegrees(plan);
  dropNeutralAxes(plan);
  return plan;
}

static std::string keyOf(const ServedPlan &plan) {
  std::string key = plan.model + "\n" + plan.weightFormat + "\n" + plan.system +
                    "\n" + plan.runtime;
  for (int64_t value : {plan.tp, plan.dp, plan.ep, plan.etp,
                        plan.kvFormat ? int64_t(*plan.kvFormat) : -1})
    key += "\n" + std::to_string(value);
  key += "\n" + std::to_string(plan.memoryUtilization.value_or(0));
  for (const auto &value :
       {plan.stepTokens, plan.streamInterval, plan.receiveInterval})
    key += "\n" + std::to_string(value.value_or(0));
  return key;
}

Result<Deployment *>
ServingPredictor::State::deployment(const ServedPlan &served) {
  std::unique_ptr<Deployment> &known = deployments[keyOf(served)];
  if (known)
    return known.get();
  Result<const Runtime *> runtime = this->runtime(served.runtime);
  if (!runtime)
    return runtime.error();
  Result<Machine> machine = hardware.machine(served.system);
  int64_t devices = served.tp * served.dp;
  if (machine && devices > machine->devices()) {
    int64_t perNode = machine->pools.front().devicesPerNode;
    machine =
        hardware.machine(served.system, (devices + perNode - 1) / perNode);
  }
  if (!machine)
    return machine.error();
  Result<ServedModel *> model = this->model(served, **runtime);
  if (!model)
    return model.error();
  Result<Plan> plan = planOf(served, **runtime, *machine, *(*model)->module);
  if (!plan)
    return plan.error();
  auto made = std::make_unique<Deployment>();
  made->program = (*model)->library->find(*plan);
  if (!made->program)
    return take({});
  made->machine = std::move(*machine);
  made->machine.useImplementations((*runtime)->name, (*runtime)->collectives);
  made->runtime = **runtime;
  made->runtime.adaptTo(made->machine.pools.front(),
                        targetOf(*(*model)->module).modelType);
  if (served.stepTokens)
    made->runtime.setTokenBudget(static_cast<double>(*served.stepTokens));
  if (served.streamInterval)
    made->runtime.streamInterval.value = double(*served.streamInterval);
  if (served.receiveInterval)
    made->runtime.receiveInterval.value = double(*served.receiveInterval);
  made->layout = layoutOf(made->program->axes(), *plan);
  made->memoryUtilization = served.memoryUtilization;
  made->replicas = served.dp;
  made->server = std::make_unique<QueueModel>(
      *made->program, made->machine, made->runtime, served.memoryUtilization);
  made->server->lay(made->layout, made->replicas);
  known = std::move(made);
  return known.get();
}

ServingPredictor::ServingPredictor(std::vector<Override> overrides)
    : state(std::make_unique<State>(std::move(overrides))) {}
ServingPredictor::~ServingPredictor() = default;

static Error errorOf(const ServingRefusal &refusal) {
  if (refusal.kind == ServingRefusal::Kind::capacity)
    return {"", "the KV caches do not hold one request", ""};
  return {"",
          "the plan has no price: a size does not divide, or nothing "
          "joins its devices",
          "autopar estimate with the same flags says which"};
}

Result<SteadyState> ServingPredictor::predict(const ServedPlan &plan,
                                              const ServedLoad &load) {
  Result<Deployment *> deployment = state->deployment(plan);
  if (!deployment)
    return deployment.error();
  SteadyState steady;
  if (ServingRefusal refusal = (*deployment)->server->timesOf(load, steady))
    return errorOf(refusal);
  return steady;
}

Result<DisaggregatedState>
ServingPredictor::predict(const ServedPlan &prefill, const ServedPlan &decode,
                          const Disaggregation &pools, const ServedLoad &load) {
  Result<Deployment *> reader = state->deployment(prefill);
  if (!reader)
    return reader.error();
  Result<Deployment *> writer = state->deployment(decode);
  if (!writer)
    return writer.error();
  DisaggregatedState served;
  if (ServingRefusal refusal = serveDisaggregated(
          *(*reader)->server, *(*writer)->server, pools, load, served))
    return errorOf(refusal);
  return served;
}

Result<double> ServingPredictor::predictBatch(const ServedPlan &plan,
                                              const ServedLoad &batch) {
  Result<Deployment *> deployment = state->deployment(plan);
  if (!deployment)
    return deployment.error();
  double tokensPerSecond = 0;
  if (ServingRefusal refusal =
          (*deployment)->server->runBatch(batch, tokensPerSecond))
    return errorOf(refusal);
  return tokensPerSecond;
}

Result<ServedMemory> ServingPredictor::memory(const ServedPlan &plan,
                                              int64_t sequenceTokens) {
  Result<Deployment *> found = state->deployment(plan);
  if (!found)
    return found.error();
  Deployment &deployment = **found;
  Strategy strategy =
      compile(deployment.program->program(), deployment.program->launching());
  const TotalNodes &total = strategy.total;
  Tape tape = collect(strategy, {total.weightBytes, total.reservedBytes,
                                 total.runtimeBytes, total.kvCapacityBytes,
                                 total.budgetBytes, total.kvCapacityTokens});
  Pricer pricer(tape, deployment.machine, deployment.runtime,
                deployment.memoryUtilization);
  double bytes[6];
  Refusal refusal = pricer.lay(deployment.layout);
  if (!refusal)
    refusal = pricer.price(
        GroupValues{1, 1, static_cast<double>(sequenceTokens), 0, 0}, bytes);
  if (refusal)
    return errorOf(refusal);
  auto whole = [&](int index) { return static_cast<int64_t>(bytes[index]); };
  return ServedMemory{whole(0), whole(1), whole(2),
                      whole(3), whole(4), whole(5)};
}

Result<ServedFacts> ServingPredictor::facts(const ServedPlan &plan,
                                            double promptTokens,
                                            double answerTokens) {
  Result<Deployment *> found = state->deployment(plan);
  if (!found)
    return found.error();
  Deployment &deployment = **found;
  ServedFacts facts;
  ServedLoad load;
  load.promptTokens = promptTokens;
  load.answerTokens = answerTokens;
  ServingFlops flops;
  if (ServingRefusal refusal = deployment.server->count(load, flops))
    return errorOf(refusal);
  const Pool &pool = deployment.machine.pools.front();
  facts.kvTokens = flops.capacityTokens * deployment.replicas;
  facts.decodeFlops = flops.decode;
  facts.promptFlops = flops.prompt;
  facts.devicesPerNode = pool.devicesPerNode;
  Result<std::string> format = state->formatOf(plan);
  if (!format)
    return format.error();
  if (const Figure *peak = pool.chip.peak(unitsOf(*format)))
    facts.peakFlops = peak->value * static_cast<double>(plan.tp * plan.dp);
  for (const Resident &resident : deployment.program->program().residents) {
    facts.hasPredictionHead |= resident.stored;
    facts.hasExperts |= resident.topK != 0;
  }
  return facts;
}

Result<std::string>
ServingPredictor::checkpointFormat(const std::string &model) {
  return state->formatOf(model);
}

Result<std::string>
ServingPredictor::State::formatOf(const std::string &model) {
  std::string &known = formats[model];
  if (known.empty()) {
    Result<std::string> read = formatOfCheckpoint(requestOf(model));
    if (!read)
      return read.error();
    known = *read;
  }
  return known;
}

std::optional<Error> ServingPredictor::unusedOverride(
    const std::set<std::string> &otherOwners) const {
  if (std::optional<Error> unused = state->hardware.unusedOverride(otherOwners))
    return unused;
  std::vector<bool> used = state->usedByRuntimes;
  for (size_t i = 0; i < state->overrides.size(); ++i) {
    std::string owner = ownerOf(state->overrides[i]);
    used[i] = used[i] || otherOwners.count(owner);
  }
  return unusedRuntimeOverride(state->overrides, used);
}

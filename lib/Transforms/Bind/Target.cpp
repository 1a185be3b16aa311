//===- Target.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Bind/Target.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Training/Training.h"
#include "autopar/Support/Text.h"
#include "autopar/Transforms/Price/Estimate.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

/// Merges `op` into `target`, which has the choices of the modules around it. A
/// number of nodes belongs to the hardware that is stated with it.
static void add(TargetOp op, Target &target) {
  std::optional<int64_t> nodes;
  if (op.getNodes())
    nodes = static_cast<int64_t>(*op.getNodes());
  if (std::optional<StringRef> hardware = op.getHardware()) {
    target.hardware = hardware->str();
    target.nodes = nodes;
  }
  if (!target.nodes)
    target.nodes = nodes;
  if (std::optional<StringRef> runtime = op.getRuntime())
    target.runtime = runtime->str();
  if (std::optional<APFloat> share = op.getMemoryUtilization())
    target.memoryUtilization = share->convertToDouble();
  if (std::optional<uint64_t> chunk = op.getPrefillChunk())
    target.prefillChunk = static_cast<int64_t>(*chunk);
  if (std::optional<uint64_t> sequences = op.getMaxNumSeqs())
    target.launch.maxSequences = static_cast<int64_t>(*sequences);
  target.launch.eager |= op.getEnforceEager();
  if (op.getFigures().empty())
    return;
  target.overrides.clear();
  for (auto [path, value] :
       llvm::zip(op.getFigures().getAsValueRange<StringAttr>(), op.getValues()))
    target.overrides.push_back({path.str(), value});
}

/// Whether the module's step is a training iteration, even if the module has no
/// backwards yet.
static bool trainsIn(ModuleOp module) {
  auto steps = module.getOps<transformer::WorkloadOp>();
  return !module.getOps<StepSectionsOpInterface>().empty() ||
         llvm::any_of(steps, [](transformer::WorkloadOp step) {
           return step.getWorkload().phase == Phase::train;
         });
}

Target autopar::transforms::targetOf(ModuleOp module) {
  auto around = module->getParentOfType<ModuleOp>();
  Target target = around ? targetOf(around) : Target();
  for (TargetOp op : module.getOps<TargetOp>()) {
    add(op, target);
    target.own |= around && op.getHardware();
  }
  if (auto type =
          module->getAttrOfType<StringAttr>(transformer::modelTypeAttribute))
    target.modelType = type.str();
  target.trains = trainsIn(module);
  return target;
}

TargetAnalysis::Libraries::Libraries(std::vector<Override> given)
    : overrides(std::move(given)), hardware(overrides),
      usedByRuntimes(overrides.size()) {}

TargetAnalysis::TargetAnalysis(Operation *op)
    : module(cast<ModuleOp>(op)), target(targetOf(module)),
      libraries(std::make_shared<Libraries>(target.overrides)) {
  readRuntime();
}

TargetAnalysis::TargetAnalysis(ModuleOp module, const TargetAnalysis &around)
    : module(module), target(targetOf(module)),
      libraries(target.overrides == around.target.overrides
                    ? around.libraries
                    : std::make_shared<Libraries>(target.overrides)) {
  readRuntime();
}

void TargetAnalysis::readRuntime() {
  std::string name = target.runtimeName();
  auto it = libraries->runtimes.find(name);
  if (it == libraries->runtimes.end()) {
    Result<Runtime> read = autopar::runtime::readRuntime(
        name, libraries->overrides, libraries->usedByRuntimes);
    if (!read) {
      (void)emitError(module, read.error());
      return;
    }
    it = libraries->runtimes.emplace(name, std::move(*read)).first;
  }
  if (target.trains && !it->second.training)
    return refuseTraining(name);
  runtime = &it->second;
}

void TargetAnalysis::refuseTraining(const std::string &name) const {
  InFlightDiagnostic diag = emitError(module->getLoc())
                            << "runtime \"" << name << "\" does not train";
  std::vector<std::string> others;
  for (const std::string &other : runtimeNames())
    if (Result<Runtime> read = autopar::runtime::readRuntime(
            other, libraries->overrides, libraries->usedByRuntimes);
        read && read->training)
      others.push_back(other);
  diag.attachNote() << "those that do: " << join(others, ", ");
}

bool TargetAnalysis::isInvalidated(const AnalysisManager::PreservedAnalyses &) {
  return !(targetOf(module) == target);
}

FailureOr<Machine> TargetAnalysis::readMachine(int64_t spareNodes) const {
  std::pair<std::string, int64_t> key(target.hardwareName(),
                                      target.nodes.value_or(1) + spareNodes);
  auto it = libraries->machines.find(key);
  if (it == libraries->machines.end()) {
    Result<Machine> read = libraries->hardware.machine(key.first, key.second);
    if (!read)
      return emitError(module, read.error());
    it = libraries->machines.emplace(key, std::move(*read)).first;
  }
  Machine machine = it->second;
  machine.useImplementations(runtime->name, runtime->collectives);
  return machine;
}

LogicalResult TargetAnalysis::verifyOverrides() const {
  std::optional<Error> unused = libraries->hardware.unusedOverride();
  if (!unused)
    unused =
        unusedRuntimeOverride(libraries->overrides, libraries->usedByRuntimes);
  return unused ? emitError(module, *unused) : success();
}

//===- PlanReader.cpp - Product flags to a plan ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/Pipelines.h"

#include "autopar/Pipelines/RuntimeDefaults.h"
#include "autopar/Plan/DeviceOrder.h"
#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Plan/PlanKnobs.h"
#include "autopar/Plan/PlanText.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace mlir;

PlanOptions::PlanOptions() {
  for (const program::RequestKnob &knob : program::requestKnobs())
    ofRequests.emplace_back(&knob, std::make_unique<Option<std::string>>(
                                       *this, knob.flag,
                                       llvm::cl::value_desc(knob.value),
                                       llvm::cl::desc(knob.help)));
  for (const PlanKnob &knob : planKnobs()) {
    if (!knob.flag)
      continue;
    ofKnobs.emplace_back(&knob,
                         std::make_unique<Option<std::string>>(
                             *this, knob.flag, llvm::cl::value_desc(knob.value),
                             llvm::cl::desc(knob.help)));
    if (StringRef(knob.value) == "true")
      ofKnobs.back().second->setValueExpectedFlag(llvm::cl::ValueOptional);
    if (!knob.alias)
      continue;
    ofKnobs.emplace_back(&knob, std::make_unique<Option<std::string>>(
                                    *this, knob.alias,
                                    llvm::cl::value_desc(knob.value),
                                    llvm::cl::desc(knob.aliasHelp)));
  }
}

namespace {

/// Reads a plan from its file, and then from the flags, which override the
/// file.
class PlanReader {
public:
  PlanReader(const PlanOptions &options, PipelineErrorHandler onError)
      : options(options), onError(onError) {}

  FailureOr<Plan> read() {
    if (failed(fillPlan()))
      return failure();
    return std::move(plan);
  }

private:
  LogicalResult fillPlan() {
    if (failed(findRuntime()))
      return failure();
    if (!options.plan.empty()) {
      Result<Plan> read = loadPlan(options.plan);
      if (!read)
        return onError(read.error().str());
      plan = std::move(*read);
      asksForStages = plan.has(Degree::pp);
    }
    if (options.mesh.getNumOccurrences() || !options.mesh.empty()) {
      Result<MeshPlan> mesh = parseMesh(options.mesh);
      if (!mesh)
        return onError("--mesh: " + mesh.error().str());
      for (const PlanAxis &axis : mesh->axes)
        plan.setAxis(axis.name, axis.size);
      for (PlanDegree &degree : mesh->degrees)
        plan.setDegree(degree.name, std::move(degree.axes));
      if (std::optional<Error> error = completeDegrees(plan))
        return onError("--mesh: " + error->str());
    }
    bool isRead = succeeded(readKnobs()) && succeeded(readPipeline()) &&
                  succeeded(readDegrees()) && succeeded(checkKnobs()) &&
                  succeeded(readOrder());
    if (isRead && trainer)
      takeLoss(*trainer, plan.training);
    // A plan from a file or from words says itself when weights are gathered.
    if (isRead && trainer && options.plan.empty())
      keepWholeInStages(*trainer, plan);
    return success(isRead);
  }

  bool trains() const {
    return options.phase == StringRef(nameOf(Phase::train));
  }

  LogicalResult findRuntime() {
    Result<std::vector<Override>> overrides =
        parseOverrides({options.overrides.begin(), options.overrides.end()});
    if (!overrides)
      return onError("--set: " + overrides.error().str());
    if (trains())
      trainer = findTrainer(options.runtime, *overrides);
    return success();
  }

  using TextOption = PlanOptions::Option<std::string>;

  /// Overrides `degree` by the value of `option` if this flag is given.
  LogicalResult readDegree(const TextOption &option,
                           std::optional<int64_t> &degree) {
    if (option.getNumOccurrences() == 0 && option.empty())
      return success();
    int64_t size;
    if (option == "?")
      size = openDegree;
    else if (StringRef(option).getAsInteger(10, size) || size < 1 ||
             size > limits::maxDevices)
      return onError("--" + option.getArgStr() + "=" + StringRef(option) +
                     ": expected a number of devices from 1 to " +
                     std::to_string(limits::maxDevices) + ", or '?'");
    degree = size;
    return success();
  }

  /// Adds pipeline stages, as the outermost axis unless the mesh already has
  /// them.
  LogicalResult readPipeline() {
    std::optional<int64_t> size;
    if (failed(readDegree(options.stagePP, size)))
      return failure();
    if (size && !plan.axis(Degree::pp))
      plan.axes.insert(plan.axes.begin(),
                       {std::string(nameOf(Degree::pp)), std::nullopt});
    if (size)
      plan.setAxis(Degree::pp, *size == openDegree ? std::nullopt : size);
    asksForStages |= size.has_value();
    // An axis that is called pp in --mesh, without other flags of pipelines, is
    // an ordinary axis.
    if (asksForStages && !plan.pipeline.isGiven())
      plan.pipeline.interleave = 1;
    return success();
  }

  /// Reads the flags of degrees. Without any of them the plan keeps its mesh.
  LogicalResult readDegrees() {
    Degrees degrees = degreesOf(plan);
    std::pair<const TextOption &, std::optional<int64_t> &> flags[] = {
        {options.shardTP, degrees.tp},
        {options.shardCP, degrees.cp},
        {options.shardDP, degrees.dp},
        {options.shardEP, degrees.ep},
        {options.shardETP, degrees.etp},
        {options.shardDCP, degrees.dcp},
        {options.shardAttentionTP, degrees.attentionTp},
        {options.shardFSDP, degrees.fsdp}};
    bool given = false;
    for (auto &[option, degree] : flags) {
      if (failed(readDegree(option, degree)))
        return failure();
      given |= !option.empty();
    }
    if (!given)
      return success();
    bool isDefault = trainer && takeExpertTensor(*trainer, degrees);
    fillExpertTensor(degrees);
    Result<MeshPlan> mesh = planCanonicalMesh(degrees);
    if (!mesh)
      return onError(mesh.error().str() +
                     (isDefault ? defaultText(degrees) : ""));
    setMesh(plan, *mesh);
    // The degrees in the file may be products of axes that are cut differently
    // now.
    if (std::optional<Error> error = completeDegrees(plan))
      return onError(error->str());
    splitAsAsked(plan);
    return success();
  }

  /// Returns a text that explains an error of a mesh if the mesh follows from a
  /// default of the runtime.
  std::string defaultText(const Degrees &degrees) const {
    return "; etp = tp = " + std::to_string(*degrees.etp) +
           " is the default of " + trainer->name +
           ": --shard-etp=1 leaves the matrices of each expert whole";
  }

  LogicalResult readOrder() {
    if (options.map.getNumOccurrences() == 0 && options.map.empty())
      return success();
    if (std::optional<Error> error = mapAxes(plan, options.map.getValue()))
      return onError("--map=" + options.map + ": " + error->str());
    return success();
  }

  LogicalResult readKnobs() {
    for (const auto &[knob, option] : options.knobs()) {
      if (option->getNumOccurrences() == 0 && option->empty())
        continue;
      if (std::optional<std::string> expected = knob->set(plan, *option))
        return onError("--" + option->getArgStr() + "=" + StringRef(*option) +
                       ": expected " + *expected);
    }
    return success();
  }

  LogicalResult checkKnobs() {
    std::optional<Error> error = checkChoices(plan, trains());
    if (!error)
      error = checkTrainingChoices(plan, trains());
    return error ? onError(error->str()) : success();
  }

  const PlanOptions &options;
  PipelineErrorHandler onError;
  /// The runtime of a training step; nothing if no runtime is named.
  std::optional<Runtime> trainer;
  Plan plan;
  bool asksForStages = false;
};

} // namespace

FailureOr<Plan>
autopar::pipelines::readPlanOptions(const PlanOptions &options,
                                    PipelineErrorHandler onError) {
  return PlanReader(options, onError).read();
}

//===- PlanReader.cpp - Product flags to a plan ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/Pipelines.h"

#include "autopar/Plan/DeviceOrder.h"
#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace mlir;

namespace {

/// Fills a plan, from the file and then from the flags.
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
    if (!options.plan.empty()) {
      Result<JsonDocument> document = JsonDocument::readFile(options.plan);
      if (!document)
        return onError(document.error().str());
      Result<Plan> read = readPlan(*document);
      if (!read)
        return onError(read.error().str());
      plan = std::move(*read);
      asksForStages = plan.has("pp");
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
    return success(succeeded(readPipeline()) && succeeded(readDegrees()) &&
                   succeeded(readChoices()) && succeeded(readFormats()) &&
                   succeeded(readUtilization()) && succeeded(readOrder()));
  }

  using TextOption = PlanOptions::Option<std::string>;

  /// Overrides `degree` where the flag is given.
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

  /// Stages lie outermost, where the mesh does not have them already.
  LogicalResult readPipeline() {
    std::optional<int64_t> size;
    if (failed(readDegree(options.stagePP, size)))
      return failure();
    if (size && !plan.axis("pp"))
      plan.axes.insert(plan.axes.begin(), {"pp", std::nullopt});
    if (size)
      plan.setAxis("pp", *size == openDegree ? std::nullopt : size);
    asksForStages |= size.has_value();
    PipelinePlan &pipeline = plan.pipeline;
    if (options.interleave.getNumOccurrences())
      pipeline.interleave = options.interleave;
    if (options.microbatches.getNumOccurrences())
      pipeline.microbatches = options.microbatches;
    if (!options.schedule.empty()) {
      pipeline.schedule = parseScheduleKind(options.schedule.getValue());
      if (!pipeline.schedule)
        return onError("--schedule=" + options.schedule + ": expected " +
                       scheduleChoices());
    }
    if (!options.stages.empty()) {
      Result<std::vector<LayerRange>> ranges =
          parseRanges(options.stages.getValue());
      if (!ranges)
        return onError("--stages: " + ranges.error().str());
      pipeline.stages = std::move(*ranges);
    }
    // An axis that --mesh alone calls pp is one as any other.
    if (asksForStages && !pipeline.isGiven())
      pipeline.interleave = 1;
    return success();
  }

  /// Without such a flag the plan keeps the mesh that it has.
  LogicalResult readDegrees() {
    Degrees degrees = degreesOf(plan);
    std::pair<const TextOption &, std::optional<int64_t> &> flags[] = {
        {options.shardTP, degrees.tp},
        {options.shardCP, degrees.cp},
        {options.shardDP, degrees.dp},
        {options.shardEP, degrees.ep},
        {options.shardETP, degrees.etp},
        {options.shardDCP, degrees.dcp},
        {options.shardAttentionTP, degrees.attentionTp}};
    bool given = false;
    for (auto &[option, degree] : flags) {
      if (failed(readDegree(option, degree)))
        return failure();
      given |= !option.empty();
    }
    if (!given)
      return success();
    Result<MeshPlan> mesh = planCanonicalMesh(degrees);
    if (!mesh)
      return onError(mesh.error().str());
    setMesh(plan, *mesh);
    // The file may have products of axes that are now cut otherwise.
    if (std::optional<Error> error = completeDegrees(plan))
      return onError(error->str());
    return success();
  }

  LogicalResult readOrder() {
    if (options.map.getNumOccurrences() == 0 && options.map.empty())
      return success();
    if (std::optional<Error> error = mapAxes(plan, options.map.getValue()))
      return onError("--map=" + options.map + ": " + error->str());
    return success();
  }

  LogicalResult readChoices() {
    if (options.shardSP.getNumOccurrences() || options.shardSP)
      plan.sequenceParallel = options.shardSP;
    if (options.fsdp.getNumOccurrences() || options.fsdp)
      plan.fsdp = options.fsdp;
    if (!options.contextKind.empty()) {
      plan.contextKind = parseContextKind(options.contextKind.getValue());
      if (!plan.contextKind)
        return onError("--cp-kind=" + options.contextKind +
                       ": expected ring or all-to-all");
    }
    if (options.dispatchByNode.getNumOccurrences() || options.dispatchByNode)
      plan.dispatchByNode = options.dispatchByNode;
    if (failed(readFormat("dispatch-dtype", options.dispatchDtype,
                          plan.dispatchDtype)))
      return failure();
    if (failed(readExpertPlan()))
      return failure();
    if (std::optional<Error> error = checkChoices(plan))
      return onError(error->str());
    return success();
  }

  /// Overrides what the plan says of experts, flag by flag.
  LogicalResult readExpertPlan() {
    ExpertPlan experts = plan.expertPlacement.value_or(ExpertPlan());
    const auto &redundant = options.redundantExperts;
    bool hasRedundant = redundant.getNumOccurrences() || redundant != 0;
    if (hasRedundant && (redundant < 0 || redundant > limits::maxPlacedSlots))
      return onError("--redundant-experts=" + std::to_string(redundant) +
                     ": expected a number from 0 to " +
                     std::to_string(limits::maxPlacedSlots));
    if (hasRedundant)
      experts.redundant = redundant;
    if (!options.placeExperts.empty()) {
      experts.policy = parsePlacementPolicy(options.placeExperts.getValue());
      if (!experts.policy)
        return onError("--place-experts=" + options.placeExperts +
                       ": expected block, round_robin or balanced");
    }
    if (!options.expertLoad.empty())
      experts.sources.load = options.expertLoad;
    if (!options.expertTrace.empty())
      experts.sources.trace = options.expertTrace;
    bool groups =
        options.groupsInNode.getNumOccurrences() || options.groupsInNode;
    if (groups)
      experts.groupsInNode = options.groupsInNode;
    if (hasRedundant || groups || !options.placeExperts.empty() ||
        !options.expertLoad.empty() || !options.expertTrace.empty())
      plan.expertPlacement = std::move(experts);
    return success();
  }

  LogicalResult readFormat(StringRef flag, const std::string &text,
                           std::optional<ElementType> &format) {
    if (text.empty())
      return success();
    format = parseElementType(text);
    if (format)
      return success();
    return onError("--" + flag + "=" + text + ": unknown format, expected " +
                   StringRef(elementTypeChoices()));
  }

  LogicalResult readFormats() {
    return success(
        succeeded(readFormat("dtype", options.dtype, plan.dtype)) &&
        succeeded(readFormat("kv-dtype", options.kvDtype, plan.kvDtype)));
  }

  LogicalResult readUtilization() {
    if (options.memoryUtilization.getNumOccurrences() == 0 &&
        options.memoryUtilization == 0)
      return success();
    double share = options.memoryUtilization;
    if (!(share > 0 && share <= 1))
      return onError("--memory-utilization=" + formatNumber(share) +
                     ": expected a share above 0 and up to 1");
    plan.memoryUtilization = share;
    return success();
  }

  const PlanOptions &options;
  PipelineErrorHandler onError;
  Plan plan;
  bool asksForStages = false;
};

} // namespace

FailureOr<Plan> autopar::readPlanOptions(const PlanOptions &options,
                                         PipelineErrorHandler onError) {
  return PlanReader(options, onError).read();
}

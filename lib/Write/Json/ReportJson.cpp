//===- ReportJson.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Write/Json.h"

#include "autopar/Report/Report.h"

#include "JsonParts.h"
#include "autopar/Placement/PlacementReport.h"
#include "autopar/Report/CacheFormat.h"

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::writing;
using json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Members of the report
//===----------------------------------------------------------------------===//

static json writeModel(const Report &report) {
  const auto &model = report.model;
  json written = {{"name", model.name},
                  {"parameters", model.parameters},
                  {"active_parameters", model.activeParameters},
                  {"checkpoint_bytes", model.checkpointBytes}};
  if (model.storedOnlyParameters)
    written["stored_only_parameters"] = model.storedOnlyParameters;
  return written;
}

static json writeMesh(const Report &report) {
  json mesh = json::object();
  for (const auto &[name, size] : report.mesh.degrees)
    mesh[name] = size;
  mesh["devices"] = report.mesh.devices;
  if (report.mesh.expertsPerDevice)
    mesh["experts_per_device"] = report.mesh.expertsPerDevice;
  mesh["axes"] = json::array();
  for (const Report::Axis &axis : report.mesh.axes)
    mesh["axes"].push_back(
        {{"name", axis.name},
         {"size", axis.size},
         {"stride", axis.stride},
         {"tier", axis.tier.empty() ? json() : json(axis.tier)}});
  return mesh;
}

static json writeWorkload(const Report &report) {
  return {{"phase", report.workload.phase},
          {"batch", report.workload.batch},
          {"query_length", report.workload.queryLength},
          {"context_length", report.workload.contextLength},
          {"encoder_tokens", report.workload.encoderTokens},
          {"cross_tokens", report.workload.crossTokens}};
}

static json writeMachine(const Report &report) {
  return {{"hardware", report.machine.hardware},
          {"title", report.machine.hardwareTitle},
          {"chip", report.machine.chip},
          {"devices", report.machine.devices},
          {"nodes", report.machine.nodes},
          {"runtime", report.machine.runtime}};
}

static json writeDevice(const Report &report,
                        const Report::DeviceMemory &device) {
  json written = {{"weight_bytes", device.weightBytes},
                  {"kv_cache_bytes", device.kvCacheBytes},
                  {"state_bytes", device.stateBytes},
                  {"activation_bytes", device.activationBytes},
                  {"reserved_bytes", device.reservedBytes},
                  {"profile_bytes", device.profileBytes},
                  {"sampler_bytes", device.samplerBytes},
                  {"rule_bytes", device.ruleBytes},
                  {"runtime_bytes", device.runtimeBytes},
                  {"communication_bytes", device.communicationBytes},
                  {"graph_bytes", device.graphBytes},
                  {"total_bytes", device.totalBytes},
                  {"budget_bytes", device.budgetBytes},
                  {"capacity_bytes", device.capacityBytes},
                  {"fits", device.fits}};
  if (report.training)
    written.update({{"gradient_bytes", device.gradientBytes},
                    {"optimizer_bytes", device.optimizerBytes},
                    {"update_bytes", device.updateBytes},
                    {"saved_bytes", device.savedBytes},
                    {"allocator_bytes", device.allocatorBytes},
                    {"reused_bytes", device.reusedBytes}});
  return written;
}

static json writeMemory(const Report &report) {
  json stages = json::array();
  for (const Report::DeviceMemory &stage : report.memory.perStage)
    stages.push_back(writeDevice(report, stage));
  const auto &memory = report.memory;
  const Assumption *format = findCacheFormat(report);
  return {{"per_device", writeDevice(report, memory.perDevice)},
          {"worst_device", memory.worstDevice},
          {"per_stage", std::move(stages)},
          {"budget_bytes", memory.perDevice.budgetBytes},
          {"kv_format",
           format ? json{{"format", format->value}, {"source", format->source}}
                  : json()},
          {"kv_bytes_per_token", memory.kvBytesPerToken},
          {"kv_bytes_per_token_per_device", memory.kvBytesPerTokenPerDevice},
          {"kv_bytes_per_sequence", memory.kvBytesPerSequence},
          {"kv_capacity_bytes", memory.kvCapacityBytes},
          {"kv_capacity_tokens", memory.kvCapacityTokens},
          {"state_bytes_per_sequence", memory.stateBytesPerSequence}};
}

static json writeCapacity(const Report &report) {
  const auto &capacity = report.capacity;
  return {{"sequences", capacity.sequences},
          {"sequences_per_replica", capacity.sequencesPerReplica},
          {"replicas", capacity.replicas},
          {"tokens", capacity.tokens},
          {"tokens_per_device", capacity.tokensPerDevice}};
}

static json writePrefillSteps(const Report &report) {
  json steps = json::array();
  for (const Report::PrefillStep &step : report.prefillSteps)
    steps.push_back({{"count", step.count},
                     {"batch", step.batch},
                     {"query_length", step.queryLength},
                     {"context_length", step.contextLength},
                     {"step_time_us", step.stepTimeUs}});
  return steps;
}

static json writeFlops(const Report &report) {
  const auto &flops = report.flops;
  return {{"total", writeInteger(flops.total)},
          {"per_device", writeInteger(flops.perDevice)},
          {"layers_linear", writeInteger(flops.layersLinear)},
          {"attention", writeInteger(flops.attention)},
          {"attention_full_square", writeInteger(flops.attentionFullSquare)},
          {"recurrence", writeInteger(flops.recurrence)},
          {"logits", writeInteger(flops.logits)}};
}

static json writeCommunication(const Report &report) {
  json rows = json::array();
  for (const Report::CollectiveRow &row : report.communication.collectives) {
    rows.push_back({{"kind", row.kind},
                    {"name", row.name},
                    {"axes", row.axes},
                    {"group_size", row.groupSize},
                    {"count", row.count},
                    {"bytes", row.bytes},
                    {"wire_bytes_per_device", row.wireBytesPerDevice},
                    {"time_us", row.timeUs}});
    if (report.training)
      rows.back().update(
          {{"section", nameOf(row.section)}, {"purpose", nameOf(row.purpose)}});
    if (row.nodesPerToken)
      rows.back()["nodes_per_token"] = *row.nodesPerToken;
    for (const auto &[tier, bytes] : row.wireBytesByTier)
      rows.back()["wire_bytes_by_tier"][tier] = bytes;
  }
  return {{"bytes_per_device", report.communication.bytesPerDevice},
          {"collectives", std::move(rows)}};
}

static json writeLatency(const Report &report) {
  const auto &latency = report.latency;
  json bounds = {
      {"compute_time_us", latency.bounds.computeTimeUs},
      {"memory_time_us", latency.bounds.memoryTimeUs},
      {"communication_time_us", latency.bounds.communicationTimeUs},
      {"kernels_time_us", latency.bounds.kernelsTimeUs},
      {"weights_and_kv_read_bytes", latency.bounds.weightsAndKvReadBytes}};
  json written = {{"step_time_us", latency.stepTimeUs},
                  {"compute_time_us", latency.computeTimeUs},
                  {"memory_time_us", latency.memoryTimeUs},
                  {"communication_time_us", latency.communicationTimeUs},
                  {"overhead_time_us", latency.overheadTimeUs},
                  {"host_time_us", latency.hostTimeUs},
                  {"bound", latency.bound},
                  {"kernel_launches", latency.kernelLaunches},
                  {"bounds", std::move(bounds)}};
  if (report.pipeline)
    written["pipeline_time_us"] = latency.pipelineTimeUs;
  return written;
}

static json writeCost(const Report &report) {
  auto number = [](std::optional<double> value) {
    return value ? json(*value) : json();
  };
  const auto &cost = report.cost;
  return {{"usd_per_device_hour", number(cost.dollarsPerDeviceHour)},
          {"usd_per_million_tokens", number(cost.dollarsPerMillionTokens)},
          {"board_power_w", number(cost.boardPowerW)},
          {"idle_power_w", number(cost.idlePowerW)},
          {"busy_share", cost.busyShare},
          {"joules_per_token", number(cost.joulesPerToken)}};
}

static json writeRow(const BreakdownRow &row) {
  return {{"name", row.name},
          {"count", row.count},
          {"time_us", row.timeUs},
          {"flops", writeInteger(row.flops)},
          {"bytes", writeInteger(row.bytes)}};
}

static json writeBreakdown(const Report &report) {
  json written = {{"by_op", json::array()}, {"by_layer", json::array()}};
  for (const BreakdownRow &row : report.byOp)
    written["by_op"].push_back(writeRow(row));
  for (const BreakdownRow &row : report.byLayer)
    written["by_layer"].push_back(writeRow(row));
  for (const KernelRow &row : report.byKernel) {
    json &kernel = written["by_kernel"].emplace_back(writeRow(row));
    kernel["op"] = row.op;
    kernel["layer"] = row.layer;
    kernel["bound"] = row.bound;
    kernel["peak_time_us"] = row.peakTimeUs;
    kernel["peak_flops_per_s"] = row.peakFlopsPerS;
  }
  if (report.memoryBandwidthBytesPerS > 0)
    written["memory_bandwidth_bytes_per_s"] = report.memoryBandwidthBytesPerS;
  return written;
}

static json writeAssumptions(const Report &report) {
  json all = json::array();
  for (const Assumption &assumption : report.assumptions)
    all.push_back({{"name", assumption.name},
                   {"value", assumption.value},
                   {"source", assumption.source}});
  return all;
}

static json writeWarnings(const Report &report) {
  json all = json::array();
  for (const Warning &warning : report.warnings)
    all.push_back(warning.text);
  return all;
}

/// Returns `text` as a JSON number if it is one, with all digits of integers;
/// else as a JSON string.
static json writeValue(const std::string &text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_number())
    return text;
  bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return value.is_number_float() && whole ? writeInteger(text) : value;
}

static json
writeTexts(const std::vector<std::pair<std::string, std::string>> &texts) {
  json all = json::object();
  for (const auto &[name, text] : texts)
    all[name] = text;
  return all;
}

static json writeChange(const Impact::Change &change) {
  return {{"step_time_us", change.stepTimeUs},
          {"total_bytes", change.totalBytes},
          {"kv_capacity_tokens", change.kvCapacityTokens}};
}

static json writeImpacts(const Report &report) {
  json all = json::array();
  for (const Impact &impact : report.impacts) {
    json &written = all.emplace_back();
    written = {{"figure", impact.path},
               {"value", impact.value},
               {"source", impact.source},
               {"one_percent_more", writeChange(impact.more)}};
    if (impact.less)
      written["one_percent_less"] = writeChange(*impact.less);
  }
  return all;
}

static json writeDerivations(const Report &report) {
  json all = json::object();
  for (const auto &[path, derivation] : report.derivations) {
    json inputs = json::object();
    for (const auto &[input, value] : derivation.inputs)
      inputs[input] = writeValue(value);
    json &written = all[path];
    written = {{"formula", derivation.formula},
               {"inputs", std::move(inputs)},
               {"sources", derivation.sources}};
    if (!derivation.terms.empty())
      written["terms"] = writeTexts(derivation.terms);
    if (!derivation.note.empty())
      written["note"] = derivation.note;
  }
  return all;
}

/// Returns autopar.placement/1 without those tables that have a number for each
/// slot and each rank.
static json writePlacement(const ExpertPlacement &placement) {
  json written = json::parse(placementJson(placement));
  written.erase("schema");
  for (json &layer : written["layers"]) {
    layer.erase("rank_tokens");
    layer.erase("physical_to_logical");
  }
  return written;
}

json autopar::writing::writeTree(const Report &report) {
  json root;
  root["schema"] = "autopar.report/1";
  root["model"] = writeModel(report);
  // The plan is JSON text that autopar wrote itself; the member is null if
  // there is no plan.
  root["plan"] = json::parse(report.plan, nullptr, /*allow_exceptions=*/false);
  if (root["plan"].is_discarded())
    root["plan"] = nullptr;
  root["mesh"] = writeMesh(report);
  root["workload"] = writeWorkload(report);
  root["machine"] = writeMachine(report);
  root["memory"] = writeMemory(report);
  root["capacity"] = writeCapacity(report);
  root["flops"] = writeFlops(report);
  root["communication"] = writeCommunication(report);
  root["latency"] = writeLatency(report);
  if (!report.prefillSteps.empty())
    root["prefill_steps"] = writePrefillSteps(report);
  if (report.pipeline)
    root["schedule"] = writeSchedule(*report.pipeline);
  root["throughput"] = {{"tokens_per_s", report.tokensPerS}};
  root["cost"] = writeCost(report);
  if (report.training)
    root["training"] = writeTraining(*report.training);
  if (report.serving)
    root["serving"] = writeServing(*report.serving);
  root["breakdown"] = writeBreakdown(report);
  if (report.placement)
    root["placement"] = writePlacement(*report.placement);
  root["assumptions"] = writeAssumptions(report);
  root["warnings"] = writeWarnings(report);
  if (!report.impacts.empty())
    root["impact"] = writeImpacts(report);
  for (const WaterfallStep &step : report.waterfall)
    root["waterfall"].push_back({{"name", step.name},
                                 {"time_us", step.timeUs},
                                 {"formula", step.formula}});
  if (!report.derivations.empty())
    root["derivations"] = writeDerivations(report);
  return root;
}

std::string autopar::writing::writeJson(const Report &report) {
  return printJson(writeTree(report));
}

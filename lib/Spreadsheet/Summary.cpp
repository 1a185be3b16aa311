//===- Summary.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Summary.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::spreadsheet;

namespace {

class SummaryWriter {
public:
  SummaryWriter(const PricedStep &step, const Report &report, Inputs &inputs,
                Sheet &sheet)
      : step(step), report(report), total(step.strategy.total), inputs(inputs),
        sheet(sheet) {}

  void addMemory();
  void addWork();
  void addTimes();
  void addCost();
  void addChecks(const Sheet &checks);

private:
  /// Adds a row for a number of the report that is a node of the graph. Returns
  /// the address of the cell.
  std::string add(const std::string &pointer, NodeId node);
  std::string add(const std::string &pointer, const std::string &formula,
                  double value);
  /// Adds a row with the microseconds of a node that counts picoseconds; the
  /// picoseconds have a row of their own. Returns the address of the cell.
  std::string addTime(const std::string &pointer, NodeId ps, double us);

  const PricedStep &step;
  const Report &report;
  const TotalNodes &total;
  Inputs &inputs;
  Sheet &sheet;
  std::string computeUs, memoryUs, communicationUs, stepUs, tokensPerS;
};

} // namespace

std::string SummaryWriter::add(const std::string &pointer, NodeId node) {
  sheet.rows.push_back({Cell::of(pointer), Cell::of(node)});
  return Sheet::here(sheet.rows.size() - 1, 1);
}

std::string SummaryWriter::add(const std::string &pointer,
                               const std::string &formula, double value) {
  sheet.rows.push_back({Cell::of(pointer), Cell::formula(formula, value)});
  return Sheet::here(sheet.rows.size() - 1, 1);
}

std::string SummaryWriter::addTime(const std::string &pointer, NodeId ps,
                                   double us) {
  size_t row = sheet.rows.size();
  sheet.rows.push_back({Cell::of(pointer),
                        Cell::formula(Sheet::here(row, 2) + "/1000000", us),
                        Cell::of(ps)});
  return Sheet::here(row, 1);
}

void SummaryWriter::addMemory() {
  sheet.title("Model and memory");
  sheet.header({"number of the report", "value"});
  std::pair<const char *, NodeId> rows[] = {
      {"/model/parameters", total.parameters},
      {"/model/active_parameters", total.activeParameters},
      {"/model/checkpoint_bytes", total.checkpointBytes},
      {"/memory/per_device/weight_bytes", total.weightBytes},
      {"/memory/per_device/kv_cache_bytes", total.kvCacheBytes},
      {"/memory/per_device/state_bytes", total.stateBytes},
      {"/memory/per_device/activation_bytes", total.activationBytes},
      {"/memory/per_device/reserved_bytes", total.reservedBytes},
      {"/memory/per_device/profile_bytes", total.profileBytes},
      {"/memory/per_device/sampler_bytes", total.samplerBytes},
      {"/memory/per_device/rule_bytes", total.reserveBytes},
      {"/memory/per_device/runtime_bytes", total.runtimeBytes},
      {"/memory/per_device/communication_bytes", total.communicationBytes},
      {"/memory/per_device/graph_bytes", total.graphBytes},
      {"/memory/per_device/total_bytes", total.totalBytes},
      {"/memory/per_device/budget_bytes", total.budgetBytes},
      {"/memory/per_device/capacity_bytes", total.capacityBytes},
      {"/memory/per_device/fits", total.fits},
      {"/memory/kv_bytes_per_token", total.kvBytesPerToken},
      {"/memory/kv_bytes_per_token_per_device", total.kvBytesPerTokenPerDevice},
      {"/memory/kv_bytes_per_sequence", total.kvBytesPerSequence},
      {"/memory/kv_capacity_bytes", total.kvCapacityBytes},
      {"/memory/kv_capacity_tokens", total.kvCapacityTokens},
      {"/memory/state_bytes_per_sequence", total.stateBytesPerSequence},
      {"/capacity/replicas", total.replicas},
      {"/capacity/sequences_per_replica", total.capacitySequences}};
  for (auto [pointer, node] : rows)
    add(pointer, node);
}

void SummaryWriter::addWork() {
  sheet.title("Work");
  sheet.header({"number of the report", "value"});
  std::pair<const char *, NodeId> rows[] = {
      {"/flops/total", total.flops},
      {"/flops/per_device", total.localFlops},
      {"/flops/layers_linear", total.linearFlops},
      {"/flops/attention", total.attentionFlops},
      {"/flops/attention_full_square", total.squareFlops},
      {"/flops/recurrence", total.recurrenceFlops},
      {"/flops/logits", total.logitsFlops},
      {"/communication/bytes_per_device", total.wireBytes},
      {"/latency/kernel_launches", total.launches}};
  for (auto [pointer, node] : rows)
    add(pointer, node);
  std::string bytes =
      add("/latency/bounds/weights_and_kv_read_bytes", total.keptReadBytes);
  add("/latency/bounds/memory_time_us",
      bytes + "/" +
          inputs.figure(step.machine.pools.front().chip.memoryBandwidth,
                        "memory_bandwidth_bytes_per_s", "Chip") +
          "*1000000",
      report.latency.bounds.memoryTimeUs);
}

void SummaryWriter::addTimes() {
  sheet.title("Time of a step");
  sheet.header({"number of the report", "value", "picoseconds"});
  const auto &latency = report.latency;
  computeUs = addTime("/latency/compute_time_us", total.computePs,
                      latency.computeTimeUs);
  memoryUs =
      addTime("/latency/memory_time_us", total.memoryPs, latency.memoryTimeUs);
  communicationUs = addTime("/latency/communication_time_us",
                            total.communicationPs, latency.communicationTimeUs);
  auto addSum = [&](const char *pointer, NodeId a, NodeId b, double us) {
    size_t row = sheet.rows.size();
    sheet.rows.push_back({Cell::of(pointer),
                          Cell::formula("(" + Sheet::here(row, 2) + "+" +
                                            Sheet::here(row, 3) + ")/1000000",
                                        us),
                          Cell::of(a), Cell::of(b)});
  };
  addSum("/latency/overhead_time_us", total.floorPs, total.hostPs,
         latency.overheadTimeUs);
  addSum("/latency/host_time_us", total.layersPs, total.hostPs,
         latency.hostTimeUs);
  stepUs = addTime("/latency/step_time_us", total.stepPs, latency.stepTimeUs);
  std::string tokens = inputs.symbol(Symbol::batch);
  if (step.workload.phase != Phase::decode)
    tokens += "*" + inputs.symbol(Symbol::query);
  tokensPerS = add("/throughput/tokens_per_s",
                   tokens + "/" + stepUs + "*1000000", report.tokensPerS);
}

/// Adds the costs in money by the formulas of lib/Report/Money.cpp.
void SummaryWriter::addCost() {
  const auto &cost = report.cost;
  const Chip &chip = step.machine.pools.front().chip;
  std::string devices = std::to_string(report.mesh.devices);
  sheet.title("Cost");
  sheet.header({"number of the report", "value"});
  std::string busy = add("/cost/busy_share",
                         "(" + computeUs + "+" + memoryUs + "+" +
                             communicationUs + ")/" + stepUs,
                         cost.busyShare);
  if (step.machine.price)
    add("/cost/usd_per_million_tokens",
        inputs.figure(*step.machine.price, "price_usd_per_device_hour",
                      "Chip") +
            "*" + devices + "/3600/" + tokensPerS + "*1000000",
        cost.dollarsPerMillionTokens.value_or(0));
  if (!chip.boardPower)
    return;
  std::string board = inputs.figure(*chip.boardPower, "board_power_w", "Chip");
  std::string power = board;
  if (chip.idlePower)
    power = "(" + board + "*" + busy + "+" +
            inputs.figure(*chip.idlePower, "idle_power_w", "Chip") + "*(1-" +
            busy + "))";
  add("/cost/joules_per_token", power + "*" + devices + "/" + tokensPerS,
      cost.joulesPerToken.value_or(0));
}

void SummaryWriter::addChecks(const Sheet &checks) {
  constexpr size_t headings = 2;
  sheet.title("Checks");
  size_t count = checks.rows.size();
  if (count > headings)
    sheet.rows.push_back(
        {Cell::of("splits divide what they split (1: all of them)"),
         Cell::formula("MIN(" + checks.name + "!" +
                           Sheet::range(headings, count, 3, 4) + ")",
                       1)});
}

Sheet autopar::spreadsheet::summarySheet(const PricedStep &step,
                                         const Report &report, Inputs &inputs,
                                         const Sheet &checks) {
  Sheet sheet{"Summary", {56, 26, 22, 22}};
  sheet.title(report.model.name + ": " + report.workload.phase + " on " +
              report.machine.hardware + ", " + report.machine.runtime);
  sheet.note("Each number is a formula of the other sheets: change what is "
             "coloured in Inputs. Names are JSON pointers into the report. "
             "What the report says beyond these (advice, searches for what "
             "fits, breakdowns) is not computed here.");
  SummaryWriter writer(step, report, inputs, sheet);
  writer.addTimes();
  writer.addMemory();
  writer.addWork();
  writer.addCost();
  writer.addChecks(checks);
  return sheet;
}

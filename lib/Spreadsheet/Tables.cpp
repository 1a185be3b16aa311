//===- Tables.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::spreadsheet;

static double realOf(const PricedStep &step, NodeId node) {
  return node == noNode ? 0 : step.values.real(node);
}

/// Returns the cell of a node; an empty cell if the record has no such node.
static Cell cellOf(NodeId node) {
  return node == noNode ? Cell() : Cell::of(node);
}

/// Returns a cell of the row that comes next: the product of the row's columns
/// `a` and `b`.
static Cell product(const Sheet &sheet, size_t a, size_t b, double value) {
  size_t row = sheet.rows.size();
  return Cell::formula(Sheet::here(row, a) + "*" + Sheet::here(row, b), value);
}

static std::string layerOf(const PricedStep &step, uint32_t layer) {
  return step.program.layers[layer].name;
}

//===----------------------------------------------------------------------===//
// The sheet of memory
//===----------------------------------------------------------------------===//

Sheet autopar::spreadsheet::memorySheet(const PricedStep &step) {
  const Strategy &strategy = step.strategy;
  Sheet sheet{"Memory", {48, 12, 20, 14, 20, 22, 22}};
  sheet.title("Memory: what stays on a device between steps");
  sheet.header({"tensor", "kind", "layer", "count", "parameters of the model",
                "bytes of one on a device", "bytes on a device"});
  for (size_t i = 0; i < step.program.residents.size(); ++i) {
    const Resident &resident = step.program.residents[i];
    const ResidentNodes &nodes = strategy.residents[i];
    if (resident.stored || realOf(step, nodes.count) == 0)
      continue;
    sheet.rows.push_back(
        {Cell::of(resident.name), Cell::of(std::string(nameOf(resident.kind))),
         Cell::of(layerOf(step, resident.layer)), cellOf(nodes.count),
         cellOf(nodes.parameters), cellOf(nodes.localBytes),
         product(sheet, 3, 5,
                 realOf(step, nodes.count) * realOf(step, nodes.localBytes))});
  }
  sheet.title("Temporaries that are live at once");
  sheet.header({"layer", "tensors", "", "", "", "bytes",
                "bytes in the run that sizes them"});
  for (const LiveNodes &live : strategy.live)
    sheet.rows.push_back(
        {Cell::of(layerOf(step, live.layer)),
         Cell::of(static_cast<double>(live.activations.size())), Cell(), Cell(),
         Cell(), cellOf(live.bytes), cellOf(live.profileBytes)});
  return sheet;
}

//===----------------------------------------------------------------------===//
// The sheets of FLOPs and times
//===----------------------------------------------------------------------===//

Sheet autopar::spreadsheet::flopsSheet(const PricedStep &step) {
  Sheet sheet{"FLOPs", {44, 14, 18, 10, 12, 12, 22, 22, 22, 22}};
  sheet.title("FLOPs: each kernel of a step");
  sheet.header({"kernel", "kind", "multiplies", "count", "launched",
                "bytes of weights and caches read", "FLOPs of the model",
                "FLOPs on a device", "FLOPs on a device in a step",
                "us at peak"});
  for (size_t i = 0; i < step.program.kernels.size(); ++i) {
    const Kernel &kernel = step.program.kernels[i];
    const KernelNodes &nodes = step.strategy.kernels[i];
    if (realOf(step, nodes.count) == 0)
      continue;
    sheet.rows.push_back(
        {Cell::of(kernel.name), Cell::of(std::string(nameOf(kernel.kind))),
         Cell::of(std::string(nameOf(kernel.compute))), cellOf(nodes.count),
         cellOf(nodes.launched), cellOf(nodes.keptReadBytes),
         cellOf(nodes.flops), cellOf(nodes.localFlops),
         product(sheet, 3, 7,
                 realOf(step, nodes.count) * realOf(step, nodes.localFlops)),
         cellOf(nodes.idealUs)});
  }
  return sheet;
}

Sheet autopar::spreadsheet::timeSheet(const PricedStep &step) {
  Sheet sheet{"Time", {60, 10, 16, 16, 18, 18, 18, 18, 18}};
  sheet.title("Time: kernels that are launched as one");
  sheet.note("A launch takes its time under the roofline and its floor. "
             "Calls of collectives have a sheet of their own, and the host's "
             "time is in Summary.");
  sheet.header({"launch", "count", "compute_us", "memory_us", "roofline_ps",
                "of it bound by compute_ps", "floor_ps", "in a step_us"});
  for (const LaunchNodes &launch : step.strategy.launches) {
    if (realOf(step, launch.count) == 0)
      continue;
    std::vector<std::string> names;
    for (const LaunchNodes::Member &member : launch.members)
      names.push_back(step.program.kernels[member.kernel].name);
    double count = realOf(step, launch.count);
    double ps = realOf(step, launch.roofPs) + realOf(step, launch.floorPs);
    size_t row = sheet.rows.size();
    std::string inStep = Sheet::here(row, 1) + "*(" + Sheet::here(row, 4) +
                         "+" + Sheet::here(row, 6) + ")/1000000";
    sheet.rows.push_back({Cell::of(join(names, ", ")), cellOf(launch.count),
                          cellOf(launch.computeUs), cellOf(launch.memoryUs),
                          cellOf(launch.roofPs), cellOf(launch.computePs),
                          cellOf(launch.floorPs),
                          Cell::formula(inStep, count * ps / 1e6)});
  }
  return sheet;
}

//===----------------------------------------------------------------------===//
// The sheet of communication
//===----------------------------------------------------------------------===//

Sheet autopar::spreadsheet::communicationSheet(const PricedStep &step) {
  Sheet sheet{"Communication", {40, 18, 18, 12, 12, 18, 22, 18, 18}};
  sheet.title("Communication: each collective of a step");
  sheet.header({"collective", "kind", "over", "devices", "count",
                "bytes of the buffer", "bytes that a device sends",
                "time of one_ps", "in a step_us"});
  for (size_t i = 0; i < step.program.collectives.size(); ++i) {
    const Collective &record = step.program.collectives[i];
    const CollectiveNodes &nodes = step.strategy.collectives[i];
    double count = realOf(step, nodes.count);
    if (count == 0 || realOf(step, nodes.groupSize) <= 1)
      continue;
    std::vector<std::string> axes;
    for (AxisId axis : record.axes)
      axes.push_back(step.program.axes[axis]);
    size_t row = sheet.rows.size();
    std::string inStep =
        Sheet::here(row, 4) + "*" + Sheet::here(row, 7) + "/1000000";
    sheet.rows.push_back(
        {Cell::of(record.name), Cell::of(std::string(nameOf(record.kind))),
         Cell::of(join(axes, "*")), cellOf(nodes.groupSize),
         cellOf(nodes.count), cellOf(nodes.bytes), cellOf(nodes.wireBytes),
         cellOf(nodes.timePs),
         Cell::formula(inStep, count * realOf(step, nodes.timePs) / 1e6)});
  }
  return sheet;
}

//===----------------------------------------------------------------------===//
// The sheet of requirements
//===----------------------------------------------------------------------===//

static std::string recordName(const PricedStep &step, RecordRef record) {
  const CostProgram &program = step.program;
  switch (record.kind) {
  case RecordRef::Kind::weight:
  case RecordRef::Kind::kv_cache:
  case RecordRef::Kind::state:
    return program.residents[record.index].name;
  case RecordRef::Kind::activation:
    return program.activations[record.index].name;
  case RecordRef::Kind::saved:
    return program.saved[record.index].name;
  case RecordRef::Kind::kernel:
    return program.kernels[record.index].name;
  case RecordRef::Kind::collective:
    return program.collectives[record.index].name;
  case RecordRef::Kind::program:
    return program.model;
  }
  return "";
}

Sheet autopar::spreadsheet::checksSheet(const PricedStep &step) {
  Sheet sheet{"Checks", {48, 18, 18, 14}};
  sheet.title("Checks: without these the plan is refused");
  sheet.header({"what is split", "extent", "over devices", "holds"});
  for (const Requirement &one : step.strategy.requirements) {
    bool divides = one.kind == Requirement::Kind::divides ||
                   one.kind == Requirement::Kind::places;
    bool caps = one.kind == Requirement::Kind::caps;
    if ((!divides && !caps) || one.extent == noNode || one.devices == noNode)
      continue;
    size_t row = sheet.rows.size();
    std::string extent = Sheet::here(row, 1), devices = Sheet::here(row, 2);
    std::string holds = "MOD(" + extent + "," + devices + ")=0";
    if (caps)
      holds = "MOD(MAX(" + extent + "," + devices + "),MIN(" + extent + "," +
              devices + "))=0";
    sheet.rows.push_back({Cell::of(recordName(step, one.record)),
                          Cell::of(one.extent), Cell::of(one.devices),
                          Cell::formula("IF(" + holds + ",1,0)", 1)});
  }
  return sheet;
}

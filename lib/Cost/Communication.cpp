//===- Communication.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "autopar/Program/WireBytes.h"
#include "autopar/Support/Text.h"

using namespace autopar;

const CollectiveCurve *CollectiveCost::curve() const {
  if (time.modelled)
    return nullptr;
  auto curves = time.tier->curves.find(record->kind);
  if (curves == time.tier->curves.end() || curves->second.empty())
    return nullptr;
  auto near = curves->second.lower_bound(groupSize);
  if (near == curves->second.end())
    --near;
  return &near->second;
}

/// The full logical buffer of one call: of an all_gather its result, of a ring
/// all its parts, of the others what a rank puts in.
static Checked bufferBytes(const Collective &record, int64_t groupSize,
                           Sizes &sizes) {
  sizes.enter("collective", record.name);
  Checked elements = sizes.hottest(sizes.local(record.shape), record.sharedBy);
  Checked operand = bytesOf(elements, record.type);
  bool gathers = record.kind == CollectiveKind::all_gather ||
                 record.kind == CollectiveKind::ring;
  return gathers ? operand * groupSize : operand;
}

static std::string axesText(const CostProgram &program,
                            const Collective &record) {
  std::vector<std::string> names;
  for (AxisId axis : record.axes)
    names.push_back(program.axes[axis]);
  return join(names, "*");
}

static void price(Evaluation &evaluation, CollectiveCost &cost) {
  const Collective &record = *cost.record;
  bool ideal = evaluation.runtime.ideal;
  cost.time = evaluation.network.time(record.kind, cost.layout,
                                      cost.bytes.real(), ideal);
  if (const Tier *tier = cost.time.tier) {
    evaluation.use(tier->bandwidth);
    // A measured curve rests on its own figures, but for those that the user
    // set.
    for (const Figure *figure : {&tier->latency, &tier->efficiency})
      if (!ideal && (cost.time.modelled || figure->source.replaced))
        evaluation.use(*figure);
    return;
  }
  evaluation.sizes.fail(
      "no link of " + evaluation.machine.name + " joins the " +
          std::to_string(cost.groupSize) + " devices of '" + record.name +
          "' over " + axesText(evaluation.program, record),
      "make the axis smaller, or give a machine with a larger domain");
}

/// Whether two collectives print as one row: same kind, axes, buffer and
/// layer. Those of the model itself, such as the logits' gather, stay alone.
static bool sameRow(const CostProgram &program, const CollectiveCost &a,
                    const CollectiveCost &b) {
  return !program.isModel(a.record->layer) &&
         a.record->layer == b.record->layer &&
         a.record->kind == b.record->kind && a.record->axes == b.record->axes &&
         a.bytes == b.bytes;
}

static void addRow(Evaluation &evaluation, const CollectiveCost &cost) {
  const Collective &record = *cost.record;
  Sizes &sizes = evaluation.sizes;
  auto &rows = evaluation.report.communication.collectives;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!sameRow(evaluation.program,
                 evaluation.collectives[evaluation.rowStart[i]], cost))
      continue;
    rows[i].count =
        sizes.narrow(Checked(rows[i].count) + record.count, "collectives");
    rows[i].name += ", " + record.name;
    return;
  }
  Report::CollectiveRow row;
  row.kind = nameOf(record.kind);
  row.name = record.name;
  for (AxisId axis : record.axes)
    row.axes.push_back(evaluation.program.axes[axis]);
  row.groupSize = cost.groupSize;
  row.count = record.count;
  row.bytes = sizes.narrow(cost.bytes, "bytes of a collective");
  row.wireBytesPerDevice = sizes.narrow(cost.wireBytes, "wire bytes");
  row.timeUs = cost.time.timeUs;
  rows.push_back(std::move(row));
  evaluation.rowStart.push_back(evaluation.collectives.size());
}

void autopar::addCommunication(Evaluation &evaluation) {
  Sizes &sizes = evaluation.sizes;
  Checked total;
  for (const Collective &record : evaluation.program.collectives) {
    CollectiveCost cost;
    cost.record = &record;
    cost.groupSize =
        sizes.narrow(sizes.groupSize(record.axes), "devices of a group");
    if (cost.groupSize == 1 || record.count == 0)
      continue;
    cost.layout = evaluation.layoutOf(record.axes);
    cost.bytes = bufferBytes(record, cost.groupSize, sizes);
    if (cost.bytes.isZero())
      continue;
    cost.wireBytes = countWireBytes(record.kind, cost.groupSize, cost.bytes);
    total += cost.wireBytes * record.count;
    price(evaluation, cost);
    addRow(evaluation, cost);
    evaluation.collectives.push_back(std::move(cost));
    if (sizes.failed())
      return;
  }
  evaluation.report.communication.bytesPerDevice =
      sizes.narrow(total, "communication bytes");
}

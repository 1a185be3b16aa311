//===- CopiedGradients.cpp - Gradients that two stages have ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/EvaluatedIteration.h"

#include "autopar/Hardware/Algorithm.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

static constexpr CollectiveKind kind = CollectiveKind::all_reduce;

Result<std::optional<TrainingReport::Copies>>
autopar::evaluation::copiesOf(const PipelineParts &parts) {
  int64_t bytes = parts.pricer.copiedGradientBytes();
  std::optional<TrainingReport::Copies> copies;
  if (bytes == 0)
    return copies;
  Network network(parts.machine.pools.front(), *parts.plan.devices());
  Route route = copiesRoute(network, parts.stageAxis(), parts.runtime.ideal);
  if (!route.tier)
    return Error{"",
                 "no link of " + parts.machine.name +
                     " joins the first stage to the last, which have copies "
                     "of a weight",
                 ""};
  copies = {bytes, route.tier->name, timeOf(route, static_cast<double>(bytes))};
  return copies;
}

void autopar::evaluation::addCopiesRow(const EvaluatedIteration &iteration,
                                       Report &report) {
  int64_t last = iteration.steps.shape.stages - 1;
  bool isEnd = iteration.heaviest() == 0 || iteration.heaviest() == last;
  if (!iteration.copies || !isEnd)
    return;
  const TrainingReport::Copies &copies = *iteration.copies;
  Report::CollectiveRow row;
  row.kind = nameOf(kind);
  row.name = "gradients of copied weights";
  row.axes = iteration.parts.plan.axesOf(Degree::pp);
  row.groupSize = 2;
  row.count = 1;
  row.bytes = copies.bytes;
  row.wireBytesPerDevice = static_cast<int64_t>(std::ceil(
      hardware::wireBytes(kind, 2, static_cast<double>(copies.bytes))));
  row.timeUs = copies.timeUs;
  row.section = Section::optimizer;
  row.purpose = TrainingReport::Exposure::Purpose::copies;
  Checked sent = report.communication.bytesPerDevice;
  sent += row.wireBytesPerDevice;
  report.communication.bytesPerDevice = sent.int64().value_or(INT64_MAX);
  report.communication.collectives.push_back(std::move(row));
}

//===- CopiedGradients.cpp - Gradients that two stages have ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"
#include "Training.h"

#include "autopar/Program/WireBytes.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

static constexpr CollectiveKind kind = CollectiveKind::all_reduce;

Result<std::optional<TrainingReport::Copies>>
autopar::report::copiesOf(const PipelineParts &parts) {
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

void autopar::report::addCopiesRow(const Iteration &iteration, Report &report) {
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
  row.wireBytesPerDevice = static_cast<int64_t>(
      std::ceil(wireBytes(kind, 2, static_cast<double>(copies.bytes))));
  row.timeUs = copies.timeUs;
  row.section = Section::optimizer;
  row.purpose = TrainingReport::Exposure::Purpose::copies;
  Checked sent = report.communication.bytesPerDevice;
  sent += row.wireBytesPerDevice;
  report.communication.bytesPerDevice = sent.int64().value_or(INT64_MAX);
  report.communication.collectives.push_back(std::move(row));
}

/// Those of the gradients of the first stage.
static Explanation explainBytes(const Iteration &iteration,
                                const Report &report) {
  const CostProgram &program = iteration.parts.program;
  const auto &all =
      report.derivations.at("memory.per_stage[0].gradient_bytes").inputs;
  Explanation sum;
  for (const Resident &gradient : program.residents)
    for (const auto &[name, value] : all)
      if (gradient.kind == Resident::Kind::gradient &&
          isCopied(program, gradient) && name == recordName(program, gradient))
        sum.input(name, value);
  return sum.formula("sum of the inputs")
      .note("the first stage and the last have a copy of each")
      .from("cost program of the IR");
}

void autopar::report::explainCopies(const Iteration &iteration,
                                    Report &report) {
  if (!iteration.copies)
    return;
  const std::string folder = "training.copied_gradients.";
  auto add = [&](const char *name, Explanation explanation) {
    report.derivations[folder + name] = std::move(explanation.derivation);
  };
  add("bytes", explainBytes(iteration, report));
  const PipelineParts &parts = iteration.parts;
  add("time_us",
      explainPair(parts.machine.pools.front(), parts.runtime.ideal, kind,
                  iteration.copies->tier, folder, iteration.copies->bytes));
}

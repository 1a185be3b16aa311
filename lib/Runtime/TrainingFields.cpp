//===- TrainingFields.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingFields.h"

#include "autopar/Hardware/Figures.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;

namespace {

struct TrainingField {
  const char *key;
  UnitRange unit;
  Figure TrainingFigures::*figure;
  bool isWhole = false;
};

} // namespace

static const TrainingField trainingFields[] = {
    {"overlaps_reductions", units::noneOrOne,
     &TrainingFigures::overlapsReductions, true},
    {"overlaps_gathers", units::noneOrOne, &TrainingFigures::overlapsGathers,
     true},
    {"overlaps_inputs", units::noneOrOne, &TrainingFigures::overlapsInputs,
     true},
    {"fuses_accumulation", units::noneOrOne,
     &TrainingFigures::fusesAccumulation, true},
    {"loops_experts", units::noneOrOne, &TrainingFigures::loopsExperts, true},
    {"hidden_communication", units::share,
     &TrainingFigures::hiddenCommunication},
    {"hidden_dispatch", units::share, &TrainingFigures::hiddenDispatch},
    {"contention", units::share, &TrainingFigures::contention},
    {"allocator_overhead", units::share, &TrainingFigures::allocatorOverhead},
    {"keeps_outputs", units::noneOrOne, &TrainingFigures::keepsOutputs, true},
    {"reduction_bucket", units::countOrNone, &TrainingFigures::reductionBucket,
     true},
    {"copies_gradients", units::noneOrOne, &TrainingFigures::copiesGradients,
     true},
    {"casts_gathered_weights", units::noneOrOne,
     &TrainingFigures::castsGatheredWeights, true},
    {"keeps_whole_in_stages", units::noneOrOne,
     &TrainingFigures::keepsWholeInStages, true},
    {"splits_experts_by_tp", units::noneOrOne,
     &TrainingFigures::splitsExpertsByTp, true},
    {"straggler_share", units::share, &TrainingFigures::stragglerShare},
    {"routing_host_share", units::share, &TrainingFigures::routingHostShare},
};

/// Reads "loss": how the framework computes the loss, with its source.
static void readLoss(const JsonReader &reader, TrainingFigures &figures) {
  if (!reader.has("loss"))
    return;
  JsonReader loss = reader.object("loss");
  loss.allowOnly({"value", "source"});
  figures.loss = parseLossForm(loss.string("value"));
  if (!figures.loss)
    loss.failAt("value", "expected " + lossFormChoices());
  figures.lossSource = readSource(loss);
}

TrainingFigures autopar::runtime::readTrainingFields(const JsonReader &reader,
                                                     const std::string &path) {
  TrainingFigures figures;
  std::vector<std::string_view> keys;
  for (const TrainingField &field : trainingFields)
    keys.push_back(field.key);
  keys.push_back("loss");
  reader.allowOnly(keys);
  readLoss(reader, figures);
  for (const TrainingField &field : trainingFields) {
    figures.*field.figure = readFigure(reader, field.key, field.unit, path);
    if (field.isWhole)
      checkWhole(reader, field.key, figures.*field.figure);
  }
  return figures;
}

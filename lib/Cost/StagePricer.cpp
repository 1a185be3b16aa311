//===- StagePricer.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/StagePricer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;

static void addStage(const CostProgram &program,
                     const std::vector<LayerRange> &ranges,
                     const std::vector<uint32_t> &order, size_t stage,
                     bool borders, PartCounts &counts) {
  bool last = stage + 1 == ranges.size();
  addPlaces(program, order, stage == 0 ? 0 : ranges[stage].begin + 1,
            ranges[stage].end + (last ? 2 : 1), borders, counts);
}

PartCounts autopar::cost::countsOf(const CostProgram &program,
                                   const std::vector<LayerRange> &ranges,
                                   const std::vector<uint32_t> &order,
                                   const PipelineShape &shape, int64_t device,
                                   bool borders) {
  PartCounts counts(program);
  for (size_t stage = device; stage < ranges.size(); stage += shape.stages)
    addStage(program, ranges, order, stage, borders, counts);
  if (shape.isFolded())
    addStage(program, ranges, order, shape.stages - 1 - device, borders,
             counts);
  return counts;
}

/// Index of the first output of each group in the outputs of the tape. The
/// order is: outputs of parts, outputs of a stage, outputs of `trainingNodes`
/// for programs that train, bytes that are handed on to the next stage.
static constexpr size_t partOutputs = 11, trainingOutput = 13,
                        sectionOutputs = 8,
                        trainingOutputs = sectionCount * sectionOutputs + 6;
/// Indices of some outputs of a stage.
static constexpr size_t weightOutput = 4, reservedOutput = 7, runtimeOutput = 8,
                        budgetOutput = 9, capacityOutput = 10,
                        updateOutput = trainingOutput + trainingOutputs - 1,
                        gradientOutput = updateOutput - 3,
                        optimizerOutput = updateOutput - 2;

/// Returns the nodes that a part's tape computes, in the order of its outputs.
static std::vector<NodeId> partNodes(const TotalNodes &total) {
  return {total.computePs,       total.memoryPs,      total.floorPs,
          total.communicationPs, total.weightBytes,   total.kvCacheBytes,
          total.stateBytes,      total.reservedBytes, total.runtimeBytes,
          total.budgetBytes,     total.capacityBytes};
}

static std::vector<NodeId> trainingNodes(const TotalNodes &total) {
  std::vector<NodeId> nodes;
  for (const SectionNodes &section : total.sections)
    nodes.insert(nodes.end(),
                 {section.computePs, section.memoryPs, section.floorPs,
                  section.communicationPs, section.dispatchPs, section.inputPs,
                  section.gatherPs, section.reductionPs});
  nodes.insert(nodes.end(), {total.weightGradientPs, total.savedBytes,
                             total.gradientBytes, total.optimizerBytes,
                             total.copiedGradientBytes, total.updateBytes});
  return nodes;
}

Tape autopar::cost::collectParts(const Strategy &strategy) {
  std::vector<NodeId> nodes = partNodes(strategy.total);
  nodes.push_back(strategy.total.totalBytes);
  nodes.push_back(strategy.total.fits);
  if (strategy.trains) {
    std::vector<NodeId> more = trainingNodes(strategy.total);
    nodes.insert(nodes.end(), more.begin(), more.end());
  }
  nodes.insert(nodes.end(), strategy.transferBytes.begin(),
               strategy.transferBytes.end());
  return collect(strategy, nodes);
}

void PricedLayers::gatherOnce() {
  after.cost.timePs = ends.cost.timePs - before.cost.timePs;
  after.communicationPs = ends.communicationPs - before.communicationPs;
  after.training = ends.training;
  after.training -= before.training;
  for (size_t i = 0; i < ends.steps.size(); ++i)
    after.steps[i] = {ends.steps[i].timePs - before.steps[i].timePs,
                      ends.steps[i].communicationPs -
                          before.steps[i].communicationPs};
}

StagePricer::StagePricer(const CostProgram &program, const Tape &tape,
                         Launching launching, const Machine &machine,
                         const Runtime &runtime,
                         std::optional<double> memoryUtilization)
    : program(program), runtime(runtime), borders(launching.fusesElementwise),
      pricer(tape, machine, runtime, memoryUtilization),
      outputs(tape.outputs.size()), lost(lostShareOf(program, runtime)) {
  if (program.trains())
    trainer = &runtime;
  if (runtime.budgetRule == BudgetRule::fraction_of_free)
    shareOfFree = memoryUtilization.value_or(runtime.memoryUtilization.value);
}

/// Sets the times of the steps of `part`, one step per chunk of the prefill.
Refusal StagePricer::addSteps(PipelinePart &part) {
  if (!chunks.empty())
    part.cost.timePs = part.communicationPs = 0;
  for (const PrefillChunk &chunk : chunks) {
    if (Refusal refusal = pricer.price(pointOf(chunk.step), outputs.data()))
      return refusal;
    addTransfers();
    PipelinePart::Step step;
    for (int index : {0, 1, 2, 3})
      step.timePs += static_cast<int64_t>(outputs[index]);
    step.communicationPs = static_cast<int64_t>(outputs[3]);
    part.cost.timePs += step.timePs * chunk.count;
    part.communicationPs += step.communicationPs * chunk.count;
    part.steps.push_back(step);
  }
  return {};
}

/// Prices a microbatch on the parts of `counts`; sets `outputs`.
Refusal StagePricer::priceCounts(PartCounts counts) {
  layout.part = std::move(counts);
  if (Refusal refusal = pricer.lay(layout))
    return refusal;
  return pricer.price(pointOf(microbatch), outputs.data());
}

Refusal StagePricer::addPart(PartCounts counts, PipelinePart &part) {
  transfers.clear();
  if (Refusal refusal = priceCounts(std::move(counts)))
    return refusal;
  auto whole = [&](int index) { return static_cast<int64_t>(outputs[index]); };
  // A cache that may use only a share of the free memory counts for more bytes:
  // its bytes divided by the share.
  auto kept =
      static_cast<int64_t>(std::ceil((outputs[5] + outputs[6]) / shareOfFree));
  part.cost = {whole(0) + whole(1) + whole(2) + whole(3), whole(4) + kept};
  part.communicationPs = whole(3);
  part.reservedBytes = whole(7);
  part.runtimeBytes = whole(8);
  budgetBytes = shareOfFree < 1 ? whole(10) : whole(9);
  if (isTraining())
    addTraining(part);
  if (chunks.empty())
    addTransfers();
  return addSteps(part);
}

/// Returns an upper bound of the bytes that a device keeps for the backward if
/// it keeps `savedBytes` per microbatch, provided that the bound is the same
/// for all devices (checked by `test/unit/Schedule`); else 0. A device with
/// several virtual stages runs one of them per pass.
static int64_t keptBytes(const PipelineShape &shape, int64_t savedBytes) {
  int64_t p = shape.stages, v = shape.interleave, m = shape.microbatches;
  switch (shape.kind) {
  case ScheduleKind::gpipe:
    return m * savedBytes;
  case ScheduleKind::interleaved: {
    int64_t passes = std::min(2 * (p - 1) + (v - 1) * p + 1, m * v);
    return (passes * savedBytes + v - 1) / v;
  }
  case ScheduleKind::zero_bubble:
    return std::min(p, m) * savedBytes;
  case ScheduleKind::dual_pipe:
    return (p / 2 + 1) * savedBytes;
  case ScheduleKind::one_f_one_b:
  case ScheduleKind::inference:
    break;
  }
  return 0;
}

/// Sets the training times of a part. The cost of the part is the sum of
/// forward and backward.
void StagePricer::addTraining(PipelinePart &part) {
  auto output = outputs.begin() + trainingOutput;
  auto next = [&] { return static_cast<int64_t>(*output++); };
  for (SectionTimes &section : part.training.sections) {
    section.kernelsPs = next();
    section.kernelsPs += next();
    section.kernelsPs += next();
    section.communicationPs = next();
    section.dispatchPs = next();
    section.inputPs = next();
    section.gatherPs = next();
    section.reductionPs = next();
  }
  part.training.weightGradientPs = next();
  part.training.savedBytes = next();
  int64_t gradientBytes = next(), optimizerBytes = next();
  copiedBytes = next();
  TrainingTimes exposed = exposedOf(part.training, runtime);
  part.cost.timePs = exposed.of(Section::forward).allPs() +
                     exposed.of(Section::backward).allPs();
  part.cost.memoryBytes += gradientBytes + optimizerBytes;
  part.cost.savedBytes = part.training.savedBytes;
}

size_t StagePricer::transferOutput() const {
  return trainingOutput + (isTraining() ? trainingOutputs : 0);
}

void StagePricer::addTransfers() {
  transfers.emplace_back(outputs.begin() + transferOutput(), outputs.end());
}

size_t autopar::cost::transferInto(const std::vector<uint32_t> &order,
                                   size_t count, int64_t layer) {
  if (layer < 0)
    return count - 1;
  auto place = static_cast<size_t>(layer);
  return place == order.size() ? count - 2 : order[place];
}

double StagePricer::transferBytes(size_t kind, int64_t layer) const {
  const std::vector<double> &bytes = transfers[kind];
  return bytes[transferInto(order, bytes.size(), layer)];
}

int64_t StagePricer::keptOutputBytes(const std::vector<LayerRange> &ranges,
                                     size_t stage) const {
  bool keeps = isTraining() && runtime.training &&
               runtime.training->keepsOutputs.value != 0;
  if (!keeps || stage + 1 == ranges.size())
    return 0;
  return static_cast<int64_t>(transferBytes(0, ranges[stage + 1].begin));
}

Refusal StagePricer::priceStage(const std::vector<LayerRange> &ranges,
                                int64_t device, StageMemory &memory) {
  PartCounts counts = countsOf(program, ranges, order, shape, device, borders);
  for (const auto &[known, value] : stages)
    if (!(known < counts) && !(counts < known)) {
      memory = value;
      return {};
    }
  layout.passes = layout.microbatches = shape.passes();
  if (Refusal refusal = priceCounts(counts))
    return refusal;
  memory = {outputs[partOutputs], outputs[partOutputs + 1] == 1,
            outputs[reservedOutput], outputs[budgetOutput],
            isTraining() ? outputs[updateOutput] : 0};
  stages.emplace_back(std::move(counts), memory);
  return {};
}

Refusal StagePricer::priceWhole(WholeMemory &memory) {
  PartCounts counts(program);
  addPlaces(program, order, 0, order.size() + 2, borders, counts);
  if (Refusal refusal = priceCounts(std::move(counts)))
    return refusal;
  memory = {outputs[weightOutput], outputs[runtimeOutput],
            outputs[capacityOutput]};
  for (size_t output : {gradientOutput, optimizerOutput})
    memory.keptBytes += isTraining() ? outputs[output] : 0;
  return {};
}

/// Finds the distinct layers. They are the same for all layouts.
void StagePricer::findParts(const std::vector<uint32_t> &layers) {
  std::map<std::array<uint32_t, 3>, uint32_t> known;
  order = layers;
  partCounts.clear();
  partOf.clear();
  for (size_t place = 1; place <= order.size(); ++place) {
    auto border = [&](size_t at) {
      return borders ? borderInto(program, order, at).value_or(~0u) : ~0u;
    };
    auto next = static_cast<uint32_t>(partCounts.size());
    std::array<uint32_t, 3> key{order[place - 1], border(place),
                                border(place + 1)};
    partOf.push_back(known.emplace(key, next).first->second);
    if (partOf.back() == next)
      addPlaces(program, order, place, place + 1, borders,
                partCounts.emplace_back(program));
  }
}

Refusal StagePricer::addLayers() {
  parts.clear();
  for (const PartCounts &counts : partCounts)
    if (Refusal refusal = addPart(counts, parts.emplace_back()))
      return refusal;
  return {};
}

Refusal StagePricer::price(const std::vector<uint32_t> &layers,
                           const Layout &axes, const Workload &pass,
                           const PipelineShape &wanted,
                           std::vector<PrefillChunk> steps) {
  if (order != layers)
    findParts(layers);
  stages.clear();
  shape = wanted;
  microbatch = pass;
  chunks = std::move(steps);
  before = after = ends = {};
  layout = axes;
  layout.passes = 1;
  layout.microbatches = shape.passes();
  if (Refusal refusal = addLayers())
    return refusal;
  PartCounts first(program), behind(program);
  addPlaces(program, order, 0, 1, borders, first);
  addPlaces(program, order, order.size() + 1, order.size() + 2, borders,
            behind);
  if (Refusal refusal = addPart(first, before))
    return refusal;
  if (Refusal refusal = addPart(behind, after))
    return refusal;
  if (!shape.hasBothEnds())
    return {};
  addPlaces(program, order, order.size() + 1, order.size() + 2, borders, first);
  if (Refusal refusal = addPart(first, ends))
    return refusal;
  if (shape.hasOneStage())
    gatherOnce();
  return {};
}

void StagePricer::reshape(const PipelineShape &wanted) {
  shape = wanted;
  layout.microbatches = shape.passes();
}

Picoseconds StagePricer::stragglersOf(Picoseconds time) const {
  return std::llround(lost * static_cast<double>(time));
}

StagingProblem StagePricer::problem() const {
  StagingProblem problem;
  int64_t reserved = 0;
  for (const PipelinePart &part : parts)
    reserved = std::max(reserved, part.reservedBytes);
  auto withSaved = [&](const PipelinePart &part) {
    LayerCost cost = part.cost;
    cost.memoryBytes += keptBytes(shape, cost.savedBytes);
    return cost;
  };
  problem.layers.reserve(partOf.size());
  for (uint32_t part : partOf)
    problem.layers.push_back(withSaved(parts[part]));
  auto withTemporaries = [&](const PipelinePart &part) {
    LayerCost cost = withSaved(part);
    cost.memoryBytes += std::max<int64_t>(0, part.reservedBytes - reserved);
    return cost;
  };
  problem.embedding = withTemporaries(before);
  problem.head = withTemporaries(after);
  // The last virtual stage keeps only one microbatch, because its backward
  // follows its forward at once.
  if (shape.kind == ScheduleKind::interleaved)
    problem.head.memoryBytes +=
        after.cost.savedBytes - keptBytes(shape, after.cost.savedBytes);
  problem.folded = shape.isFolded();
  problem.endsMayBeAlone = isTraining() && !problem.folded;
  // Values that both the embedding and the head read are kept only once.
  if (shape.hasBothEnds() && shape.kind == ScheduleKind::one_f_one_b)
    problem.head.savedBytes = ends.cost.savedBytes - before.cost.savedBytes;
  if (shape.hasBothEnds())
    problem.head.memoryBytes += withSaved(ends).memoryBytes -
                                withSaved(before).memoryBytes -
                                withSaved(after).memoryBytes;
  problem.stages = shape.stages;
  problem.interleave = shape.interleave;
  if (shape.kind == ScheduleKind::one_f_one_b)
    problem.inFlight = shape.microbatches;
  problem.memoryLimitBytes =
      std::max<int64_t>(0, budgetBytes - after.runtimeBytes - reserved);
  return problem;
}

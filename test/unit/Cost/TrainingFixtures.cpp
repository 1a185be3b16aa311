//===- TrainingFixtures.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingFixtures.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;

namespace {

constexpr AxisId dp = 1;

class TrainedBuilder {
public:
  explicit TrainedBuilder(const Trained &sizes) : sizes(sizes) {
    program.model = "trained";
    program.symbols = {"batch", "query", "context"};
    program.axes = {"tp", "dp"};
  }
  CostProgram build();

private:
  /// What a weight brings: the layer kinds of its three sections.
  struct Kinds {
    uint32_t forward, backward, update;
  };
  Kinds addKinds(const std::string &name, int64_t count);
  void addProduct(const Kinds &kinds, const std::string &name, Dims in,
                  Dims out);
  void addState(const Kinds &kinds, const std::string &name, Dims shape);
  Kernel &kernel(uint32_t layer, const std::string &name);
  void call(uint32_t layer, CollectiveKind kind, AxisId axis, Dims shape,
            ElementType type, bool ofWeights);
  Dims tokens(const Dims &rest) const {
    Dim sequences = symbol(batch);
    sequences.axes = {dp};
    Dims shape = {sequences, symbol(query)};
    shape.insert(shape.end(), rest.begin(), rest.end());
    return shape;
  }
  int64_t countOf(uint32_t layer) const { return program.layers[layer].count; }

  Trained sizes;
  CostProgram program;
};

} // namespace

TrainedBuilder::Kinds TrainedBuilder::addKinds(const std::string &name,
                                               int64_t count) {
  auto first = static_cast<uint32_t>(program.layers.size());
  auto add = [&](const char *suffix, Section section) {
    auto launch = static_cast<uint32_t>(program.layers.size());
    program.layers.push_back({name + suffix, count, launch, launch, section});
  };
  add("", Section::forward);
  add(".backward", Section::backward);
  add(".update", Section::optimizer);
  return {first, first + 1, first + 2};
}

Kernel &TrainedBuilder::kernel(uint32_t layer, const std::string &name) {
  Kernel &record = program.kernels.emplace_back();
  record.name = program.layers[layer].name + "/" + name;
  record.op = name;
  record.layer = layer;
  record.count = countOf(layer);
  record.fusionGroup = static_cast<uint32_t>(program.kernels.size());
  return record;
}

void TrainedBuilder::call(uint32_t layer, CollectiveKind kind, AxisId axis,
                          Dims shape, ElementType type, bool ofWeights) {
  Collective &record = program.collectives.emplace_back();
  record.name = program.layers[layer].name + "/" + std::string(nameOf(kind));
  record.kind = kind;
  record.layer = layer;
  record.count = countOf(layer);
  record.axes = {axis};
  record.shape = std::move(shape);
  record.type = type;
  record.ofWeights = ofWeights;
}

/// 2 bytes of weight, 4 of gradient, 12 of the optimizer for each parameter,
/// the last split over dp.
void TrainedBuilder::addState(const Kinds &kinds, const std::string &name,
                              Dims shape) {
  Dims parts = shape;
  parts.front().axes = {dp};
  parts.front().rule = SplitRule::any;
  auto add = [&](Resident::Kind kind, const Dims &own, ElementType type) {
    Resident record;
    record.name = name;
    record.kind = kind;
    record.layer = kinds.forward;
    record.count = countOf(kinds.forward);
    record.shape = own;
    record.type = type;
    program.residents.push_back(record);
  };
  add(Resident::Kind::weight, shape, ElementType::bf16);
  add(Resident::Kind::gradient, shape, ElementType::f32);
  for (int i = 0; i < 3; ++i)
    add(Resident::Kind::optimizer, parts, ElementType::f32);
  call(kinds.update, CollectiveKind::reduce_scatter, dp, shape,
       ElementType::f32, true);
  Kernel &update = kernel(kinds.update, name + ".adam");
  Traffic traffic;
  traffic.role = Traffic::Role::state;
  traffic.shape = parts;
  traffic.type = ElementType::f32;
  for (bool write : {false, true})
    for (int i = 0; i < 3; ++i) {
      traffic.write = write;
      update.traffic.push_back(traffic);
    }
  call(kinds.update, CollectiveKind::all_gather, dp, parts, ElementType::bf16,
       true);
}

void TrainedBuilder::addProduct(const Kinds &kinds, const std::string &name,
                                Dims in, Dims out) {
  auto product = [&](uint32_t layer, const std::string &own, Dims rows,
                     Dims columns, Dims contraction) -> Kernel & {
    Kernel &record = kernel(layer, own);
    record.kind = KernelKind::matmul;
    record.flopClass = FlopClass::linear;
    record.flopFactor = 2;
    record.rows = std::move(rows);
    record.columns = std::move(columns);
    record.contraction = std::move(contraction);
    return record;
  };
  product(kinds.forward, name, tokens({}), out, in);
  product(kinds.backward, name + ".input", tokens({}), in, out);
  product(kinds.backward, name + ".weight", in, out, tokens({})).ofWeights =
      true;
  call(kinds.forward, CollectiveKind::all_reduce, tp,
       tokens({number(sizes.hidden)}), ElementType::bf16, false);
  call(kinds.backward, CollectiveKind::all_reduce, tp,
       tokens({number(sizes.hidden)}), ElementType::bf16, false);
  Saved saved;
  saved.name = name + ".input";
  saved.layer = kinds.forward;
  saved.count = countOf(kinds.forward);
  saved.shape = tokens(in);
  program.saved.push_back(saved);
  addState(kinds, name, {in.front(), out.front()});
}

CostProgram TrainedBuilder::build() {
  Kinds table = addKinds("model", 1), layer = addKinds("layer", sizes.layers),
        head = addKinds("head", 1);
  Dims hidden = {number(sizes.hidden)};
  addState(table, "embed", {number(sizes.vocabulary), hidden.front()});
  addProduct(layer, "up", hidden, {split(4 * sizes.hidden)});
  addProduct(head, "lm_head", hidden, {split(sizes.vocabulary)});
  program.activations = {{"y", layer.forward, tokens({split(4 * sizes.hidden)}),
                          ElementType::bf16, layer.forward, layer.forward},
                         {"dy", layer.backward,
                          tokens({split(4 * sizes.hidden)}), ElementType::bf16,
                          layer.backward, layer.backward}};
  auto kinds = [](const Kinds &all) {
    return std::vector<KindCount>{
        {all.forward, 1}, {all.backward, 1}, {all.update, 1}};
  };
  program.stack.layers = {
      {kinds(layer), {}, {{tokens(hidden), ElementType::bf16}}}};
  program.stack.runs = {{sizes.layers, {{0, 1}}}};
  program.stack.before = kinds(table);
  program.stack.after = kinds(head);
  program.stack.inputs = {{tokens({}), ElementType::i32}};
  return std::move(program);
}

CostProgram test::makeTrained(const Trained &sizes) {
  return TrainedBuilder(sizes).build();
}

TrainingFigures test::makeTrainingFigures() {
  TrainingFigures figures;
  auto figure = [](const char *name, double value) {
    return Figure{value,
                  {"datasheet", "test"},
                  std::string("runtimes.test.training.") + name};
  };
  figures.overlapsReductions = figure("overlaps_reductions", 1);
  figures.overlapsGathers = figure("overlaps_gathers", 1);
  figures.overlapsInputs = figure("overlaps_inputs", 1);
  figures.loopsExperts = figure("loops_experts", 0);
  figures.hiddenCommunication = figure("hidden_communication", 0);
  figures.hiddenDispatch = figure("hidden_dispatch", 0);
  figures.contention = figure("contention", 0);
  figures.allocatorOverhead = figure("allocator_overhead", 0);
  figures.keepsOutputs = figure("keeps_outputs", 0);
  figures.reductionBucket = figure("reduction_bucket", 0);
  figures.copiesGradients = figure("copies_gradients", 0);
  figures.castsGatheredWeights = figure("casts_gathered_weights", 0);
  figures.keepsWholeInStages = figure("keeps_whole_in_stages", 0);
  figures.splitsExpertsByTp = figure("splits_experts_by_tp", 0);
  figures.stragglerShare = figure("straggler_share", 0);
  figures.routingHostShare = figure("routing_host_share", 0);
  return figures;
}

Plan test::makeTrainingPlan(int64_t stages, int64_t dataParallel,
                            int64_t tensorParallel, int64_t microbatches,
                            ScheduleKind schedule, int64_t interleave,
                            int64_t layers) {
  Plan plan;
  plan.axes = {{"pp", stages}, {"dp", dataParallel}, {"tp", tensorParallel}};
  if (stages == 1)
    plan.axes.erase(plan.axes.begin());
  plan.pipeline.interleave = interleave;
  plan.pipeline.microbatches = microbatches;
  plan.pipeline.schedule = schedule;
  int64_t ranges = stages * interleave;
  for (int64_t i = 0; i < ranges; ++i)
    plan.pipeline.stages.push_back(
        {i * layers / ranges, (i + 1) * layers / ranges});
  return plan;
}

Workload test::train(int64_t batchSize, int64_t tokens) {
  return {Phase::train, batchSize, tokens, tokens};
}

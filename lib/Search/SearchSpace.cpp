//===- SearchSpace.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/SearchSpace.h"

#include "autopar/Plan/NeutralAxes.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::search;

std::string_view autopar::search::nameOf(Knob knob) {
  constexpr std::array<std::string_view, knobCount> names = {
      "pp", "tp", "attention_tp", "cp", "dp", "dcp", "ep", "etp", "shard_fsdp"};
  return names[static_cast<size_t>(knob)];
}

const std::array<Recomputation, 3> &autopar::search::searchedRecomputations() {
  static const std::array<Recomputation, 3> all = {
      *Recomputation::parse("none"), *Recomputation::parse("selective"),
      *Recomputation::parse("full")};
  return all;
}

namespace {

/// Enumerates sizes of plans by nested loops over the knobs.
class SizesWalk {
public:
  SizesWalk(const SearchSpace &space, bool hasExperts,
            const std::function<bool(const PlanSizes &)> &visit)
      : space(space), hasExperts(hasExperts), visit(visit) {}

  bool run(int64_t devices) {
    each(Knob::pp, devices, [&](int64_t stage) {
      each(Knob::tp, stage, [&](int64_t rest) {
        each(Knob::cp, rest, [&](int64_t replicas) {
          if (!space[Knob::dp].has(replicas))
            return;
          sizes[Knob::dp] = replicas;
          splitExperts(stage);
        });
      });
    });
    return goesOn;
  }

private:
  /// Sets `knob` to each of its allowed values that divides `devices`, and
  /// calls `then` with the quotient.
  template <typename Then>
  void each(Knob knob, int64_t devices, Then then) {
    for (int64_t size : space[knob].divisorsOf(devices)) {
      if (!goesOn)
        return;
      sizes[knob] = size;
      then(devices / size);
    }
  }

  void splitExperts(int64_t stage) {
    if (hasExperts)
      return each(Knob::ep, stage, [&](int64_t rest) {
        each(Knob::etp, rest, [&](int64_t) { splitAttention(); });
      });
    sizes[Knob::ep] = 1;
    sizes[Knob::etp] = sizes[Knob::tp];
    splitAttention();
  }

  void splitAttention() {
    if (space.trains) {
      sizes[Knob::attention_tp] = sizes[Knob::tp];
      sizes[Knob::dcp] = 1;
      return each(Knob::shard_fsdp, sizes.copies(),
                  [&](int64_t) { goesOn = goesOn && visit(sizes); });
    }
    sizes[Knob::shard_fsdp] = sizes.copies();
    each(Knob::attention_tp, sizes[Knob::tp], [&](int64_t) {
      each(Knob::dcp, sizes[Knob::attention_tp],
           [&](int64_t) { goesOn = goesOn && visit(sizes); });
    });
  }

  const SearchSpace &space;
  const bool hasExperts;
  const std::function<bool(const PlanSizes &)> &visit;
  PlanSizes sizes = {};
  bool goesOn = true;
};

} // namespace

bool autopar::search::forEachSizes(
    const SearchSpace &space, int64_t devices, bool hasExperts,
    const std::function<bool(const PlanSizes &)> &visit) {
  return SizesWalk(space, hasExperts, visit).run(devices);
}

/// Limits `space` to the training choices of `plan`. A choice that the plan
/// omits gets the default of an estimate. The space becomes empty if the search
/// does not try the plan's recomputation.
static void addTraining(const Plan &plan, SearchSpace &space) {
  const PipelinePlan &pipeline = plan.pipeline;
  int64_t zero = plan.training.zero.value_or(0);
  space.zero = {zero < 3 ? zero : 0};
  if (zero == 3)
    space.fsdp = {true};
  int64_t copies = 1;
  for (Degree degree : {Degree::dp, Degree::cp})
    if (plan.has(degree))
      copies *= plan.sizeOf(degree).value_or(1);
  if (plan.has(Degree::fsdp))
    copies = plan.sizeOf(Degree::fsdp).value_or(1);
  bool isSplit = plan.fsdp || zero > 0;
  space.sizes[static_cast<size_t>(Knob::shard_fsdp)] =
      NumberSet::of(isSplit ? copies : 1);
  Recomputation again = plan.training.recompute.value_or(Recomputation());
  const auto &known = searchedRecomputations();
  space.recompute.clear();
  for (uint32_t i = 0; i < known.size(); ++i)
    if (known[i] == again)
      space.recompute.push_back(i);
  if (pipeline.microBatch)
    space.microBatch = NumberSet::of(*pipeline.microBatch);
  int64_t interleave = pipeline.interleave.value_or(1);
  space.interleave = NumberSet::of(interleave);
  space.schedules = {pipeline.schedule.value_or(
      interleave > 1 ? ScheduleKind::interleaved : ScheduleKind::one_f_one_b)};
}

SearchSpace autopar::search::spaceOf(const Plan &plan, bool trains) {
  auto sizeOf = [&](Degree degree, int64_t otherwise) {
    return plan.has(degree) ? plan.sizeOf(degree).value_or(1) : otherwise;
  };
  int64_t tp = sizeOf(Degree::tp, 1);
  std::pair<Knob, int64_t> sizes[] = {
      {Knob::pp, sizeOf(Degree::pp, 1)},
      {Knob::tp, tp},
      {Knob::attention_tp, sizeOf(Degree::attention_tp, tp)},
      {Knob::cp, sizeOf(Degree::cp, 1)},
      {Knob::dp, sizeOf(Degree::dp, 1)},
      {Knob::dcp, sizeOf(Degree::dcp, 1)},
      {Knob::ep, sizeOf(Degree::ep, 1)},
      {Knob::etp, sizeOf(Degree::etp, tp)}};
  SearchSpace space;
  for (auto [knob, size] : sizes)
    if (!trains || (knob != Knob::attention_tp && knob != Knob::dcp))
      space.sizes[static_cast<size_t>(knob)] = NumberSet::of(size);
  if (plan.pipeline.microbatches)
    space.microbatches = NumberSet::of(*plan.pipeline.microbatches);
  space.redundantExperts = {
      plan.expertPlacement ? plan.expertPlacement->redundant : 0};
  space.sequenceParallel = {plan.sequenceParallel};
  space.fsdp = {plan.fsdp};
  space.contextKinds = {plan.contextKind.value_or(
      trains ? ContextKind::all_gather : ContextKind::ring)};
  if (trains)
    addTraining(plan, space);
  return space;
}

//===----------------------------------------------------------------------===//
// Making plans from sizes and choices
//===----------------------------------------------------------------------===//

/// Returns the allowed values of a switch; only "off" if switching it on would
/// change nothing.
static std::vector<bool> choicesOf(const std::vector<bool> &wanted,
                                   bool saysAnything) {
  return saysAnything ? wanted : std::vector<bool>{false};
}

/// Returns whether the parameters that `choice` splits are split over as many
/// devices as `sizes` say. If only copies of experts are split, they are split
/// over all of these copies.
static bool splitsAsSized(const PlanChoice &choice, const PlanSizes &sizes) {
  bool isSplit = choice.fsdp || choice.zero > 0;
  return sizes.copies() == 1 || isSplit == (sizes[Knob::shard_fsdp] > 1);
}

/// Returns the ZeRO stages that are tried. ZeRO splits neither what fsdp splits
/// already nor parameters without copies.
static std::vector<int64_t> zerosOf(const SearchSpace &space, bool hasCopies,
                                    bool fsdp) {
  if (!space.trains || !hasCopies || fsdp)
    return {0};
  return space.zero;
}

/// Returns the numbers of slots for copies of experts that are tried. Experts
/// that all lie on one device get no copies.
static std::vector<int64_t> copiesOf(const SearchSpace &space,
                                     const PlanSizes &sizes) {
  int64_t devices = sizes[Knob::ep], experts = space.loadedExperts;
  if (experts == 0 || devices == 1)
    return {0};
  if (space.redundantExperts)
    return *space.redundantExperts;
  std::vector<int64_t> copies = {0};
  int64_t each = experts / devices;
  for (int64_t more = 1; (each + more) * devices <= 2 * experts; more *= 2)
    copies.push_back((each + more) * devices - experts);
  return copies;
}

std::vector<PlanChoice> autopar::search::choicesOf(const SearchSpace &space,
                                                   const PlanSizes &sizes) {
  // Experts have copies on those devices of a stage that ep and etp leave over.
  bool hasCopies = sizes.copies() > 1 ||
                   sizes[Knob::ep] * sizes[Knob::etp] < sizes.stageDevices();
  std::vector<ContextKind> kinds = {ContextKind::ring};
  if (sizes[Knob::cp] > 1)
    kinds = space.contextKinds;
  std::vector<uint32_t> recompute = {0};
  if (space.trains)
    recompute = space.recompute;
  std::vector<PlanChoice> choices;
  for (bool sp : ::choicesOf(space.sequenceParallel, sizes[Knob::tp] > 1))
    for (bool fsdp : ::choicesOf(space.fsdp, hasCopies))
      for (ContextKind kind : kinds)
        for (int64_t zero : zerosOf(space, hasCopies, fsdp))
          for (uint32_t again : recompute)
            for (int64_t copies : copiesOf(space, sizes))
              if (PlanChoice choice{sp, fsdp, kind, zero, again, copies};
                  !space.trains || splitsAsSized(choice, sizes))
                choices.push_back(choice);
  return choices;
}

void autopar::search::setChoice(Plan &plan, const PlanChoice &choice) {
  plan.sequenceParallel = choice.sequenceParallel;
  plan.fsdp = choice.fsdp;
  if (plan.has(Degree::cp))
    plan.contextKind = choice.contextKind;
  if (choice.zero != 0)
    plan.training.zero = choice.zero;
  else
    plan.training.zero.reset();
  if (plan.expertPlacement)
    plan.expertPlacement->redundant = choice.redundantExperts;
  if (choice.recompute != 0)
    plan.training.recompute = searchedRecomputations()[choice.recompute];
  else
    plan.training.recompute.reset();
}

Result<Plan> autopar::search::planOf(const Plan &base, const PlanSizes &sizes,
                                     const PlanChoice &choice) {
  Degrees degrees;
  degrees.tp = sizes[Knob::tp];
  degrees.cp = sizes[Knob::cp];
  degrees.dp = sizes[Knob::dp];
  degrees.attentionTp = sizes[Knob::attention_tp];
  degrees.dcp = sizes[Knob::dcp];
  // Experts that are split in the same way as dense layers need no axes of
  // their own.
  if (sizes[Knob::ep] > 1 || sizes[Knob::etp] != sizes[Knob::tp]) {
    degrees.ep = sizes[Knob::ep];
    degrees.etp = sizes[Knob::etp];
  }
  int64_t parts = sizes[Knob::shard_fsdp];
  if (parts > 1 && parts < sizes.copies())
    degrees.fsdp = parts;
  Result<MeshPlan> mesh = planCanonicalMesh(degrees);
  if (!mesh)
    return mesh.error();
  Plan plan = base;
  if (sizes[Knob::pp] > 1)
    plan.setAxis(Degree::pp, sizes[Knob::pp]);
  setMesh(plan, *mesh);
  // Without expert parallelism each device has all experts, so that they cannot
  // be placed.
  if (sizes[Knob::ep] == 1)
    plan.expertPlacement.reset();
  setChoice(plan, choice);
  if (std::optional<Error> error = completeDegrees(plan))
    return *error;
  dropNeutralDegrees(plan);
  dropNeutralAxes(plan);
  return plan;
}

Plan autopar::search::withOrder(const Plan &plan, const AxisOrder &order) {
  Plan laid = plan;
  for (size_t i = 0; i < order.size(); ++i)
    laid.axes[i] = plan.axes[order[i]];
  return laid;
}

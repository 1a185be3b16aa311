//===- Pricer.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Pricer.h"

#include "Lanes.h"
#include "Requirements.h"
#include "ShapeState.h"

#include "autopar/Support/Limits.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;

GroupValues autopar::cost::pointOf(const Workload &workload) {
  return {static_cast<double>(workload.batch),
          static_cast<double>(workload.query),
          static_cast<double>(workload.context),
          static_cast<double>(workload.encoderTokens),
          static_cast<double>(workload.crossTokens)};
}

std::vector<PrefillChunk> autopar::cost::stepsOf(const Workload &whole,
                                                 const Runtime &runtime,
                                                 bool mayCut,
                                                 int64_t replicas) {
  if (whole.phase != Phase::prefill)
    return {};
  auto budget = static_cast<int64_t>(
      std::clamp(runtime.tokenBudget.value, 1.0, double(limits::maxTokens)));
  std::vector<PrefillChunk> chunks =
      prefillChunks(whole, replicas, budget, mayCut);
  if (chunks.size() == 1 && chunks.front().count == 1)
    chunks.clear();
  return chunks;
}

LaneValues
autopar::cost::lanesOf(const std::array<GroupValues, laneCount> &points) {
  LaneValues lanes;
  for (size_t symbol = 0; symbol < symbolCount; ++symbol)
    for (size_t lane = 0; lane < laneCount; ++lane)
      lanes[symbol][lane] = points[lane][symbol];
  return lanes;
}

const LaneRunner &autopar::cost::chooseLaneRunner() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return avx512Runner;
  if (__builtin_cpu_supports("avx2"))
    return avx2Runner;
#endif
  return sse2Runner;
}

/// All integers up to this one are exact in a double.
static constexpr double largestCount = 9007199254740992; // 2^53

struct Pricer::State {
  State(const Tape &tape, const Machine &machine, const Runtime &runtime,
        std::optional<double> memoryUtilization)
      : tape(tape), figures(bindFigures(tape, machine.pools.front(), runtime,
                                        memoryUtilization)),
        layout(tape, machine.pools.front(), runtime),
        shapes(tape, machine.pools.front().chip, runtime.ideal),
        slots(tape.slots), runner(chooseLaneRunner()) {
    for (auto [slot, value] : tape.constants)
      slots[slot] = value;
    findUniform();
    for (const TapeCheck &check : tape.checks)
      (check.rank < Rank::point ? layoutChecks : pointChecks).push_back(check);
  }

  /// Finds the slots that the instructions of points read but do not change.
  void findUniform() {
    std::vector<bool> seen(tape.slots, true);
    std::vector<Instruction> steps = code(Rank::point);
    steps.insert(steps.end(), code(Rank::part).begin(), code(Rank::part).end());
    for (const Instruction &step : steps) {
      uint32_t read[] = {step.a, step.b, step.c};
      for (unsigned i = 0; i < operandsOf(step.op); ++i)
        seen[read[i]] = false;
    }
    for (const LaunchRates &rates : tape.rates)
      for (uint32_t slot : rates)
        seen[slot] = false;
    for (uint32_t output : tape.outputs)
      seen[output] = false;
    for (const TapeCheck &check : tape.checks)
      seen[check.extent] = seen[check.devices] = false;
    for (const Instruction &step : steps)
      if (step.op != Op::stop)
        seen[step.out] = true;
    for (const TapeInput &input : inputs(Rank::point))
      seen[input.slot] = true;
    for (uint32_t slot = 0; slot < tape.slots; ++slot)
      if (!seen[slot])
        uniform.push_back(slot);
  }

  const std::vector<Instruction> &code(Rank rank) const {
    return tape.code[static_cast<size_t>(rank)];
  }
  const std::vector<TapeInput> &inputs(Rank rank) const {
    return tape.inputs[static_cast<size_t>(rank)];
  }
  TapeView view(Rank rank) const {
    return {code(rank).data(), layout.routes(), tape.pairs.data(),
            shapes.views(), tape.rates.data()};
  }
  /// Returns whether layouts and points are priced part by part. Values that
  /// all parts share are computed once.
  bool hasParts() const { return code(Rank::part).size() > 1; }
  /// Loads the input values of `rank`. Returns whether any value changed.
  template <typename ValueOf>
  bool load(Rank rank, ValueOf valueOf) {
    bool isNew = false;
    for (const TapeInput &input : inputs(rank)) {
      double value = valueOf(input);
      isNew |= slots[input.slot] != value;
      slots[input.slot] = value;
    }
    return isNew;
  }
  bool loadLayout(Rank rank) {
    return load(rank, [&](const TapeInput &input) {
      return layout.valueOf(input.op, input.index);
    });
  }
  void runFigures() {
    for (Rank rank : {Rank::constant, Rank::figure}) {
      for (const TapeInput &input : inputs(rank))
        slots[input.slot] = figures[input.index].value;
      run(view(rank), slots.data());
    }
    badExponent = findBadExponent(tape, figures);
    bound = true;
    isLaid = false;
  }
  void runLayout();
  template <typename Value>
  Refusal check(const std::vector<TapeCheck> &checks, Value value) const;

  const Tape &tape;
  std::vector<BoundFigure> figures;
  LayoutState layout;
  ShapeState shapes;
  std::vector<double> slots;
  const LaneRunner &runner;
  std::vector<uint32_t> uniform;
  /// The memory for the slots of all lanes, and its aligned beginning.
  std::vector<double> laneMemory;
  double *laneSlots = nullptr;
  Refusal badExponent, badLayout;
  bool bound = false, broadcast = false;
  /// Whether the values of the layout (`isLaid`) and of the point (`isRun`) are
  /// computed.
  bool isLaid = false, isRun = false;
  /// The checks of the point, and the checks of the layout and of earlier
  /// ranks.
  std::vector<TapeCheck> pointChecks, layoutChecks;
  /// The checks of the point that may fail in this layout.
  std::vector<TapeCheck> openChecks;
};

Pricer::Pricer(const Tape &tape, const Machine &machine, const Runtime &runtime,
               std::optional<double> memoryUtilization)
    : state(
          std::make_unique<State>(tape, machine, runtime, memoryUtilization)) {}
Pricer::~Pricer() = default;
Pricer::Pricer(Pricer &&) noexcept = default;

void Pricer::setFigure(uint32_t index, double value) {
  state->figures[index].value = value;
  state->bound = false;
}

const std::vector<BoundFigure> &Pricer::figures() const {
  return state->figures;
}

//===----------------------------------------------------------------------===//
// Checking requirements
//===----------------------------------------------------------------------===//

template <typename Value>
Refusal Pricer::State::check(const std::vector<TapeCheck> &checks,
                             Value value) const {
  for (const TapeCheck &check : checks)
    if (!holds(check.kind, value(check.extent), value(check.devices),
               check.index, layout, figures))
      return {Refusal::Kind::requirement, check.requirement};
  return {};
}

//===----------------------------------------------------------------------===//
// Computing layouts and points
//===----------------------------------------------------------------------===//

void Pricer::State::runLayout() {
  run(view(Rank::layout), slots.data());
  shapes.lay(slots.data());
  openChecks.clear();
  for (const TapeCheck &check : pointChecks)
    if (!holdsAlways(check.kind, check.index, layout, figures))
      openChecks.push_back(check);
  badLayout = badExponent ? badExponent
                          : check(layoutChecks,
                                  [&](uint32_t slot) { return slots[slot]; });
  isLaid = true;
  isRun = false;
}

Refusal Pricer::lay(const Layout &layout) {
  State &own = *state;
  if (!own.bound)
    own.runFigures();
  own.broadcast = false;
  bool isNew = own.layout.lay(layout);
  isNew |= own.loadLayout(Rank::layout);
  own.loadLayout(Rank::part);
  if (isNew || !own.isLaid || !own.hasParts())
    own.runLayout();
  return own.badLayout;
}

Refusal Pricer::price(Point point, double *outputs) {
  State &own = *state;
  bool isNew = own.load(Rank::point, [&](const TapeInput &input) {
    return point.symbol(input.index);
  });
  if (isNew || !own.isRun || !own.hasParts())
    run(own.view(Rank::point), own.slots.data());
  own.isRun = true;
  run(own.view(Rank::part), own.slots.data());
  const std::vector<uint32_t> &wanted = own.tape.outputs;
  Refusal overflow;
  for (uint32_t i = 0; i < wanted.size(); ++i) {
    outputs[i] = own.slots[wanted[i]];
    if (!(std::fabs(outputs[i]) <= largestCount) && !overflow)
      overflow = {Refusal::Kind::overflow, i};
  }
  if (overflow)
    return overflow;
  return own.check(own.openChecks,
                   [&](uint32_t slot) { return own.slots[slot]; });
}

static void alignLanes(std::vector<double> &memory, double *&slots,
                       size_t count) {
  constexpr size_t alignment = 64 / sizeof(double);
  memory.resize(count * laneCount + alignment);
  auto address = reinterpret_cast<uintptr_t>(memory.data()) / sizeof(double);
  slots = memory.data() + (alignment - address % alignment) % alignment;
}

Refusal Pricer::price(LanePoints points, double *outputs) {
  State &own = *state;
  if (!own.laneSlots)
    alignLanes(own.laneMemory, own.laneSlots, own.tape.slots);
  auto lane = [&](uint32_t slot) { return own.laneSlots + slot * laneCount; };
  if (!own.broadcast)
    own.runner.broadcast(own.uniform.data(), own.uniform.size(),
                         own.slots.data(), own.laneSlots);
  own.broadcast = true;
  for (const TapeInput &input : own.inputs(Rank::point))
    std::memcpy(lane(input.slot), points.symbol(input.index).data(),
                laneCount * sizeof(double));
  for (Rank rank : {Rank::point, Rank::part})
    own.runner.run(own.view(rank), own.laneSlots);
  const std::vector<uint32_t> &wanted = own.tape.outputs;
  size_t good = own.runner.collect(wanted.data(), wanted.size(), own.laneSlots,
                                   largestCount, outputs);
  if (good != wanted.size())
    return {Refusal::Kind::overflow, static_cast<uint32_t>(good)};
  for (size_t at = 0; at < laneCount && !own.openChecks.empty(); ++at)
    if (Refusal refusal = own.check(
            own.openChecks, [&](uint32_t slot) { return lane(slot)[at]; }))
      return refusal;
  return {};
}

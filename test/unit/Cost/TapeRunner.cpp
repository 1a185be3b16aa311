//===- TapeRunner.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TapeRunner.h"

#include <algorithm>
#include <numeric>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::runtime;
using namespace autopar::test;

test::TapeRunner::TapeRunner(const Tape &tape, const Machine &machine,
                             const Runtime &runtime)
    : tape(tape),
      figures(bindFigures(tape, machine.pools.front(), runtime, std::nullopt)),
      layout(tape, machine.pools.front(), runtime),
      shapes(tape, machine.pools.front().chip, runtime.ideal),
      slots(tape.slots), laneSlots(tape.slots) {
  for (auto [slot, value] : tape.constants)
    slots[slot] = value;
}

TapeView test::TapeRunner::view(Rank rank) const {
  const auto &code = tape.code[static_cast<size_t>(rank)];
  return {code.data(), layout.routes(), tape.pairs.data(), shapes.views(),
          tape.rates.data()};
}

void test::TapeRunner::lay(const Layout &next) {
  layout.lay(next);
  for (Rank rank : {Rank::constant, Rank::figure, Rank::layout}) {
    for (const TapeInput &input : tape.inputs[static_cast<size_t>(rank)])
      slots[input.slot] = input.op == Op::figure
                              ? figures[input.index].value
                              : layout.valueOf(input.op, input.index);
    run(view(rank), slots.data());
  }
  shapes.lay(slots.data());
  for (const TapeInput &input : tape.inputs[static_cast<size_t>(Rank::part)])
    slots[input.slot] = layout.valueOf(input.op, input.index);
}

std::vector<double> test::TapeRunner::runScalar(Point point) {
  for (const TapeInput &input : tape.inputs[static_cast<size_t>(Rank::point)])
    slots[input.slot] = point.symbol(input.index);
  for (Rank rank : {Rank::point, Rank::part})
    run(view(rank), slots.data());
  std::vector<double> outputs;
  for (uint32_t slot : tape.outputs)
    outputs.push_back(slots[slot]);
  return outputs;
}

std::vector<double> test::TapeRunner::runLanes(LanePoints points,
                                               LaneRunner runner) {
  for (size_t slot = 0; slot < slots.size(); ++slot)
    std::fill_n(laneSlots[slot].lane, laneCount, slots[slot]);
  for (const TapeInput &input : tape.inputs[static_cast<size_t>(Rank::point)])
    for (size_t lane = 0; lane < laneCount; ++lane)
      laneSlots[input.slot].lane[lane] = points.symbol(input.index)[lane];
  for (Rank rank : {Rank::point, Rank::part})
    runner.run(view(rank), laneSlots.front().lane);
  std::vector<double> outputs;
  for (uint32_t slot : tape.outputs)
    outputs.insert(outputs.end(), laneSlots[slot].lane,
                   laneSlots[slot].lane + laneCount);
  return outputs;
}

std::vector<LaneRunner> test::laneRunners() {
  std::vector<LaneRunner> runners = {sse2Runner};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    runners.push_back(avx2Runner);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    runners.push_back(avx512Runner);
#endif
  return runners;
}

Tape test::collectAll(const Strategy &strategy) {
  std::vector<NodeId> all(strategy.graph.size());
  std::iota(all.begin(), all.end(), 0);
  return collect(strategy, all);
}

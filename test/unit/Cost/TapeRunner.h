//===- TapeRunner.h - A tape on every instruction set -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_UNIT_COST_TAPERUNNER_H
#define AUTOPAR_TEST_UNIT_COST_TAPERUNNER_H

#include "Lanes.h"
#include "LayoutState.h"
#include "ShapeState.h"

#include "autopar/Cost/Pricer.h"

namespace autopar::test {

/// What `Pricer` does, with a choice of runners, and without its refusals: a
/// number above 2^53 hides none that follow it.
class TapeRunner {
public:
  /// All arguments outlive it.
  TapeRunner(const cost::Tape &tape, const hardware::Machine &machine,
             const runtime::Runtime &runtime);

  void lay(const cost::Layout &layout);
  /// Values by output of the tape.
  std::vector<double> runScalar(cost::Point point);
  /// The same by output and then by lane.
  std::vector<double> runLanes(cost::LanePoints points,
                               cost::LaneRunner runner);

private:
  struct alignas(64) Slot {
    double lane[cost::laneCount];
  };

  cost::TapeView view(cost::Rank rank) const;
  void runUpTo(cost::Rank rank);

  const cost::Tape &tape;
  std::vector<cost::BoundFigure> figures;
  cost::LayoutState layout;
  cost::ShapeState shapes;
  std::vector<double> slots;
  std::vector<Slot> laneSlots;
};

/// The runners that this machine has, the narrowest first.
std::vector<cost::LaneRunner> laneRunners();

/// The tape of all nodes of a strategy, in their order.
cost::Tape collectAll(const cost::Strategy &strategy);

} // namespace autopar::test

#endif // AUTOPAR_TEST_UNIT_COST_TAPERUNNER_H

//===- TrainingTimes.h - Iterations and what overlaps in them ---*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_TRAININGTIMES_H
#define AUTOPAR_COST_TRAININGTIMES_H

#include "autopar/Program/CostProgram.h"
#include "autopar/Runtime/Runtime.h"
#include "autopar/Schedule/Time.h"

#include <array>

namespace autopar::cost {

/// What layers take in one section of a pass.
struct SectionTimes {
  /// Kernels with their floors.
  schedule::Picoseconds kernelsPs = 0;
  /// Collectives that kernels wait for; those of tokens on their way to experts
  /// and back (`Collective::routed`); those of inputs of products
  /// (`Collective::ofInputs`); those that gather weights, and those that reduce
  /// gradients of weights; those that sum gradients of weights of which two
  /// stages have a copy.
  schedule::Picoseconds communicationPs = 0, dispatchPs = 0, inputPs = 0,
                        gatherPs = 0, reductionPs = 0, copiesPs = 0;

  schedule::Picoseconds callsPs() const {
    return communicationPs + dispatchPs + inputPs + gatherPs + reductionPs +
           copiesPs;
  }
  schedule::Picoseconds allPs() const { return kernelsPs + callsPs(); }
};

/// What layers take and keep: forwards and backwards of one microbatch, and the
/// optimizer.
struct TrainingTimes {
  std::array<SectionTimes, program::sectionCount> sections;
  /// Of the backward's kernels, those that make gradients of weights.
  schedule::Picoseconds weightGradientPs = 0;
  /// What a microbatch keeps from its forward to its backward.
  int64_t savedBytes = 0;

  const SectionTimes &of(program::Section section) const {
    return sections[static_cast<size_t>(section)];
  }
  SectionTimes &of(program::Section section) {
    return sections[static_cast<size_t>(section)];
  }
  /// Adds `other` so often.
  void add(const TrainingTimes &other, int64_t count);
  TrainingTimes &operator+=(const TrainingTimes &other);
  TrainingTimes &operator-=(const TrainingTimes &other);
};

/// Whether tokens of `program` go to experts.
bool routesTokens(const program::CostProgram &program);
/// What an iteration of `program` loses beside, in parts of that of devices
/// that are alike.
double lostShareOf(const program::CostProgram &program,
                   const runtime::Runtime &runtime);

/// `times` without the communication that runs beside computation of the same
/// stage, as `runtime` overlaps it: exposed is max(0, communication - what it
/// hides behind).
///
/// Inputs are gathered, and their gradients summed, beside the products that
/// make gradients of weights (arXiv:2205.05198, section 4.2.2). Gathers of a
/// section run beside its kernels, and reductions of a backward
/// beside what kernels gathers leave. Of the optimizer, which waits for
/// neither, reductions run beside the last microbatch's backward, and gathers
/// beside the first one's forward of the next iteration. Copies are summed when
/// all that is done: nothing runs beside that.
TrainingTimes exposedOf(const TrainingTimes &times,
                        const runtime::Runtime &runtime);

} // namespace autopar::cost

#endif // AUTOPAR_COST_TRAININGTIMES_H

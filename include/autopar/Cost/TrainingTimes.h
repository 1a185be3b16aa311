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

/// Times of layers in one section of a pass.
struct SectionTimes {
  /// Kernels with their floors.
  schedule::Picoseconds kernelsPs = 0;
  /// Collectives that kernels wait for; those that carry tokens to experts and
  /// back (`Collective::routed`); those of inputs of matmuls
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

/// Times and saved bytes of layers: forward and backward of one microbatch, and
/// the optimizer.
struct TrainingTimes {
  std::array<SectionTimes, program::sectionCount> sections;
  /// Time of the backward's kernels that make gradients of weights.
  schedule::Picoseconds weightGradientPs = 0;
  /// Bytes that a microbatch keeps from its forward to its backward.
  int64_t savedBytes = 0;

  const SectionTimes &of(program::Section section) const {
    return sections[static_cast<size_t>(section)];
  }
  SectionTimes &of(program::Section section) {
    return sections[static_cast<size_t>(section)];
  }
  /// Adds `other` `count` times.
  void add(const TrainingTimes &other, int64_t count);
  TrainingTimes &operator+=(const TrainingTimes &other);
  TrainingTimes &operator-=(const TrainingTimes &other);
};

/// Whether `program` routes tokens to experts.
bool routesTokens(const program::CostProgram &program);
/// Time that an iteration of `program` loses to stragglers and to the host's
/// work for routing, over the iteration's other time.
double lostShareOf(const program::CostProgram &program,
                   const runtime::Runtime &runtime);

/// Returns `times` without the communication that `runtime` overlaps with
/// computation of the same stage. Exposed is max(0, communication - the
/// computation beside it).
///
/// Inputs are gathered, and their gradients summed, beside the matmuls that
/// make gradients of weights (arXiv:2205.05198, section 4.2.2). Gathers of a
/// section run beside its kernels, and reductions of a backward beside the
/// kernels that gathers leave. The optimizer waits for neither: its reductions
/// run beside the last microbatch's backward, its gathers beside the first
/// forward of the next iteration. Copies are summed after all of this, beside
/// nothing.
TrainingTimes exposedOf(const TrainingTimes &times,
                        const runtime::Runtime &runtime);

} // namespace autopar::cost

#endif // AUTOPAR_COST_TRAININGTIMES_H

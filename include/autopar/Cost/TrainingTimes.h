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

/// Times, in ps, of some layers in one section (forward, backward or optimizer)
/// of a pass.
struct SectionTimes {
  /// Time of kernels, launch floors included.
  schedule::Picoseconds kernelsPs = 0;
  /// Times of collectives, in ps: `communicationPs` of those that kernels wait
  /// for; `dispatchPs` of those that carry tokens to experts and back
  /// (`Collective::routed`); `inputPs` of those on inputs of matmuls
  /// (`Collective::ofInputs`); `gatherPs` of those that gather weights;
  /// `reductionPs` of those that reduce gradients of weights; `copiesPs` of
  /// those that sum gradients of weights that two stages hold.
  schedule::Picoseconds communicationPs = 0, dispatchPs = 0, inputPs = 0,
                        gatherPs = 0, reductionPs = 0, copiesPs = 0;

  schedule::Picoseconds callsPs() const {
    return communicationPs + dispatchPs + inputPs + gatherPs + reductionPs +
           copiesPs;
  }
  schedule::Picoseconds allPs() const { return kernelsPs + callsPs(); }
};

/// Times and saved bytes of some layers: forward and backward of one
/// microbatch, and the optimizer of one iteration.
struct TrainingTimes {
  std::array<SectionTimes, program::sectionCount> sections;
  /// Time of the backward's kernels that compute gradients of weights, in ps.
  schedule::Picoseconds weightGradientPs = 0;
  /// Bytes that a microbatch keeps from its forward for its backward.
  int64_t savedBytes = 0;

  const SectionTimes &of(program::Section section) const {
    return sections[static_cast<size_t>(section)];
  }
  SectionTimes &of(program::Section section) {
    return sections[static_cast<size_t>(section)];
  }
  /// Adds `count` times the times and bytes of `other`.
  void add(const TrainingTimes &other, int64_t count);
  TrainingTimes &operator+=(const TrainingTimes &other);
  TrainingTimes &operator-=(const TrainingTimes &other);
};

/// Whether `program` has experts to which tokens are routed.
bool routesTokens(const program::CostProgram &program);
/// Returns the time that an iteration loses to stragglers and to the host's
/// work for routing, as a share of the iteration's other time.
double lostShareOf(const program::CostProgram &program,
                   const runtime::Runtime &runtime);

/// Returns `times` without the communication that `runtime` hides behind
/// computation of the same stage. What remains is max(0, communication - the
/// computation beside it).
///
/// Inputs are gathered, and their gradients summed, beside the matmuls that
/// compute gradients of weights (arXiv:2205.05198, section 4.2.2). Gathers of a
/// section run beside its kernels; reductions of a backward run beside the
/// kernel time that gathers do not use. The optimizer waits for neither: its
/// reductions run beside the last microbatch's backward, its gathers beside the
/// first forward of the next iteration. Gradients that two stages hold are
/// summed after all of this, beside nothing.
TrainingTimes exposedOf(const TrainingTimes &times,
                        const runtime::Runtime &runtime);

} // namespace autopar::cost

#endif // AUTOPAR_COST_TRAININGTIMES_H

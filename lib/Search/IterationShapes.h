//===- IterationShapes.h - Ways through the stages of a mesh ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_ITERATIONSHAPES_H
#define AUTOPAR_LIB_SEARCH_ITERATIONSHAPES_H

#include "autopar/Search/Search.h"

namespace autopar::search {

/// How the sequences of an iteration go through pipeline stages.
struct IterationShape {
  schedule::ScheduleKind schedule = schedule::ScheduleKind::one_f_one_b;
  int64_t interleave = 1;
  /// The index of the batch in the problem.
  size_t batch = 0;
  int64_t microbatches = 1;
};

/// Returns the shapes that the space of `problem` has for `stages` stages and
/// `replicas` replicas; the replicas must divide the batch. The number of
/// microbatches may be any divisor of a replica's share of the batch. The
/// number of virtual stages per device may be any divisor of the layers per
/// stage, rounded down. A single stage has only one schedule.
std::vector<IterationShape> shapesOf(const SearchProblem &problem,
                                     int64_t stages, int64_t replicas);

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_ITERATIONSHAPES_H

//===- ProgramMesh.h - Which program prices a plan --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Along an axis of data parallelism that has one device nothing is sent, what
// it splits is whole, and passes lay all else out alike: it changes no price.
// So plans with such an axis and without have one program, that of more
// devices.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_PROGRAMMESH_H
#define AUTOPAR_LIB_SEARCH_PROGRAMMESH_H

#include "autopar/Search/SearchSpace.h"

namespace autopar::search {

struct ProgramMesh {
  /// On as many devices as give each axis that may be there two at least.
  plan::Plan plan;
  /// Of each axis of it behind that of pipeline stages, which of the other
  /// plan's it is, counted alike; nothing where that has one device there.
  std::vector<std::optional<uint32_t>> axisOf;
};

/// The mesh of the program of `plan`, which is `planOf(base, sizes, {})`, of
/// inference, with fsdp or without.
ProgramMesh programMeshOf(const plan::Plan &plan, const plan::Plan &base,
                          const PlanSizes &sizes, bool fsdp);
/// Where a program has the axes that its plan has.
ProgramMesh programMeshOf(const plan::Plan &plan);

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_PROGRAMMESH_H

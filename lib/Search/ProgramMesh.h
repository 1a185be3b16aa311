//===- ProgramMesh.h - The program that prices a plan -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An axis of data parallelism with one device sends nothing and splits nothing,
// and passes lay everything else out alike: it changes no price. Plans with and
// without such an axis therefore share one program, the one with more devices.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_PROGRAMMESH_H
#define AUTOPAR_LIB_SEARCH_PROGRAMMESH_H

#include "autopar/Search/SearchSpace.h"

namespace autopar::search {

struct ProgramMesh {
  /// The plan of the program, in which each optional axis has at least two
  /// devices.
  plan::Plan plan;
  /// For each axis of `plan` after that of pipeline stages, the index of the
  /// same axis in the priced plan; absent if the priced plan has only one
  /// device there.
  std::vector<std::optional<uint32_t>> axisOf;
};

/// Returns the mesh of the program that prices the inference plan `plan`, which
/// is `planOf(base, sizes, {})`. `fsdp` says whether the plan splits
/// parameters.
ProgramMesh programMeshOf(const plan::Plan &plan, const plan::Plan &base,
                          const PlanSizes &sizes, bool fsdp);
/// Returns the mesh of a program that has the axes of `plan` itself.
ProgramMesh programMeshOf(const plan::Plan &plan);

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_PROGRAMMESH_H

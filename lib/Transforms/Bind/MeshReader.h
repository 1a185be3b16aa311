//===- MeshReader.h - The mesh of a module as a plan ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_BIND_MESHREADER_H
#define AUTOPAR_LIB_TRANSFORMS_BIND_MESHREADER_H

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Plan/Plan.h"

namespace autopar::transforms {

/// Returns a plan with the axes and degrees of `mesh`.
plan::Plan readMesh(parallel::MeshOp mesh);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_BIND_MESHREADER_H

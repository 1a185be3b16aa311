//===- Propagation.h - Types that follow from seeds -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_SPLIT_PROPAGATION_H
#define AUTOPAR_LIB_TRANSFORMS_SPLIT_PROPAGATION_H

#include "mlir/IR/BuiltinOps.h"

namespace autopar::transforms {

/// Drops what follows from the seeds: all reshards, and all collectives but
/// those on weights and caches.
void dropLayoutOps(mlir::ModuleOp module);

/// Types all values of a module anew from its seeds: weights and caches, what
/// functions take and return, and what loops carry. All layout ops but those on
/// weights and caches are dropped first; a `parallel.reshard` goes wherever an
/// op cannot take an operand as it is. So passes that split seeds
/// compose.
void propagateSplits(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_PROPAGATION_H

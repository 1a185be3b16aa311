//===- Layouts.h - Types and layouts ----------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_SPLIT_LAYOUTS_H
#define AUTOPAR_TRANSFORMS_SPLIT_LAYOUTS_H

#include "autopar/Dialect/Parallel/Parallel.h"

namespace autopar::transforms {

/// Returns `type` in another layout with the same dimensions. A tensor that
/// nothing splits gets the encoding of the unsplit IR.
mlir::Type withLayout(mlir::Type type, const parallel::Layout &layout);

/// Whether `op` changes the layout of its operand: a collective or a reshard.
bool isLayoutOp(mlir::Operation *op);

/// Returns the layout of the result of a ring, a gather or a split of a source
/// (weight or KV cache), from the layout of its operand.
parallel::Layout layoutAfter(mlir::Operation *op);

} // namespace autopar::transforms

#endif // AUTOPAR_TRANSFORMS_SPLIT_LAYOUTS_H

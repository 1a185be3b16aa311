//===- Layouts.h - Types and layouts ----------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_LAYOUTS_H
#define AUTOPAR_TRANSFORMS_LAYOUTS_H

#include "autopar/Dialect/Parallel/Parallel.h"

namespace autopar {

/// `type` in another layout, which keeps its dimensions. A tensor that is whole
/// gets the encoding of the logical IR.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  const parallel::Layout &layout);

/// The types of an op's results, from its factors and the types of its
/// operands: dimensions take the split of the first operand that has their
/// factor, partial sums are those of the operands and of split reductions.
mlir::SmallVector<mlir::RankedTensorType>
inferResultTypes(ShardingOpInterface op);

} // namespace autopar

#endif // AUTOPAR_TRANSFORMS_LAYOUTS_H

//===- Selected.h - Attention to a part of a cache --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_TRANSFORMER_SELECTED_H
#define AUTOPAR_DIALECT_TRANSFORMER_SELECTED_H

#include "autopar/Interfaces/WorkloadBuilder.h"

namespace autopar::transformer {

/// Adds the traffic of reading `cache` to `kernel`, in which each query attends
/// to at most `seen` selected tokens (0: all). At most the tokens that the
/// queries select together are read.
void readSelected(WorkloadBuilder &builder, program::Kernel &kernel,
                  mlir::Value cache, int64_t seen);

/// Adds the kernel in which an indexer scores the cached `rows` by `query`,
/// with factors of its heads in `weight` if it has them. Scores stay on the
/// chip, and `result` has what was selected.
program::Kernel &addIndexKernel(WorkloadBuilder &builder, mlir::Operation *op,
                                mlir::Value query, mlir::Value weight,
                                mlir::Value rows, mlir::Value result);

} // namespace autopar::transformer

#endif // AUTOPAR_DIALECT_TRANSFORMER_SELECTED_H

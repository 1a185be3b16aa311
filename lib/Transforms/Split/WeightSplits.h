//===- WeightSplits.h - Splits of weights over replicas ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_SPLIT_WEIGHTSPLITS_H
#define AUTOPAR_LIB_TRANSFORMS_SPLIT_WEIGHTSPLITS_H

#include "mlir/IR/Value.h"

#include <optional>

namespace autopar::transforms {

/// Returns the largest dimension of a weight that no axis splits; of equally
/// large ones, the last.
std::optional<unsigned> largestWholeDim(mlir::Value weight);

/// Whether matmuls of routed tokens use `weight`.
bool isWeightOfExperts(mlir::Value weight);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_WEIGHTSPLITS_H

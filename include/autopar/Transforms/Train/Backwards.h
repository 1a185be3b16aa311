//===- Backwards.h - How ops give gradients ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_TRAIN_BACKWARDS_H
#define AUTOPAR_TRANSFORMS_TRAIN_BACKWARDS_H

#include "mlir/IR/DialectRegistry.h"

namespace autopar::transforms {

/// Attaches the `DifferentiableOpInterface` of the transformer dialect's ops
/// when that dialect is loaded.
void registerBackwards(mlir::DialectRegistry &registry);

} // namespace autopar::transforms

#endif // AUTOPAR_TRANSFORMS_TRAIN_BACKWARDS_H

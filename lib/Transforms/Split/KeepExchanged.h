//===- KeepExchanged.h - Keeps exchanged values for backwards ---*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_SPLIT_KEEPEXCHANGED_H
#define AUTOPAR_LIB_TRANSFORMS_SPLIT_KEEPEXCHANGED_H

#include "mlir/IR/BuiltinOps.h"

namespace autopar::transforms {

/// If a backward repeats an all-to-all of its forward on a saved value (routed
/// tokens, or heads for tokens), saves the exchanged value instead: frameworks
/// save the inputs of experts and attention.
void keepExchanged(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_KEEPEXCHANGED_H

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

/// If a backward repeats an exchange of its forward on a kept value (routed
/// tokens, heads for tokens), keeps the exchanged value instead: frameworks
/// save the inputs of experts and attention.
void keepExchanged(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_KEEPEXCHANGED_H

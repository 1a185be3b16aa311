//===- KeepExchanged.h - What backwards need not send again -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_SPLIT_KEEPEXCHANGED_H
#define AUTOPAR_LIB_TRANSFORMS_SPLIT_KEEPEXCHANGED_H

#include "mlir/IR/BuiltinOps.h"

namespace autopar::transforms {

/// Where a backward exchanges again what was kept as its forward had it before
/// the same exchange (routed tokens, heads for tokens), it is kept as it has
/// arrived: what experts multiply and attention sees is what frameworks save.
void keepExchanged(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_KEEPEXCHANGED_H

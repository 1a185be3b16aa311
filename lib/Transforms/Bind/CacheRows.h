//===- CacheRows.h - Rows that runtimes keep of caches ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_BIND_CACHEROWS_H
#define AUTOPAR_LIB_TRANSFORMS_BIND_CACHEROWS_H

#include "autopar/Runtime/Runtime.h"

#include "mlir/IR/BuiltinOps.h"

namespace autopar::transforms {

/// Gives each cache of `module` the rows that `runtime` keeps of it
/// (`Runtime::cacheRows`), or rows of its plain format.
void keepRowsOf(mlir::ModuleOp module, const runtime::Runtime &runtime);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_BIND_CACHEROWS_H

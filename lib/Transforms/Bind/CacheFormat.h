//===- CacheFormat.h - Who chose the format of caches -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_BIND_CACHEFORMAT_H
#define AUTOPAR_LIB_TRANSFORMS_BIND_CACHEFORMAT_H

#include "autopar/Report/CacheFormat.h"
#include "autopar/Runtime/Runtime.h"

#include "mlir/IR/BuiltinOps.h"

namespace autopar::transforms {

/// Records in the module that its caches have `format` because `source` says
/// so; without a source, removes what was recorded: a user has chosen.
void recordCacheFormat(mlir::ModuleOp module, ElementType format,
                       llvm::StringRef source);

/// Why a runtime whose rule is not `model` keeps caches in FP8.
std::string cacheRuleText(const runtime::Runtime &runtime);

/// The format of the module's caches of keys and values, and who chose it: the
/// checkpoint, a flag, the runtime's rule, or nobody. Nothing without caches.
std::optional<report::Assumption>
findCacheFormat(mlir::ModuleOp module, const runtime::Runtime &runtime);

/// The entry of `transformer.defaults` that `recordCacheFormat` writes, as
/// imports of checkpoints with such a format do.
bool isCacheFormat(llvm::StringRef nameOfDefault);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_BIND_CACHEFORMAT_H

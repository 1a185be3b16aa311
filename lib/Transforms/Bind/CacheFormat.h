//===- CacheFormat.h - Who chose the format of caches -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_BIND_CACHEFORMAT_H
#define AUTOPAR_LIB_TRANSFORMS_BIND_CACHEFORMAT_H

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Report/CacheFormat.h"
#include "autopar/Runtime/Runtime.h"

#include "mlir/IR/BuiltinOps.h"

namespace autopar::transforms {

/// Records in the module that `source` determined the `format` of its KV
/// caches. With source "", which means that the user chose the format, it
/// removes the record.
void recordCacheFormat(mlir::ModuleOp module, ElementType format,
                       llvm::StringRef source);

/// Returns the explanation why a runtime whose rule is not `model` keeps KV
/// caches in FP8.
std::string cacheRuleText(const runtime::Runtime &runtime);

/// Returns the format of the module's KV caches and its source (the checkpoint,
/// a flag, the runtime's rule, or the default); nothing if the module has no KV
/// caches.
std::optional<report::Assumption>
findCacheFormat(mlir::ModuleOp module, const runtime::Runtime &runtime);

/// Returns the format that all caches of the module have, except those that
/// keep their own; for rows of several formats, the format of most elements.
/// Returns nothing if there are no caches.
std::optional<ElementType> formatOfCaches(mlir::ModuleOp module);

/// Whether `cache` keeps its format, because it holds values from which
/// compressed rows will be made.
bool keepsFormat(transformer::KVCacheOp cache);

/// Whether `nameOfDefault` is the name of the entry in `transformer.defaults`
/// that `recordCacheFormat` writes, as imports of checkpoints do, too.
bool isCacheFormat(llvm::StringRef nameOfDefault);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_BIND_CACHEFORMAT_H

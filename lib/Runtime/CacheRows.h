//===- CacheRows.h - Rows of several formats --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_RUNTIME_CACHEROWS_H
#define AUTOPAR_LIB_RUNTIME_CACHEROWS_H

#include "autopar/Runtime/Runtime.h"
#include "autopar/Support/Json.h"

namespace autopar::runtime {

/// Reads the member `cache_rows` of a runtime, which may be missing.
void readCacheRows(const JsonReader &reader, Runtime &runtime);

} // namespace autopar::runtime

#endif // AUTOPAR_LIB_RUNTIME_CACHEROWS_H

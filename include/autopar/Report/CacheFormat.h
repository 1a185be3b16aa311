//===- CacheFormat.h - The format of caches in a report ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_CACHEFORMAT_H
#define AUTOPAR_REPORT_CACHEFORMAT_H

#include "autopar/Report/Report.h"

namespace autopar::report {

/// Name of the assumption that states the number format of KV caches, and who
/// chose it.
inline constexpr const char *cacheFormatAssumption = "kv_format";

/// Returns the assumption about the format of KV caches; null if the step has
/// no KV caches.
inline const Assumption *findCacheFormat(const Report &report) {
  for (const Assumption &assumption : report.assumptions)
    if (assumption.name == cacheFormatAssumption)
      return &assumption;
  return nullptr;
}

} // namespace autopar::report

#endif // AUTOPAR_REPORT_CACHEFORMAT_H

//===- ModelFacts.h - Facts about a model alone -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_MODELFACTS_H
#define AUTOPAR_EVALUATE_MODELFACTS_H

#include "autopar/Program/CostProgram.h"
#include "autopar/Report/ModelReport.h"
#include "autopar/Support/Result.h"

#include <string>
#include <vector>

namespace autopar::evaluation {

/// The cost programs of one model on a single device, without collectives.
struct ModelPrograms {
  program::CostProgram prefill, decode;
  /// A decode program for each format of the KV cache, by the format's name; at
  /// least one.
  std::vector<std::pair<std::string, program::CostProgram>> byKvFormat;
};

/// Returns the fields of a `ModelReport` that neither the IR nor the config
/// states: bytes of caches at `cacheContexts`, and FLOPs at `flopContexts`,
/// both in tokens.
Result<report::ModelReport>
countModel(const ModelPrograms &programs,
           const std::vector<int64_t> &cacheContexts,
           const std::vector<int64_t> &flopContexts);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_MODELFACTS_H

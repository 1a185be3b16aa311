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

/// The cost programs of one model on one device, with neither mesh nor
/// collectives.
struct ModelPrograms {
  program::CostProgram prefill, decode;
  /// Programs by format of the KV cache; at least one.
  std::vector<std::pair<std::string, program::CostProgram>> byKvFormat;
};

/// Counts every field of a `ModelReport` that neither the IR nor the config
/// gives, at the given contexts.
Result<report::ModelReport>
countModel(const ModelPrograms &programs,
           const std::vector<int64_t> &cacheContexts,
           const std::vector<int64_t> &flopContexts);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_MODELFACTS_H

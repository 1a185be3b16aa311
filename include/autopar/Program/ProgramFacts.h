//===- ProgramFacts.h - Questions about a cost program ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_PROGRAMFACTS_H
#define AUTOPAR_PROGRAM_PROGRAMFACTS_H

#include "autopar/Program/CostProgram.h"
#include "autopar/Program/Workload.h"

#include <algorithm>
#include <string_view>

namespace autopar::program {

/// Whether any size of the program depends on `symbol`.
inline bool readsSymbol(const CostProgram &program, std::string_view symbol) {
  return std::find(program.symbols.begin(), program.symbols.end(), symbol) !=
         program.symbols.end();
}

/// Returns the number of encoded positions per request that cross attention
/// sees: by default all positions that `step` encodes.
inline int64_t crossTokensOf(const CostProgram &program, const Workload &step) {
  if (step.crossTokens > 0 || !readsSymbol(program, "cross_tokens"))
    return step.crossTokens;
  return step.encoderTokens;
}

/// Whether `resident` belongs to layers that draft tokens: devices hold it, but
/// its layer kind is run by no step. It does not count as a parameter of the
/// model.
inline bool isForDrafts(const CostProgram &program, const Resident &resident) {
  return !resident.stored && program.layers[resident.layer].count == 0;
}

inline bool holdsDrafts(const CostProgram &program) {
  return std::any_of(
      program.residents.begin(), program.residents.end(),
      [&](const Resident &resident) { return isForDrafts(program, resident); });
}

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_PROGRAMFACTS_H

//===- Borders.h - Runs that follow each other across layers ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_BORDERS_H
#define AUTOPAR_LIB_ANALYSIS_BORDERS_H

#include "autopar/Interfaces/WorkloadBuilder.h"

namespace autopar::analysis {

/// A renaming of value numbers (`Traffic::value`), none of which is 0.
using ValueNumbers = llvm::SmallVector<std::pair<uint32_t, uint32_t>, 2>;

/// Applies `numbers`, then `further`; other numbers stay.
ValueNumbers compose(ValueNumbers numbers, const ValueNumbers &further);

/// The launches and sends of a step at one place.
struct Launches : WorkloadBuilder::Launched {
  Launches() = default;
  Launches(Launched launched) : Launched(launched) {}

  /// Maps the value numbers of its first run of kernels (`ends.head`) in the
  /// called function to those of the same values in the caller.
  ValueNumbers values;
  /// Whether its tail is in a layer of the stack.
  bool endsInStack = false;
};

/// Fills `CostProgram::borders`.
class Borders {
public:
  explicit Borders(program::CostProgram &program) : program(program) {}

  /// Makes `before` what it and `after`, which follows it, are together;
  /// `count` times a step, in `layer`.
  void append(Launches &before, const Launches &after, int64_t count,
              std::optional<uint32_t> layer);
  /// Says that `after` follows `before` directly.
  void add(const program::RunEnds &before, const Launches &after, int64_t count,
           std::optional<uint32_t> layer);

private:
  bool isFree(const program::Kernel &before,
              const program::Kernel &after) const;
  bool touches(uint32_t last, uint32_t value) const;

  program::CostProgram &program;
};

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_BORDERS_H

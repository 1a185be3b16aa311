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

/// A mapping from value numbers (`Traffic::value`) to others; none of them is
/// 0.
using ValueNumbers = llvm::SmallVector<std::pair<uint32_t, uint32_t>, 2>;

/// Returns the mapping that applies `numbers` and then `further`. Numbers that
/// neither maps stay as they are.
ValueNumbers compose(ValueNumbers numbers, const ValueNumbers &further);

/// The kernels and collectives that one run of a function or an op launches:
/// the elementwise kernels with which it begins and ends.
struct Launches : WorkloadBuilder::Launched {
  Launches() = default;
  Launches(Launched launched) : Launched(launched) {}

  /// Maps the value numbers of its first run of kernels (`ends.head`) in the
  /// called function to those of the same values in the caller.
  ValueNumbers values;
  /// Whether the last kernel is in a layer of the stack.
  bool endsInStack = false;
};

/// Finds the borders between elementwise kernels of neighbouring layers, and
/// fills `CostProgram::borders`.
class Borders {
public:
  explicit Borders(program::CostProgram &program) : program(program) {}

  /// Extends `before` by `after`, which follows it directly `count` times per
  /// step in `layer`, and adds the border between them.
  void append(Launches &before, const Launches &after, int64_t count,
              std::optional<uint32_t> layer);
  /// Adds the border between `before` and `after`, which follows it directly.
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

//===- Launches.h - Kernels that a runtime launches as one ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_LAUNCHES_H
#define AUTOPAR_LIB_COST_LAUNCHES_H

#include "Evaluation.h"

namespace autopar {

/// Kernels that the runtime launches as one, `count` times a step.
struct Launch {
  /// Indices of kernels.
  std::vector<size_t> members;
  int64_t count = 0;
  /// Of two runs, what joins them.
  const Border *border = nullptr;

  /// Bytes that each member moves: what an earlier one read or wrote is not
  /// read again.
  std::vector<Checked> bytes(Evaluation &evaluation) const;
};

/// All launches of a step. Of a run at borders, those that these join to
/// another run are launches with it; the rest are its own.
std::vector<Launch> launchesOf(const Evaluation &evaluation);

} // namespace autopar

#endif // AUTOPAR_LIB_COST_LAUNCHES_H

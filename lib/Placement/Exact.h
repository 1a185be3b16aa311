//===- Exact.h - The best of all assignments, where they are few *- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLACEMENT_EXACT_H
#define AUTOPAR_LIB_PLACEMENT_EXACT_H

#include "Balance.h"

namespace autopar::placement {

/// Searches numbers of replicas and their ranks by branch and bound. Improves
/// `result` and sets whether it is optimal. Does nothing if there are many
/// slots, and gives up after a fixed number of `steps`.
void searchExactly(const Cell &cell, double bound, Balanced &result,
                   Steps &steps);

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_EXACT_H

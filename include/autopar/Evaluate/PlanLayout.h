//===- PlanLayout.h - The layout of a plan's devices ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_PLANLAYOUT_H
#define AUTOPAR_EVALUATE_PLANLAYOUT_H

#include "autopar/Cost/Pricer.h"
#include "autopar/Plan/Plan.h"

namespace autopar::evaluation {

/// Returns the layout of a program with the given axes on the devices of
/// `plan`, which must have sizes for all of them.
cost::Layout layoutOf(const std::vector<std::string> &axes,
                      const plan::Plan &plan);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_PLANLAYOUT_H

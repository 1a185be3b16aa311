//===- Differences.h - In what two plans differ -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EXPLAIN_DIFFERENCES_H
#define AUTOPAR_EXPLAIN_DIFFERENCES_H

#include "autopar/Report/PlanDifferences.h"

namespace autopar::explanation {

/// Returns the rows in which two priced plans differ. Both must outlive the
/// result.
report::PlanDifferences compare(const report::PlanOutcome &a,
                                const report::PlanOutcome &b);

} // namespace autopar::explanation

#endif // AUTOPAR_EXPLAIN_DIFFERENCES_H

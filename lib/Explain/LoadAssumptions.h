//===- LoadAssumptions.h - What is taken for granted of expert loads ---*- C++
//-*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_EXPLAIN_LOADASSUMPTIONS_H
#define AUTOPAR_LIB_EXPLAIN_LOADASSUMPTIONS_H

#include "autopar/Explain/Assumptions.h"

namespace autopar::explanation {

/// Adds the assumptions about the loads of experts: those of the profile or,
/// without a profile, that they are even on average.
void addLoadAssumptions(const evaluation::EvaluatedStep &step,
                        Assumptions &assumptions);

} // namespace autopar::explanation

#endif // AUTOPAR_LIB_EXPLAIN_LOADASSUMPTIONS_H

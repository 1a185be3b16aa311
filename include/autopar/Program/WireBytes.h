//===- WireBytes.h - What a device sends in a collective --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_WIREBYTES_H
#define AUTOPAR_PROGRAM_WIREBYTES_H

#include "autopar/Program/CostProgram.h"

namespace autopar::program {

/// Bytes that one device sends in a ring: (n-1)/n of `bytes`, twice for an
/// all-reduce. Thakur, Rabenseifner, Gropp, "Optimization of Collective
/// Communication Operations in MPICH" (2005), sections 4.1 to 4.5.
double wireBytes(CollectiveKind kind, int64_t groupSize, double bytes);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_WIREBYTES_H

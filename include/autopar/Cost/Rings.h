//===- Rings.h - Rings and the attention beside them ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_RINGS_H
#define AUTOPAR_COST_RINGS_H

#include "autopar/Program/CostProgram.h"

namespace autopar::cost {

/// Whether `kernel` is attention in the layer of `ring`: its queries are split
/// over the ring's axes, and its keys travel around the ring.
bool seesRing(const program::Kernel &kernel, const program::Collective &ring);

} // namespace autopar::cost

#endif // AUTOPAR_COST_RINGS_H

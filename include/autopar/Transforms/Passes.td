//===- Passes.td - The passes of autopar ------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_PASSES_TD
#define AUTOPAR_TRANSFORMS_PASSES_TD

// By phase, in the order in which a plan goes through them.
include "autopar/Transforms/Bind/Passes.td"
include "autopar/Transforms/Train/Passes.td"
include "autopar/Transforms/Split/Passes.td"
include "autopar/Transforms/Place/Passes.td"
include "autopar/Transforms/Stage/Passes.td"
include "autopar/Transforms/Price/Passes.td"
include "autopar/Transforms/Tools/Passes.td"

#endif // AUTOPAR_TRANSFORMS_PASSES_TD

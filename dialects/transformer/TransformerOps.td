//===- TransformerOps.td - All operations ------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_OPS_TD
#define AUTOPAR_TRANSFORMER_OPS_TD

// Examples leave encodings out where these add nothing; TransformerDialect.td
// shows a whole function.

include "transformer/StructureOps.td"
include "transformer/TokenOps.td"
include "transformer/ElementwiseOps.td"
include "transformer/AttentionOps.td"
include "transformer/LatentAttentionOps.td"
include "transformer/CompressedAttentionOps.td"
include "transformer/RecurrentOps.td"
include "transformer/ExpertOps.td"
include "transformer/HyperConnectionOps.td"

#endif // AUTOPAR_TRANSFORMER_OPS_TD

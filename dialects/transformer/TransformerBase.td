//===- TransformerBase.td - What all operations share ------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_BASE_TD
#define AUTOPAR_TRANSFORMER_BASE_TD

include "transformer/TransformerAttrs.td"
include "interfaces/Interfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class TF_Op<string mnemonic, list<Trait> traits = []>
    : Op<TransformerDialect, mnemonic, traits>;

/// An op that computes tensors from tensors.
class TF_ComputeOp<string mnemonic, list<Trait> traits = []>
    : TF_Op<mnemonic, traits # [
        EncodingsMatchModule,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
        DeclareOpInterfaceMethods<ShardingOpInterface>,
        DeclareOpInterfaceMethods<WorkloadOpInterface>]>;

#endif // AUTOPAR_TRANSFORMER_BASE_TD

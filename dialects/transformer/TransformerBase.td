//===- TransformerBase.td - What all operations share ------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_BASE_TD
#define AUTOPAR_TRANSFORMER_BASE_TD

include "transformer/TransformerAttrs.td"
include "transformer/TransformerTypes.td"
include "interfaces/Interfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// What stays on a device from step to step. An op that has a cache or a state
/// as operand reads and writes it; each op that names one, or a weight, is one
/// of its own, which stays though nothing uses it.
def TF_WeightMemory : Resource<"::autopar::transformer::WeightMemory">;
def TF_KVCacheMemory : Resource<"::autopar::transformer::KVCacheMemory">;
def TF_StateMemory : Resource<"::autopar::transformer::StateMemory">;

class TF_Updated<TypeConstraint type, Resource memory>
    : Arg<type, "", [MemRead<memory>, MemWrite<memory>]>;
def TF_ReadCache : Arg<TF_CacheType, "", [MemRead<TF_KVCacheMemory>]>;
def TF_Cache : TF_Updated<TF_CacheType, TF_KVCacheMemory>;
def TF_OptionalCache
    : TF_Updated<Optional<TF_CacheType>, TF_KVCacheMemory>;
def TF_OptionalState : TF_Updated<Optional<TF_StateType>, TF_StateMemory>;

class TF_Op<string mnemonic, list<Trait> traits = []>
    : Op<TransformerDialect, mnemonic, traits>;

/// An op that computes tensors from tensors, of this dialect or of `training`.
class ComputeOp<Dialect dialect, string mnemonic, list<Trait> traits>
    : Op<dialect, mnemonic, traits # [
        EncodingsMatchModule,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
        DeclareOpInterfaceMethods<ShardingOpInterface>,
        DeclareOpInterfaceMethods<WorkloadOpInterface>]>;

/// One whose result is called `name` in text, whatever its operands are.
class NamedOp<Dialect dialect, string mnemonic, string name,
              list<Trait> traits>
    : ComputeOp<dialect, mnemonic, traits> {
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      setName(getResult(), "}] # name # [{");
    }
  }];
}

class TF_ComputeOp<string mnemonic, list<Trait> traits = []>
    : ComputeOp<TransformerDialect, mnemonic, traits>;
class TF_NamedOp<string mnemonic, string name, list<Trait> traits = []>
    : NamedOp<TransformerDialect, mnemonic, name, traits>;

#endif // AUTOPAR_TRANSFORMER_BASE_TD

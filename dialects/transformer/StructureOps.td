//===- StructureOps.td - Weights, caches, repeats ----------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_STRUCTUREOPS_TD
#define AUTOPAR_TRANSFORMER_STRUCTUREOPS_TD

include "transformer/TransformerBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"

def TF_WorkloadOp : TF_Op<"workload", [
    Symbol, DeclareOpInterfaceMethods<SymbolBindingOpInterface>]> {
  let summary = "gives the symbols of dimensions their values";
  let description = [{
    One step: `batch` sequences with `query` new tokens each, after which
    `context` tokens of each are cached. `source` positions of each are encoded
    in the step (patches of images, frames of audio, source text), and cross
    attention sees `memory` encoded positions of each; both are 0 where not
    given. Binding another workload changes this op and no type.

    **Constraints:** one per module; `batch`, `query` and `context` positive,
    `source` and `memory` not negative; `query` is at most `context`.

    **Example:**
    ```mlir
    transformer.workload @w(phase = prefill, batch = 8, query = 640, context = 640, source = 576)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TF_PhaseAttr:$phase,
                       I64Attr:$batch, I64Attr:$query,
                       I64Attr:$context_length,
                       DefaultValuedAttr<I64Attr, "0">:$source_length,
                       DefaultValuedAttr<I64Attr, "0">:$memory_length);
  let assemblyFormat = [{
    $sym_name `(` `phase` `=` $phase `,` `batch` `=` $batch `,`
    `query` `=` $query `,` `context` `=` $context_length
    `` custom<EncodedLengths>($source_length, $memory_length) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def TF_WeightOp : TF_Op<"weight", [
    EncodingsMatchModule,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let summary = "a tensor of the checkpoint";
  let description = [{
    The name is the checkpoint's; inside a layer it follows the prefix and the
    layer number of the enclosing repeat. A weight inside a repeat stands for
    one tensor per iteration: it must neither leave the repeat nor be merged
    with another, and is therefore not pure. `stored` says how the value's dimensions lie in
    the checkpoint (`#transformer.storage`); without it, as they are.

    **Constraints:** static shape, no partial sums; the storage names each
    dimension once, except the one that the `*` of the name counts; weights of
    one block with one name are parts of one tensor (`#transformer.storage`).

    **Example:**
    ```mlir
    func.func private @example() {
      %g = transformer.weight "input_layernorm.weight" : tensor<8192xbf16>
      %q = transformer.weight "self_attn.q_proj.weight" stored [1*2, 0] : tensor<8192x64x128xbf16>
      return
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<TF_StorageAttr>:$storage);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $name (`stored` custom<Storage>($storage)^)? attr-dict `:` type($result)
  }];
  let extraClassDeclaration = [{
    /// What `stored .. as` says: a type or a format; null where the checkpoint
    /// has the value's element type.
    ::mlir::Attribute getStoredFormat();
  }];
  let hasVerifier = 1;
}

def TF_KVCacheOp : TF_Op<"kv_cache", [
    EncodingsMatchModule,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let summary = "what is kept of all cached tokens";
  let description = [{
    A resident tensor: `[batch, context, kv heads, key width + value width]`, keys
    and values side by side, or `[batch, context, width]` where all heads share
    one vector. Cross attention caches `memory` encoded tokens instead of
    `context`. Inside a repeat it stands for one per iteration. With `window(w)`
    only the last `w` tokens are kept: its context is `min(context, w)`.

    **Constraints:** rank 3 or 4; the outer dimension is `batch`, the next
    `context` or `memory`, the others are numbers; no partial sums; the window is
    at least 1.

    **Example:**
    ```mlir
    func.func private @example() {
      %c = transformer.kv_cache window(4096)
          : tensor<?x?x8x256xbf16, #transformer.dims<[batch, context, _, _]>>
      return
    }
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$window);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "(`window` `(` $window^ `)`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TF_RepeatOp : TF_Op<"repeat", [
    SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<LoopLikeOpInterface,
      ["getLoopResults", "getYieldedValuesMutable", "getInitsMutable",
       "getRegionIterArgs", "getStaticTripCount"]>]> {
  let summary = "runs its body a fixed number of times";
  let description = [{
    Iteration i+1 gets what iteration i yields. With `layers "prefix" from n`,
    each call inside is a layer: the first is number `n`, each next one more,
    and its weights are called `prefix.<number>.<name>`, with those of the
    functions that it calls. Repeats nest, for patterns of layers.

    **Constraints:** between 1 and 1,000,000 iterations; yields as many values
    as it carries, of the same types; a repeat with a prefix is not inside
    another.

    **Example:**
    ```mlir
    func.func private @decoder(tensor<8xbf16>) -> tensor<8xbf16>
    func.func @model(%x0: tensor<8xbf16>) -> tensor<8xbf16> {
      %x1 = transformer.repeat 80 layers "model.layers" from 0 (%x = %x0) : tensor<8xbf16> {
        %y = func.call @decoder(%x) : (tensor<8xbf16>) -> tensor<8xbf16>
        transformer.yield %y : tensor<8xbf16>
      }
      return %x1 : tensor<8xbf16>
    }
    ```
  }];
  let arguments = (ins I64Attr:$count, OptionalAttr<StrAttr>:$prefix,
                       DefaultValuedAttr<I64Attr, "0">:$first,
                       Variadic<AnyType>:$init_args);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TF_YieldOp : TF_Op<"yield", [
    Pure, Terminator, HasParent<"RepeatOp">]> {
  let summary = "what a repeat's iteration hands to the next";
  let description = [{
    **Constraints:** see `transformer.repeat`, which also has the example.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // AUTOPAR_TRANSFORMER_STRUCTUREOPS_TD

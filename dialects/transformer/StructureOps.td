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
    DeclareOpInterfaceMethods<SymbolBindingOpInterface>]> {
  let summary = "gives the symbols of dimensions their values";
  let description = [{
    One step: `batch` sequences with `query` new tokens each, after which
    `context` tokens of each are cached; `context - query` were before. All
    sequences of a step are alike. `encoder_tokens` positions of each are encoded
    in the step (patches of images, frames of audio, source text), and cross
    attention sees `cross_tokens` encoded positions of each; both are 0 where not
    given.
    `phase`, `prefill` or `decode`, is what engines call the step, `train` an
    iteration of training; values do not depend on it. Binding another workload changes this op and no type. A name is
    for readers alone.
    `assumed` names those of the first four that nobody has chosen: reports say
    so.

    **Constraints:** one per module; `batch`, `query` and `context` positive,
    `encoder_tokens` and `cross_tokens` not negative; `query` is at most `context`; what is
    assumed is one of the first four, named once.

    **Example:**
    ```mlir
    transformer.workload(phase = prefill, batch = 8, query = 640, context = 640, encoder_tokens = 576)
        assumed [phase, query, context]
    ```
  }];
  let arguments = (ins OptionalAttr<SymbolNameAttr>:$sym_name, TF_PhaseAttr:$phase,
                       I64Attr:$batch, I64Attr:$query,
                       I64Attr:$context_length,
                       DefaultValuedAttr<I64Attr, "0">:$encoder_tokens,
                       DefaultValuedAttr<I64Attr, "0">:$cross_tokens,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$assumed);
  let assemblyFormat = [{
    ($sym_name^)? `` `(` `phase` `=` $phase `,` `batch` `=` $batch `,`
    `query` `=` $query `,` `context` `=` $context_length
    `` custom<EncodedLengths>($encoder_tokens, $cross_tokens) `)`
    (`assumed` custom<Words>($assumed)^)? attr-dict
  }];
  let hasVerifier = 1;
}

def TF_RequestsOp : TF_Op<"requests"> {
  let summary = "what a service is asked: how many requests, of how many tokens";
  let description = [{
    An open loop: `rate` requests come in a second, by Poisson's law, whether
    those before have ended or not. Or a closed one: `concurrency` of them at
    once, each followed by another. `prompt` and `output` say how many tokens each
    has (`#transformer.lengths`). Of a prompt, `cached` is the share that the KV
    caches have already; `sla` are the longest times that are wanted, to the first
    token and from token to token (`#transformer.limits`). With `acceptance`, steps
    verify drafts of the next tokens, so many of each sequence: the shares that
    are accepted, each where those before it were; a draft takes the part
    `draft_cost` of a step without any (a layer's, where not given).

    Values of tensors do not depend on it, nor does any type. Reports of a module
    that has one say what the service does; where nobody has chosen a step, theirs
    is the step that decodes in the steady state.

    **Constraints:** one per module; either a rate from 1e-6 to 1e9 or a concurrency
    above 0; shares from 0 to below 1, of
    drafts to 1; at most 64 drafts.

    **Example:**
    ```mlir
    transformer.requests(rate = 20, prompt = lognormal(2000, 0.8), output = 300)
        cached(0.5) acceptance([0.85, 0.7]) sla(ttft_us = 500000.0, tpot_us = 30000.0)
    ```
  }];
  let arguments = (ins OptionalAttr<F64Attr>:$rate,
                       OptionalAttr<I64Attr>:$concurrency,
                       TF_LengthsOfRequests:$prompt,
                       TF_LengthsOfRequests:$output,
                       OptionalAttr<F64Attr>:$cached,
                       OptionalAttr<DenseF64ArrayAttr>:$acceptance,
                       OptionalAttr<F64Attr>:$draft_cost,
                       OptionalAttr<TF_LimitsOfRequests>:$sla);
  let assemblyFormat = [{
    `` `(` custom<RequestCount>($rate, $concurrency) `,` `prompt` `=` custom<Lengths>($prompt) `,`
    `output` `=` custom<Lengths>($output) `)`
    (`cached` `(` custom<Number>($cached)^ `)`)?
    (`acceptance` `(` custom<Numbers>($acceptance)^ `)`)?
    (`draft_cost` `(` custom<Number>($draft_cost)^ `)`)? (`sla` `(` custom<Limits>($sla)^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
  let useCustomPropertiesEncoding = 1;
  let extraClassDeclaration = [{
    ::autopar::program::Requests getRequests();
    /// Makes attributes of the texts that versions before 8 had.
    void readTexts();
    static constexpr uint64_t firstWithoutTexts = 8;
  }];
}

def TF_StoredOp : TF_Op<"stored", [
    HasParent<"::mlir::ModuleOp">, MemoryEffects<[MemWrite<TF_WeightMemory>]>,
    DeclareOpInterfaceMethods<StoredFunctionOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a part of the checkpoint that a step does not run";
  let description = [{
    The checkpoint has the weights of `function` and of what that calls, beside
    those of what a step runs: multi-token prediction, or what only training
    reads. With `tensors(f)` as those that one run of `f` has:

        checkpoint = tensors(step) and tensors(f) of each stored f

    No device loads them. They count in the bytes of a checkpoint and in the list
    of its tensors, and nowhere else. The function is a use of nobody but this
    op, which keeps it: a private function that is neither called nor stored is
    not of the model.

    **Constraints:** directly in a module; `function` is a private function of
    that module with a body; nothing calls it; it is stored once.

    **Example:**
    ```mlir
    func.func private @mtp(%x: tensor<8xbf16>) {
      %w = transformer.weight "mtp.norm.weight" : tensor<8xbf16>
      return
    }
    transformer.stored @mtp
    func.func @model(%x: tensor<8xbf16>) {
      return
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$function);
  let assemblyFormat = "$function attr-dict";
}

def TF_WeightOp : TF_Op<"weight", [
    EncodingsMatchModule, HeldOpInterface,
    MemoryEffects<[MemWrite<TF_WeightMemory>]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface,
      ["getTensorName", "verifyNamesake"]>]> {
  let summary = "a tensor of the checkpoint";
  let description = [{
    The result has the elements of the tensor `name`, as numbers: at which index
    of the checkpoint each lies is what `storage` says after `stored`
    (`#transformer.storage`); without it, at its own. Of a split dimension a
    device has its own indices; what a `pad` adds has no value
    (`#parallel.dim`).

    The name is the checkpoint's; inside a layer it follows the prefix and the
    layer number of the enclosing repeat. A weight inside a repeat stands for
    one tensor per iteration: it must neither leave the repeat nor be merged
    with another, and is therefore not pure. A function that has weights is not
    inlined.

    Weights of one name, in one layer or outside of layers, are of one tensor:
    equal ones are the same value, which a device has once and a checkpoint
    lists once; others are parts of it (`#transformer.storage`).

    **Constraints:** static shape, no partial sums; the storage names each
    dimension once, except the one that the `*` of the name counts; of weights
    of one name that differ, each is a part, and they agree on the tensor's
    shape and format. Those of one block are verified with it, those of several
    functions where costs or tensors are counted.

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
    EncodingsMatchModule, HeldOpInterface,
    MemoryEffects<[MemWrite<TF_KVCacheMemory>]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let summary = "what is kept of all cached tokens";
  let description = [{
    What an op made of each token of a sequence, for this step and later ones: a
    row per token, `cache[b, c, ..]` that of position `c`. The op that has the
    cache as operand appends, before it reads, the rows of this step's tokens:

        attention         [.., g, :] = key[.., g, :] then value[.., g, :]
        latent_attention  [.., :]    = latent[.., :] then key_rope[.., :]
        indexer           [.., :]    = key[.., :]
        block_indexer     [.., :]    = key[.., :]
        compress          [.., :]    = value[.., :] then gate[.., :] + bias


    `compressed_attention` has rows of one token, and others of several, of which
    each token has a part, `indexer` keys of the latter kind.

    Rows of one token are never changed. A sequence begins with none; before a step there are
    those of positions 0 to `context - query - 1`, and what reads the cache in
    the step sees 0 to `context - 1`. Cross attention caches the
    `cross_tokens` instead, row `c` being that of token `c` of its keys: the step that
    encodes them appends all, later ones none.

    With `window(w)`, the rows of the last `w` positions stay after a step, and
    costs count `min(context, w)`: no later step may see older ones. Inside a
    repeat it stands for one cache per iteration.

    Caches of one name are one cache, in whatever layers they are: the first
    layer that has it appends, and `shared_attention` of later ones reads. A
    cache with a name is appended to once in a step.

    Sequences and heads lie on devices by the rules of `#parallel.dim`. Tokens
    do not: a block would change its owner whenever the context grows. Of a
    cache whose tokens are split over axes of `n` devices, a row stays where it
    was appended, and no device has a row of another:

    * keys that are split over the same axes: each device appends those of its
      own tokens;
    * keys that all these devices have: the row of position `c` is that of the
      device at place `c mod n` along the axes.

    The type says that `n` devices share the rows; costs count `context/n`,
    rounded up, on each.

    **Constraints:** rank 3 or 4; the outer dimension is `batch`, the next
    `context` or `cross_tokens`, the others are numbers; no partial sums; the window is
    at least 1. Caches of one name have one type and one window, and a layer
    appends before others read; that is verified where costs are counted.

    **Example:**
    ```mlir
    func.func private @example() {
      %c = transformer.kv_cache window(4096)
          : !transformer.cache<?x?x8x256xbf16, #transformer.dims<[batch, context, _, _]>>
      return
    }
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$window, OptionalAttr<StrAttr>:$name);
  let results = (outs TF_CacheType:$result);
  let assemblyFormat = "($name^)? (`window` `(` $window^ `)`)? attr-dict `:` type($result)";
  let useCustomPropertiesEncoding = 1;
  let extraClassDeclaration = [{
    /// The version of files whose caches may have a name.
    static constexpr uint64_t firstWithName = 13;
  }];
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
    With the values that it carries as `x`:

        x[0] = init_args;  x[i+1] = body(x[i]);  results = x[count]

    With `layers "prefix" from first`, each call inside, also in repeats inside,
    is a layer. They are numbered as they run, from `first` on or, `reversed`,
    down to it, and the weights that a layer and the functions that it calls have are named
    `prefix.<number>.<name>`. Repeats nest, for patterns of layers. As calls
    count, no call inside a repeat is inlined.

    **Constraints:** between 1 and 1,000,000 iterations; yields as many values
    as it carries, of the same types; a repeat with a prefix is not inside
    another; `reversed` goes with a prefix.

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
                       UnitAttr:$reversed,
                       Variadic<AnyType>:$init_args);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let useCustomPropertiesEncoding = 1;
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TF_YieldOp : TF_Op<"yield", [
    Pure, Terminator, HasParent<"RepeatOp">]> {
  let summary = "what a repeat's iteration hands to the next";
  let description = [{
    Ends the body of a repeat: the next iteration, or after the last one the
    results, are its `values`.

    **Constraints:** see `transformer.repeat`, which also has the example.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // AUTOPAR_TRANSFORMER_STRUCTUREOPS_TD

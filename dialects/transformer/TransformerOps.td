//===- TransformerOps.td - Operations ---------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Examples of tensor types below leave their encodings out where these add
// nothing; TransformerDialect.td shows a whole function.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_OPS_TD
#define AUTOPAR_TRANSFORMER_OPS_TD

include "transformer/TransformerAttrs.td"
include "interfaces/Interfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"
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

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def TF_WorkloadOp : TF_Op<"workload", [
    Symbol, DeclareOpInterfaceMethods<SymbolBindingOpInterface>]> {
  let summary = "gives the symbols of dimensions their values";
  let description = [{
    One step: `batch` sequences with `query` new tokens each, after which
    `context` tokens of each are cached. Binding another workload changes this
    op and no type.

    **Constraints:** one per module; all counts positive; `query` is at most
    `context`.

    **Example:**
    ```mlir
    transformer.workload @w(phase = decode, batch = 8, query = 1, context = 4096)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TF_PhaseAttr:$phase,
                       I64Attr:$batch, I64Attr:$query,
                       I64Attr:$context_length);
  let assemblyFormat = [{
    $sym_name `(` `phase` `=` $phase `,` `batch` `=` $batch `,`
    `query` `=` $query `,` `context` `=` $context_length `)` attr-dict
  }];
  let hasVerifier = 1;
}

def TF_WeightOp : TF_Op<"weight", [
    Pure, EncodingsMatchModule,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let summary = "a tensor of the checkpoint";
  let description = [{
    The name is the checkpoint's; inside a layer it follows the prefix and the
    layer number of the enclosing repeat. A weight inside a repeat stands for
    one tensor per iteration. `stored` says how the value's dimensions lie in
    the checkpoint (`#transformer.storage`); without it, as they are.

    **Constraints:** static shape, no partial sums; the storage names each
    dimension once, except the one that the `*` of the name counts.

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
    /// The format in the checkpoint.
    ::mlir::Type getStoredElementType();
  }];
  let hasVerifier = 1;
}

def TF_KVCacheOp : TF_Op<"kv_cache", [
    EncodingsMatchModule,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let summary = "keys and values of all cached tokens";
  let description = [{
    A resident tensor `[2, batch, context, kv heads, head_dim]`: keys, then
    values. Inside a repeat it stands for one per iteration. With `window(w)`
    only the last `w` tokens are kept: its context is `min(context, w)`.

    **Constraints:** rank 5; the outer dimension is 2; dimensions 1 and 2 are
    `batch` and `context`; no partial sums.

    **Example:**
    ```mlir
    func.func private @example() {
      %c = transformer.kv_cache window(4096)
          : tensor<2x?x?x8x128xbf16, #transformer.dims<[_, batch, context, _, _]>>
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
    and its weights are called `prefix.<number>.<name>`. Repeats nest, for
    patterns of layers.

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

//===----------------------------------------------------------------------===//
// Tokens in, tokens out
//===----------------------------------------------------------------------===//

def TF_EmbeddingOp : TF_ComputeOp<"embedding", [Pure]> {
  let summary = "looks tokens up in a table";
  let description = [{
    `y[b, q, h] = table[ids[b, q], h]`. Reads one row per token. Split over the
    vocabulary, each device adds the rows it has, and the result is a partial
    sum.

    **Constraints:** `ids` are integers; the table is `[vocabulary, hidden]`; the
    result is `ids` followed by `hidden`.

    **Example:**
    ```mlir
    func.func private @example(%ids: tensor<4x16xi32>, %t: tensor<1000x64xbf16>) {
      %x = transformer.embedding %ids, %t
          : tensor<4x16xi32>, tensor<1000x64xbf16> -> tensor<4x16x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$ids, AnyRankedTensor:$table);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $ids `,` $table attr-dict `\n` ` ` ` ` ` ` ` `
    `:` type($ids) `,` type($table) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

def TF_LastTokenOp : TF_ComputeOp<"last_token", [Pure]> {
  let summary = "keeps the last token of each sequence";
  let description = [{
    `y[b, h] = x[b, query - 1, h]`: only the tokens to sample from go on to the
    logits.

    **Constraints:** the result is the operand without dimension 1.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x64xbf16>) {
      %t = transformer.last_token %x : tensor<4x16x64xbf16> -> tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def TF_LogitsOp : TF_ComputeOp<"logits", [Pure]> {
  let summary = "scores of all tokens of the vocabulary";
  let description = [{
    `y[.., v] = sum_h x[.., h] * table[v, h]`: 2*tokens*hidden*vocabulary FLOPs. The
    table may be the embedding's (tied) or a head of its own.

    **Constraints:** the table is `[vocabulary, hidden]`; the result is `x` with
    `hidden` replaced by `vocabulary`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %t: tensor<1000x64xbf16>) {
      %l = transformer.logits %x, %t
          : tensor<4x64xbf16>, tensor<1000x64xbf16> -> tensor<4x1000xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$table);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $table attr-dict `\n` ` ` ` ` ` ` ` `
    `:` type($x) `,` type($table) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Linear maps and norms
//===----------------------------------------------------------------------===//

def TF_LinearOp : TF_ComputeOp<"linear", [Pure]> {
  let summary = "multiplies by a weight";
  let description = [{
    `y[t.., o..] = sum_i.. x[t.., i..] * w[i.., o..] (+ bias[o..])`: the trailing
    dimensions of `x` are contracted with the leading ones of `w`.
    2*tokens*in*out FLOPs. Split over a contracted dimension, the result is a
    partial sum; a bias must then be added after the reduction.

    **Constraints:** contracted dimensions agree; the result has the other
    dimensions of `x`, then those of `w`; the bias has those of `w` only.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %w: tensor<64x2x16xbf16>,
                               %b: tensor<2x16xbf16>) {
      %y = transformer.linear %x, %w bias(%b : tensor<2x16xbf16>)
          : tensor<4x64xbf16>, tensor<64x2x16xbf16> -> tensor<4x2x16xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
                       Optional<AnyRankedTensor>:$bias);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict `\n` ` ` ` ` ` ` ` `
    `:` type($x) `,` type($weight) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// How many dimensions of `x` are contracted.
    int64_t getNumContracted();
    ::mlir::Operation *detachBias(::mlir::OpBuilder &builder);
  }];
  let hasVerifier = 1;
}

def TF_AddBiasOp : TF_ComputeOp<"add_bias", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "adds a bias to every token";
  let description = [{
    `y[t.., o..] = x[t.., o..] + bias[o..]`. Written by passes that must reduce
    between a product and its bias.

    **Constraints:** the bias has the trailing dimensions of `x`; the result has
    the type of `x`; neither is a partial sum.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %b: tensor<64xbf16>) {
      %y = transformer.add_bias %x, %b : tensor<4x64xbf16>, tensor<64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$bias);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `,` $bias attr-dict `:` type($x) `,` type($bias)";
  let hasVerifier = 1;
}

/// The weight of a norm is whole and as wide as the last dimension of `x`.
class TF_NormOp<string mnemonic, dag operands> : TF_ComputeOp<mnemonic, [
    Pure, AllTypesMatch<["x", "result"]>,
    TypesMatchWith<"the weight is as wide as the last dimension of x", "x",
                   "weight", "getNormWeightType($_self)">]> {
  let arguments = !con(operands, (ins F64Attr:$eps));
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

def TF_RMSNormOp : TF_NormOp<"rms_norm",
    (ins AnyRankedTensor:$x, AnyRankedTensor:$weight)> {
  let summary = "divides by the root of the mean square";
  let description = [{
    `y[.., h] = x[.., h] / sqrt(mean_h(x[.., h]^2) + eps) * weight[h]`, over
    the last dimension.

    **Constraints:** the weight is as wide as the last dimension of `x`, which is
    whole; `x` is not a partial sum; the result has the type of `x`; `eps` is not
    negative.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %g: tensor<64xbf16>) {
      %y = transformer.rms_norm %x, %g eps(1.0e-5) : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $x `,` $weight `eps` `(` custom<Number>($eps) `)` attr-dict `:` type($x)
  }];
}

def TF_LayerNormOp : TF_NormOp<"layer_norm",
    (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
         Optional<AnyRankedTensor>:$bias)> {
  let summary = "subtracts the mean and divides by the deviation";
  let description = [{
    `y[.., h] = (x[.., h] - mean_h(x)) / sqrt(variance_h(x) + eps) * weight[h]
    (+ bias[h])`, over the last dimension.

    **Constraints:** those of `transformer.rms_norm`; the bias has the type of the
    weight.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %g: tensor<64xbf16>, %b: tensor<64xbf16>) {
      %y = transformer.layer_norm %x, %g bias(%b : tensor<64xbf16>) eps(1.0e-5) : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)?
    `eps` `(` custom<Number>($eps) `)` attr-dict `:` type($x)
  }];
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def TF_RopeOp : TF_ComputeOp<"rope", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "turns pairs of elements by the token's position";
  let description = [{
    Rotary embedding: with `d = head_dim`, elements `i` and `i + d/2` of each
    head turn by the angle `position * theta^(-2i/d)`. Tables of angles are
    shared by all layers and not counted. `scaling` names how a config stretches
    the angles; it changes no cost.

    **Constraints:** the last dimension is whole and even; not a partial sum;
    `theta` is positive.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x8x128xbf16>) {
      %y = transformer.rope %x theta(5.0e5) : tensor<4x16x8x128xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, F64Attr:$theta,
                       OptionalAttr<StrAttr>:$scaling);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `theta` `(` custom<Number>($theta) `)` (`scaling` $scaling^)? attr-dict
    `:` type($x)
  }];
  let hasVerifier = 1;
}

def TF_AttentionOp : TF_ComputeOp<"attention", [
    AllTypesMatch<["query", "result"]>, AllTypesMatch<["key", "value"]>]> {
  let summary = "attends to the cached tokens and the new ones";
  let description = [{
    Appends the new keys and values to the cache, then for each query head `a`
    with its key-value head `g = a / (heads / kv heads)`:
    `y[b, q, a, :] = sum_c softmax_c(query[b, q, a, :] . key[b, c, g, :] / sqrt(d))
    value[b, c, g, :]`. `causal`: a token sees the tokens up to itself, that is
    `query*context - query*(query-1)/2` pairs; `window(w)`: only the last `w` of
    them. 2*pairs*heads*(d_qk + d_v) FLOPs.

    **Constraints:** operands are `[batch, query, heads, head_dim]`; key and value
    heads divide query heads and are split over the same axes; the cache is
    `[2, batch, context, kv heads, head_dim]`; the result has the type of the
    queries.

    **Example:**
    ```mlir
    !q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>
    !k = tensor<?x?x2x64xbf16, #transformer.dims<[batch, query, _, _]>>
    !c = tensor<2x?x?x2x64xbf16, #transformer.dims<[_, batch, context, _, _]>>
    func.func private @example(%q: !q, %k: !k, %v: !k) {
      %c = transformer.kv_cache : !c
      %y = transformer.attention %q, %k, %v cache(%c) causal : !q, !k, !c
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, AnyRankedTensor:$cache,
                       UnitAttr:$causal, OptionalAttr<I64Attr>:$window);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value `cache` `(` $cache `)` (`causal` $causal^)?
    (`window` `(` $window^ `)`)? attr-dict `\n` ` ` ` ` ` ` ` `
    `:` type($query) `,` type($key) `,` type($cache)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

def TF_AddOp : TF_ComputeOp<"add", [
    Pure, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "adds two tensors";
  let description = [{
    `y[..] = lhs[..] + rhs[..]`. Two partial sums over the same axes may be added
    before their reduction; a partial sum and a whole value may not.

    **Constraints:** one type for all.

    **Example:**
    ```mlir
    func.func private @example(%a: tensor<4x64xbf16>, %b: tensor<4x64xbf16>) {
      %y = transformer.add %a, %b : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` type($result)
  }];
}

def TF_ActivationOp : TF_ComputeOp<"activation", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "applies a function to every element";
  let description = [{
    `y[..] = f(x[..])` with `f` one of `silu`, `gelu`, `gelu_tanh`, `relu`, `relu2`.

    **Constraints:** not a partial sum; the result has the type of `x`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>) {
      %y = transformer.activation %x gelu : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, TF_FunctionAttr:$function);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x $function attr-dict `:` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

def TF_GatedOp : TF_ComputeOp<"gated", [
    Pure, AllTypesMatch<["gate", "up", "result"]>]> {
  let summary = "multiplies by an activated gate";
  let description = [{
    `y[..] = f(gate[..]) * up[..]` with `f` as in `transformer.activation`.

    **Constraints:** one type for all; not partial sums.

    **Example:**
    ```mlir
    func.func private @example(%g: tensor<4x64xbf16>, %u: tensor<4x64xbf16>) {
      %y = transformer.gated %g, %u silu : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$gate, AnyRankedTensor:$up,
                       TF_FunctionAttr:$function);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $gate `,` $up $function attr-dict
    `:` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

def TF_RouterOp : TF_ComputeOp<"router", [Pure]> {
  let summary = "picks the experts of each token";
  let description = [{
    `s[t.., e] = sum_h x[t.., h] * w[h, e]`; keeps the `top_k` largest after a
    softmax: the result has their weights, and knows their indices.
    2*tokens*hidden*experts FLOPs.

    **Constraints:** the weight is `[hidden, experts]` and whole; `top_k` is
    between 1 and `experts`; the result is `x` with `hidden` replaced by `top_k`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
      %r = transformer.router %x, %w top_k(2)
          : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
                       I64Attr:$top_k);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $weight `top_k` `(` $top_k `)` attr-dict `\n` ` ` ` ` ` ` ` `
    `:` type($x) `,` type($weight) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TF_DispatchOp : TF_ComputeOp<"dispatch", [Pure]> {
  let summary = "copies each token once per expert it goes to";
  let description = [{
    The result is a set: element `(t, j)` is token `t` on its way to its `j`-th
    expert, in no order.

    **Constraints:** the routing has the leading dimensions of `x`; the result is
    `[{tokens*top_k}, hidden]`.

    **Example:**
    ```mlir
    !x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    !r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
    !t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
    func.func private @example(%x: !x, %r: !r) {
      %t = transformer.dispatch %x, %r : !x, !r -> !t
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$routing);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $routing attr-dict `:` type($x) `,` type($routing) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TF_ExpertsOp : TF_ComputeOp<"experts", [Pure]> {
  let summary = "multiplies each routed token by its expert's weight";
  let description = [{
    `y[r, o] = sum_i x[r, i] * w[expert(r), i, o]`: a grouped product, with
    2*routed*in*out FLOPs. It reads the weights of the distinct experts that
    tokens reach.

    **Constraints:** `x` is a set of routed tokens `[{tokens*top_k}, in]`; the weight
    is `[experts, in, out]`.

    **Example:**
    ```mlir
    !t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
    !y = tensor<?x32xbf16, #transformer.dims<[{batch*query*2}, _]>>
    func.func private @example(%t: !t, %w: tensor<8x64x32xbf16>) {
      %y = transformer.experts %t, %w top_k(2) : !t, tensor<8x64x32xbf16> -> !y
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
                       I64Attr:$top_k);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $weight `top_k` `(` $top_k `)` attr-dict `\n` ` ` ` ` ` ` ` `
    `:` type($x) `,` type($weight) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TF_CombineOp : TF_ComputeOp<"combine", [Pure]> {
  let summary = "adds up what a token's experts returned";
  let description = [{
    `y[t.., h] = sum_j routing[t.., j] * x[(t, j), h]`. Linear in `x`: partial sums
    of the experts may be combined before their reduction.

    **Constraints:** `x` is `[{tokens*top_k}, hidden]`; the result has the leading
    dimensions of the routing, then `hidden`.

    **Example:**
    ```mlir
    !x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    !r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
    !t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
    func.func private @example(%t: !t, %r: !r) {
      %x = transformer.combine %t, %r : !t, !r -> !x
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$routing);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $routing attr-dict `:` type($x) `,` type($routing) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRANSFORMER_OPS_TD

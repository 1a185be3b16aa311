//===- AttentionOps.td - Tokens that see each other --------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_ATTENTIONOPS_TD
#define AUTOPAR_TRANSFORMER_ATTENTIONOPS_TD

include "transformer/TransformerBase.td"

def TF_RopeOp : TF_ComputeOp<"rope", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "turns pairs of elements by the token's position";
  let description = [{
    Rotary embedding: with `d = head_dim`, elements `i` and `i + d/2` of each
    head turn by the angle `position * theta^(-2i/d)`. `interleaved`: elements
    `2i` and `2i + 1` do. Tables of angles are shared by all layers and not
    counted. `scaling` names how a config stretches the angles; it changes no
    cost, and `autopar-run` does not stretch them. With `width(w)` only the first
    `w` elements of each head turn, with `last` the last ones, and `d` is `w`.

    **Constraints:** the last dimension is whole and even, and so is `w`, which is
    at most as large; not a partial sum; `theta` is positive; `last` goes with
    `width`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x8x128xbf16>) {
      %y = transformer.rope %x theta(5.0e5) : tensor<4x16x8x128xbf16>
      %z = transformer.rope %y theta(1.0e4) width(64) last interleaved : tensor<4x16x8x128xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, F64Attr:$theta,
                       OptionalAttr<StrAttr>:$scaling,
                       OptionalAttr<I64Attr>:$width, UnitAttr:$last,
                       UnitAttr:$interleaved);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `theta` `(` custom<Number>($theta) `)` (`scaling` $scaling^)?
    (`width` `(` $width^ `)`)? (`last` $last^)? (`interleaved` $interleaved^)?
    attr-dict `:` type($x)
  }];
  let hasVerifier = 1;
}

def TF_AttentionOp : TF_ComputeOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "attends to the cached tokens and the new ones";
  let description = [{
    Appends the new keys and values to the cache, then for each query head `a`
    with its key-value head `g = a / (heads / kv heads)`:
    `y[b, q, a, :] = sum_c softmax_c(query[b, q, a, :] . key[b, c, g, :] / sqrt(d))
    value[b, c, g, :]`. 2*pairs*heads*(d_qk + d_v) FLOPs. `scale(x)` stands in
    for `1 / sqrt(d)`. Without a cache, the
    keys are those of this step (an encoder); with a cache of `memory` tokens and
    keys of encoded tokens, it is cross attention.

    Every token sees all keys: `query*context` pairs. `causal`: a token sees the
    tokens up to itself, that is `query*context - query*(query-1)/2`;
    `window(w)`: only the last `w` of them; `chunk(c)`: only those of its own
    chunk of `c` tokens. `sinks` are a score per head beside those of the keys,
    `softcap(x)` bounds the scores to `x`, `alibi` lowers them by distance, `bias`
    adds an entry of a table per bucket of distances and head: arithmetic without
    matrix products.

    **Constraints:** queries are `[batch, query, heads, d_qk]`, keys
    `[batch, tokens, kv heads, d_qk]`, values `[batch, tokens, kv heads, d_v]`;
    the cache is `[batch, context, kv heads, d_qk + d_v]`, the result
    `[batch, query, heads, d_v]`, the sinks `[heads]`, the bias
    `[buckets, heads]`; key and value heads divide
    query heads and are split over the same axes; with `causal`, keys and queries
    are of the same tokens; the tokens of keys that a cache takes up are whole, or
    split as those of the cache; not both a window and a chunk.

    **Example:**
    ```mlir
    !q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>
    !k = tensor<?x?x2x64xbf16, #transformer.dims<[batch, query, _, _]>>
    !c = tensor<?x?x2x128xbf16, #transformer.dims<[batch, context, _, _]>>
    func.func private @example(%q: !q, %k: !k, %v: !k) {
      %c = transformer.kv_cache : !c
      %y = transformer.attention %q, %k, %v cache(%c : !c) causal : !q, !k, !k -> !q
      %z = transformer.attention %q, %k, %v : !q, !k, !k -> !q
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, Optional<AnyRankedTensor>:$cache,
                       Optional<AnyRankedTensor>:$sinks,
                       Optional<AnyRankedTensor>:$bias, UnitAttr:$causal,
                       OptionalAttr<I64Attr>:$window,
                       OptionalAttr<I64Attr>:$chunk,
                       OptionalAttr<F64Attr>:$scale,
                       OptionalAttr<F64Attr>:$softcap, UnitAttr:$alibi);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`cache` `(` $cache^ `:` type($cache) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)? (`causal` $causal^)?
    (`window` `(` $window^ `)`)? (`chunk` `(` $chunk^ `)`)?
    (`scale` `(` custom<Number>($scale)^ `)`)?
    (`softcap` `(` custom<Number>($softcap)^ `)`)? (`alibi` $alibi^)?
    attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRANSFORMER_ATTENTIONOPS_TD

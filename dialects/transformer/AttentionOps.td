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

#endif // AUTOPAR_TRANSFORMER_ATTENTIONOPS_TD

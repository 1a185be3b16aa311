//===- LatentAttentionOps.td - Attention to compressed tokens -*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_LATENTATTENTIONOPS_TD
#define AUTOPAR_TRANSFORMER_LATENTATTENTIONOPS_TD

include "transformer/TransformerBase.td"

def TF_LatentAttentionOp : TF_ComputeOp<"latent_attention"> {
  let summary = "attends to tokens of which one latent vector is cached";
  let description = [{
    Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1). Appends
    `latent` and `key_rope` to the cache, then attends with the keys
    `latent . key_weight` beside `key_rope`, which all heads share, and the values
    `latent . value_weight`.

    Expanded: the keys and values of all cached tokens are computed first,
    2*context*kl*heads*nope and 2*context*kl*heads*d_v FLOPs, then
    2*pairs*heads*(nope + rope + d_v). `absorbed`: queries are multiplied into the
    latent space and values out of it, 2*query*heads*nope*kl and
    2*query*heads*kl*d_v FLOPs, around 2*pairs*heads*(2*kl + rope). `by_phase`:
    sequences that decode are absorbed, prompts expanded, as engines do it in
    steps that have both.

    `causal` as in `transformer.attention`. With tokens that a
    `transformer.indexer` selected, each token sees at most `top_k` others, and
    the absorbed form reads no more of the cache than they. `at_most(n)` says the
    same of `n` tokens that another layer selected.

    **Constraints:** queries are `[batch, query, heads, nope + rope]`, the latent
    `[batch, query, kl]`, the rope part `[batch, query, rope]`, the weights
    `[kl, heads, nope]` and `[kl, heads, d_v]`, the cache
    `[batch, context, kl + rope]`, the result `[batch, query, heads, d_v]`; the
    tokens of the latent and the rope part are whole, or split as those of the
    cache; all else but heads, batch and queries is whole.

    **Example:**
    ```mlir
    !q = tensor<?x?x8x192xbf16, #transformer.dims<[batch, query, _, _]>>
    !l = tensor<?x?x512xbf16, #transformer.dims<[batch, query, _]>>
    !r = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    !c = tensor<?x?x576xbf16, #transformer.dims<[batch, context, _]>>
    !y = tensor<?x?x8x128xbf16, #transformer.dims<[batch, query, _, _]>>
    !w = tensor<512x8x128xbf16>
    func.func private @example(%q: !q, %l: !l, %r: !r, %wk: !w, %wv: !w) {
      %c = transformer.kv_cache : !c
      %y = transformer.latent_attention %q, %l, %r, %wk, %wv cache(%c : !c) causal absorbed
          : !q, !l, !r, !w, !w -> !y
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$latent,
                       AnyRankedTensor:$key_rope, AnyRankedTensor:$key_weight,
                       AnyRankedTensor:$value_weight, AnyRankedTensor:$cache,
                       Optional<AnyRankedTensor>:$selected,
                       OptionalAttr<I64Attr>:$at_most, UnitAttr:$causal,
                       UnitAttr:$absorbed, UnitAttr:$by_phase);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $latent `,` $key_rope `,` $key_weight `,` $value_weight
    `cache` `(` $cache `:` type($cache) `)`
    (`selected` `(` $selected^ `:` type($selected) `)`)?
    (`at_most` `(` $at_most^ `)`)?
    (`causal` $causal^)? (`absorbed` $absorbed^)? (`by_phase` $by_phase^)?
    attr-dict `:` type($query) `,` type($latent) `,`
    type($key_rope) `,` type($key_weight) `,` type($value_weight)
    `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// How many tokens each token sees at most; 0: all.
    int64_t getNumSeen();
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

def TF_IndexerOp : TF_ComputeOp<"indexer"> {
  let summary = "selects the cached tokens that a token attends to";
  let description = [{
    Appends the keys to the cache, then keeps for each token the indices of the
    `top_k` tokens `c` up to itself with the largest
    `sum_i weight[b, q, i] * relu(query[b, q, i, :] . key[b, c, :])`
    (DeepSeek-V3.2, "lightning indexer"). 2*pairs*heads*width FLOPs with the pairs
    of a causal attention.

    **Constraints:** queries are `[batch, query, heads, width]`, keys
    `[batch, query, width]`, weights `[batch, query, heads]`, the cache
    `[batch, context, width]`; the result is `[batch, query, top_k]` and has
    integer elements; the tokens of the keys are whole, or split as those of the
    cache; all else but the batch and queries is whole.

    **Example:**
    ```mlir
    !q = tensor<?x?x64x128xbf16, #transformer.dims<[batch, query, _, _]>>
    !k = tensor<?x?x128xbf16, #transformer.dims<[batch, query, _]>>
    !w = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    !c = tensor<?x?x128xbf16, #transformer.dims<[batch, context, _]>>
    !s = tensor<?x?x2048xi32, #transformer.dims<[batch, query, _]>>
    func.func private @example(%q: !q, %k: !k, %w: !w) {
      %c = transformer.kv_cache : !c
      %s = transformer.indexer %q, %k, %w cache(%c : !c) top_k(2048) : !q, !k, !w -> !s
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$weight, AnyRankedTensor:$cache,
                       I64Attr:$top_k);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $weight `cache` `(` $cache `:` type($cache) `)`
    `top_k` `(` $top_k `)` attr-dict
    `:` type($query) `,` type($key) `,` type($weight) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRANSFORMER_LATENTATTENTIONOPS_TD

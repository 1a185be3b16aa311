//===- LatentAttentionOps.td - Attention to compressed tokens -*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_LATENTATTENTIONOPS_TD
#define AUTOPAR_TRANSFORMER_LATENTATTENTIONOPS_TD

include "transformer/TransformerBase.td"

def TF_LatentAttentionOp
    : TF_NamedOp<"latent_attention", "attn", [AttrSizedOperandSegments]> {
  let summary = "attends to tokens of which one latent vector is cached";
  let description = [{
    Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1).
    Appends `latent` and `key_rope` to the cache (`transformer.kv_cache`), then
    attends. For each sequence `b`, token `i` and head `a`, with the position
    `p` of the token, `L` and `R` the two parts of a cached row
    `cache[b, c, :]`, and `c` over the positions that the query sees:

        cache[b, p, :] = latent[b, i, :] then key_rope[b, i, :]
        k[c, :] = sum_l L[c, l] * key_weight[l, a, :]  then R[c, :]
        v[c, :] = sum_l L[c, l] * value_weight[l, a, :]
        s[c]    = sum_h query[b, i, a, h] * k[c, h] / sqrt(nope + rope)
        z       = sum_c exp(s[c]) (+ exp(sinks[a]))
        y[b, i, a, :] = sum_c exp(s[c]) / z * v[c, :]

    with sinks as in `transformer.attention`, and so that the last `rope` elements of a query meet the rope part, which all
    heads share. Of the cached positions it sees

        all
        causal      c <= p
        selected    selected[b, i, j] = c for some j (`transformer.indexer`)

    and those alone that all given words allow. Without a cache, rows are those
    of the operands, `c` being the index of a token: training with selected
    tokens.

    The other words choose among costs and change no value. Expanded, the keys
    and values of all cached tokens are computed first, 2*context*kl*heads*nope
    and 2*context*kl*heads*d_v FLOPs, then 2*pairs*heads*(nope + rope + d_v).
    `absorbed`: queries are multiplied into the latent space and values out of
    it, 2*query*heads*nope*kl and 2*query*heads*kl*d_v FLOPs, around
    2*pairs*heads*(2*kl + rope). `by_phase`: sequences that decode are absorbed,
    prompts expanded, as engines do it in steps that have both. With selected
    tokens, each token sees at most `top_k` others, and the absorbed form reads
    no more of the cache than they. `at_most(n)` counts as much for `n` tokens
    that another layer selected; which they are is not in the module.

    A cache whose tokens are split gives what it gives in
    `transformer.attention`; with `selected` it is whole, or goes around a ring.

    **Constraints:** queries are `[batch, query, heads, nope + rope]`, the
    latent `[batch, query, kl]`, the rope part `[batch, query, rope]`, the
    weights `[kl, heads, nope]` and `[kl, heads, d_v]`, the cache
    `[batch, context, kl + rope]`, the selected tokens `[batch, query, top_k]`,
    the sinks `[heads]`, the result `[batch, query, heads, d_v]`; the tokens of the latent and the
    rope part are whole, or split as those of the queries and a cache; all
    else but heads, batch and queries is whole; not both `selected` and
    `at_most`, which is 1 or more.

    **Example:**
    ```mlir
    !q = tensor<?x?x8x192xbf16, #transformer.dims<[batch, query, _, _]>>
    !l = tensor<?x?x512xbf16, #transformer.dims<[batch, query, _]>>
    !r = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    !c = !transformer.cache<?x?x576xbf16, #transformer.dims<[batch, context, _]>>
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
                       AnyRankedTensor:$value_weight, TF_OptionalCache:$cache,
                       Optional<AnyRankedTensor>:$selected,
                       Optional<AnyRankedTensor>:$sinks,
                       OptionalAttr<I64Attr>:$at_most, UnitAttr:$causal,
                       UnitAttr:$absorbed, UnitAttr:$by_phase);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $latent `,` $key_rope `,` $key_weight `,` $value_weight
    (`cache` `(` $cache^ `:` type($cache) `)`)?
    (`selected` `(` $selected^ `:` type($selected) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`at_most` `(` $at_most^ `)`)?
    (`causal` $causal^)? (`absorbed` $absorbed^)? (`by_phase` $by_phase^)?
    attr-dict `:` type($query) `,` type($latent) `,`
    type($key_rope) `,` type($key_weight) `,` type($value_weight)
    `->` type($result)
  }];
  let useCustomPropertiesEncoding = 1;
  let extraClassDeclaration = [{
    /// The version of files that know such ones.
    static constexpr uint64_t firstWithoutCache = 4;
    /// How many tokens each token sees at most; 0: all.
    int64_t getNumSeen();
    /// Those that a file of an earlier version has, which had a cache.
    void setEarlierOperands();
    /// What has the tokens that can be seen: the cache, or the latents.
    ::mlir::Value getRows();
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

def TF_IndexerOp : TF_NamedOp<"indexer", "selected"> {
  let summary = "selects the cached tokens that a token attends to";
  let description = [{
    Appends the keys to the cache (`transformer.kv_cache`), then scores for each
    sequence `b` and token `i` the positions `c` from 0 to its own, `p`
    (DeepSeek-V3.2, "lightning indexer"). Without a cache they are those of the
    keys themselves:

        cache[b, p, :] = key[b, i, :]
        s[c] = sum_a weight[b, i, a]
                     * max(0, sum_h query[b, i, a, h] * cache[b, c, h])
        y[b, i, j] = the c with the j-th largest s[c], j < top_k

    The largest score comes first; of equal ones the later position. Where there
    are fewer than `top_k` positions, the rest of the row is -1.
    2*pairs*heads*width FLOPs with the pairs of a causal attention. What is
    selected has no gradient.

    A cache of `width/r` elements a token has one key for `r` of them, as
    `transformer.compressed_attention` has rows: keys are appended where `r`
    divides `p + 1`, and the `c` are the numbers of the keys, 0 to
    `(p + 1) div r - 1`.

    **Constraints:** queries are `[batch, query, heads, width]`, keys
    `[batch, query, width]`, weights `[batch, query, heads]`, the cache
    `[batch, context, width]` or `[batch, context, width/r]`; the result is `[batch, query, top_k]` and has
    integer elements; `top_k` is 1 or more; the tokens of the keys are whole, or
    split as those of the queries and a cache; those of the cache are whole,
    or go around a ring; all else but the batch and queries is whole.

    **Example:**
    ```mlir
    !q = tensor<?x?x64x128xbf16, #transformer.dims<[batch, query, _, _]>>
    !k = tensor<?x?x128xbf16, #transformer.dims<[batch, query, _]>>
    !w = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    !c = !transformer.cache<?x?x128xbf16, #transformer.dims<[batch, context, _]>>
    !s = tensor<?x?x2048xi32, #transformer.dims<[batch, query, _]>>
    func.func private @example(%q: !q, %k: !k, %w: !w) {
      %c = transformer.kv_cache : !c
      %s = transformer.indexer %q, %k, %w cache(%c : !c) top_k(2048) : !q, !k, !w -> !s
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$weight, TF_OptionalCache:$cache,
                       I64Attr:$top_k);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $weight (`cache` `(` $cache^ `:` type($cache) `)`)?
    `top_k` `(` $top_k `)` attr-dict
    `:` type($query) `,` type($key) `,` type($weight) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// What has the keys that can be selected: the cache, or the operand.
    ::mlir::Value getRows();
    /// How many tokens a key is of.
    int64_t getRatio();
  }];
  let hasVerifier = 1;
}

def TF_BlockIndexerOp : TF_NamedOp<"block_indexer", "selected"> {
  let summary = "selects the blocks of tokens that the heads of a group attend to";
  let description = [{
    Appends the keys to the cache (`transformer.kv_cache`), then scores, for each
    sequence `b`, token `i` at position `p` and group `g` of heads, the blocks of
    `n` neighbouring positions from 0 to `p` (MiniMax-M3):

        cache[b, p, :] = key[b, i, :]
        s[c] = max over positions t <= p of block c, that is t div n = c, of
               sum_h query[b, i, g, h] * cache[b, t, h]
        y[b, i, g, j] = the c with the j-th largest s[c], j < top_k

    in which the last `local` blocks up to that of `p` come before all others.
    Of equal ones the later comes first. Where there are fewer than `top_k`
    blocks, the rest of the row is -1. 2*pairs*groups*width FLOPs with the pairs
    of a causal attention.

    **Constraints:** queries are `[batch, query, groups, width]`, keys
    `[batch, query, width]`, the cache `[batch, context, width]`; the result is
    `[batch, query, groups, top_k]` and has integer elements; `top_k` and `n` are
    1 or more, `local` 0 to `top_k`; the tokens of keys and cache are whole, as is
    all else but the batch, queries and groups.

    **Example:**
    ```mlir
    !q = tensor<?x?x4x128xbf16, #transformer.dims<[batch, query, _, _]>>
    !k = tensor<?x?x128xbf16, #transformer.dims<[batch, query, _]>>
    !c = !transformer.cache<?x?x128xbf16, #transformer.dims<[batch, context, _]>>
    !s = tensor<?x?x4x16xi32, #transformer.dims<[batch, query, _, _]>>
    func.func private @example(%q: !q, %k: !k) {
      %c = transformer.kv_cache : !c
      %s = transformer.block_indexer %q, %k cache(%c : !c) block(128) top_k(16) local(1) : !q, !k -> !s
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       TF_Cache:$cache, I64Attr:$block, I64Attr:$top_k,
                       I64Attr:$local);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `cache` `(` $cache `:` type($cache) `)` `block` `(` $block `)`
    `top_k` `(` $top_k `)` `local` `(` $local `)` attr-dict
    `:` type($query) `,` type($key) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRANSFORMER_LATENTATTENTIONOPS_TD

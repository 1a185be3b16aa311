//===- AttentionOps.td - Tokens that see each other --------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_ATTENTIONOPS_TD
#define AUTOPAR_TRANSFORMER_ATTENTIONOPS_TD

include "transformer/TransformerBase.td"

def TF_RopeOp : TF_NamedOp<"rope", "rope", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "turns pairs of elements by the token's position";
  let description = [{
    Rotary embedding (Su et al., arXiv:2104.09864), of the pairs that the halves
    of a head make, or with `interleaved` of neighbours. `x` is `[batch, tokens, .., d]`; with `p` the position of
    the token (see the dialect), `w` the `width` (`d` where not given) and, for
    each `i < w/2`, the angle `a = p * theta^(-2*i/w)`:

        y[.., i]       = x[.., i] * cos(a)       - x[.., i + w/2] * sin(a)
        y[.., i + w/2] = x[.., i + w/2] * cos(a) + x[.., i] * sin(a)

    `interleaved`: of elements `2*i` and `2*i + 1` instead of `i` and `i + w/2`.
    Elements from `w` on stay; with `last` it is the last `w` that turn, and
    those before stay. `inverse` turns back, by `-a`. Positions are those of the whole sequence,
    whatever part of its tokens a device has. Tables of angles are shared by all
    layers and not counted. `scaling` names how a config stretches the angles:
    `linear`, `dynamic`, `yarn` (arXiv:2309.00071), `longrope`
    (arXiv:2402.13753; `su` of old), `llama3`, `mrope` (arXiv:2409.12191),
    `proportional`, or `default`, not at all. Its parameters are not in the
    module: cost and formula are those without.

    **Constraints:** the last dimension is whole and even, and so is `w`, which
    is 2 or more and at most as large; not a partial sum; `theta` is positive;
    `last` goes with `width`.

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
                       OptionalAttr<TF_RopeScalingAttr>:$scaling,
                       OptionalAttr<I64Attr>:$width, UnitAttr:$last,
                       UnitAttr:$interleaved, UnitAttr:$inverse);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `theta` `(` custom<Number>($theta) `)` (`scaling` `(` custom<Word>($scaling)^ `)`)?
    (`width` `(` $width^ `)`)? (`last` $last^)? (`interleaved` $interleaved^)?
    (`inverse` $inverse^)? attr-dict `:` type($x)
  }];
  let useCustomPropertiesEncoding = 1;
  let extraClassDeclaration = [{
    /// The version of files whose angles may be inverse.
    static constexpr uint64_t firstWithInverse = 11;
  }];
  let hasVerifier = 1;
}

def TF_AttentionOp
    : TF_NamedOp<"attention", "attn", [AttrSizedOperandSegments]> {
  let summary = "attends to the cached tokens and the new ones";
  let description = [{
    Appends the new keys and values to the cache (`transformer.kv_cache`), then
    attends. For each sequence `b`, token `i` and head `a`, with the position
    `p` of the token, the key-value head `g = a div (heads / kv heads)`
    (arXiv:2305.13245), and `c` over the keys that the query sees:

        cache[b, p, g, :] = key[b, i, g, :] then value[b, i, g, :]
        s[c] = sum_h query[b, i, a, h] * key[b, c, g, h] / sqrt(d_qk)
               (times x instead of 1 / sqrt(d_qk) with scale(x))
        s[c] = cap * tanh(s[c] / cap)                       with softcap(cap)
        s[c] = s[c] - slope(a) * |p - c|                    with alibi
        s[c] = s[c] + bias[bucket(c - p), a]                with a bias
        s[c] = s[c] + sum_h query[b, i, a, h]               with a plane
                            * (down[r(p) - r(c) + n - 1, h] + across[q(p) - q(c) + n - 1, h])
        s[c] = s[c] + sum_h query[b, i, a, h]               with distances
                            * distances[min(max(p - c, -m), m) + m, h] / sqrt(d_qk)
        z    = sum_c exp(s[c]) (+ exp(sinks[a]))
        y[b, i, a, :] = sum_c exp(s[c]) / z * value[b, c, g, :]

    in this order, all with the numbers of heads of the whole tensors. A sink is
    one more score without a value (gpt-oss, arXiv:2508.10925). A query that
    sees no key gives 0. 2*pairs*heads*(d_qk + d_v) FLOPs.

    Slopes are those of ALiBi (arXiv:2108.12409), `m` being the largest power of
    two up to `heads`:

        slope(a) = 2^(-8*(a + 1)/m)                         a < m
                   2^(-4*(2*(a - m) + 1)/m)                 elsewhere

    Buckets of distances are those of T5 (arXiv:1910.10683, section 2.1), `B` of
    them with `n = max(0, -d)` if `causal`; else those of keys ahead, `d > 0`, are
    the second half of the table, with half of its rows as `B` and `n = |d|`. With
    `e = B div 2` and `D` of `max_distance(D)`:

        bucket(d) = n                                       n < e
                    min(B - 1, e + floor((B - e) * log(n/e) / log(D/e)))

    A plane has `n` rows of `n` tokens, one after the other, `n*n` tokens the
    next: token `p` is in row `r(p) = p mod (n*n) div n`, column
    `q(p) = p mod n`. Its tables have `2*n - 1` rows (MViTv2, arXiv:2112.01526;
    SAM, arXiv:2304.02643). 4*n*query*heads*d_qk FLOPs more.

    Distances are a table of `2*m + 1` rows, one for each distance up to `m` on
    both sides (Shaw et al., arXiv:1803.02155); `scale(x)` is for these scores,
    too. 2*pairs*heads*d_qk FLOPs more.

    Keys are those of the cache: `c` is a position from 0 to `context - 1`, the
    step's own included, or one of the `cross_tokens` that were encoded (cross attention).
    Without a cache they are those of the operands, `c` being the index of a
    token (an encoder). Of these, a query sees

        all             query*context pairs
        causal          c <= p, query*context - query*(query - 1)/2 pairs
        window(n)       c > p - n with causal, else |p - c| <= n div 2
        chunk(n)        c div n = p div n, and where keys of operands are not as
                        many as queries, c div n = p * keys div (queries * n)
        selected        selected[b, i, g, j] = c div n for some j, n being
                        that of block(n) (`transformer.block_indexer`)

    and those alone that all given words allow. Of selected blocks no more is
    read and counted than the tokens that a row of them has.

    The tokens of a cache may be split. Passed around a ring (`parallel.ring`),
    each device sees all of them with its own queries, those that others append
    in this step, too. Else each device sums over the rows that it has, and the
    result is a partial sum over the axes of the cache's tokens; `z` is that of
    all rows and has the sink once, for which the devices exchange the logarithm
    of their part of `z`: inside the op, an all_gather of one f32 per sequence,
    query and head over those axes.

    Values are typed as keys, the cache (`in`) as one of all positions that takes
    them up as they are split, and the result as queries, where no other type is
    written.

    **Constraints:** queries are `[batch, query, heads, d_qk]`, keys
    `[batch, tokens, kv heads, d_qk]`, values `[batch, tokens, kv heads, d_v]`;
    the cache is `[batch, context, kv heads, d_qk + d_v]`, the result
    `[batch, query, heads, d_v]`, the sinks `[heads]`, the bias
    `[buckets, heads]`, the tables of a plane `[2*n - 1, d_qk]`, both or none,
    and with a chunk, that has `n*n` tokens, the distances an odd number of rows
    `[2*m + 1, d_qk]`; key and value heads divide query heads and are split
    over the same axes; with `causal`, keys and queries are of the same tokens;
    the tokens of keys are whole, or split as those of the queries and of the
    cache that takes them up; not both a window and a chunk, each of 1 or more,
    and of no more tokens than the cache keeps; `softcap` is positive;
    `max_distance` comes with a bias, and is above `e`, which is 1 or more; the
    selected blocks are `[batch, query, kv heads, top_k]`, and come with `block`,
    which is 1 or more, a cache that is whole, and `causal`.

    **Example:**
    ```mlir
    !q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>
    !k = tensor<?x?x2x64xbf16, #transformer.dims<[batch, query, _, _]>>
    !c = !transformer.cache<?x?x2x128xbf16, #transformer.dims<[batch, context, _, _]>>
    func.func private @example(%q: !q, %k: !k, %v: !k) {
      %c = transformer.kv_cache : !c
      %y = transformer.attention %q, %k, %v cache(%c) causal : !q, !k in !c
      %z = transformer.attention %q, %k, %v : !q, !k
      return
    }
    func.func private @plane(%q: !q, %k: !k, %v: !k, %d: tensor<27x64xbf16>, %a: tensor<27x64xbf16>) {
      %y = transformer.attention %q, %k, %v plane(%d, %a : tensor<27x64xbf16>, tensor<27x64xbf16>)
          chunk(196) : !q, !k
      return
    }
    func.func private @near(%q: !q, %k: !k, %v: !k, %d: tensor<1025x64xbf16>) {
      %y = transformer.attention %q, %k, %v distances(%d : tensor<1025x64xbf16>) chunk(200) : !q, !k
      return
    }
    !s = tensor<?x?x2x16xi32, #transformer.dims<[batch, query, _, _]>>
    func.func private @blocks(%q: !q, %k: !k, %v: !k, %s: !s) {
      %c = transformer.kv_cache : !c
      %y = transformer.attention %q, %k, %v cache(%c) selected(%s : !s) block(128) causal : !q, !k in !c
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, TF_OptionalCache:$cache,
                       Optional<AnyRankedTensor>:$sinks,
                       Optional<AnyRankedTensor>:$bias,
                       Optional<AnyRankedTensor>:$down,
                       Optional<AnyRankedTensor>:$across,
                       Optional<AnyRankedTensor>:$distances, UnitAttr:$causal,
                       OptionalAttr<I64Attr>:$window,
                       OptionalAttr<I64Attr>:$chunk,
                       OptionalAttr<F64Attr>:$scale,
                       OptionalAttr<F64Attr>:$softcap, UnitAttr:$alibi,
                       OptionalAttr<I64Attr>:$max_distance,
                       Optional<AnyRankedTensor>:$selected,
                       OptionalAttr<I64Attr>:$block);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`cache` `(` $cache^ `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`max_distance` `(` $max_distance^ `)`)?
    (`plane` `(` $down^ `,` $across `:` type($down) `,` type($across) `)`)?
    (`distances` `(` $distances^ `:` type($distances) `)`)?
    (`selected` `(` $selected^ `:` type($selected) `)`)?
    (`block` `(` $block^ `)`)? (`causal` $causal^)?
    (`window` `(` $window^ `)`)? (`chunk` `(` $chunk^ `)`)?
    (`scale` `(` custom<Number>($scale)^ `)`)?
    (`softcap` `(` custom<Number>($softcap)^ `)`)? (`alibi` $alibi^)?
    attr-dict
    `:` custom<AttentionTypes>(ref($cache), type($query), type($key),
                               type($value), type($cache), type($result))
  }];
  let useCustomPropertiesEncoding = 1;
  let extraClassDeclaration = [{
    /// The version of files that know selected blocks.
    static constexpr uint64_t firstWithSelected = 11;
    /// How many tokens a query sees in the blocks that were selected; 0: all.
    int64_t getNumSeen();
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

def TF_ChannelAttentionOp : TF_NamedOp<"channel_attention", "attn", [
    Pure, AllTypesMatch<["query", "key", "value", "result"]>]> {
  let summary = "channels of a head that attend to each other";
  let description = [{
    The channels of a head are what attends, and all its tokens what they are
    compared by (DaViT, arXiv:2204.03645). For each sequence `b` and head `a`:

        s[i, j] = sum_t query[b, t, a, i] * key[b, t, a, j] / sqrt(tokens)
        y[b, t, a, i] = sum_j exp(s[i, j]) / (sum_k exp(s[i, k])) * value[b, t, a, j]

    4*tokens*heads*d*d FLOPs, of two products for each sequence and head.

    **Constraints:** all are `[batch, tokens, heads, d]`; heads and `d` are
    numbers; tokens and `d` are whole; no partial sums.

    **Example:**
    ```mlir
    !x = tensor<?x?x8x32xbf16, #transformer.dims<[batch, encoder_tokens, _, _]>>
    func.func private @example(%q: !x, %k: !x, %v: !x) {
      %y = transformer.channel_attention %q, %k, %v : !x
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$query `,` $key `,` $value attr-dict `:` type($query)";
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

def TF_SharedAttentionOp : TF_NamedOp<"shared_attention", "attn"> {
  let summary = "attends to the keys and values of an earlier layer";
  let description = [{
    Attention whose keys and values another layer has made (cross-layer attention,
    arXiv:2405.12981; the last layers of Gemma 3n and Gemma 4). That layer's
    `transformer.attention` has appended the step's rows to the cache of the
    same name before (`transformer.kv_cache`), and this one reads alone. With
    the words of `transformer.attention`, for each sequence `b`, token `i` at
    position `p` and head `a`, and `g = a div (heads / kv heads)`:

        key[b, c, g, :] then value[b, c, g, :] = cache[b, c, g, :]
        s[c] = sum_h query[b, i, a, h] * key[b, c, g, h] / sqrt(d_qk)
               (times x instead of 1 / sqrt(d_qk) with scale(x))
        y[b, i, a, :] = sum_c exp(s[c]) / (sum_k exp(s[k])) * value[b, c, g, :]

    with `c` over the positions up to `p`, or, with `window(n)`, over the last
    `n` of these. 2*pairs*heads*(d_qk + d_v) FLOPs. Tokens of the cache may be
    split as those of `transformer.attention`.

    **Constraints:** queries are `[batch, query, heads, d_qk]`, the cache is
    `[batch, context, kv heads, d_qk + d_v]` and has a name, the result is
    `[batch, query, heads, d_v]`; key-value heads divide query heads and are
    split over the same axes; the window is 1 or more, and no more than the cache
    keeps. Training, which has no caches, has no form of it.

    **Example:**
    ```mlir
    !q = tensor<?x?x8x64xbf16, #transformer.dims<[batch, query, _, _]>>
    !c = !transformer.cache<?x?x2x128xbf16, #transformer.dims<[batch, context, _, _]>>
    func.func private @reader(%q: !q) {
      %c = transformer.kv_cache "full" : !c
      %y = transformer.shared_attention %q cache(%c) : !q in !c -> !q
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, TF_ReadCache:$cache,
                       OptionalAttr<I64Attr>:$window,
                       OptionalAttr<F64Attr>:$scale);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `cache` `(` $cache `)` (`window` `(` $window^ `)`)?
    (`scale` `(` custom<Number>($scale)^ `)`)? attr-dict
    `:` type($query) `in` type($cache) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRANSFORMER_ATTENTIONOPS_TD

//===- CompressedAttentionOps.td - One row for several tokens -*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_COMPRESSEDATTENTIONOPS_TD
#define AUTOPAR_TRANSFORMER_COMPRESSEDATTENTIONOPS_TD

include "transformer/TransformerBase.td"

def TF_CompressOp : TF_NamedOp<"compress", "compressed", [
    AllTypesMatch<["value", "gate"]>]> {
  let summary = "makes one row of all tokens of a window";
  let description = [{
    The compressor of DeepSeek-V4 (technical report, sections 2.3.1 and 2.3.2).
    With `r` the rows of `bias`, `d` the elements of a result, `w` those of a
    value, and the position `p` of token `i` of sequence `b`, it appends to the
    cache of states, then makes a row where a window of `r` tokens ends, which
    is where `r` divides `p + 1`:

        states[b, p, :] = value[b, i, :] then gate[b, i, :] + bias[p mod r, :]
        s[h] = sum_c exp(g[c, h]) * v[c, h] / sum_c exp(g[c, h])
        n[h] = s[h] / sqrt(sum_h s[h]^2 / d + eps) * weight[h]
        y[b, i, :] = n, turned as transformer.rope does with `theta`, `scaling`,
                     `width`, `last` and `interleaved` at position p - r + 1

    and 0 at all other tokens. `v` and `g` are the two halves of the states. Where
    `w = d`, `c` is over the `r` tokens of the window. Where `w = 2*d`, windows
    overlap: `c` is over the `2*r` tokens of this window and the one before, in
    which the tokens before have the first `d` elements of their states and those
    of the window the last `d`; the first window has none before it.

    The kernel writes each token's states and reads them once more, and writes
    `d/r` elements of the result a token.

    **Constraints:** values and gates are `[batch, query, w]`, the bias `[r, w]`,
    the weight `[d]`, the cache of states `[batch, context, 2*w]`, the result
    `[batch, query, d]`; `w` is `d` or `2*d`; `r` is 2 or more and divides `d`;
    all but the batch is whole; no partial sums; the cache keeps what a window
    needs; the rest is as for `transformer.rope`.

    **Example:**
    ```mlir
    !v = tensor<?x?x1024xbf16, #transformer.dims<[batch, query, _]>>
    !y = tensor<?x?x512xbf16, #transformer.dims<[batch, query, _]>>
    !s = !transformer.cache<?x?x2048xf32, #transformer.dims<[batch, context, _]>>
    func.func private @example(%v: !v, %g: !v, %b: tensor<4x1024xf32>, %w: tensor<512xbf16>) {
      %s = transformer.kv_cache window(8) : !s
      %y = transformer.compress %v, %g, %b, %w states(%s : !s) eps(1.0e-6) theta(1.6e5) width(64) last interleaved
          : !v, tensor<4x1024xf32>, tensor<512xbf16> -> !y
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, AnyRankedTensor:$gate,
                       AnyRankedTensor:$bias, AnyRankedTensor:$weight,
                       TF_Cache:$states, F64Attr:$eps, F64Attr:$theta,
                       OptionalAttr<TF_RopeScalingAttr>:$scaling,
                       OptionalAttr<I64Attr>:$width, UnitAttr:$last,
                       UnitAttr:$interleaved);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $value `,` $gate `,` $bias `,` $weight `states` `(` $states `:` type($states) `)`
    `eps` `(` custom<Number>($eps) `)` `theta` `(` custom<Number>($theta) `)`
    (`scaling` `(` custom<Word>($scaling)^ `)`)?
    (`width` `(` $width^ `)`)? (`last` $last^)? (`interleaved` $interleaved^)?
    attr-dict `:` type($value) `,` type($bias) `,` type($weight) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// How many tokens a row is of.
    int64_t getRatio();
    /// Whether rows are of the window before, too.
    bool overlaps();
  }];
  let hasVerifier = 1;
}

def TF_CompressedAttentionOp
    : TF_NamedOp<"compressed_attention", "attn", [
        AttrSizedOperandSegments, AllTypesMatch<["query", "result"]>]> {
  let summary = "attends to a window of tokens and to rows of several tokens";
  let description = [{
    Attention of DeepSeek-V4 (technical report, section 2.3). All heads share one
    row a token, which is key and value. Appends `row` to the cache
    (`transformer.kv_cache`), and to the cache `rows`, where there is one, each
    row of `compressed` (`transformer.compress`) at which a window of `r` tokens
    ends, `r` being the elements of a compressed row over those that the cache has
    a token, `d / (d/r)`. Then it attends, for each sequence `b`, token `i`, head
    `a` and with the position `p` of the token:

        cache[b, p, :] = row[b, i, :]
        rows[b, p - r + 1 .. p, :] = compressed[b, i, :], in r parts, where
                                     r divides p + 1
        s[c] = sum_h query[b, i, a, h] * c[h] / sqrt(d)
        z    = sum_c exp(s[c]) (+ exp(sinks[a]))
        y[b, i, a, :] = sum_c exp(s[c]) / z * c

    with `c` over the rows of the last `window` positions up to `p`, and over
    the compressed rows `0` to `(p + 1) div r - 1`, of those the ones that

        selected    selected[b, i, j] names for some j (`transformer.indexer`)

    2*2*d*heads FLOPs for each pair of a query and a row. What is read of the
    compressed rows is no more than was selected.

    **Constraints:** queries and the result are `[batch, query, heads, d]`, rows
    `[batch, query, d]`, the cache `[batch, context, d]` and keeps the window or
    more, the cache of compressed rows `[batch, context, d/r]` with `r` of 2 or
    more, the selected rows `[batch, query, top_k]`, the sinks `[heads]`;
    `compressed` goes with `rows`, and `selected` with both; the tokens of rows
    and caches are whole, as is all else but heads, batch and queries; the window
    is 1 or more.

    **Example:**
    ```mlir
    !q = tensor<?x?x64x512xbf16, #transformer.dims<[batch, query, _, _]>>
    !r = tensor<?x?x512xbf16, #transformer.dims<[batch, query, _]>>
    !c = !transformer.cache<?x?x512xbf16, #transformer.dims<[batch, context, _]>>
    !m = !transformer.cache<?x?x4xbf16, #transformer.dims<[batch, context, _]>>
    func.func private @example(%q: !q, %row: !r, %compressed: !r) {
      %c = transformer.kv_cache window(128) : !c
      %m = transformer.kv_cache : !m
      %x = transformer.compressed_attention %q, %row cache(%c : !c) window(128) : !q, !r
      %y = transformer.compressed_attention %q, %row cache(%c : !c)
          compressed(%compressed : !r) rows(%m : !m) window(128) : !q, !r
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$row,
                       TF_Cache:$cache, Optional<AnyRankedTensor>:$compressed,
                       TF_OptionalCache:$rows,
                       Optional<AnyRankedTensor>:$selected,
                       Optional<AnyRankedTensor>:$sinks, I64Attr:$window);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $row `cache` `(` $cache `:` type($cache) `)`
    (`compressed` `(` $compressed^ `:` type($compressed) `)`)?
    (`rows` `(` $rows^ `:` type($rows) `)`)?
    (`selected` `(` $selected^ `:` type($selected) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    `window` `(` $window `)` attr-dict
    `:` type($query) `,` type($row)
  }];
  let extraClassDeclaration = [{
    /// How many tokens a compressed row is of; 1 where there are none.
    int64_t getRatio();
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

def TF_GroupedLinearOp : TF_NamedOp<"grouped_linear", "grouped", [Pure]> {
  let summary = "multiplies each group of heads by a weight of its own";
  let description = [{
    A product whose matrix is diagonal in blocks (the output of DeepSeek-V4's
    attention, technical report, section 2.3.1). With `g` groups of `n = heads/g`
    neighbouring heads:

        y[t.., a, o] = sum_j,h x[t.., n*a + j, h] * weight[a, j*d + h, o]    j < n

    2*tokens*heads*d*out FLOPs.

    **Constraints:** `x` is `[t.., heads, d]`, the weight `[g, n*d, out]`, the
    result `[t.., g, out]`; `heads`, `d` and `g` are numbers, and `g` divides
    `heads`; heads are split into whole groups; no partial sums.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<2x16x8x64xbf16>, %w: tensor<4x128x32xbf16>) {
      %y = transformer.grouped_linear %x, %w
          : tensor<2x16x8x64xbf16>, tensor<4x128x32xbf16> -> tensor<2x16x4x32xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $weight attr-dict `:` type($x) `,` type($weight) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRANSFORMER_COMPRESSEDATTENTIONOPS_TD

//===- AttentionGradientOps.td - Backwards of attention ----*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_ATTENTIONGRADIENTOPS_TD
#define AUTOPAR_TRAINING_ATTENTIONGRADIENTOPS_TD

include "training/TrainingBase.td"

def TRN_RopeBackwardOp : TRN_NamedOp<"rope_backward", "dx", [
    Pure, AllTypesMatch<["dy", "result"]>]> {
  let summary = "turns pairs of elements back";
  let description = [{
    Of `transformer.rope` of the same `theta`, `scaling`, `width`, `last` and
    `interleaved`, by the opposite angles:

        dx[.., i]       = dy[.., i] * cos(a)       + dy[.., i + w/2] * sin(a)
        dx[.., i + w/2] = dy[.., i + w/2] * cos(a) - dy[.., i] * sin(a)

    **Constraints:** those of `transformer.rope`.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x16x8x128xbf16>) {
      %dx = training.rope_backward %dy theta(5.0e5) : tensor<4x16x8x128xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, F64Attr:$theta,
                       OptionalAttr<TF_RopeScalingAttr>:$scaling,
                       OptionalAttr<I64Attr>:$width, UnitAttr:$last,
                       UnitAttr:$interleaved);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `theta` `(` custom<Number>($theta) `)` (`scaling` `(` custom<Word>($scaling)^ `)`)?
    (`width` `(` $width^ `)`)? (`last` $last^)? (`interleaved` $interleaved^)?
    attr-dict `:` type($dy)
  }];
}

def TRN_AttentionNormaliserOp
    : TRN_NamedOp<"attention_normaliser", "normaliser", [Pure]> {
  let summary = "the logarithm of what an attention divides by";
  let description = [{
    Of `transformer.attention` of the same operands, `causal`, `window`, `chunk`,
    `scale`, `softcap` and `alibi`, with its scores `s[c]`:

        s[c]       = f * sum_h query[b, i, a, h] * key[b, c, g, h]    and so on
        y[b, i, a] = log(sum_c exp(s[c]) (+ exp(sinks[a])))

    which its kernel writes beside its result: it takes no time of its own.

    **Constraints:** those of `transformer.attention` without a cache; the
    result is `[batch, query, heads]` of f32; key-value tokens are whole.

    **Example:**
    ```mlir
    func.func private @example(%q: tensor<4x16x8x64xbf16>, %k: tensor<4x16x2x64xbf16>) {
      %z = training.attention_normaliser %q, %k causal
          : tensor<4x16x8x64xbf16>, tensor<4x16x2x64xbf16> -> tensor<4x16x8xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       Optional<AnyRankedTensor>:$sinks, UnitAttr:$causal,
                       OptionalAttr<I64Attr>:$window, OptionalAttr<I64Attr>:$chunk,
                       OptionalAttr<F64Attr>:$scale,
                       OptionalAttr<F64Attr>:$softcap, UnitAttr:$alibi);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $key (`sinks` `(` $sinks^ `:` type($sinks) `)`)? (`causal` $causal^)?
    (`window` `(` $window^ `)`)? (`chunk` `(` $chunk^ `)`)?
    (`scale` `(` custom<Number>($scale)^ `)`)?
    (`softcap` `(` custom<Number>($softcap)^ `)`)? (`alibi` $alibi^)?
    attr-dict `:` type($query) `,` type($key) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

def TRN_AttentionBackwardOp : TRN_ComputeOp<"attention_backward", [
    Pure, AllTypesMatch<["query", "d_query"]>,
    AllElementTypesMatch<["key", "d_key"]>,
    AllElementTypesMatch<["value", "d_value"]>]> {
  let summary = "what queries, keys and values have to do with an attention";
  let description = [{
    Of `transformer.attention` without a cache or learned biases, by the method
    of FlashAttention-2 (arXiv:2307.08691, algorithm 2): probabilities are made
    again from queries, keys and `normaliser`, the logarithm of the forward's
    divisor.
    `causal`, `window`, `chunk`, `scale` and `alibi` are the forward's. With its
    scores `s[c]` and `f` the factor of their sum, times
    `1 - (s[c] / cap)^2` with `softcap(cap)`:

        p[c]  = exp(s[c] - normaliser[b, i, a])
        dp[c] = sum_h dy[b, i, a, h] * value[b, c, g, h]
        ds[c] = p[c] * (dp[c] - sum_h dy[b, i, a, h] * y[b, i, a, h]) * f
        d_query[b, i, a, :] = sum_c ds[c] * key[b, c, g, :]
        d_key[b, c, g, :]   = sum of ds[c] * query[b, i, a, :] over i and the a of g
        d_value[b, c, g, :] = sum of p[c] * dy[b, i, a, :] over i and the a of g

    2*pairs*heads*(3*d_qk + 2*d_v) FLOPs, 5/2 of the forward's where those are
    alike. Devices that have the same key-value head add up what the queries of
    each have to do with it, inside the op; where tokens of queries are split,
    `d_key` and `d_value` are partial sums.

    **Constraints:** shapes as in `transformer.attention`; key-value tokens are
    whole; `dy` and `y` have one type, `z` is `[batch, query, heads]`; key-value
    heads are split as query heads are.

    **Example:**
    ```mlir
    !q = tensor<4x16x8x64xbf16>
    !k = tensor<4x16x2x64xbf16>
    func.func private @example(%dy: !q, %q: !q, %k: !k, %v: !k, %y: !q, %z: tensor<4x16x8xf32>) {
      %dq, %dk, %dv = training.attention_backward %dy, %q, %k, %v, %y, %z causal
          : !q, !q, !k, !k, !q, tensor<4x16x8xf32> -> !q, !k, !k
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$query,
                       AnyRankedTensor:$key, AnyRankedTensor:$value,
                       AnyRankedTensor:$y, AnyRankedTensor:$normaliser,
                       UnitAttr:$causal, OptionalAttr<I64Attr>:$window,
                       OptionalAttr<I64Attr>:$chunk, OptionalAttr<F64Attr>:$scale,
                       OptionalAttr<F64Attr>:$softcap, UnitAttr:$alibi);
  let results = (outs AnyRankedTensor:$d_query, AnyRankedTensor:$d_key,
                      AnyRankedTensor:$d_value);
  let assemblyFormat = [{
    $dy `,` $query `,` $key `,` $value `,` $y `,` $normaliser (`causal` $causal^)?
    (`window` `(` $window^ `)`)? (`chunk` `(` $chunk^ `)`)?
    (`scale` `(` custom<Number>($scale)^ `)`)?
    (`softcap` `(` custom<Number>($softcap)^ `)`)? (`alibi` $alibi^)? attr-dict
    `:` type($dy) `,` type($query) `,` type($key) `,` type($value) `,` type($y)
    `,` type($normaliser) `->` type($d_query) `,` type($d_key) `,` type($d_value)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

def TRN_SinkGradientOp : TRN_NamedOp<"sink_gradient", "ds", [
    Pure, AllTypesMatch<["dy", "y"]>]> {
  let summary = "the gradient of the scores of nothing";
  let description = [{
    Of the `sinks` of `transformer.attention`, with `normaliser` the
    logarithm of its divisor (`training.attention_normaliser`):

        ds[a] = - sum of exp(sinks[a] - normaliser[b, i, a]) * sum_h dy[b, i, a, h] * y[b, i, a, h]

    over `b` and `i`. Split over sequences or tokens, the result is a partial sum.

    **Constraints:** `dy` and `y` are `[batch, query, heads, d]` of one type, `z`
    is `[batch, query, heads]`, the sinks `[heads]`, and so is the result.

    **Example:**
    ```mlir
    !q = tensor<4x16x8x64xbf16>
    func.func private @example(%dy: !q, %y: !q, %z: tensor<4x16x8xf32>, %s: tensor<8xbf16>) {
      %ds = training.sink_gradient %dy, %y, %z, %s
          : !q, tensor<4x16x8xf32>, tensor<8xbf16> -> tensor<8xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$y,
                       AnyRankedTensor:$normaliser, AnyRankedTensor:$sinks);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $y `,` $normaliser `,` $sinks attr-dict
    `:` type($dy) `,` type($normaliser) `,` type($sinks) `->` type($result)
  }];
}

def TRN_AttentionProbabilitiesOp
    : TRN_NamedOp<"attention_probabilities", "probabilities", [Pure]> {
  let summary = "how much each token sees of each, written out";
  let description = [{
    What `transformer.attention` keeps to itself, by kernels that write it. With
    its scores `s[c]`, by the same `causal`, `window`, `scale` and `alibi`, of
    operands without a cache:

        s[c]          = f * sum_h query[b, i, a, h] * key[b, c, g, h]    and so on
        y[b, a, i, c] = exp(s[c]) / sum_c' exp(s[c'])    of those that are seen, else 0

    Products and softmax are computed of all tokens, seen or not:
    2*query*tokens*heads*d FLOPs.

    **Constraints:** queries are `[batch, query, heads, d]`, keys
    `[batch, tokens, kv heads, d]`, the result `[batch, heads, query, tokens]`;
    tokens are whole.

    **Example:**
    ```mlir
    func.func private @example(%q: tensor<4x16x8x64xbf16>, %k: tensor<4x16x2x64xbf16>) {
      %p = training.attention_probabilities %q, %k causal
          : tensor<4x16x8x64xbf16>, tensor<4x16x2x64xbf16> -> tensor<4x8x16x16xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       UnitAttr:$causal, OptionalAttr<I64Attr>:$window,
                       OptionalAttr<F64Attr>:$scale, UnitAttr:$alibi);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $key (`causal` $causal^)? (`window` `(` $window^ `)`)?
    (`scale` `(` custom<Number>($scale)^ `)`)? (`alibi` $alibi^)? attr-dict
    `:` type($query) `,` type($key) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

def TRN_AttendOp : TRN_NamedOp<"attend", "attn", [Pure]> {
  let summary = "values by how much each token sees of them";
  let description = [{
        y[b, i, a, :] = sum_c probabilities[b, a, i, c] * value[b, c, g, :]

    with the key-value head `g` of head `a`. 2*query*tokens*heads*d FLOPs.

    **Constraints:** the probabilities are `[batch, heads, query, tokens]`,
    values `[batch, tokens, kv heads, d]`, the result `[batch, query, heads, d]`;
    tokens are whole.

    **Example:**
    ```mlir
    func.func private @example(%p: tensor<4x8x16x16xbf16>, %v: tensor<4x16x2x64xbf16>) {
      %y = training.attend %p, %v
          : tensor<4x8x16x16xbf16>, tensor<4x16x2x64xbf16> -> tensor<4x16x8x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$probabilities, AnyRankedTensor:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $probabilities `,` $value attr-dict
    `:` type($probabilities) `,` type($value) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

def TRN_AttendBackwardOp : TRN_ComputeOp<"attend_backward", [
    Pure, AllTypesMatch<["probabilities", "d_probabilities"]>,
    AllTypesMatch<["value", "d_value"]>]> {
  let summary = "what probabilities and values have to do with their product";
  let description = [{
    Of `training.attend`:

        d_probabilities[b, a, i, c] = sum_h dy[b, i, a, h] * value[b, c, g, h]
        d_value[b, c, g, :] = sum of probabilities[b, a, i, c] * dy[b, i, a, :] over i and the a of g

    4*query*tokens*heads*d FLOPs. Values that several devices have are as in
    `training.attention_backward`.

    **Constraints:** shapes as in `training.attend`; tokens are whole;
    key-value heads are split as query heads are.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x16x8x64xbf16>, %p: tensor<4x8x16x16xbf16>, %v: tensor<4x16x2x64xbf16>) {
      %dp, %dv = training.attend_backward %dy, %p, %v
          : tensor<4x16x8x64xbf16>, tensor<4x8x16x16xbf16>, tensor<4x16x2x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$probabilities,
                       AnyRankedTensor:$value);
  let results = (outs AnyRankedTensor:$d_probabilities, AnyRankedTensor:$d_value);
  let assemblyFormat = [{
    $dy `,` $probabilities `,` $value attr-dict
    `:` type($dy) `,` type($probabilities) `,` type($value)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

def TRN_AttentionProbabilitiesBackwardOp
    : TRN_ComputeOp<"attention_probabilities_backward", [
    Pure, AllTypesMatch<["probabilities", "d_probabilities"]>,
    AllTypesMatch<["query", "d_query"]>, AllTypesMatch<["key", "d_key"]>]> {
  let summary = "what queries and keys have to do with probabilities";
  let description = [{
    Of `training.attention_probabilities` of the same `scale`, with `f` the
    factor of its scores:

        p[c] = probabilities[b, a, i, c],  dp[c] = d_probabilities[b, a, i, c]
        ds[c] = p[c] * (dp[c] - sum_c' dp[c'] * p[c']) * f
        d_query[b, i, a, :] = sum_c ds[c] * key[b, c, g, :]
        d_key[b, c, g, :]   = sum of ds[c] * query[b, i, a, :] over i and the a of g

    4*query*tokens*heads*d FLOPs. Keys that several devices have are as in
    `training.attention_backward`.

    **Constraints:** shapes as in `training.attention_probabilities`; tokens
    are whole; key-value heads are split as query heads are.

    **Example:**
    ```mlir
    !q = tensor<4x16x8x64xbf16>
    !p = tensor<4x8x16x16xbf16>
    func.func private @example(%dp: !p, %p: !p, %q: !q, %k: tensor<4x16x2x64xbf16>) {
      %dq, %dk = training.attention_probabilities_backward %dp, %p, %q, %k
          : !p, !q, tensor<4x16x2x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$d_probabilities,
                       AnyRankedTensor:$probabilities, AnyRankedTensor:$query,
                       AnyRankedTensor:$key, OptionalAttr<F64Attr>:$scale);
  let results = (outs AnyRankedTensor:$d_query, AnyRankedTensor:$d_key);
  let assemblyFormat = [{
    $d_probabilities `,` $probabilities `,` $query `,` $key
    (`scale` `(` custom<Number>($scale)^ `)`)? attr-dict
    `:` type($probabilities) `,` type($query) `,` type($key)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

#endif // AUTOPAR_TRAINING_ATTENTIONGRADIENTOPS_TD

//===- LatentGradientOps.td - Latent attention in training -*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_LATENTGRADIENTOPS_TD
#define AUTOPAR_TRAINING_LATENTGRADIENTOPS_TD

include "training/TrainingBase.td"

def TRN_ConcatSharedOp : TRN_NamedOp<"concat_shared", "key", [Pure]> {
  let summary = "puts what all heads share behind what each has";
  let description = [{
    The keys of a latent attention (`transformer.latent_attention`), written out:

        y[t.., a, :] = x[t.., a, :] then shared[t.., :]

    **Constraints:** `x` is `[t.., heads, d]`, `shared` is `[t.., e]`, the result
    `[t.., heads, d + e]`; `d` and `e` are numbers, and whole.

    **Example:**
    ```mlir
    func.func private @example(%k: tensor<4x16x8x128xbf16>, %r: tensor<4x16x64xbf16>) {
      %y = training.concat_shared %k, %r
          : tensor<4x16x8x128xbf16>, tensor<4x16x64xbf16> -> tensor<4x16x8x192xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$shared);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $shared attr-dict `:` type($x) `,` type($shared) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TRN_ConcatSharedBackwardOp : TRN_ComputeOp<"concat_shared_backward", [Pure]> {
  let summary = "what heads have of their own, and the sum of what they share";
  let description = [{
    Of `training.concat_shared`, with `d` elements in a head of its own:

        dx[t.., a, i]    = dy[t.., a, i]    where i < d
        d_shared[t.., i] = sum_a dy[t.., a, d + i]

    Split over heads, `d_shared` is a partial sum; where several devices have the
    same heads, each adds its share.

    **Constraints:** those of `training.concat_shared`; `dy` is no partial
    sum.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x16x8x192xbf16>) {
      %dx, %ds = training.concat_shared_backward %dy
          : tensor<4x16x8x192xbf16> -> tensor<4x16x8x128xbf16>, tensor<4x16x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy);
  let results = (outs AnyRankedTensor:$dx, AnyRankedTensor:$d_shared);
  let assemblyFormat = [{
    $dy attr-dict `:` type($dy) `->` type($dx) `,` type($d_shared)
  }];
  let hasVerifier = 1;
}

def TRN_LatentNormaliserOp
    : TRN_NamedOp<"latent_normaliser", "normaliser", [Pure]> {
  let summary = "the logarithm of what a latent attention divides by";
  let description = [{
    Of `transformer.latent_attention` without a cache, of the same operands,
    `at_most` and `causal`, over the `c` that a query sees:

        k[c, :]    = sum_l latent[b, c, l] * key_weight[l, a, :]  then key_rope[b, c, :]
        s[c]       = sum_h query[b, i, a, h] * k[c, h] / sqrt(nope + rope)
        y[b, i, a] = log(sum_c exp(s[c]))    c = selected[b, i, j] for some j

    which its kernel writes beside its result: it takes no time of its own.

    **Constraints:** those of `transformer.latent_attention`; the result is
    `[batch, query, heads]` of f32; the tokens of the latent and the rope part
    are whole.

    **Example:**
    ```mlir
    func.func private @example(%q: tensor<4x16x8x24xbf16>, %l: tensor<4x16x32xbf16>, %r: tensor<4x16x8xbf16>,
                               %wk: tensor<32x8x16xbf16>, %s: tensor<4x16x4xi32>) {
      %z = training.latent_normaliser %q, %l, %r, %wk selected(%s : tensor<4x16x4xi32>) causal
          : tensor<4x16x8x24xbf16>, tensor<4x16x32xbf16>, tensor<4x16x8xbf16>, tensor<32x8x16xbf16>
          -> tensor<4x16x8xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$latent,
                       AnyRankedTensor:$key_rope, AnyRankedTensor:$key_weight,
                       Optional<AnyRankedTensor>:$selected,
                       OptionalAttr<I64Attr>:$at_most, UnitAttr:$causal);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $latent `,` $key_rope `,` $key_weight
    (`selected` `(` $selected^ `:` type($selected) `)`)?
    (`at_most` `(` $at_most^ `)`)? (`causal` $causal^)? attr-dict `:`
    type($query) `,` type($latent) `,` type($key_rope) `,` type($key_weight)
    `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

def TRN_LatentAttentionBackwardOp
    : TRN_ComputeOp<"latent_attention_backward", [
    Pure, AllTypesMatch<["dy", "y"]>, AllTypesMatch<["query", "d_query"]>,
    AllElementTypesMatch<["latent", "d_latent"]>,
    AllElementTypesMatch<["key_rope", "d_key_rope"]>]> {
  let summary = "what operands have to do with a latent attention";
  let description = [{
    Of `transformer.latent_attention` without a cache, of the same `selected`,
    `at_most` and `causal`: what was selected is held as it is. Probabilities are
    made again from queries, latents and `normaliser`, the logarithm of the
    forward's divisor. Over the `c` that query `i` of head `a` sees, with its
    scores `s[c]` and `f = 1 / sqrt(nope + rope)`:

        k[c, :] = sum_l latent[b, c, l] * key_weight[l, a, :]  then key_rope[b, c, :]
        v[c, :] = sum_l latent[b, c, l] * value_weight[l, a, :]    c = selected[b, i, j] for some j
        p[c]  = exp(s[c] - normaliser[b, i, a])
        dp[c] = sum_h dy[b, i, a, h] * v[c, h]
        ds[c] = p[c] * (dp[c] - sum_h dy[b, i, a, h] * y[b, i, a, h]) * f
        d_query[b, i, a, :]   = sum_c ds[c] * k[c, :]
        dk[b, c, a, :]        = sum_i ds[c] * query[b, i, a, :]
        dv[b, c, a, :]        = sum_i p[c] * dy[b, i, a, :]
        d_latent[b, c, l]     = sum_a (sum_h dk[b, c, a, h] * key_weight[l, a, h]
                                       + sum_h dv[b, c, a, h] * value_weight[l, a, h])
        d_key_rope[b, c, h]   = sum_a dk[b, c, a, nope + h]
        d_key_weight[l, a, h]   = sum_b,c latent[b, c, l] * dk[b, c, a, h]
        d_value_weight[l, a, h] = sum_b,c latent[b, c, l] * dv[b, c, a, h]

    It is computed in the space of latents, as the forward with selected tokens
    is: queries and `dy` are multiplied into it, 2*query*heads*kl*(nope + d_v)
    FLOPs, `d_query` and both weights follow from what comes back,
    2*query*heads*kl*(2*nope + d_v) FLOPs, and between them are
    2*pairs*heads*(3*(kl + rope) + 3*kl) FLOPs: the five products of an attention's
    backward with keys of kl + rope and values of kl elements, and what queries
    have seen of latents, once more.

    Where heads or queries are split, `d_latent` and `d_key_rope` are partial
    sums, where sequences or queries are, the gradients of weights.

    **Constraints:** those of `transformer.latent_attention`; `dy` and `y` are
    like its result, `z` is `[batch, query, heads]`; gradients have the shapes of
    what they are of; the tokens of the latent and the rope part are whole.

    **Example:**
    ```mlir
    !q = tensor<4x16x8x24xbf16>
    !l = tensor<4x16x32xbf16>
    !r = tensor<4x16x8xbf16>
    !w = tensor<32x8x16xbf16>
    !y = tensor<4x16x8x16xbf16>
    func.func private @example(%dy: !y, %q: !q, %l: !l, %r: !r, %wk: !w, %wv: !w, %y: !y,
                               %z: tensor<4x16x8xf32>, %s: tensor<4x16x4xi32>) {
      %dq, %dl, %dr, %dwk, %dwv = training.latent_attention_backward %dy, %q, %l, %r, %wk, %wv, %y, %z
          selected(%s : tensor<4x16x4xi32>) causal : !y, !q, !l, !r, !w, !w, tensor<4x16x8xf32>
          -> !l, !r, tensor<32x8x16xf32>, tensor<32x8x16xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$query,
                       AnyRankedTensor:$latent, AnyRankedTensor:$key_rope,
                       AnyRankedTensor:$key_weight,
                       AnyRankedTensor:$value_weight, AnyRankedTensor:$y,
                       AnyRankedTensor:$normaliser,
                       Optional<AnyRankedTensor>:$selected,
                       OptionalAttr<I64Attr>:$at_most, UnitAttr:$causal);
  let results = (outs AnyRankedTensor:$d_query, AnyRankedTensor:$d_latent,
                      AnyRankedTensor:$d_key_rope,
                      AnyRankedTensor:$d_key_weight,
                      AnyRankedTensor:$d_value_weight);
  let assemblyFormat = [{
    $dy `,` $query `,` $latent `,` $key_rope `,` $key_weight `,` $value_weight
    `,` $y `,` $normaliser (`selected` `(` $selected^ `:` type($selected) `)`)?
    (`at_most` `(` $at_most^ `)`)? (`causal` $causal^)? attr-dict `:` type($dy)
    `,` type($query) `,` type($latent) `,` type($key_rope) `,`
    type($key_weight) `,` type($value_weight) `,` type($normaliser) `->`
    type($d_latent) `,` type($d_key_rope) `,` type($d_key_weight) `,`
    type($d_value_weight)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRAINING_LATENTGRADIENTOPS_TD

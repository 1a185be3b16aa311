//===- HyperConnectionOps.td - Several residual streams ----*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_HYPERCONNECTIONOPS_TD
#define AUTOPAR_TRANSFORMER_HYPERCONNECTIONOPS_TD

include "transformer/TransformerBase.td"

def TF_HyperExpandOp : TF_NamedOp<"hyper_expand", "streams", [Pure]> {
  let summary = "makes the streams of hyper-connections of tokens";
  let description = [{
    The residual of hyper-connections (arXiv:2409.19606) is `n`
    streams, which are alike in front of the first layer:

        y[b, t, s, h] = x[b, t, h]    for s < n

    A partial sum is reduced before, as each stream has all of it.

    **Constraints:** `x` is `[batch, tokens, hidden]`, the result
    `[batch, tokens, n, hidden]`; the streams are whole; no partial sums.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<2x16x64xbf16>) {
      %s = transformer.hyper_expand %x : tensor<2x16x64xbf16> -> tensor<2x16x4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}

def TF_HyperPreOp : TF_ComputeOp<"hyper_pre", [
    Pure, AttrSizedResultSegments]> {
  let summary = "mixes the streams into what a block reads";
  let description = [{
    With `n` streams, `m` from a product with all of them, `e` of `gate_eps`,
    and `c` of `post`:

        r             = 1 / sqrt(sum_s,h streams[b, t, s, h]^2 / (n*hidden) + eps)
        m[j]          = r * sum_s,h streams[b, t, s, h] * weight[s, h, j]
        pre[s]        = sigmoid(scale[0] * m[s] + base[s]) + e
        y[b, t, h]    = sum_s pre[s] * streams[b, t, s, h]
        post[b, t, s] = c * sigmoid(scale[1] * m[n + s] + base[n + s])

    That is all of independent hyper-connections, to whose `post` `e` is added
    too. Manifold-constrained ones (arXiv:2512.24880) have
    `sinkhorn(i)` and mix the streams that go around the block, by a matrix
    whose rows and columns nearly sum to one, with `j = n*(2 + s) + k`:

        residual[b, t, s, k] = exp(scale[2] * m[j] + base[j]) / (its sum over k) + e

    in which each column is then divided by its sum over `s` plus `e` and, `i - 1`
    times, each row by its sum over `k` plus `e`, then each column again
    (Sinkhorn, Knopp, 1967). What ends the last layer has neither `post` nor
    `sinkhorn`: the streams become one.

    2*tokens*n*hidden*coefficients FLOPs. Reads the streams twice, as nothing is
    mixed before the product is done.

    **Constraints:** the streams are `[batch, tokens, n, hidden]`, the weight
    `[n, hidden, coefficients]`, the base `[coefficients]`; there are `n` of
    them without `post`, `2*n` with it and `n*(n + 2)` with `sinkhorn`, which
    needs `post`; the scale has one, two or three elements; `y` is
    `[batch, tokens, hidden]`, `post` `[batch, tokens, n]`, `residual`
    `[batch, tokens, n, n]`; `n` and `hidden` are numbers; all but `batch` and
    `tokens` is whole; no partial sums; neither eps is negative; `c` is positive
    and `i` 1 to 1,000.

    **Example:**
    ```mlir
    !s = tensor<2x16x4x64xbf16>
    func.func private @example(%s: !s, %w: tensor<4x64x24xf32>, %b: tensor<24xf32>, %g: tensor<3xf32>,
                               %v: tensor<4x64x4xf32>, %c: tensor<4xf32>, %h: tensor<1xf32>) {
      %x, %post, %residual = transformer.hyper_pre %s, %w, %b, %g eps(1.0e-6) gate_eps(1.0e-6) post(2.0) sinkhorn(20)
          : !s, tensor<4x64x24xf32>, tensor<24xf32>, tensor<3xf32> -> tensor<2x16x64xbf16>, tensor<2x16x4xf32>, tensor<2x16x4x4xf32>
      %y = transformer.hyper_pre %s, %v, %c, %h eps(1.0e-6) gate_eps(1.0e-6)
          : !s, tensor<4x64x4xf32>, tensor<4xf32>, tensor<1xf32> -> tensor<2x16x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$streams, AnyRankedTensor:$weight,
                       AnyRankedTensor:$base, AnyRankedTensor:$scale,
                       F64Attr:$eps, F64Attr:$gate_eps,
                       OptionalAttr<F64Attr>:$magnitude,
                       OptionalAttr<I64Attr>:$sinkhorn);
  let results = (outs AnyRankedTensor:$result, Optional<AnyRankedTensor>:$post,
                      Optional<AnyRankedTensor>:$residual);
  let assemblyFormat = [{
    $streams `,` $weight `,` $base `,` $scale
    `eps` `(` custom<Number>($eps) `)` `gate_eps` `(` custom<Number>($gate_eps) `)`
    (`post` `(` custom<Number>($magnitude)^ `)`)? (`sinkhorn` `(` $sinkhorn^ `)`)?
    attr-dict `:` type($streams) `,` type($weight) `,` type($base) `,` type($scale)
    `->` type($result) (`,` type($post)^)? (`,` type($residual)^)?
  }];
  let extraClassDeclaration = [{
    /// How many coefficients a token has.
    int64_t getNumCoefficients();
  }];
  let hasVerifier = 1;
}

def TF_HyperPostOp : TF_NamedOp<"hyper_post", "streams", [
    Pure, AllTypesMatch<["streams", "result"]>]> {
  let summary = "adds what a block made to the streams";
  let description = [{
    With `post` and `residual` of `transformer.hyper_pre`:

        z[b, t, k, h] = post[b, t, k] * y[b, t, h] + streams[b, t, k, h]
        z[b, t, k, h] = post[b, t, k] * y[b, t, h]                 with a residual
                        + sum_s residual[b, t, s, k] * streams[b, t, s, h]

    A partial sum is reduced before, as each stream has all of it.

    **Constraints:** the streams are `[batch, tokens, n, hidden]`, `y` is
    `[batch, tokens, hidden]`, `post` `[batch, tokens, n]`, `residual`
    `[batch, tokens, n, n]`; the streams are whole; no partial sums; the result
    has the type of the streams.

    **Example:**
    ```mlir
    !s = tensor<2x16x4x64xbf16>
    func.func private @example(%s: !s, %y: tensor<2x16x64xbf16>, %post: tensor<2x16x4xf32>, %residual: tensor<2x16x4x4xf32>) {
      %z = transformer.hyper_post %s, %y, %post : !s, tensor<2x16x64xbf16>, tensor<2x16x4xf32>
      %c = transformer.hyper_post %s, %y, %post residual(%residual : tensor<2x16x4x4xf32>)
          : !s, tensor<2x16x64xbf16>, tensor<2x16x4xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$streams, AnyRankedTensor:$y,
                       AnyRankedTensor:$post, Optional<AnyRankedTensor>:$residual);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $streams `,` $y `,` $post (`residual` `(` $residual^ `:` type($residual) `)`)?
    attr-dict `:` type($streams) `,` type($y) `,` type($post)
  }];
}

#endif // AUTOPAR_TRANSFORMER_HYPERCONNECTIONOPS_TD

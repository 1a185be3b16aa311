//===- LatentGradientOps.td - Latent attention in training -*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_LATENTGRADIENTOPS_TD
#define AUTOPAR_TRANSFORMER_LATENTGRADIENTOPS_TD

include "transformer/TransformerBase.td"

def TF_ConcatSharedOp : TF_NamedOp<"concat_shared", "key", [Pure]> {
  let summary = "puts what all heads share behind what each has";
  let description = [{
    The keys of a latent attention (`transformer.latent_attention`), written out:

        y[t.., a, :] = x[t.., a, :] then shared[t.., :]

    **Constraints:** `x` is `[t.., heads, d]`, `shared` is `[t.., e]`, the result
    `[t.., heads, d + e]`; `d` and `e` are numbers, and whole.

    **Example:**
    ```mlir
    func.func private @example(%k: tensor<4x16x8x128xbf16>, %r: tensor<4x16x64xbf16>) {
      %y = transformer.concat_shared %k, %r
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

def TF_ConcatSharedBackwardOp : TF_ComputeOp<"concat_shared_backward", [Pure]> {
  let summary = "what heads have of their own, and the sum of what they share";
  let description = [{
    Of `transformer.concat_shared`, with `d` elements in a head of its own:

        dx[t.., a, i]    = dy[t.., a, i]    where i < d
        d_shared[t.., i] = sum_a dy[t.., a, d + i]

    Split over heads, `d_shared` is a partial sum; where several devices have the
    same heads, each adds its share.

    **Constraints:** those of `transformer.concat_shared`; `dy` is no partial
    sum.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x16x8x192xbf16>) {
      %dx, %ds = transformer.concat_shared_backward %dy
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

#endif // AUTOPAR_TRANSFORMER_LATENTGRADIENTOPS_TD

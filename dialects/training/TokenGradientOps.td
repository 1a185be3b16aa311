//===- TokenGradientOps.td - Backwards of what moves tokens -*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_TOKENGRADIENTOPS_TD
#define AUTOPAR_TRAINING_TOKENGRADIENTOPS_TD

include "training/TrainingBase.td"

def TRN_InsertBackwardOp : TRN_ComputeOp<"insert_backward", [
    Pure, AllTypesMatch<["dz", "dx"]>]> {
  let summary = "what a stream and what was put into it have to do with both";
  let description = [{
    Of `transformer.insert`, with `n` tokens that it has put in:

        d_inserted[b, i, h] = dz[b, i, h]   where i < n
        dx[b, i, h]         = 0             where i < n
                              dz[b, i, h]   elsewhere

    Split over tokens, `d_inserted` is a partial sum: tokens of other devices
    are 0.

    **Constraints:** those of `transformer.insert`; `dx` has the type of `dz`,
    which is no partial sum.

    **Example:**
    ```mlir
    func.func private @example(%dz: tensor<4x16x64xbf16>) {
      %dx, %dy = training.insert_backward %dz : tensor<4x16x64xbf16> -> tensor<4x8x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dz);
  let results = (outs AnyRankedTensor:$dx, AnyRankedTensor:$d_inserted);
  let assemblyFormat = "$dz attr-dict `:` type($dz) `->` type($d_inserted)";
}

def TRN_MergeTokensBackwardOp
    : TRN_NamedOp<"merge_tokens_backward", "dx", [Pure]> {
  let summary = "what merged tokens have to do with the one that they became";
  let description = [{
    Of `transformer.merge_tokens`, with `n` tokens of `d` elements for each:

        dx[b, t*n + j, i] = dy[b, t, j*d + i]
                            dy[b, t, i] / n     with mean

    Linear.

    **Constraints:** those of `transformer.merge_tokens`, whose result `dy` is
    like, and whose operand the result.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x4x256xbf16>, %dz: tensor<4x1x64xbf16>) {
      %dx = training.merge_tokens_backward %dy : tensor<4x4x256xbf16> -> tensor<4x16x64xbf16>
      %du = training.merge_tokens_backward %dz mean : tensor<4x1x64xbf16> -> tensor<4x16x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, UnitAttr:$mean);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy (`mean` $mean^)? attr-dict `:` type($dy) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRAINING_TOKENGRADIENTOPS_TD

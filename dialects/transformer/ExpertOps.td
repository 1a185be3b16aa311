//===- ExpertOps.td - Mixtures of experts ------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_EXPERTOPS_TD
#define AUTOPAR_TRANSFORMER_EXPERTOPS_TD

include "transformer/TransformerBase.td"

def TF_RouterOp : TF_ComputeOp<"router", [Pure]> {
  let summary = "picks the experts of each token";
  let description = [{
    `s[t.., e] = sum_h x[t.., h] * w[h, e]`; keeps the `top_k` largest after a
    softmax: the result has their weights, and knows their indices.
    2*tokens*hidden*experts FLOPs.

    **Constraints:** the weight is `[hidden, experts]` and whole; `top_k` is
    between 1 and `experts`; the result is `x` with `hidden` replaced by `top_k`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
      %r = transformer.router %x, %w top_k(2)
          : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
                       I64Attr:$top_k);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $weight `top_k` `(` $top_k `)` attr-dict `\n` ` ` ` ` ` ` ` `
    `:` type($x) `,` type($weight) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TF_DispatchOp : TF_ComputeOp<"dispatch", [Pure]> {
  let summary = "copies each token once per expert it goes to";
  let description = [{
    The result is a set: element `(t, j)` is token `t` on its way to its `j`-th
    expert, in no order.

    **Constraints:** the routing has the leading dimensions of `x`; the result is
    `[{tokens*top_k}, hidden]`.

    **Example:**
    ```mlir
    !x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    !r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
    !t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
    func.func private @example(%x: !x, %r: !r) {
      %t = transformer.dispatch %x, %r : !x, !r -> !t
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$routing);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $routing attr-dict `:` type($x) `,` type($routing) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TF_ExpertsOp : TF_ComputeOp<"experts", [Pure]> {
  let summary = "multiplies each routed token by its expert's weight";
  let description = [{
    `y[r, o] = sum_i x[r, i] * w[expert(r), i, o]`: a grouped product, with
    2*routed*in*out FLOPs. It reads the weights of the distinct experts that
    tokens reach.

    **Constraints:** `x` is a set of routed tokens `[{tokens*top_k}, in]`; the weight
    is `[experts, in, out]`.

    **Example:**
    ```mlir
    !t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
    !y = tensor<?x32xbf16, #transformer.dims<[{batch*query*2}, _]>>
    func.func private @example(%t: !t, %w: tensor<8x64x32xbf16>) {
      %y = transformer.experts %t, %w top_k(2) : !t, tensor<8x64x32xbf16> -> !y
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
                       I64Attr:$top_k);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $weight `top_k` `(` $top_k `)` attr-dict `\n` ` ` ` ` ` ` ` `
    `:` type($x) `,` type($weight) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TF_CombineOp : TF_ComputeOp<"combine", [Pure]> {
  let summary = "adds up what a token's experts returned";
  let description = [{
    `y[t.., h] = sum_j routing[t.., j] * x[(t, j), h]`. Linear in `x`: partial sums
    of the experts may be combined before their reduction.

    **Constraints:** `x` is `[{tokens*top_k}, hidden]`; the result has the leading
    dimensions of the routing, then `hidden`.

    **Example:**
    ```mlir
    !x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    !r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
    !t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
    func.func private @example(%t: !t, %r: !r) {
      %x = transformer.combine %t, %r : !t, !r -> !x
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$routing);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $routing attr-dict `:` type($x) `,` type($routing) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRANSFORMER_EXPERTOPS_TD

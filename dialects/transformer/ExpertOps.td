//===- ExpertOps.td - Mixtures of experts ------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_EXPERTOPS_TD
#define AUTOPAR_TRANSFORMER_EXPERTOPS_TD

include "transformer/TransformerBase.td"

def TF_RouterOp
    : TF_NamedOp<"router", "router", [Pure, AttrSizedOperandSegments]> {
  let summary = "picks the experts of each token";
  let description = [{
    For each token `t..`, over the experts `e`:

        l[e] = sum_h x[t.., h] * weight[h, e] (+ bias[e])
        s[e] = exp(l[e]) / sum_e' exp(l[e'])     sigmoid(l[e]) with sigmoid
               sqrt(log(1 + exp(l[e])))          with sqrt_softplus
        r[e] = s[e] (+ correction[e])
        expert(t.., j) = the e with the j-th largest r[e], j < top_k
        expert(t.., j) = table[ids[t..], j]                 with a table
        y[t.., j] = s[expert(t.., j)]
        y[t.., j] = y[t.., j] / sum_j' y[t.., j']           with normalized
        y[t.., j] = x * y[t.., j]                           with scaled(x)

    Of equal ones the first.
    `groups(g) keep(k)`: `r` is minus infinity outside of the `k` best of `g`
    groups of `experts/g` neighbours, where a group is as good as the sum of its
    two largest `r`, or its only one (DeepSeek-V3, arXiv:2412.19437, section
    2.1.2). A table has the experts of each word (DeepSeek-V4's first layers),
    whatever the scores are.

    With the result go the numbers `expert(t.., j)`, which have no type: ops
    that take it as `routing` know them, and collectives move them with their
    weights. 2*tokens*hidden*experts FLOPs.

    **Constraints:** the weight is `[hidden, experts]` and whole, the bias and
    the correction are `[experts]` and whole, as is `hidden` of `x`; `top_k` is
    between 1 and `experts`; the result is `x` with `hidden` replaced by
    `top_k`, which is whole; the groups divide the experts, and those that are
    kept have at least `top_k`; `x` is positive; not both `sigmoid` and
    `sqrt_softplus`; `ids` are `[t..]` and come with the table
    `[words, top_k]`, which is whole, and neither a correction nor groups; both
    have integer elements.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
      %r = transformer.router %x, %w top_k(2)
          : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
      %s = transformer.router %x, %w top_k(2) sigmoid groups(4) keep(2) normalized scaled(2.5)
          : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
      return
    }
    func.func private @words(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>, %ids: tensor<4xi32>, %table: tensor<1000x2xi64>) {
      %r = transformer.router %x, %w ids(%ids : tensor<4xi32>) table(%table : tensor<1000x2xi64>) top_k(2) sqrt_softplus
          : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x2xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
                       Optional<AnyRankedTensor>:$bias,
                       Optional<AnyRankedTensor>:$correction, I64Attr:$top_k,
                       UnitAttr:$sigmoid, OptionalAttr<I64Attr>:$groups,
                       OptionalAttr<I64Attr>:$keep, UnitAttr:$normalized,
                       OptionalAttr<F64Attr>:$scale,
                       Optional<AnyRankedTensor>:$ids,
                       Optional<AnyRankedTensor>:$table,
                       UnitAttr:$sqrt_softplus);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`correction` `(` $correction^ `:` type($correction) `)`)?
    (`ids` `(` $ids^ `:` type($ids) `)`)? (`table` `(` $table^ `:` type($table) `)`)?
    `top_k` `(` $top_k `)` (`sigmoid` $sigmoid^)? (`sqrt_softplus` $sqrt_softplus^)?
    (`groups` `(` $groups^ `)` `keep` `(` $keep `)`)?
    (`normalized` $normalized^)? (`scaled` `(` custom<Number>($scale)^ `)`)?
    attr-dict
    `:` type($x) `,` type($weight) `->` type($result)
  }];
  let useCustomPropertiesEncoding = 1;
  let extraClassDeclaration = [{
    /// The version of files that know tables and other scores.
    static constexpr uint64_t firstWithTable = 11;
  }];
  let hasVerifier = 1;
}

def TF_DispatchOp : TF_NamedOp<"dispatch", "dispatch", [Pure]> {
  let summary = "copies each token once per expert it goes to";
  let description = [{
    The result is a set: its row `(t, j)`, in no order, is token `t` on its way
    to its `j`-th expert, `expert(t, j)` (`transformer.router`):

        y[(t, j), h] = x[t.., h]    j < top_k, the last dimension of routing

    `t` counts the tokens of the leading dimensions, the last one fastest. Each
    device makes the rows of the tokens that it has. Linear in `x`.

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
    For each row `r` of the set, with the expert that it goes to:

        y[r, o] = sum_i x[r, i] * weight[expert(r), i, o] (+ bias[expert(r), o])

    A grouped product, with 2*routed*in*out FLOPs. The result is the set of the
    same rows. A device has rows of its own experts only. It reads the weights
    of the distinct experts that tokens reach; `top_k` is how many rows a token
    has. Split over `in`, the result is a partial sum; a bias must then be added
    after the reduction (`transformer.add_expert_bias`).

    **Constraints:** `x` is a set of routed tokens `[{tokens*top_k}, in]`; the weight
    is `[experts, in, out]`, the bias `[experts, out]`.

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
                       Optional<AnyRankedTensor>:$bias, I64Attr:$top_k);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)?
    `top_k` `(` $top_k `)` attr-dict
    `:` type($x) `,` type($weight) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// The addition goes behind the `combine` that the result is for, where
    /// there is a token only once; null where it is for something else.
    ::mlir::Operation *detachBias(::mlir::OpBuilder &builder);
  }];
  let hasVerifier = 1;
}

def TF_CombineOp : TF_NamedOp<"combine", "combine", [Pure]> {
  let summary = "adds up what a token's experts returned";
  let description = [{
        y[t.., h] = sum_j routing[t.., j] * x[(t, j), h]

    Linear in `x`: partial sums of the experts may be combined before their
    reduction. A device adds up the rows that it has, which are of tokens that
    it has: where devices with the same tokens have the rows of their own
    experts only, the result is a partial sum over these axes.

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

def TF_AddExpertBiasOp : TF_NamedOp<"add_expert_bias", "biased", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "adds the biases of a token's experts";
  let description = [{
        y[t.., h] = x[t.., h] + sum_j routing[t.., j] * bias[expert(t, j), h]

    Written by passes that must reduce between the product of the experts and
    their bias.

    **Constraints:** the routing has the leading dimensions of `x`; the bias is
    `[experts, hidden]`, numbers, and has at least the experts that the routing
    keeps; the experts are whole; the result has the type of `x`; none is a
    partial sum.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %r: tensor<4x2xbf16>, %b: tensor<8x64xbf16>) {
      %y = transformer.add_expert_bias %x, %r, %b : tensor<4x64xbf16>, tensor<4x2xbf16>, tensor<8x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$routing,
                       AnyRankedTensor:$bias);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $routing `,` $bias attr-dict
    `:` type($x) `,` type($routing) `,` type($bias)
  }];
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRANSFORMER_EXPERTOPS_TD

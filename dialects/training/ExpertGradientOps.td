//===- ExpertGradientOps.td - Backwards of experts ---------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sets of gradients have the rows of the sets that they are of.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_EXPERTGRADIENTOPS_TD
#define AUTOPAR_TRAINING_EXPERTGRADIENTOPS_TD

include "training/TrainingBase.td"

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

def TRN_RouterScoresOp : TRN_NamedOp<"router_scores", "scores", [Pure]> {
  let summary = "how well each expert suits each token";
  let description = [{
    The `s` of `transformer.router` of the same operands, of all experts: their
    softmax or, with `sigmoid`, their logistic function.

        l[e]      = sum_h x[t.., h] * weight[h, e] (+ bias[e])
        y[t.., e] = s[e]

    which its kernel writes beside its result: it takes no time of its own.

    **Constraints:** those of `transformer.router`; the result is `x` with
    `hidden` replaced by `experts`, which is whole.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %w: tensor<64x8xbf16>) {
      %s = training.router_scores %x, %w sigmoid
          : tensor<4x64xbf16>, tensor<64x8xbf16> -> tensor<4x8xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
                       Optional<AnyRankedTensor>:$bias, UnitAttr:$sigmoid);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? (`sigmoid` $sigmoid^)?
    attr-dict `:` type($x) `,` type($weight) `->` type($result)
  }];
}

def TRN_RouterBackwardOp : TRN_NamedOp<"router_backward", "dl", [
    Pure, AllTypesMatch<["dy", "routing"]>, AllTypesMatch<["scores", "result"]>]> {
  let summary = "what the sums that experts are chosen by have to do with weights";
  let description = [{
    Of `transformer.router`, with the experts `expert(t.., j)` of `routing`:

        s[e]  = scores[t.., e]
        w[j]  = s[expert(t.., j)] = routing[t.., j] before it is normalized and scaled
        dw[j] = x * dy[t.., j]                                        x of scaled(x), else 1
        dw[j] = (dw[j] - sum_j' dw[j'] * w[j'] / sum_j' w[j']) / sum_j' w[j']    with normalized
        ds[e] = the dw[j] whose expert is e, else 0
        dl[t.., e] = s[e] * (ds[e] - sum_e' ds[e'] * s[e'])
                     ds[e] * s[e] * (1 - s[e])                        with sigmoid

    **Constraints:** `dy` has the type of the routing, the result that of the
    scores; the last dimension of both is whole; no partial sums.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x2xbf16>, %s: tensor<4x8xbf16>, %r: tensor<4x2xbf16>) {
      %dl = training.router_backward %dy, %s, %r normalized
          : tensor<4x2xbf16>, tensor<4x8xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$scores,
                       AnyRankedTensor:$routing, UnitAttr:$sigmoid,
                       UnitAttr:$normalized, OptionalAttr<F64Attr>:$scale);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $scores `,` $routing (`sigmoid` $sigmoid^)? (`normalized` $normalized^)?
    (`scaled` `(` custom<Number>($scale)^ `)`)? attr-dict
    `:` type($dy) `,` type($scores)
  }];
}

def TRN_RoutingGradientOp : TRN_NamedOp<"routing_gradient", "dr", [Pure]> {
  let summary = "what a token's weights of experts have to do with their sum";
  let description = [{
    Of `transformer.combine`, of the experts that `routing` names:

        y[t.., j] = sum_h dy[t.., h] * x[(t, j), h]      for routing[t.., j]

    Where devices with the same tokens have the rows of their own experts only,
    the result is a partial sum over these axes, as it is where `h` is split.

    **Constraints:** those of `transformer.combine`, whose result `dy` is like;
    the result has the dimensions of the routing.

    **Example:**
    ```mlir
    !x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    !r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
    !t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
    func.func private @example(%dy: !x, %x: !t, %r: !r) {
      %d = training.routing_gradient %dy, %x, %r : !x, !t, !r -> !r
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$x,
                       AnyRankedTensor:$routing);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $x `,` $routing attr-dict
    `:` type($dy) `,` type($x) `,` type($routing) `->` type($result)
  }];
}

def TRN_CombineBackwardOp : TRN_NamedOp<"combine_backward", "dx", [Pure]> {
  let summary = "what experts returned has to do with a token's sum";
  let description = [{
    Of `transformer.combine`:

        dx[(t, j), h] = routing[t.., j] * dy[t.., h]

    Each device makes the rows of the tokens that it has. Linear in `dy`.

    **Constraints:** those of `transformer.dispatch`, of whose operand `dy` has
    the dimensions.

    **Example:**
    ```mlir
    !x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    !r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
    !t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
    func.func private @example(%dy: !x, %r: !r) {
      %dx = training.combine_backward %dy, %r : !x, !r -> !t
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$routing);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $routing attr-dict `:` type($dy) `,` type($routing) `->` type($result)
  }];
}

def TRN_DispatchBackwardOp : TRN_NamedOp<"dispatch_backward", "dx", [Pure]> {
  let summary = "what a token has to do with its copies";
  let description = [{
    Of `transformer.dispatch`:

        dx[t.., h] = sum_j dy[(t, j), h]      over the j of routing[t.., j]

    Linear. Rows are where `transformer.combine` has them, and so the result is
    a partial sum where its is.

    **Constraints:** those of `transformer.combine`, whose operand `dy` is like.

    **Example:**
    ```mlir
    !x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    !r = tensor<?x?x2xbf16, #transformer.dims<[batch, query, _]>>
    !t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
    func.func private @example(%dy: !t, %r: !r) {
      %dx = training.dispatch_backward %dy, %r : !t, !r -> !x
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$routing);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $routing attr-dict `:` type($dy) `,` type($routing) `->` type($result)
  }];
}

def TRN_WeighGradientOp : TRN_NamedOp<"weigh_gradient", "dw", [Pure]> {
  let summary = "what the weights of rows have to do with them";
  let description = [{
    Of `transformer.weigh`, with the derivative `f'` of its function:

        dw[t..] = f'(weights[t..]) * sum_h.. dy[t.., h..] * x[t.., h..]

    **Constraints:** those of `transformer.weigh`; `dy` has the dimensions of
    `x`, the result those of the weights.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x16x64xbf16>, %x: tensor<4x16x64xbf16>, %w: tensor<4x16xbf16>) {
      %dw = training.weigh_gradient %dy, %x, %w sigmoid
          : tensor<4x16x64xbf16>, tensor<4x16x64xbf16>, tensor<4x16xbf16> -> tensor<4x16xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$x,
                       AnyRankedTensor:$weights, TF_FunctionAttr:$function);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $x `,` $weights $function attr-dict
    `:` type($dy) `,` type($x) `,` type($weights) `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def TRN_ExpertsBackwardOp : TRN_NamedOp<"experts_backward", "dx", [Pure]> {
  let summary = "what routed tokens have to do with their experts' products";
  let description = [{
    Of `transformer.experts`:

        dx[r, i] = sum_o dy[r, o] * weight[expert(r), i, o]

    A grouped product, with 2*routed*in*out FLOPs. Split over `out`, the result
    is a partial sum.

    **Constraints:** `dy` is a set of routed tokens `[{tokens*top_k}, out]`, the
    result the set of the same rows `[.., in]`; the weight is `[experts, in, out]`.

    **Example:**
    ```mlir
    !t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
    !y = tensor<?x32xbf16, #transformer.dims<[{batch*query*2}, _]>>
    func.func private @example(%dy: !y, %w: tensor<8x64x32xbf16>) {
      %dx = training.experts_backward %dy, %w top_k(2) : !y, tensor<8x64x32xbf16> -> !t
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$weight, I64Attr:$top_k);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $weight `top_k` `(` $top_k `)` attr-dict
    `:` type($dy) `,` type($weight) `->` type($result)
  }];
}

def TRN_ExpertsGradientOp : TRN_NamedOp<"experts_gradient", "dw", [Pure]> {
  let summary = "the gradient of the weights of experts";
  let description = [{
    Of `transformer.experts`:

        dw[e, i, o] = sum of x[r, i] * dy[r, o] over the rows r that go to e

    A grouped product, with 2*routed*in*out FLOPs. Where devices have other
    tokens of the same experts, the result is a partial sum. Writing it counts
    where it is added up (`training.accumulate`).

    **Constraints:** `x` and `dy` are sets of the same rows, `[{tokens*top_k}, in]`
    and `[.., out]`; the result has the shape of the weight `[experts, in, out]`.

    **Example:**
    ```mlir
    !t = tensor<?x64xbf16, #transformer.dims<[{batch*query*2}, _]>>
    !y = tensor<?x32xbf16, #transformer.dims<[{batch*query*2}, _]>>
    func.func private @example(%x: !t, %dy: !y, %w: tensor<8x64x32xbf16>) {
      %dw = training.experts_gradient %x, %dy of %w
          : !t, !y, tensor<8x64x32xbf16> -> tensor<8x64x32xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$dy,
                       AnyRankedTensor:$weight);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $dy `of` $weight attr-dict
    `:` type($x) `,` type($dy) `,` type($weight) `->` type($result)
  }];
}

def TRN_SumExpertsOp : TRN_NamedOp<"sum_experts", "db", [Pure]> {
  let summary = "the gradient of what experts add to their rows";
  let description = [{
        db[e, o] = sum of dy[r, o] over the rows r that go to e

    Where devices have other tokens of the same experts, the result is a partial
    sum.

    **Constraints:** `dy` is a set of routed tokens `[{tokens*top_k}, out]`; the
    result has the shape of the bias `[experts, out]`.

    **Example:**
    ```mlir
    !y = tensor<?x32xbf16, #transformer.dims<[{batch*query*2}, _]>>
    func.func private @example(%dy: !y, %b: tensor<8x32xbf16>) {
      %db = training.sum_experts %dy of %b : !y, tensor<8x32xbf16> -> tensor<8x32xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$bias);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `of` $bias attr-dict `:` type($dy) `,` type($bias) `->` type($result)
  }];
}

#endif // AUTOPAR_TRAINING_EXPERTGRADIENTOPS_TD

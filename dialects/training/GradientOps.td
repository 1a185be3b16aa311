//===- GradientOps.td - What backwards compute -------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gradients of the ops of a forward, for a loss that is a sum over all tokens.
// `dy` is the gradient of an op's result, and has its shape. Those of weights
// name the weight (`of`), whose layout they take and whose elements they do not
// read.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_GRADIENTOPS_TD
#define AUTOPAR_TRAINING_GRADIENTOPS_TD

include "training/TrainingBase.td"

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

def TRN_CrossEntropyOp : TRN_NamedOp<"cross_entropy", "loss", [Pure]> {
  let summary = "how unlikely the right tokens were";
  let description = [{
        y[t..] = log(sum_v exp(x[t.., v])) - x[t.., labels[t..]]

    Where the vocabulary is split, devices exchange the largest score of their
    part, their part of the sum and the score of the label: inside the op, three
    all_reduces of one f32 per token over those axes.

    `form` says how a framework computes the loss and its gradient, `chunks` that
    scores, losses and gradients of scores of that part of the tokens follow
    each other, so that one part of the scores exists at a time. Neither changes
    what is computed, only which copies of the scores a device holds.

    **Constraints:** `labels` are integers below `vocabulary`, in the leading
    dimensions of `x`, which has one more; the result has those of the labels;
    no partial sums; `form` is one of eager, in-place, compiled, fused
    (`LossForm`); `chunks` is positive.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x1000xf32>, %l: tensor<4x16xi32>) {
      %y = training.cross_entropy %x, %l
          : tensor<4x16x1000xf32>, tensor<4x16xi32> -> tensor<4x16xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$labels,
    OptionalAttr<StrAttr>:$form,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$chunks);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $labels attr-dict `:` type($x) `,` type($labels) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TRN_CrossEntropyBackwardOp
    : TRN_NamedOp<"cross_entropy_backward", "d_logits", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "the gradient of the summed cross entropies";
  let description = [{
    Of the sum of `training.cross_entropy` over all tokens:

        dx[t.., v] = exp(x[t.., v]) / (sum_v' exp(x[t.., v'])) - (1 where v = labels[t..])

    Where the vocabulary is split, devices exchange the largest score and the
    sum, as the forward does.

    **Constraints:** those of `training.cross_entropy`, of `form` and `chunks`
    too; the result has the type of `x`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x1000xf32>, %l: tensor<4x16xi32>) {
      %d = training.cross_entropy_backward %x, %l : tensor<4x16x1000xf32>, tensor<4x16xi32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$labels,
    OptionalAttr<StrAttr>:$form,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$chunks);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `,` $labels attr-dict `:` type($x) `,` type($labels)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def TRN_LinearBackwardOp : TRN_NamedOp<"linear_backward", "dx", [
    Pure, InputGradientOpInterface]> {
  let summary = "what a product's input has to do with it";
  let description = [{
    Of `transformer.linear`:

        dx[t.., i..] = sum_o.. dy[t.., o..] * weight[i.., o..]

    The last `k` dimensions of `dy` are contracted with the last `k` of the
    weight, where `k = (rank of dy + rank of weight - rank of dx) / 2`.
    2*tokens*in*out FLOPs. Split over `o`, the result is a partial sum; where
    several devices have the same `o`, each adds its share.

    **Constraints:** contracted dimensions agree; a product with one number for
    each token has none; the result has the other dimensions of `dy`, then those
    of the weight.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x2x16xbf16>, %w: tensor<64x2x16xbf16>) {
      %dx = training.linear_backward %dy, %w
          : tensor<4x2x16xbf16>, tensor<64x2x16xbf16> -> tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$weight);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $weight attr-dict `:` type($dy) `,` type($weight) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// How many dimensions of `dy` are contracted.
    int64_t getNumContracted();
  }];
}

def TRN_LogitsBackwardOp : TRN_NamedOp<"logits_backward", "dx", [
    Pure, InputGradientOpInterface]> {
  let summary = "what hidden states have to do with the scores";
  let description = [{
    Of `transformer.logits`:

        dx[t.., h] = sum_v dy[t.., v] * table[v, h]

    2*tokens*hidden*vocabulary FLOPs. Split over the vocabulary, the result is a
    partial sum; what a `pad` adds to it is not summed.

    **Constraints:** the table is `[vocabulary, hidden]`; the result is `dy`
    with `vocabulary` replaced by `hidden`.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x1000xbf16>, %t: tensor<1000x64xbf16>) {
      %dx = training.logits_backward %dy, %t
          : tensor<4x1000xbf16>, tensor<1000x64xbf16> -> tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$table);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $table attr-dict `:` type($dy) `,` type($table) `->` type($result)
  }];
}

def TRN_ProductGradientOp : TRN_NamedOp<"product_gradient", "dw", [Pure]> {
  let summary = "the gradient of a weight that tokens are multiplied by";
  let description = [{
        dw[i.., o..] = sum_t.. a[t.., i..] * b[t.., o..]

    the leading dimensions `t..` of both being those that `dw` has none of: of a
    linear map `a` is its input and `b` the gradient of its result; of scores
    `a` is their gradient and `b` the hidden states. 2*tokens*in*out FLOPs.
    Split over tokens, the result is a partial sum. It is added to the kept
    gradient as it is computed: writing it counts there
    (`training.accumulate`).

    **Constraints:** the leading dimensions of `a` and `b` agree; the weight has
    the others of `a`, then those of `b`, and so has the result.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %dy: tensor<4x2x16xbf16>,
                               %w: tensor<64x2x16xbf16>) {
      %dw = training.product_gradient %x, %dy of %w
          : tensor<4x64xbf16>, tensor<4x2x16xbf16>, tensor<64x2x16xbf16> -> tensor<64x2x16xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b,
                       AnyRankedTensor:$weight);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `of` $weight attr-dict
    `:` type($a) `,` type($b) `,` type($weight) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// How many leading dimensions are summed over.
    int64_t getNumTokenDims();
  }];
}

def TRN_SumTokensOp : TRN_NamedOp<"sum_tokens", "db", [Pure]> {
  let summary = "the gradient of what is added to every token";
  let description = [{
        db[o..] = sum_t.. dy[t.., o..]

    Split over tokens, the result is a partial sum.

    **Constraints:** the bias has the trailing dimensions of `dy`, and so has
    the result.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x2x16xbf16>, %b: tensor<2x16xbf16>) {
      %db = training.sum_tokens %dy of %b
          : tensor<4x2x16xbf16>, tensor<2x16xbf16> -> tensor<2x16xf32>
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

def TRN_FactorGradientOp : TRN_NamedOp<"factor_gradient", "df", [
    Pure, AllTypesMatch<["dy", "x"]>]> {
  let summary = "the gradient of learned factors";
  let description = [{
    Of `transformer.multiply`:

        df[h] = sum_t.. dy[t.., h] * x[t.., h]
        df[0] = sum_t..,h dy[t.., h] * x[t.., h]     of one factor

    Split over what is summed, the result is a partial sum.

    **Constraints:** those of `transformer.multiply`; `dy` has the type of `x`.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x64xbf16>, %x: tensor<4x64xbf16>, %f: tensor<64xbf16>) {
      %df = training.factor_gradient %dy, %x of %f
          : tensor<4x64xbf16>, tensor<64xbf16> -> tensor<64xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$x,
                       AnyRankedTensor:$factors);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $x `of` $factors attr-dict
    `:` type($x) `,` type($factors) `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

def TRN_EmbeddingGradientOp : TRN_NamedOp<"embedding_gradient", "dt", [Pure]> {
  let summary = "the gradient of a table that tokens are looked up in";
  let description = [{
        dt[v, h] = sum of dy[t.., h] over the t.. whose ids[t..] is v

    Split over tokens, the result is a partial sum; over the vocabulary, a
    device adds to the rows that it has.

    **Constraints:** those of `transformer.embedding`; `dy` has the type of its
    result.

    **Example:**
    ```mlir
    func.func private @example(%ids: tensor<4x16xi32>, %dy: tensor<4x16x64xbf16>,
                               %t: tensor<1000x64xbf16>) {
      %dt = training.embedding_gradient %ids, %dy of %t
          : tensor<4x16xi32>, tensor<4x16x64xbf16>, tensor<1000x64xbf16> -> tensor<1000x64xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$ids, AnyRankedTensor:$dy,
                       AnyRankedTensor:$table);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $ids `,` $dy `of` $table attr-dict
    `:` type($ids) `,` type($dy) `,` type($table) `->` type($result)
  }];
}

def TRN_PositionGradientOp : TRN_NamedOp<"position_gradient", "dt", [Pure]> {
  let summary = "the gradient of a table of positions";
  let description = [{
    Of `transformer.position_embedding`:

        dt[r, h] = sum of dy[b, i, h] over the b, i whose position adds row r

    Split over sequences or tokens, the result is a partial sum.

    A table of another shape is read as `[rows, hidden]`, its elements in their
    order.

    **Constraints:** those of `transformer.position_embedding`, of which `first`
    and `same` are; the table is `[positions, hidden]`, or holds such rows in
    another shape, and is whole.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x16x64xbf16>, %t: tensor<512x64xbf16>) {
      %dt = training.position_gradient %dy of %t
          : tensor<4x16x64xbf16>, tensor<512x64xbf16> -> tensor<512x64xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$table,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$first,
                       UnitAttr:$same);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `of` $table (`first` `(` $first^ `)`)? (`same` $same^)? attr-dict
    `:` type($dy) `,` type($table) `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

def TRN_NormBackwardOp : TRN_NamedOp<"norm_backward", "dx", [
    Pure, AllTypesMatch<["dy", "x", "result"]>]> {
  let summary = "what a norm's input has to do with its result";
  let description = [{
    Of `transformer.rms_norm` or, `centered`, `transformer.layer_norm`, over the
    same dimensions, in `groups` parts, which have `N` elements each; `u` is 1 with
    `unit_offset`, else 0. With `m`
    the mean of `x` if centered, else 0, `r = 1 / sqrt(mean of (x - m)^2 + eps)`,
    `n = (x - m) * r` and `g = dy * (u + weight)`, means being those of the
    token (and the group):

        dx = r * (g - n * mean(g * n))                  rms_norm
             r * (g - mean(g) - n * mean(g * n))        centered

    **Constraints:** those of the norms; `dy`, `x` and the result have one type,
    and are whole in what the mean is over.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x64xbf16>, %x: tensor<4x64xbf16>, %g: tensor<64xbf16>) {
      %dx = training.norm_backward %dy, %x, %g eps(1.0e-5) : tensor<4x64xbf16>
      %dz = training.norm_backward %dy, %x centered eps(1.0e-5) : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$x,
                       Optional<AnyRankedTensor>:$weight, UnitAttr:$centered,
                       DefaultValuedAttr<I64Attr, "1">:$over, F64Attr:$eps,
                       UnitAttr:$unit_offset, OptionalAttr<I64Attr>:$groups);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $x (`,` $weight^)? (`centered` $centered^)? (`over` `(` $over^ `)`)?
    `eps` `(` custom<Number>($eps) `)` (`unit_offset` $unit_offset^)?
    (`groups` `(` $groups^ `)`)? attr-dict
    `:` custom<NormTypes>(ref($weight), type($x), type($weight))
  }];
}

def TRN_NormGradientOp : TRN_NamedOp<"norm_gradient", "dw", [
    Pure, AllTypesMatch<["dy", "x"]>]> {
  let summary = "the gradient of a norm's weight";
  let description = [{
    With `m` and `r` as in `training.norm_backward` of the same `centered`,
    `eps` and `groups`, summed over all tokens and what the weight has no dimension
    of:

        n[t.., h..] = (x[t.., h..] - m) * r
        dw[h..] = sum_t.. dy[t.., h..] * n[t.., h..]

    Split over tokens, the result is a partial sum.

    **Constraints:** those of `training.norm_backward`; the result has the
    shape of the weight.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x64xbf16>, %x: tensor<4x64xbf16>, %g: tensor<64xbf16>) {
      %dw = training.norm_gradient %dy, %x of %g eps(1.0e-5)
          : tensor<4x64xbf16>, tensor<64xbf16> -> tensor<64xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$x,
                       AnyRankedTensor:$weight, UnitAttr:$centered,
                       DefaultValuedAttr<I64Attr, "1">:$over, F64Attr:$eps,
                       OptionalAttr<I64Attr>:$groups);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $x `of` $weight (`centered` $centered^)? (`over` `(` $over^ `)`)?
    `eps` `(` custom<Number>($eps) `)` (`groups` `(` $groups^ `)`)? attr-dict
    `:` type($x) `,` type($weight) `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

def TRN_ActivationBackwardOp : TRN_NamedOp<"activation_backward", "dx", [
    Pure, AllTypesMatch<["dy", "x", "result"]>]> {
  let summary = "what an activation's input has to do with its result";
  let description = [{
    With the derivative `f'` of the `function` of `transformer.activation`:

        dx[i..] = dy[i..] * f'(x[i..])

    **Constraints:** one type for all; no partial sums.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x64xbf16>, %x: tensor<4x64xbf16>) {
      %dx = training.activation_backward %dy, %x gelu : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$x,
                       TF_FunctionAttr:$function);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$dy `,` $x $function attr-dict `:` type($result)";
}

def TRN_GatedBackwardOp : TRN_ComputeOp<"gated_backward", [
    Pure, AllTypesMatch<["dy", "gate", "up", "d_gate", "d_up"]>]> {
  let summary = "what a gate and what it lets through have to do with it";
  let description = [{
    Of `transformer.gated` of the same function `f`, with `G = min(gate, c)` and `U = up` kept between
    `-c` and `c` where there is a `limit(c)`, and 0 where that holds them:

        d_gate[i..] = dy[i..] * f'(G) * U    (U + 1 with unit_offset)
        d_up[i..]   = dy[i..] * f(G)

    **Constraints:** one type for all; no partial sums; `c` is positive.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x64xbf16>, %g: tensor<4x64xbf16>, %u: tensor<4x64xbf16>) {
      %dg, %du = training.gated_backward %dy, %g, %u silu : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$gate,
                       AnyRankedTensor:$up, TF_FunctionAttr:$function,
                       UnitAttr:$unit_offset, OptionalAttr<F64Attr>:$limit);
  let results = (outs AnyRankedTensor:$d_gate, AnyRankedTensor:$d_up);
  let assemblyFormat = [{
    $dy `,` $gate `,` $up $function (`unit_offset` $unit_offset^)?
    (`limit` `(` custom<Number>($limit)^ `)`)? attr-dict `:` type($dy)
  }];
}

def TRN_SoftcapBackwardOp : TRN_NamedOp<"softcap_backward", "dx", [
    Pure, AllTypesMatch<["dy", "x", "result"]>]> {
  let summary = "what softly bounded values have to do with the result";
  let description = [{
    Of `transformer.softcap` of the same `cap`:

        dx[i..] = dy[i..] * (1 - tanh(x[i..] / cap)^2)

    **Constraints:** one type for all; no partial sums; `c` is positive.

    **Example:**
    ```mlir
    func.func private @example(%dy: tensor<4x64xbf16>, %x: tensor<4x64xbf16>) {
      %dx = training.softcap_backward %dy, %x at(30.0) : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$x, F64Attr:$cap);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $dy `,` $x `at` `(` custom<Number>($cap) `)` attr-dict `:` type($result)
  }];
}

def TRN_DropoutMaskOp : TRN_NamedOp<"dropout_mask", "mask", [Pure]> {
  let summary = "which elements a dropout keeps";
  let description = [{
    Which elements of a tensor like `x`, which is not read, are kept: each is
    dropped with the `probability`, by a random number `r` below 1 that follows
    from its place, the layer, and `seed`.

        y[i..] = 1 where r(i.. of x) >= probability, else 0

    **Constraints:** the result has the dimensions of `x`; the probability is
    from 0 to below 1.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>) {
      %m = training.dropout_mask %x probability(0.1) seed(3) : tensor<4x64xbf16> -> tensor<4x64xi8>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, F64Attr:$probability, I64Attr:$seed);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `probability` `(` custom<Number>($probability) `)` `seed` `(` $seed `)`
    attr-dict `:` type($x) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TRN_DropoutOp : TRN_NamedOp<"dropout", "dropped", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "keeps some elements, and makes up for the others";
  let description = [{
        y[i..] = x[i..] * mask[i..] / (1 - probability)

    Linear in `x`.

    **Constraints:** the mask has the dimensions of `x`; the result has the type
    of `x`; the probability is from 0 to below 1.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %m: tensor<4x64xi8>) {
      %y = training.dropout %x, %m probability(0.1) : tensor<4x64xbf16>, tensor<4x64xi8>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$mask,
                       F64Attr:$probability);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $mask `probability` `(` custom<Number>($probability) `)` attr-dict
    `:` type($x) `,` type($mask)
  }];
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRAINING_GRADIENTOPS_TD

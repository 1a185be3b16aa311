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

def TRN_ProductGradientOp : TRN_ComputeOp<"product_gradient", [
    Pure, InputGradientOpInterface]> {
  let summary = "the gradient of one factor of a product with a weight";
  let description = [{
    A contraction of `lhs` with `rhs`, whose other dimensions make the result:
    those of `lhs`, then those of `rhs`. `role` says which factor the gradient
    is of, and with it what is contracted, the first dimensions or the last:

        input  %dy, %w:      dx[t.., i..] = sum_o.. dy[t.., o..] * w[i.., o..]
        states %dy, %table:  dx[t.., h]   = sum_v   dy[t.., v]   * table[v, h]
        weight %a, %b of %w: dw[i.., o..] = sum_t.. a[t.., i..]  * b[t.., o..]

    `input` is of `transformer.linear`, `states` of `transformer.logits`.
    `weight` is of both: of a linear map `a` is its input and `b` the gradient
    of its result; of scores `a` is their gradient and `b` the hidden states.
    `k = (rank of lhs + rank of rhs - rank of result) / 2` dimensions are
    contracted. Two FLOPs for each element of the contraction.

    Split over what is contracted, the result is a partial sum. Where several
    devices have the same `o`, each adds its share; what a `pad` adds to the
    vocabulary is not summed. The gradient of a weight is added to the kept one
    as it is computed: writing it counts there (`training.accumulate`).

    **Constraints:** contracted dimensions agree. An `input` may have none, of a
    product with one number for each token; `states` have one, which is the
    first of two of the table; a `weight` has one at least, and it alone names
    the weight, whose shape the result has.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %dy: tensor<4x2x16xbf16>, %w: tensor<64x2x16xbf16>,
                               %ds: tensor<4x1000xbf16>, %t: tensor<1000x64xbf16>) {
      %dx = training.product_gradient input %dy, %w
          : tensor<4x2x16xbf16>, tensor<64x2x16xbf16> -> tensor<4x64xbf16>
      %dh = training.product_gradient states %ds, %t
          : tensor<4x1000xbf16>, tensor<1000x64xbf16> -> tensor<4x64xbf16>
      %dw = training.product_gradient weight %x, %dy of %w
          : tensor<4x64xbf16>, tensor<4x2x16xbf16>, tensor<64x2x16xbf16> -> tensor<64x2x16xf32>
      return
    }
    ```
  }];
  let arguments = (ins TRN_ProductRoleAttr:$role, AnyRankedTensor:$lhs,
                       AnyRankedTensor:$rhs, Optional<AnyRankedTensor>:$weight);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $role $lhs `,` $rhs (`of` $weight^)? attr-dict
    `:` type($lhs) `,` type($rhs) (`,` type($weight)^)? `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// How many dimensions of each operand are contracted.
    int64_t getNumContracted();
    /// Whether the last dimensions are contracted, or the first.
    bool contractsLastOfLhs() { return isOfInput(); }
    bool contractsLastOfRhs() { return getRole() == ProductRole::input; }
    bool isOfInput() { return getRole() != ProductRole::weight; }
  }];
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      setName(getResult(), isOfInput() ? "dx" : "dw");
    }
  }];
  let hasVerifier = 1;
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

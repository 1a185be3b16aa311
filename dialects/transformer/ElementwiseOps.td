//===- ElementwiseOps.td - One element at a time ----------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_ELEMENTWISEOPS_TD
#define AUTOPAR_TRANSFORMER_ELEMENTWISEOPS_TD

include "transformer/TransformerBase.td"

def TF_AddOp : TF_NamedOp<"add", "add", [
    Pure, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "adds two tensors";
  let description = [{
        y[i..] = lhs[i..] + rhs[i..]

    Two partial sums over the same axes may be added before their reduction; a
    partial sum and a whole value may not. Two sets are added row by row: both
    have the same rows.

    **Constraints:** one type for all.

    **Example:**
    ```mlir
    func.func private @example(%a: tensor<4x64xbf16>, %b: tensor<4x64xbf16>) {
      %y = transformer.add %a, %b : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` type($result)
  }];
}

def TF_ActivationOp : TF_NamedOp<"activation", "activation", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "applies a function to every element";
  let description = [{
    `y[i..] = f(x[i..])` with, by the `function`, and
    `sigmoid(x) = 1 / (1 + exp(-x))`:

        silu        x * sigmoid(x)
        gelu        x / 2 * (1 + erf(x / sqrt(2)))
        gelu_tanh   x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
        quick_gelu  x * sigmoid(1.702 * x)
        relu        max(x, 0)
        relu2       max(x, 0)^2
        relu6       min(max(x, 0), 6)
        leaky_relu  x where x >= 0, 0.01 * x elsewhere
        hardswish   x * min(max(x + 3, 0), 6) / 6
        mish        x * tanh(softplus(x))
        sigmoid     sigmoid(x)
        tanh        tanh(x)
        softplus    log(1 + exp(x))
        exp         exp(x)
        identity    x

    **Constraints:** not a partial sum; the result has the type of `x`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>) {
      %y = transformer.activation %x gelu : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, TF_FunctionAttr:$function);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x $function attr-dict `:` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasFolder = 1;
}

def TF_GatedOp : TF_NamedOp<"gated", "gated", [
    Pure, AllTypesMatch<["gate", "up", "result"]>]> {
  let summary = "multiplies by an activated gate";
  let description = [{
        y[i..] = f(gate[i..]) * up[i..]

    with the `function` `f`, as in `transformer.activation`. `unit_offset`: times
    `up[i..] + 1`. `limit(c)`: with `min(gate[i..], c)`, and with `up[i..]` kept
    between `-c` and `c`, before anything else.

    **Constraints:** one type for all; not partial sums; `c` is positive.

    **Example:**
    ```mlir
    func.func private @example(%g: tensor<4x64xbf16>, %u: tensor<4x64xbf16>) {
      %y = transformer.gated %g, %u silu : tensor<4x64xbf16>
      %z = transformer.gated %g, %u quick_gelu unit_offset limit(7.0) : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$gate, AnyRankedTensor:$up,
                       TF_FunctionAttr:$function, UnitAttr:$unit_offset,
                       OptionalAttr<F64Attr>:$limit);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $gate `,` $up $function (`unit_offset` $unit_offset^)?
    (`limit` `(` custom<Number>($limit)^ `)`)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

def TF_ScaleOp : TF_NamedOp<"scale", "scaled", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "multiplies by a constant";
  let description = [{
    With the constant `c` after `by` (the attribute `factor`):

        y[i..] = c * x[i..]

    Linear: a partial sum may be scaled before its reduction.

    **Constraints:** the result has the type of `x`; the constant is finite.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>) {
      %y = transformer.scale %x by(12.0) : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, F64Attr:$factor);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `by` `(` custom<Number>($factor) `)` attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TF_MultiplyOp : TF_NamedOp<"multiply", "scaled", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "multiplies by learned factors";
  let description = [{
        y[t.., h] = x[t.., h] * factors[h]     a layer scale
                    x[t.., h] * factors[0]     of one: a learned gate

    Linear in `x`.

    **Constraints:** as many factors as the last dimension of `x` has elements,
    or one; the result has the type of `x`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %f: tensor<64xbf16>, %g: tensor<1xbf16>) {
      %y = transformer.multiply %x, %f : tensor<4x64xbf16>, tensor<64xbf16>
      %z = transformer.multiply %y, %g : tensor<4x64xbf16>, tensor<1xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$factors);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `,` $factors attr-dict `:` type($x) `,` type($factors)";
}

def TF_WeighOp : TF_NamedOp<"weigh", "weighed", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "multiplies each token, or each head, by a weight of its own";
  let description = [{
        y[t.., h..] = x[t.., h..] * f(weights[t..])

    with the `function` `f`, as in `transformer.activation`: the gate of a
    shared expert, or one gate a head. Linear in `x`.

    **Constraints:** the weights have the leading dimensions of `x`, and fewer;
    they are not partial sums; the result has the type of `x`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x64xbf16>, %w: tensor<4x16xbf16>) {
      %y = transformer.weigh %x, %w sigmoid : tensor<4x16x64xbf16>, tensor<4x16xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weights,
                       TF_FunctionAttr:$function);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $weights $function attr-dict `:` type($x) `,` type($weights)
  }];
}

def TF_SoftcapOp : TF_NamedOp<"softcap", "capped", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "keeps values between two bounds, smoothly";
  let description = [{
    With the bound `c` after `at` (the attribute `cap`; Gemma 2,
    arXiv:2408.00118, section 2):

        y[i..] = c * tanh(x[i..] / c)

    **Constraints:** not a partial sum; the result has the type of `x`; `c` is
    positive.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x1000xbf16>) {
      %y = transformer.softcap %x at(30.0) : tensor<4x1000xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, F64Attr:$cap);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `at` `(` custom<Number>($cap) `)` attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def TF_CastOp : TF_NamedOp<"cast", "cast", [Pure]> {
  let summary = "the same numbers in another format";
  let description = [{
        y[i..] = x[i..]

    Only rounding changes: the op is linear.

    **Constraints:** the result has the dimensions of `x`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>) {
      %y = transformer.cast %x : tensor<4x64xbf16> -> tensor<4x64xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
}

#endif // AUTOPAR_TRANSFORMER_ELEMENTWISEOPS_TD

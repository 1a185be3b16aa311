//===- OptimizerOps.td - What an update makes of weights ---*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_OPTIMIZEROPS_TD
#define AUTOPAR_TRAINING_OPTIMIZEROPS_TD

include "training/TrainingBase.td"

def TRN_UpdateOp : TRN_NamedOp<"update", "updated", [
    AllTypesMatch<["weight", "result"]>, MemoryEffects<[MemRead<TF_WeightMemory>, MemWrite<TF_WeightMemory>]>]> {
  let summary = "what an optimizer makes of a weight";
  let description = [{
    A step of the optimizer on each element, with the numbers that it keeps of
    it. With `t` the number of the step from 1, and `m`, `v` kept
    (Loshchilov, Hutter, arXiv:1711.05101, algorithm 2, without decay):

        w = weight[i..],  g = gradient[i..]
        adamw   m = b1*m + (1-b1)*g;  v = b2*v + (1-b2)*g^2
                y = w - lr * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
        sgd     m = b1*m + g;  y = w - lr * m         with a state, else w - lr * g

        adafactor   y = w - lr * g / max(1, sqrt(q))       with q = mean_square

    with `lr = 0.001`, `b1 = 0.9`, `b2 = 0.999`, `eps = 1e-8`: costs depend on
    none of them. The `gradient` of `adafactor` is that of the weight divided by
    the roots of means of squares (`training.precondition`), and `mean_square`
    is the mean of its own squares over all elements, on all devices, so that a
    step is not longer than `lr` in that mean (Shazeer, Stern, arXiv:1804.04235,
    algorithm 4, without relative steps). `states` are the formats of what is
    kept, a master copy of the weight among them where `master` says so, first;
    one of `i8` has an f32 scale for each 256 elements (Dettmers et al.,
    arXiv:2110.02861, in bitsandbytes' blocks).

    **Constraints:** the gradient has the shape of the weight; no operand is a
    partial sum; the result has the type of the weight; `mean_square` has no
    dimensions, and adafactor alone has one. Beside a master copy adamw keeps two
    states, sgd one or none, adafactor none.

    **Example:**
    ```mlir
    func.func private @example(%w: tensor<64x32xbf16>, %g: tensor<64x32xf32>) {
      %y = training.update %w, %g adamw master states [f32, f32, f32]
          : tensor<64x32xbf16>, tensor<64x32xf32>
      %q = training.mean %g over [0, 2] squared : tensor<64x32xf32> -> tensor<f32>
      %z = training.update %w, %g adafactor mean_square(%q : tensor<f32>) states []
          : tensor<64x32xbf16>, tensor<64x32xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$weight, AnyRankedTensor:$gradient,
                       Optional<AnyRankedTensor>:$mean_square,
                       TRN_OptimizerAttr:$optimizer, UnitAttr:$master,
                       TypeArrayAttr:$states);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $weight `,` $gradient $optimizer (`mean_square` `(` $mean_square^ `:` type($mean_square) `)`)?
    (`master` $master^)? `states` $states attr-dict `:` type($weight) `,` type($gradient)
  }];
  let extraClassDeclaration = [{
    /// The states that are no master copy.
    unsigned getNumMoments() {
      return getStates().size() - (getMaster() ? 1 : 0);
    }
  }];
  let hasVerifier = 1;
}

def TRN_MeanOp : TRN_NamedOp<"mean", "mean", [Pure]> {
  let summary = "the mean of elements, or of their squares, over some dimensions";
  let description = [{
    With `over [b, e]` and `h` the indices of dimensions `b` up to `e`, of which
    there are N:

        y[i.., j..] = sum_h x[i.., h.., j..] / N          squared: sum_h x^2 / N
                      where x is the gradient of weight[i.., h.., j..], if given

    `over [b, b]` leaves all dimensions. Where a dimension of `h` is split, the
    result is a partial sum over its axes: devices exchange one number for each of
    the other elements, and not the elements. Elements that `pad` adds count for
    nothing, neither in the sum nor in N; of a dimension that is split by `cap`,
    each of the `r` devices that have the same elements adds `1/r` of them.

    With `of` a weight, `x` is split as that is. The elements of the weight are
    not used.

    **Constraints:** `0 <= b <= e`, up to the rank; `x` is no partial sum; the
    weight, a `transformer.weight` or a part of one, has the shape of `x`; the
    result has the dimensions of `x` outside of `[b, e)`, in f32.

    **Example:**
    ```mlir
    func.func private @example(%g: tensor<64x32xf32>) {
      %w = transformer.weight "fc.weight" : tensor<64x32xbf16>
      %r = training.mean %g of %w over [1, 2] squared
          : tensor<64x32xf32>, tensor<64x32xbf16> -> tensor<64xf32>
      %m = training.mean %r over [0, 1] : tensor<64xf32> -> tensor<f32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, Optional<AnyRankedTensor>:$weight,
                       DenseI64ArrayAttr:$over, UnitAttr:$squared);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x (`of` $weight^)? `over` $over (`squared` $squared^)? attr-dict
    `:` type($x) (`,` type($weight)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def TRN_MovingMeanOp : TRN_NamedOp<"moving_mean", "moving", [
    AllTypesMatch<["input", "result"]>, MemoryEffects<[MemRead<TF_WeightMemory>, MemWrite<TF_WeightMemory>]>]> {
  let summary = "the mean of what iterations have given";
  let description = [{
    Adafactor's moving mean of squares of a weight's gradient, of which `v` is
    kept for each element, with `t` the number of the step from 1:

        b = 1 - t^-0.8;  v = b*v + (1-b) * (input + e1);  y = v

    with `e1 = 1e-12` (Shazeer, Stern, arXiv:1804.04235, algorithm 4). `state` is
    the format of `v`. Of a matrix there are two, one for each row and one for
    each column; of other tensors one for each element.

    **Constraints:** the input is what `training.mean` of the squares of a
    weight's gradient gives, exchanged or not, and no partial sum; the result has
    the type of the input.

    **Example:**
    ```mlir
    func.func private @example(%g: tensor<64x32xf32>) {
      %w = transformer.weight "fc.weight" : tensor<64x32xbf16>
      %s = training.mean %g of %w over [1, 2] squared
          : tensor<64x32xf32>, tensor<64x32xbf16> -> tensor<64xf32>
      %r = training.moving_mean %s state f32 : tensor<64xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, TypeAttr:$state);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `state` $state attr-dict `:` type($input)";
  let extraClassDeclaration = [{
    /// The mean that the input is, before devices exchanged it; null where it is
    /// none of a weight's gradient.
    MeanOp findMean();
  }];
  let hasVerifier = 1;
}

def TRN_PreconditionOp : TRN_NamedOp<"precondition", "step", [
    Pure, AllTypesMatch<["gradient", "result"]>]> {
  let summary = "divides a gradient by the roots of means of its squares";
  let description = [{
    By one mean for each element `v`, or, with `rows`, by those of the rows `r`
    and of the columns `c` of a matrix, and the mean `m` of `r` (Shazeer, Stern,
    arXiv:1804.04235, algorithm 4):

        y[i,j] = gradient[i,j] / sqrt(v[i,j])                       means = v
        y[i,j] = gradient[i,j] / sqrt(r[i] * c[j] / m)    rows: means = r, c, m

    Dimensions `rows[0]` up to `rows[1]` are the rows of a matrix, those behind
    its columns, and those before count matrices.

    **Constraints:** one mean, or three with `rows`; they have the dimensions of
    the gradient that they are not means over; there are rows, and columns;
    nothing is a partial sum; the result has the type of the gradient.

    **Example:**
    ```mlir
    func.func private @example(%g: tensor<64x32xf32>, %r: tensor<64xf32>, %c: tensor<32xf32>, %m: tensor<f32>) {
      %y = training.precondition %g by %r, %c, %m rows [0, 1]
          : tensor<64x32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<f32>
      %z = training.precondition %r by %r : tensor<64xf32>, tensor<64xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$gradient,
                       Variadic<AnyRankedTensor>:$means,
                       OptionalAttr<DenseI64ArrayAttr>:$rows);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $gradient `by` $means (`rows` $rows^)? attr-dict `:` type($gradient) `,` type($means)
  }];
  let hasVerifier = 1;
}

def TRN_MomentumOp : TRN_NamedOp<"momentum", "momentum", [
    AllTypesMatch<["weight", "result"]>, MemoryEffects<[MemRead<TF_WeightMemory>, MemWrite<TF_WeightMemory>]>]> {
  let summary = "the direction that a weight's gradients have taken";
  let description = [{
    Nesterov's momentum of a gradient, of which `m` is kept for each element:

        m = b*m + gradient[i..];  y[i..] = gradient[i..] + b*m    m of weight[i..]

    with `b = 0.95` (Jordan et al., Muon, 2024). `state` is the format of `m`.
    The elements of `weight` are not used: it says whose momentum it is.

    **Constraints:** the gradient has the shape of the weight; neither is a
    partial sum; the result has the type of the weight.

    **Example:**
    ```mlir
    func.func private @example(%w: tensor<64x32xbf16>, %g: tensor<64x32xf32>) {
      %y = training.momentum %w, %g state f32 : tensor<64x32xbf16>, tensor<64x32xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$weight, AnyRankedTensor:$gradient,
                       TypeAttr:$state);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $weight `,` $gradient `state` $state attr-dict `:` type($weight) `,` type($gradient)
  }];
  let hasVerifier = 1;
}

def TRN_OrthogonalizeOp : TRN_NamedOp<"orthogonalize", "orthogonal", [
    Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "makes the singular values of a matrix nearly 1";
  let description = [{
    `steps` steps of a Newton-Schulz iteration on each matrix of the input, which
    is turned where it has more rows than columns (Jordan et al., Muon, 2024):

        X = input / (|input| + 1e-7)                  Frobenius' norm
        steps times:  A = X X^T;  X = a*X + (b*A + c*A A) X
        y = sqrt(max(1, rows / columns)) * X

    with `a = 3.4445`, `b = -4.775`, `c = 2.0315`. Dimensions `rows[0]` up to
    `rows[1]` are the rows of a matrix, those behind its columns, and those
    before count matrices. With `p` the smaller and `q` the larger extent of a
    matrix, 4*p*p*q + 2*p*p*p FLOPs a step. Rows and columns must be whole.

    **Constraints:** there are rows, and columns; `steps` is positive; the result
    has the type of the input.

    **Example:**
    ```mlir
    func.func private @example(%m: tensor<4x64x32xbf16>) {
      %y = training.orthogonalize %m rows [1, 2] steps 5 : tensor<4x64x32xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$rows,
                       I64Attr:$steps);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `rows` $rows `steps` $steps attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def TRN_AssignOp : TRN_Op<"assign", [
    AllTypesMatch<["value", "weight"]>,
    EncodingsMatchModule, MemoryEffects<[MemWrite<TF_WeightMemory>]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let summary = "gives a weight new elements";
  let description = [{
    From the next iteration on, `weight` has the elements of `value`. What made
    them has written them: it takes no time of its own.

    **Constraints:** both have one type; `weight` is a `transformer.weight`.

    **Example:**
    ```mlir
    func.func private @example(%y: tensor<64x32xbf16>) {
      %w = transformer.weight "fc.weight" : tensor<64x32xbf16>
      training.assign %y to %w : tensor<64x32xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, AnyRankedTensor:$weight);
  let assemblyFormat = "$value `to` $weight attr-dict `:` type($value)";
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRAINING_OPTIMIZEROPS_TD

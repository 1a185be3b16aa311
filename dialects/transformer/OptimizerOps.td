//===- OptimizerOps.td - What an update makes of weights ---*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_OPTIMIZEROPS_TD
#define AUTOPAR_TRANSFORMER_OPTIMIZEROPS_TD

include "transformer/TransformerBase.td"

def TF_UpdateOp : TF_NamedOp<"update", "updated", [
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

    `adafactor` keeps of a matrix the means of `g^2` over its rows and over its
    columns alone (Shazeer, Stern, arXiv:1804.04235, algorithm 4, without relative
    steps), of other tensors one number for each element:

        s = g^2 + e1;  b = 1 - t^-0.8
        r[i] = b*r[i] + (1-b) * mean_j s[i,j];  c[j] = b*c[j] + (1-b) * mean_i s[i,j]
        v[i,j] = r[i] * c[j] / mean_i r[i]            else v = b*v + (1-b)*s
        u = g / sqrt(v);  y = w - lr * u / max(1, sqrt(mean u^2))

    with `lr = 0.001`, `b1 = 0.9`, `b2 = 0.999`, `eps = 1e-8`, `e1 = 1e-12`: costs
    depend on none of them. Dimensions `rows[0]` up to `rows[1]` of the weight
    are the rows of its matrix, those behind the columns, and those before count
    matrices. `states` are the formats of what is kept, a master copy of the
    weight among them where `master` says so, first; one of `i8` has an f32 scale
    for each 256 elements (Dettmers et al., arXiv:2110.02861, in bitsandbytes'
    blocks).

    **Constraints:** the gradient has the shape of the weight; neither is a
    partial sum; the result has the type of the weight; only adafactor has
    `rows`. Beside a master copy adamw keeps two states, sgd one or none, adafactor
    two of a matrix and one of others.

    **Example:**
    ```mlir
    func.func private @example(%w: tensor<64x32xbf16>, %g: tensor<64x32xf32>) {
      %y = transformer.update %w, %g adamw master states [f32, f32, f32]
          : tensor<64x32xbf16>, tensor<64x32xf32>
      %z = transformer.update %w, %g adafactor rows [0, 1] states [f32, f32]
          : tensor<64x32xbf16>, tensor<64x32xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$weight, AnyRankedTensor:$gradient,
                       TF_OptimizerAttr:$optimizer, UnitAttr:$master,
                       OptionalAttr<DenseI64ArrayAttr>:$rows,
                       TypeArrayAttr:$states);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $weight `,` $gradient $optimizer (`rows` $rows^)? (`master` $master^)? `states` $states attr-dict
    `:` type($weight) `,` type($gradient)
  }];
  let extraClassDeclaration = [{
    /// The states that are no master copy.
    unsigned getNumMoments() {
      return getStates().size() - (getMaster() ? 1 : 0);
    }
  }];
  let hasVerifier = 1;
}

def TF_MomentumOp : TF_NamedOp<"momentum", "momentum", [
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
      %y = transformer.momentum %w, %g state f32 : tensor<64x32xbf16>, tensor<64x32xf32>
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

def TF_OrthogonalizeOp : TF_NamedOp<"orthogonalize", "orthogonal", [
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
      %y = transformer.orthogonalize %m rows [1, 2] steps 5 : tensor<4x64x32xbf16>
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

def TF_AssignOp : TF_Op<"assign", [
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
      transformer.assign %y to %w : tensor<64x32xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, AnyRankedTensor:$weight);
  let assemblyFormat = "$value `to` $weight attr-dict `:` type($value)";
  let hasVerifier = 1;
}

#endif // AUTOPAR_TRANSFORMER_OPTIMIZEROPS_TD

//===- TokenOps.td - What happens to tokens ----------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_TOKENOPS_TD
#define AUTOPAR_TRANSFORMER_TOKENOPS_TD

include "transformer/TransformerBase.td"

//===----------------------------------------------------------------------===//
// Tokens in, tokens out
//===----------------------------------------------------------------------===//

def TF_EmbeddingOp : TF_ComputeOp<"embedding", [Pure]> {
  let summary = "looks tokens up in a table";
  let description = [{
    `y[b, q, h] = table[ids[b, q], h]`. Reads one row per token. Split over the
    vocabulary, each device adds the rows it has, and the result is a partial
    sum.

    **Constraints:** `ids` are integers; the table is `[vocabulary, hidden]`; the
    result is `ids` followed by `hidden`.

    **Example:**
    ```mlir
    func.func private @example(%ids: tensor<4x16xi32>, %t: tensor<1000x64xbf16>) {
      %x = transformer.embedding %ids, %t
          : tensor<4x16xi32>, tensor<1000x64xbf16> -> tensor<4x16x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$ids, AnyRankedTensor:$table);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $ids `,` $table attr-dict `\n` ` ` ` ` ` ` ` `
    `:` type($ids) `,` type($table) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
  let hasVerifier = 1;
}

def TF_LastTokenOp : TF_ComputeOp<"last_token", [Pure]> {
  let summary = "keeps the last token of each sequence";
  let description = [{
    `y[b, h] = x[b, query - 1, h]`: only the tokens to sample from go on to the
    logits.

    **Constraints:** the result is the operand without dimension 1.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x64xbf16>) {
      %t = transformer.last_token %x : tensor<4x16x64xbf16> -> tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}

def TF_LogitsOp : TF_ComputeOp<"logits", [Pure]> {
  let summary = "scores of all tokens of the vocabulary";
  let description = [{
    `y[.., v] = sum_h x[.., h] * table[v, h]`: 2*tokens*hidden*vocabulary FLOPs. The
    table may be the embedding's (tied) or a head of its own.

    **Constraints:** the table is `[vocabulary, hidden]`; the result is `x` with
    `hidden` replaced by `vocabulary`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %t: tensor<1000x64xbf16>) {
      %l = transformer.logits %x, %t
          : tensor<4x64xbf16>, tensor<1000x64xbf16> -> tensor<4x1000xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$table);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $table attr-dict `\n` ` ` ` ` ` ` ` `
    `:` type($x) `,` type($table) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

//===----------------------------------------------------------------------===//
// Linear maps and norms
//===----------------------------------------------------------------------===//

def TF_LinearOp : TF_ComputeOp<"linear", [Pure]> {
  let summary = "multiplies by a weight";
  let description = [{
    `y[t.., o..] = sum_i.. x[t.., i..] * w[i.., o..] (+ bias[o..])`: the trailing
    dimensions of `x` are contracted with the leading ones of `w`.
    2*tokens*in*out FLOPs. Split over a contracted dimension, the result is a
    partial sum; a bias must then be added after the reduction.

    **Constraints:** contracted dimensions agree; the result has the other
    dimensions of `x`, then those of `w`; the bias has those of `w` only.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %w: tensor<64x2x16xbf16>,
                               %b: tensor<2x16xbf16>) {
      %y = transformer.linear %x, %w bias(%b : tensor<2x16xbf16>)
          : tensor<4x64xbf16>, tensor<64x2x16xbf16> -> tensor<4x2x16xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
                       Optional<AnyRankedTensor>:$bias);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict `\n` ` ` ` ` ` ` ` `
    `:` type($x) `,` type($weight) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// How many dimensions of `x` are contracted.
    int64_t getNumContracted();
    ::mlir::Operation *detachBias(::mlir::OpBuilder &builder);
  }];
}

def TF_AddBiasOp : TF_ComputeOp<"add_bias", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "adds a bias to every token";
  let description = [{
    `y[t.., o..] = x[t.., o..] + bias[o..]`. Written by passes that must reduce
    between a product and its bias.

    **Constraints:** the bias has the trailing dimensions of `x`; the result has
    the type of `x`; neither is a partial sum.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %b: tensor<64xbf16>) {
      %y = transformer.add_bias %x, %b : tensor<4x64xbf16>, tensor<64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$bias);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `,` $bias attr-dict `:` type($x) `,` type($bias)";
}

/// The weight of a norm is whole and as wide as the last dimension of `x`.
class TF_NormOp<string mnemonic, dag operands> : TF_ComputeOp<mnemonic, [
    Pure, AllTypesMatch<["x", "result"]>,
    TypesMatchWith<"the weight is as wide as the last dimension of x", "x",
                   "weight", "getNormWeightType($_self)">]> {
  let arguments = !con(operands, (ins F64Attr:$eps));
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

def TF_RMSNormOp : TF_NormOp<"rms_norm",
    (ins AnyRankedTensor:$x, AnyRankedTensor:$weight)> {
  let summary = "divides by the root of the mean square";
  let description = [{
    `y[.., h] = x[.., h] / sqrt(mean_h(x[.., h]^2) + eps) * weight[h]`, over
    the last dimension.

    **Constraints:** the weight is as wide as the last dimension of `x`, which is
    whole; `x` is not a partial sum; the result has the type of `x`; `eps` is not
    negative.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %g: tensor<64xbf16>) {
      %y = transformer.rms_norm %x, %g eps(1.0e-5) : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $x `,` $weight `eps` `(` custom<Number>($eps) `)` attr-dict `:` type($x)
  }];
}

def TF_LayerNormOp : TF_NormOp<"layer_norm",
    (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
         Optional<AnyRankedTensor>:$bias)> {
  let summary = "subtracts the mean and divides by the deviation";
  let description = [{
    `y[.., h] = (x[.., h] - mean_h(x)) / sqrt(variance_h(x) + eps) * weight[h]
    (+ bias[h])`, over the last dimension.

    **Constraints:** those of `transformer.rms_norm`; the bias has the type of the
    weight.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %g: tensor<64xbf16>, %b: tensor<64xbf16>) {
      %y = transformer.layer_norm %x, %g bias(%b : tensor<64xbf16>) eps(1.0e-5) : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)?
    `eps` `(` custom<Number>($eps) `)` attr-dict `:` type($x)
  }];
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

def TF_AddOp : TF_ComputeOp<"add", [
    Pure, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "adds two tensors";
  let description = [{
    `y[..] = lhs[..] + rhs[..]`. Two partial sums over the same axes may be added
    before their reduction; a partial sum and a whole value may not.

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

def TF_ActivationOp : TF_ComputeOp<"activation", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "applies a function to every element";
  let description = [{
    `y[..] = f(x[..])` with `f` one of `silu`, `gelu`, `gelu_tanh`, `relu`, `relu2`.

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
}

def TF_GatedOp : TF_ComputeOp<"gated", [
    Pure, AllTypesMatch<["gate", "up", "result"]>]> {
  let summary = "multiplies by an activated gate";
  let description = [{
    `y[..] = f(gate[..]) * up[..]` with `f` as in `transformer.activation`.

    **Constraints:** one type for all; not partial sums.

    **Example:**
    ```mlir
    func.func private @example(%g: tensor<4x64xbf16>, %u: tensor<4x64xbf16>) {
      %y = transformer.gated %g, %u silu : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$gate, AnyRankedTensor:$up,
                       TF_FunctionAttr:$function);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $gate `,` $up $function attr-dict
    `:` type($result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

#endif // AUTOPAR_TRANSFORMER_TOKENOPS_TD

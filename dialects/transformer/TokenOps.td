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
    $ids `,` $table attr-dict
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

def TF_PositionEmbeddingOp : TF_ComputeOp<"position_embedding", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "adds the row of a token's position";
  let description = [{
    `y[b, q, h] = x[b, q, h] + table[position(b, q), h]`. Reads one row per token.
    Also for token types, whose table has one row per type.

    **Constraints:** the table is `[positions, hidden]`, or holds such rows in
    another shape and is then whole; `x` is not a partial sum;
    the result has the type of `x`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x64xbf16>, %t: tensor<512x64xbf16>) {
      %y = transformer.position_embedding %x, %t : tensor<4x16x64xbf16>, tensor<512x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$table);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `,` $table attr-dict `:` type($x) `,` type($table)";
  let hasVerifier = 1;
}

def TF_InsertOp : TF_ComputeOp<"insert", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "puts encoded tokens into the stream";
  let description = [{
    The result is `x` with some of its tokens replaced by those of `y` (image or
    audio tokens between text tokens). Linear in both together.

    **Constraints:** `x` is `[batch, tokens, hidden]` and `y` is
    `[batch, other tokens, hidden]`; the result has the type of `x`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x64xbf16>, %y: tensor<4x8x64xbf16>) {
      %z = transformer.insert %x, %y : tensor<4x16x64xbf16>, tensor<4x8x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x) `,` type($y)";
}

def TF_ConvolutionOp : TF_ComputeOp<"convolution", [Pure]> {
  let summary = "mixes neighbouring tokens by a weight";
  let description = [{
    `y[b, t, o] = sum_j,i x[b, s*t + j - (kernel - 1)/2, i] * w[i, j, o] (+ bias[o])`,
    where the stride `s` is how many tokens of `x` there are for one of the
    result; tokens outside are 0. 2*tokens*kernel*in*out FLOPs. Split over `in`,
    the result is a partial sum; a bias must then be added after the reduction.

    **Constraints:** `x` is `[batch, tokens, in]`, the weight `[in, kernel, out]`,
    the result `[batch, fewer tokens, out]`, whose number divides that of `x`; the
    bias is `[out]`.

    **Example:**
    ```mlir
    !x = tensor<?x?x64xbf16, #transformer.dims<[batch, source*2, _]>>
    !y = tensor<?x?x32xbf16, #transformer.dims<[batch, source, _]>>
    func.func private @example(%x: !x, %w: tensor<64x3x32xbf16>, %b: tensor<32xbf16>) {
      %y = transformer.convolution %x, %w bias(%b : tensor<32xbf16>)
          : !x, tensor<64x3x32xbf16> -> !y
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
                       Optional<AnyRankedTensor>:$bias);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict
    `:` type($x) `,` type($weight) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::mlir::Operation *detachBias(::mlir::OpBuilder &builder);
  }];
  let hasVerifier = 1;
}

def TF_MergeTokensOp : TF_ComputeOp<"merge_tokens", [Pure]> {
  let summary = "makes one token of several neighbours";
  let description = [{
    Groups of `n` tokens become one, with their elements side by side, or their
    mean with `mean`: `[b, source*n, d]` becomes `[b, source, n*d]`, or
    `[b, source, d]`. Linear.

    **Constraints:** both have rank 3; the tokens of `x` are `n` times those of the
    result, and so is the result's last dimension of that of `x` without `mean`;
    with `mean` these are the same.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x64xbf16>) {
      %y = transformer.merge_tokens %x : tensor<4x16x64xbf16> -> tensor<4x4x256xbf16>
      %z = transformer.merge_tokens %x mean : tensor<4x16x64xbf16> -> tensor<4x1x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, UnitAttr:$mean);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x (`mean` $mean^)? attr-dict `:` type($x) `->` type($result)
  }];
  let hasVerifier = 1;
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
    $x `,` $table attr-dict
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
    $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict
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

/// Types of a norm's operands and result: the weight's is left out where it is
/// the last dimension of `x`.
class TF_NormOp<string mnemonic> : TF_ComputeOp<mnemonic, [
    Pure, AttrSizedOperandSegments, AllTypesMatch<["x", "result"]>]> {
  dag operands = (ins AnyRankedTensor:$x, Optional<AnyRankedTensor>:$weight,
                      Optional<AnyRankedTensor>:$bias,
                      DefaultValuedAttr<I64Attr, "1">:$over, F64Attr:$eps);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  string syntaxOfParameters = [{
    $x (`,` $weight^)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`over` `(` $over^ `)`)? `eps` `(` custom<Number>($eps) `)`
  }];
  string syntaxOfTypes = [{
    attr-dict `:` custom<NormTypes>(ref($weight), type($x), type($weight))
  }];
}

def TF_RMSNormOp : TF_NormOp<"rms_norm"> {
  let summary = "divides by the root of the mean square";
  let description = [{
    `y[.., h] = x[.., h] / sqrt(mean_h(x[.., h]^2) + eps) * weight[.., h]
    (+ bias[.., h])`, the mean being over the last dimension, or over the last
    `n` with `over(n)`. A weight of higher rank is one per head. `unit_offset`:
    the factor is `1 + weight`. `groups(g)`: the mean is over each of `g` equal
    parts of these elements by itself.

    **Constraints:** `n` is 1 or more; the weight and the bias have at least `n`
    dimensions, which are the trailing ones of `x`; the dimensions that the mean
    is over are whole; `x` is not a partial sum; the result has the type of `x`;
    `eps` is not negative; `unit_offset` needs a weight; `g` divides the first of
    the dimensions that the mean is over.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x2x64xbf16>, %g: tensor<64xbf16>, %h: tensor<2x64xbf16>) {
      %y = transformer.rms_norm %x, %g eps(1.0e-5) : tensor<4x2x64xbf16>
      %z = transformer.rms_norm %x, %h over(2) eps(1.0e-5) : tensor<4x2x64xbf16>, tensor<2x64xbf16>
      %u = transformer.rms_norm %x, %g eps(1.0e-5) groups(4) : tensor<4x2x64xbf16>
      return
    }
    ```
  }];
  let arguments = !con(operands, (ins UnitAttr:$unit_offset,
                                      OptionalAttr<I64Attr>:$groups));
  let assemblyFormat = syntaxOfParameters #
                       "(`unit_offset` $unit_offset^)? (`groups` `(` $groups^ `)`)?" #
                       syntaxOfTypes;
}

def TF_LayerNormOp : TF_NormOp<"layer_norm"> {
  let summary = "subtracts the mean and divides by the deviation";
  let description = [{
    `y[.., h] = (x[.., h] - mean_h(x)) / sqrt(variance_h(x) + eps) * weight[.., h]
    (+ bias[.., h])`, over the last dimension, or over the last `n` with
    `over(n)`.

    **Constraints:** those of `transformer.rms_norm`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>, %g: tensor<64xbf16>, %b: tensor<64xbf16>) {
      %y = transformer.layer_norm %x, %g bias(%b : tensor<64xbf16>) eps(1.0e-5) : tensor<4x64xbf16>
      %z = transformer.layer_norm %x eps(1.0e-5) : tensor<4x64xbf16>
      return
    }
    ```
  }];
  let arguments = operands;
  let assemblyFormat = syntaxOfParameters # syntaxOfTypes;
}

#endif // AUTOPAR_TRANSFORMER_TOKENOPS_TD

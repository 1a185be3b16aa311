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

def TF_EmbeddingOp : TF_NamedOp<"embedding", "embedding", [Pure]> {
  let summary = "looks tokens up in a table";
  let description = [{
        y[t.., h] = table[ids[t..], h]

    Reads one row per token. Split over the vocabulary, a device gives 0 for the
    ids whose rows it does not have: the result is a partial sum over those
    axes.

    **Constraints:** `ids` are integers from 0 to below `vocabulary`; the table
    is `[vocabulary, hidden]`; the result is `ids` followed by `hidden`.

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

def TF_LastTokenOp : TF_NamedOp<"last_token", "last", [Pure]> {
  let summary = "keeps the last token of each sequence";
  let description = [{
        y[b, h..] = x[b, tokens - 1, h..]

    with the extent `tokens` of dimension 1: only the tokens to sample from go
    on to the logits. Where tokens are split, the device that has the last one
    gives it and the others give 0: the result is a partial sum over those axes.

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

def TF_LayerPartOp
    : TF_NamedOp<"layer_part", "part", [MemoryEffects<[MemRead]>]> {
  let summary = "what a tensor has for the layer that runs";
  let description = [{
    With the number `l` of the layer that runs (see `transformer.repeat`):

        y[t.., h] = x[t.., l, h]

    Embeddings of their own that layers add are made at once, in front of them.
    Reads the part alone. Linear. Not the same in two layers: it reads which
    layer runs, and is not moved out of a repeat.

    **Constraints:** runs in a layer whose number is less than the extent of
    `x`'s last dimension but one, which is whole; the result is the operand
    without it.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x30x256xbf16>) {
      %y = transformer.layer_part %x : tensor<4x16x30x256xbf16> -> tensor<4x16x256xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}

def TF_PositionEmbeddingOp : TF_NamedOp<"position_embedding", "positioned", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "adds the row of a token's position";
  let description = [{
    With the position `p` of token `i` (see the dialect) and the number `rows`
    of the table's rows:

        y[b, i, h] = x[b, i, h] + table[(p + n) mod rows, h]     first(n), else 0
                     x[b, i, h] + table[0, h]                    same

    `same`: all tokens are of one kind, the first of a table of token types. A
    table of another shape is read as `[rows, hidden]`, its elements in their
    order. Reads one row per token.

    **Constraints:** the table is `[positions, hidden]`, or holds such rows in
    another shape and is then whole, as is `hidden`; the rows are whole; `x` is
    not a partial sum; the result has the type of `x`; `n` is 0 or more, and not
    there with `same`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x64xbf16>, %t: tensor<512x64xbf16>) {
      %y = transformer.position_embedding %x, %t : tensor<4x16x64xbf16>, tensor<512x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$table,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$first,
                       UnitAttr:$same);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $table (`first` `(` $first^ `)`)? (`same` $same^)? attr-dict
    `:` type($x) `,` type($table)
  }];
  let hasVerifier = 1;
}

def TF_InsertOp : TF_NamedOp<"insert", "inserted", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "puts encoded tokens into the stream";
  let description = [{
    Image or audio tokens in the place of text tokens: with `n` tokens of `y`,
    the first `n` of the step. Where in a prompt they stand changes no cost.

        z[b, i, h] = y[b, i, h]   where i < n
                     x[b, i, h]   elsewhere

    Linear in both together.

    **Constraints:** `x` is `[batch, tokens, hidden]` and `y` is
    `[batch, other tokens, hidden]`, whose tokens are whole; the result has the
    type of `x`.

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

def TF_ConvolutionOp : TF_NamedOp<"convolution", "convolved", [Pure]> {
  let summary = "mixes neighbouring tokens by a weight";
  let description = [{
    With the stride `s`, which is how many tokens of `x` there are for one of
    the result; tokens before the first and after the last are 0:

        y[b, t, o] = sum_j,i x[b, s*t + j - (kernel - 1) div 2, i]
                             * weight[i, j, o] (+ bias[o])

    A plane has a second dimension behind its tokens, and the weight a second
    kernel: the sum is then over both, each with a stride of its own. A plane
    without that dimension is square, its tokens row by row, and both strides
    are `sqrt(s)`.

    2*tokens*kernel*in*out FLOPs with the tokens of the result. Split over `in`,
    the result is a partial sum; a bias must then be added after the reduction.

    **Constraints:** `x` is `[batch, tokens, in]`, the weight
    `[in, kernel, out]`, the result `[batch, fewer tokens, out]`, whose number
    divides that of `x`; or `x` is `[batch, tokens, columns, in]`, the weight
    `[in, kernel, kernel, out]`, and the result
    `[batch, fewer tokens, fewer columns, out]`, or both without columns, the
    number of tokens being divided by a square; the bias is `[out]`; tokens,
    columns and kernels are whole.

    **Example:**
    ```mlir
    !x = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens*2, _]>>
    !y = tensor<?x?x32xbf16, #transformer.dims<[batch, encoder_tokens, _]>>
    func.func private @example(%x: !x, %w: tensor<64x3x32xbf16>, %b: tensor<32xbf16>) {
      %y = transformer.convolution %x, %w bias(%b : tensor<32xbf16>)
          : !x, tensor<64x3x32xbf16> -> !y
      return
    }
    func.func private @plane(%x: tensor<1x16x16x8xbf16>, %w: tensor<8x3x3x4xbf16>) {
      %y = transformer.convolution %x, %w
          : tensor<1x16x16x8xbf16>, tensor<8x3x3x4xbf16> -> tensor<1x8x8x4xbf16>
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

def TF_ChannelConvolutionOp
    : TF_NamedOp<"channel_convolution", "convolved", [Pure]> {
  let summary = "mixes neighbouring tokens, each channel by itself";
  let description = [{
    As `transformer.convolution`, with the same strides, planes and zeros around
    them, but of each channel with itself (a depthwise convolution):

        y[b, t, c] = sum_j x[b, s*t + j - (kernel - 1) div 2, c]
                           * weight[c, j] (+ bias[c])

    2*tokens*kernel*channels FLOPs with the tokens of the result, on vector
    units. Channels may be split.

    **Constraints:** `x` is `[batch, tokens, channels]`, the weight
    `[channels, kernel]`, the result `[batch, fewer tokens, channels]`, whose
    number divides that of `x`; or `x` is `[batch, tokens, columns, channels]`,
    the weight `[channels, kernel, kernel]`, and the result
    `[batch, fewer tokens, fewer columns, channels]`, or both without columns,
    the number of tokens being divided by a square; the bias is `[channels]`;
    tokens, columns and kernels are whole; no partial sums.

    **Example:**
    ```mlir
    !x = tensor<?x?x64xbf16, #transformer.dims<[batch, encoder_tokens, _]>>
    func.func private @example(%x: !x, %w: tensor<64x15xbf16>, %b: tensor<64xbf16>) {
      %y = transformer.channel_convolution %x, %w bias(%b : tensor<64xbf16>)
          : !x, tensor<64x15xbf16> -> !x
      return
    }
    func.func private @plane(%x: tensor<1x64x8xbf16>, %w: tensor<8x3x3xbf16>) {
      %y = transformer.channel_convolution %x, %w
          : tensor<1x64x8xbf16>, tensor<8x3x3xbf16> -> tensor<1x16x8xbf16>
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
  let hasVerifier = 1;
}

def TF_MergeTokensOp : TF_NamedOp<"merge_tokens", "merged", [Pure]> {
  let summary = "makes one token of several neighbours";
  let description = [{
    Of each `n` neighbours one token, with their elements side by side, or their
    mean with `mean`. With `d` elements in a token of `x`:

        y[b, t, j*d + i] = x[b, t*n + j, i]
        y[b, t, i]       = sum_j x[b, t*n + j, i] / n    with mean

    `n` is how many tokens of `x` there are for one of the result. Without
    `mean` the result may have several dimensions behind its tokens: the same
    elements in the same order, as a convolution over a patch wants them. Linear.

    **Constraints:** `x` has rank 3, and the result with `mean`; the tokens of
    `x` are `n` times those of the result, and so are, without `mean`, the
    result's elements of a token those of `x`; with `mean` these are the same;
    tokens are whole, and without `mean` their elements.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x64xbf16>) {
      %y = transformer.merge_tokens %x : tensor<4x16x64xbf16> -> tensor<4x4x256xbf16>
      %p = transformer.merge_tokens %x : tensor<4x16x64xbf16> -> tensor<4x4x2x2x64xbf16>
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
  let hasFolder = 1;
}

def TF_LogitsOp : TF_NamedOp<"logits", "logits", [Pure]> {
  let summary = "scores of all tokens of the vocabulary";
  let description = [{
        y[t.., v] = sum_h x[t.., h] * table[v, h]

    2*tokens*hidden*vocabulary FLOPs. The table may be the embedding's (tied) or
    a head of its own. Split over `hidden`, the result is a partial sum. Scores
    of what a `pad` adds to the vocabulary have no value (`#parallel.dim`).

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
        y[t.., o..] = sum_i.. x[t.., i..] * weight[i.., o..] (+ bias[o..])

    The last `k` dimensions of `x` are contracted with the first `k` of the
    weight, where `k = (rank of x + rank of weight - rank of y) / 2`.
    2*tokens*in*out FLOPs. Split over a contracted dimension, the result is a
    partial sum; a bias must then be added after the reduction.

    **Constraints:** `k` is 1 or more; contracted dimensions agree; the result
    has the other dimensions of `x`, then those of the weight; the bias has
    those of the weight only.

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

def TF_AddBiasOp : TF_NamedOp<"add_bias", "biased", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "adds a bias to every token";
  let description = [{
        y[t.., o..] = x[t.., o..] + bias[o..]

    Written by passes that must reduce between a product and its bias.

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
class TF_NormOp<string mnemonic> : TF_NamedOp<mnemonic, "norm", [
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
    For each token, with `h..` the last `n` dimensions of `over(n)` (the last
    one, without), which have `N` elements together, and `u = 1` with
    `unit_offset`, else 0 (Zhang, Sennrich, arXiv:1910.07467):

        sums[.., g] = sum_h.. x[.., h..]^2
        y[.., h..]  = x[.., h..] / sqrt(sums[.., g] / N + eps)
                      * (u + weight[.., h..]) (+ bias[.., h..])

    Without a weight the factor is 1. Weight and bias have the trailing
    dimensions of `x`: a weight of higher rank than `n` is one per head.
    `groups(k)`: the sum and `N` are those of each of `k` equal parts `g` of these
    elements by itself; without, there is one. `sums` may be given, as
    `transformer.square_sum` of `x` computes them, to norm what is split.

    **Constraints:** `n` is 1 or more; the weight and the bias have at least `n`
    dimensions, which are the trailing ones of `x`; the dimensions that the mean
    is over are whole, unless `sums` are given, which are `[.., k]` of f32; `x`
    is not a partial sum; the result has the type of `x`; `eps` is not negative;
    `unit_offset` needs a weight; `k` divides the first of the dimensions that
    the mean is over.

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
  let arguments = (ins AnyRankedTensor:$x, Optional<AnyRankedTensor>:$weight,
                       Optional<AnyRankedTensor>:$bias,
                       Optional<AnyRankedTensor>:$sums,
                       DefaultValuedAttr<I64Attr, "1">:$over, F64Attr:$eps,
                       UnitAttr:$unit_offset, OptionalAttr<I64Attr>:$groups);
  let assemblyFormat = "$x (`,` $weight^)? (`bias` `(` $bias^ `:` type($bias) `)`)?"
                       "(`sums` `(` $sums^ `:` type($sums) `)`)?"
                       "(`over` `(` $over^ `)`)? `eps` `(` custom<Number>($eps) `)`"
                       "(`unit_offset` $unit_offset^)? (`groups` `(` $groups^ `)`)?" #
                       syntaxOfTypes;
  let extraClassDeclaration = [{
    ::mlir::Operation *detachSums(::mlir::OpBuilder &builder);
  }];
}

def TF_SquareSumOp : TF_NamedOp<"square_sum", "squares", [Pure]> {
  let summary = "sums the squares that a norm divides by";
  let description = [{
    For each token, over the elements `h..` of the last `n` dimensions of `over(n)`
    (the last one, without) that are in part `g` of `groups(k)` equal ones (one,
    without):

        y[.., g] = sum_h.. x[.., h..]^2

    So a norm over a dimension that is split sends a number for each token and
    group, and not the elements: the result is a partial sum over the axes of the
    dimensions that are summed over. Of a dimension that is split by `cap`, each of
    the `r` devices that have the same elements adds `1/r` of their squares.

    **Constraints:** `n` is 1 or more; the result is `x` without these dimensions,
    and one of the groups after the others, whole and in f32; `x` is not a partial
    sum; the number of groups divides the first of these dimensions.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x2x64xbf16>, %h: tensor<2x64xbf16>) {
      %s = transformer.square_sum %x over(2) : tensor<4x2x64xbf16> -> tensor<4x1xf32>
      %y = transformer.rms_norm %x, %h sums(%s : tensor<4x1xf32>) over(2) eps(1.0e-5) : tensor<4x2x64xbf16>, tensor<2x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x,
                       DefaultValuedAttr<I64Attr, "1">:$over,
                       OptionalAttr<I64Attr>:$groups);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $x (`over` `(` $over^ `)`)? (`groups` `(` $groups^ `)`)? attr-dict `:` type($x)
    `->` type($result)
  }];
}

def TF_LayerNormOp : TF_NormOp<"layer_norm"> {
  let summary = "subtracts the mean and divides by the deviation";
  let description = [{
    As `transformer.rms_norm`, `over` the same dimensions, but around the mean
    (Ba, Kiros, Hinton, arXiv:1607.06450). With `m = sum_h.. x[.., h..] / N`:

        y[.., h..] = (x[.., h..] - m)
                     / sqrt(sum_h.. (x[.., h..] - m)^2 / N + eps)
                     * weight[.., h..] (+ bias[.., h..])

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

def TF_BatchNormOp : TF_NamedOp<"batch_norm", "norm", [
    Pure, AllTypesMatch<["x", "result"]>,
    AllTypesMatch<["mean", "variance", "weight", "bias"]>]> {
  let summary = "moves and scales each channel by what training saw of it";
  let description = [{
    With the mean and the variance of each channel that training has kept
    (Ioffe, Szegedy, arXiv:1502.03167):

        y[t.., c] = (x[t.., c] - mean[c]) / sqrt(variance[c] + eps) * weight[c] + bias[c]

    **Constraints:** mean, variance, weight and bias are `[channels]`, the last
    dimension of `x`; `x` is not a partial sum; the result has the type of `x`;
    `eps` is not negative.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x64xbf16>, %m: tensor<64xbf16>, %v: tensor<64xbf16>,
                               %g: tensor<64xbf16>, %b: tensor<64xbf16>) {
      %y = transformer.batch_norm %x, %m, %v, %g, %b eps(1.0e-5)
          : tensor<4x16x64xbf16>, tensor<64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$mean,
                       AnyRankedTensor:$variance, AnyRankedTensor:$weight,
                       AnyRankedTensor:$bias, F64Attr:$eps);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $mean `,` $variance `,` $weight `,` $bias
    `eps` `(` custom<Number>($eps) `)` attr-dict `:` type($x) `,` type($mean)
  }];
  let hasVerifier = 1;
}

def TF_SoftmaxOp : TF_NamedOp<"softmax", "probabilities", [
    Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "makes probabilities of scores";
  let description = [{
    For each token:

        y[t.., h] = exp(x[t.., h]) / sum_i exp(x[t.., i])

    **Constraints:** the last dimension is whole; `x` is not a partial sum; the
    result has the type of `x`.

    **Example:**
    ```mlir
    func.func private @example(%x: tensor<4x16x42xbf16>) {
      %y = transformer.softmax %x : tensor<4x16x42xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif // AUTOPAR_TRANSFORMER_TOKENOPS_TD

//===- RecurrentGradientOps.td - Backwards of recurrences --*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_RECURRENTGRADIENTOPS_TD
#define AUTOPAR_TRAINING_RECURRENTGRADIENTOPS_TD

include "training/TrainingBase.td"

/// The backward of an op that walks over the tokens of a sequence from their
/// beginning: it goes from the last token to the first, and makes again what
/// the forward remembered.
class TRN_RecurrentBackwardOp<string mnemonic, list<Trait> traits = []>
    : TRN_ComputeOp<mnemonic, [Pure] # traits> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

def TRN_ShortConvBackwardOp : TRN_RecurrentBackwardOp<"short_conv_backward", [
    AllTypesMatch<["dy", "x", "d_x"]>]> {
  let summary = "what tokens and weights have to do with a short convolution";
  let description = [{
    Of `transformer.short_conv` without a state, of the same `function` `f`,
    with what it is applied to, and `t` over the tokens of the step:

        z[b, t, c..]    = sum_j weight[c.., j] * x[b, t - (kernel - 1) + j, c..]
                          (+ bias[c..])
        dz[b, t, c..]   = f'(z[b, t, c..]) * dy[b, t, c..]
        d_x[b, t, c..]  = sum_j weight[c.., j] * dz[b, t + (kernel - 1) - j, c..]
        d_weight[c.., j] = sum_b,t dz[b, t, c..] * x[b, t - (kernel - 1) + j, c..]
        d_bias[c..]     = sum_b,t dz[b, t, c..]

    6*kernel*channels FLOPs a token, a convention: `z` again, and twice as many.
    Split over sequences, `d_weight` and `d_bias` are partial sums.

    **Constraints:** those of `transformer.short_conv`; `dy`, `x` and `d_x` have
    one type; `d_weight` has the shape of the weight, `d_bias` that of the bias,
    and is there where that is.

    **Example:**
    ```mlir
    !x = tensor<4x16x64xbf16>
    func.func private @example(%dy: !x, %x: !x, %w: tensor<64x4xbf16>, %b: tensor<64xbf16>) {
      %dx, %dw, %db = training.short_conv_backward %dy, %x, %w bias(%b : tensor<64xbf16>) silu
          : !x, tensor<64x4xbf16> -> tensor<64x4xf32>, tensor<64xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$x,
                       AnyRankedTensor:$weight, Optional<AnyRankedTensor>:$bias,
                       OptionalAttr<TF_FunctionAttr>:$function);
  let results = (outs AnyRankedTensor:$d_x, AnyRankedTensor:$d_weight,
                      Optional<AnyRankedTensor>:$d_bias);
  let assemblyFormat = [{
    $dy `,` $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? ($function^)?
    attr-dict `:` type($x) `,` type($weight) `->` type($d_weight) (`,` type($d_bias)^)?
  }];
}

def TRN_StateSpaceBackwardOp : TRN_RecurrentBackwardOp<"state_space_backward", [
    AttrSizedOperandSegments, AllTypesMatch<["dy", "x", "d_x"]>,
    AllTypesMatch<["dt", "d_dt"]>, AllTypesMatch<["input", "output"]>,
    AllTypesMatch<["d_input", "d_output"]>]> {
  let summary = "what operands have to do with a selective state space";
  let description = [{
    Of `transformer.state_space` without a state, with its `s` and, at each
    token, `e = exp(-exp(a[h]) * s)` (`a[h, n]` where that has two dimensions)
    and the states `last` and `state` before and behind it. Token after token
    from the last one, with `carry = 0` behind it:

        grad[b, h, p, n]   = carry[b, h, p, n] + output[b, t, g, n] * dy[b, t, h, p]
        de                 = grad[b, h, p, n] * last[b, h, p, n] * e * -exp(a[h])
        d_output[b, t, g, n] = sum over p, h of g: state[b, h, p, n] * dy[b, t, h, p]
        d_input[b, t, g, n]  = sum over p, h of g: s * x[b, t, h, p] * grad[b, h, p, n]
        d_x[b, t, h, p]    = s * sum_n input[b, t, g, n] * grad[b, h, p, n]
                             (+ d[h] * dy[b, t, h, p])
        d_dt[b, t, h]      = sigmoid(dt[b, t, h] (+ dt_bias[h])) * sum_p,n
                             (input[b, t, g, n] * x[b, t, h, p] * grad[b, h, p, n] + de)
        d_a[h]             = sum over b, t, p, n of s * de
        d_d[h]             = sum over b, t, p of x[b, t, h, p] * dy[b, t, h, p]
        carry[b, h, p, n]  = e * grad[b, h, p, n]

    The gradient of `dt_bias` is the sum of `d_dt` (`training.sum_tokens`).
    15*heads*p*n FLOPs a token, a convention: the forward again, and twice as
    many. Devices that have the same group add up what the heads of each have to
    do with it, inside the op; of a single group, `d_input` and `d_output` are
    partial sums where heads are split. Split over sequences, `d_a` and `d_d`
    are partial sums.

    **Constraints:** those of `transformer.state_space`; gradients have the
    shapes of what they are of, `d_d` is there where `d` is.

    **Example:**
    ```mlir
    !x = tensor<4x16x8x16xbf16>
    !dt = tensor<4x16x8xbf16>
    !g = tensor<4x16x2x32xbf16>
    !a = tensor<8xf32>
    func.func private @example(%dy: !x, %x: !x, %dt: !dt, %b: !g, %c: !g, %a: !a) {
      %dx, %ddt, %db, %dc, %da, %dd = training.state_space_backward %dy, %x, %dt, %b, %c, %a
          d(%a : !a) : !x, !dt, !g, !a -> !g, !a, !a
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$x,
                       AnyRankedTensor:$dt, AnyRankedTensor:$input,
                       AnyRankedTensor:$output, AnyRankedTensor:$a,
                       Optional<AnyRankedTensor>:$d,
                       Optional<AnyRankedTensor>:$dt_bias);
  let results = (outs AnyRankedTensor:$d_x, AnyRankedTensor:$d_dt,
                      AnyRankedTensor:$d_input, AnyRankedTensor:$d_output,
                      AnyRankedTensor:$d_a, Optional<AnyRankedTensor>:$d_d);
  let assemblyFormat = [{
    $dy `,` $x `,` $dt `,` $input `,` $output `,` $a
    (`d` `(` $d^ `:` type($d) `)`)?
    (`dt_bias` `(` $dt_bias^ `:` type($dt_bias) `)`)? attr-dict
    `:` type($x) `,` type($dt) `,` type($input) `,` type($a)
    `->` type($d_input) `,` type($d_a) (`,` type($d_d)^)?
  }];
}

def TRN_GatedDeltaRuleBackwardOp
    : TRN_RecurrentBackwardOp<"gated_delta_rule_backward", [
    AllTypesMatch<["query", "key", "d_query", "d_key"]>,
    AllTypesMatch<["dy", "value", "d_value"]>,
    AllTypesMatch<["beta", "d_beta"]>, AllTypesMatch<["decay", "d_decay"]>]> {
  let summary = "what operands have to do with a gated delta rule";
  let description = [{
    Of `transformer.gated_delta_rule` without a state, with its `f` and, at
    each token, the states `last` before, `kept = f * last` and
    `state` behind it. Token after token from the last one, with `carry = 0`
    behind it, `grad = carry` and `dy' = dy / sqrt(dk)`:

        q[i]           = query[b, t, g, i] / u,    u the length of the query
        k[i]           = key[b, t, g, i] / w,      w the length of the key
        e[j]           = sigmoid(beta[b, t, h])
                         * (value[b, t, h, j] - sum_i k[i] * kept[i, j])
        grad[i, j]    += q[i] * dy'[b, t, h, j]
        de[j]          = sum_i k[i] * grad[i, j]
        dm[j]          = -sigmoid(beta[b, t, h]) * de[j]
        dq[i]          = sum_j state[i, j] * dy'[b, t, h, j]
        dk[i]          = sum_j grad[i, j] * e[j] + kept[i, j] * dm[j]
        d_value[b, t, h, j] = -dm[j]
        d_beta[b, t, h] = (1 - sigmoid(beta[b, t, h])) * sum_j de[j] * e[j]
        grad[i, j]    += k[i] * dm[j]
        dl             = sum_i,j grad[i, j] * kept[i, j]
        d_decay[b, t, h] = -exp(a_log[h]) * sigmoid(decay[b, t, h] + dt_bias[h]) * dl
        d_a_log[h]    += -exp(a_log[h]) * softplus(decay[b, t, h] + dt_bias[h]) * dl
        carry[i, j]    = f * grad[i, j]
        d_query[b, t, g, i] = sum over h of g: (dq[i] - q[i] * sum_l q[l] * dq[l]) / u
        d_key[b, t, g, i]   = sum over h of g: (dk[i] - k[i] * sum_l k[l] * dk[l]) / w

    Where `decay` has a value for each channel, `dl[i]` sums over `j` alone,
    `d_decay[b, t, h, i]` has its own, and `d_a_log` sums over `i` too.

    The gradient of `dt_bias` is the sum of `d_decay`
    (`training.sum_tokens`). 21*value heads*dk*dv FLOPs a token, a
    convention: the forward again, and twice as many. Devices that have the same
    key head add up what the value heads of each have to do with it, inside the
    op. Split over sequences, `d_a_log` is a partial sum.

    **Constraints:** those of `transformer.gated_delta_rule`; gradients have the
    shapes of what they are of.

    **Example:**
    ```mlir
    !k = tensor<4x16x2x16xbf16>
    !v = tensor<4x16x4x32xbf16>
    !g = tensor<4x16x4xbf16>
    !h = tensor<4xf32>
    func.func private @example(%dy: !v, %q: !k, %k: !k, %v: !v, %beta: !g, %decay: !g, %h: !h) {
      %dq, %dk, %dv, %dbeta, %ddecay, %da = training.gated_delta_rule_backward
          %dy, %q, %k, %v, %beta, %decay, %h, %h : !k, !v, !g, !g, !h, !h -> !h
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$query,
                       AnyRankedTensor:$key, AnyRankedTensor:$value,
                       AnyRankedTensor:$beta, AnyRankedTensor:$decay,
                       AnyRankedTensor:$a_log, AnyRankedTensor:$dt_bias);
  let results = (outs AnyRankedTensor:$d_query, AnyRankedTensor:$d_key,
                      AnyRankedTensor:$d_value, AnyRankedTensor:$d_beta,
                      AnyRankedTensor:$d_decay, AnyRankedTensor:$d_a_log);
  let assemblyFormat = [{
    $dy `,` $query `,` $key `,` $value `,` $beta `,` $decay `,` $a_log `,` $dt_bias
    attr-dict `:` type($query) `,` type($value) `,` type($beta) `,` type($decay)
    `,` type($a_log) `,` type($dt_bias) `->` type($d_a_log)
  }];
}

def TRN_LinearAttentionBackwardOp
    : TRN_RecurrentBackwardOp<"linear_attention_backward", [
    AllTypesMatch<["dy", "query", "key", "value", "d_query", "d_key",
                   "d_value"]>]> {
  let summary = "what queries, keys and values have to do with a decaying sum";
  let description = [{
    Of `transformer.linear_attention` without a state, of the same `layers`,
    with its `r` and the state behind each token. Token after token from the
    last one, with `carry = 0` behind it:

        grad[b, h, i, j]    = carry[b, h, i, j] + query[b, t, h, i] * dy[b, t, h, j]
        d_query[b, t, h, i] = sum_j state[b, h, i, j] * dy[b, t, h, j]
        d_key[b, t, h, i]   = sum_j grad[b, h, i, j] * value[b, t, h, j]
        d_value[b, t, h, j] = sum_i grad[b, h, i, j] * key[b, t, h, i]
        carry[b, h, i, j]   = r * grad[b, h, i, j]

    15*heads*d*d FLOPs a token, a convention: the forward again, and twice as
    many.

    **Constraints:** those of `transformer.linear_attention`; all have one type.

    **Example:**
    ```mlir
    !x = tensor<4x16x8x16xbf16>
    func.func private @example(%dy: !x, %q: !x, %k: !x, %v: !x) {
      %dq, %dk, %dv = training.linear_attention_backward %dy, %q, %k, %v layers(80) : !x
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dy, AnyRankedTensor:$query,
                       AnyRankedTensor:$key, AnyRankedTensor:$value,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$layers);
  let results = (outs AnyRankedTensor:$d_query, AnyRankedTensor:$d_key,
                      AnyRankedTensor:$d_value);
  let assemblyFormat = [{
    $dy `,` $query `,` $key `,` $value (`layers` `(` $layers^ `)`)? attr-dict
    `:` type($query)
  }];
}

#endif // AUTOPAR_TRAINING_RECURRENTGRADIENTOPS_TD

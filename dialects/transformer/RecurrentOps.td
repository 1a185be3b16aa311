//===- RecurrentOps.td - Tokens that see a state -----------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMER_RECURRENTOPS_TD
#define AUTOPAR_TRANSFORMER_RECURRENTOPS_TD

include "transformer/TransformerBase.td"

def TF_StateOp : TF_Op<"state", [
    EncodingsMatchModule, HeldOpInterface,
    MemoryEffects<[MemWrite<TF_StateMemory>]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let summary = "what a recurrence remembers of each sequence";
  let description = [{
    A tensor `[batch, ..]` that stays from step to step: an op that has it as
    operand reads it as the last step left it, and leaves it as its last token
    does. A sequence begins with zeros, that is in a step with
    `context = query`. Its size does not depend on the number of tokens. A
    device keeps its own part, by the rules of `#parallel.dim`. Inside a repeat
    it stands for one per iteration.

    **Constraints:** rank 2 or more; the outer dimension is `batch`, the others
    are numbers; no partial sums.

    **Example:**
    ```mlir
    func.func private @example() {
      %s = transformer.state
          : !transformer.state<?x128x64x128xf32, #transformer.dims<[batch, _, _, _]>>
      return
    }
    ```
  }];
  let results = (outs TF_StateType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

/// An op that walks over the tokens of a sequence. Its heads or channels are
/// independent, and it asks tensor parallelism to split them.
class TF_RecurrentOp<string mnemonic, string name, list<Trait> traits = []>
    : TF_NamedOp<mnemonic, name, traits> {
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::std::optional<::autopar::TensorParallelFactor> getTensorParallelFactor();
  }];
}

def TF_ShortConvOp : TF_RecurrentOp<"short_conv", "conv", [
    AttrSizedOperandSegments, AllTypesMatch<["x", "result"]>]> {
  let summary = "mixes each channel with its last few tokens";
  let description = [{
    A causal convolution of each channel by itself:

        y[b, t, c..] = f(sum_j weight[c.., j] * x[b, t - (kernel - 1) + j, c..]
                         (+ bias[c..]))

    with the `function` `f`, as in `transformer.activation`, the identity where
    none is given, and `j` from 0 to `kernel - 1`, the token itself. The tokens
    before the step's first are those of the state, whose last dimension has
    them in their order:

        x[b, t - (kernel - 1), c..] = state[b, c.., t]   for t < kernel - 1

    Without a state they are 0. Behind the step the state has the last
    `kernel - 1` tokens. Channels may be one dimension or several
    (`heads, head_dim`). 2*kernel*channels FLOPs a token, a convention.

    **Constraints:** `x` is `[batch, query, channels..]`, the weight
    `[channels.., kernel]`, the bias `[channels..]`, the state
    `[batch, channels.., kernel - 1]`; the kernel is a number and at least 2;
    tokens and kernel are whole; no partial sums; the result has the type of
    `x`.

    **Example:**
    ```mlir
    !x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
    !s = !transformer.state<?x64x3xbf16, #transformer.dims<[batch, _, _]>>
    func.func private @example(%x: !x, %w: tensor<64x4xbf16>, %b: tensor<64xbf16>) {
      %s = transformer.state : !s
      %y = transformer.short_conv %x, %w bias(%b : tensor<64xbf16>) state(%s : !s) silu
          : !x, tensor<64x4xbf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight,
                       Optional<AnyRankedTensor>:$bias,
                       TF_OptionalState:$state,
                       OptionalAttr<TF_FunctionAttr>:$function);
  let assemblyFormat = [{
    $x `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`state` `(` $state^ `:` type($state) `)`)? ($function^)? attr-dict
    `:` type($x) `,` type($weight)
  }];
}

def TF_StateSpaceOp : TF_RecurrentOp<"state_space", "ssm", [
    AttrSizedOperandSegments, AllTypesMatch<["x", "result"]>,
    AllTypesMatch<["input", "output"]>]> {
  let summary = "the selective state space of Mamba";
  let description = [{
    For each head `h`, with its group `g = h div (heads / groups)`, token after
    token (Mamba 2, arXiv:2405.21060; Mamba 1, arXiv:2312.00752, has one channel
    a head, where `p` is 1, and an `a` for each `n`):

        s = softplus(dt[b, t, h] (+ dt_bias[h]))
        state[b, h, p, n] = exp(-exp(a[h]) * s) * state[b, h, p, n]
                            + s * input[b, t, g, n] * x[b, t, h, p]
        y[b, t, h, p] = sum_n output[b, t, g, n] * state[b, h, p, n]
                        (+ d[h] * x[b, t, h, p])

    with `a[h, n]` in the place of `a[h]` where it has two dimensions. Without a
    state, a step's first token has zeros before it.
    5*heads*p*n FLOPs a token: a convention, as chunked kernels do more and the
    exponentials are not counted.

    **Constraints:** `x` is `[batch, query, heads, p]`, `dt`
    `[batch, query, heads]`, the matrices `[batch, query, groups, n]`, `a` is
    `[heads]` or `[heads, n]`, a state `[batch, heads, p, n]`, `d` and
    `dt_bias` are `[heads]`; all these but `batch` and `query` are numbers;
    groups divide heads and are split over the same axes, a single group is
    whole; tokens, `p` and `n` are whole; no partial sums; the result has the
    type of `x`.

    **Example:**
    ```mlir
    !x = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
    !dt = tensor<?x?x8xbf16, #transformer.dims<[batch, query, _]>>
    !g = tensor<?x?x2x32xbf16, #transformer.dims<[batch, query, _, _]>>
    !a = tensor<8xf32>
    !s = !transformer.state<?x8x16x32xf32, #transformer.dims<[batch, _, _, _]>>
    func.func private @example(%x: !x, %dt: !dt, %b: !g, %c: !g, %a: !a) {
      %s = transformer.state : !s
      %y = transformer.state_space %x, %dt, %b, %c, %a state(%s) d(%a : !a)
          : !x, !dt, !g, !a, !s
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$dt,
                       AnyRankedTensor:$input, AnyRankedTensor:$output,
                       AnyRankedTensor:$a, TF_OptionalState:$state,
                       Optional<AnyRankedTensor>:$d,
                       Optional<AnyRankedTensor>:$dt_bias);
  let assemblyFormat = [{
    $x `,` $dt `,` $input `,` $output `,` $a (`state` `(` $state^ `)`)?
    (`d` `(` $d^ `:` type($d) `)`)?
    (`dt_bias` `(` $dt_bias^ `:` type($dt_bias) `)`)? attr-dict
    `:` type($x) `,` type($dt) `,` type($input) `,`
    type($a) (`,` type($state)^)?
  }];
}

def TF_GatedDeltaRuleOp : TF_RecurrentOp<"gated_delta_rule", "delta", [
    AllTypesMatch<["query", "key"]>, AllTypesMatch<["value", "result"]>]> {
  let summary = "linear attention that corrects what it remembers";
  let description = [{
    For each value head `h`, with its key head
    `g = h div (value heads / key heads)`, token after token (Gated DeltaNet,
    arXiv:2412.06464), `q` and `k` being the query and the key of length 1:

        q[i] = query[b, t, g, i] / sqrt(sum_i query[b, t, g, i]^2 + 1e-6)
        k[i] = key[b, t, g, i] / sqrt(sum_i key[b, t, g, i]^2 + 1e-6)
        f = exp(-exp(a_log[h]) * softplus(decay[b, t, h] + dt_bias[h]))
        state[b, h, i, j] = f * state[b, h, i, j]
        e[j] = sigmoid(beta[b, t, h])
               * (value[b, t, h, j] - sum_i k[i] * state[b, h, i, j])
        state[b, h, i, j] = state[b, h, i, j] + k[i] * e[j]
        y[b, t, h, j] = sum_i q[i] * state[b, h, i, j] / sqrt(dk)

    Kimi delta attention (arXiv:2510.26692) forgets each channel of the key by
    itself: `decay[b, t, h, i]`, `dt_bias[h, i]` and `f[i]` are in the place of
    those of a head where `decay` has four dimensions.

    Without a state, a step's first token has zeros before it.
    7*value heads*dk*dv FLOPs a token either way, a convention: one for the
    decay, two for each of three products with the state; chunked kernels do
    more, and the exponentials are not counted.

    **Constraints:** queries and keys are `[batch, query, key heads, dk]`,
    values `[batch, query, value heads, dv]`, `beta` is
    `[batch, query, value heads]`, `a_log` `[value heads]`; `decay` is
    `[batch, query, value heads]` and `dt_bias` `[value heads]`, or both have
    `dk` besides; a state is `[batch, value heads, dk, dv]`; all these but
    `batch` and `query` are numbers; key heads divide value heads and are split
    over the same axes; tokens, `dk` and `dv` are whole; no partial sums; the
    result has the type of the values.

    **Example:**
    ```mlir
    !k = tensor<?x?x2x16xbf16, #transformer.dims<[batch, query, _, _]>>
    !v = tensor<?x?x4x32xbf16, #transformer.dims<[batch, query, _, _]>>
    !g = tensor<?x?x4xbf16, #transformer.dims<[batch, query, _]>>
    !h = tensor<4xf32>
    !s = !transformer.state<?x4x16x32xf32, #transformer.dims<[batch, _, _, _]>>
    func.func private @example(%q: !k, %k: !k, %v: !v, %beta: !g, %decay: !g, %h: !h) {
      %s = transformer.state : !s
      %y = transformer.gated_delta_rule %q, %k, %v, %beta, %decay, %h, %h state(%s)
          : !k, !v, !g, !g, !h, !h, !s
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, AnyRankedTensor:$beta,
                       AnyRankedTensor:$decay, AnyRankedTensor:$a_log,
                       AnyRankedTensor:$dt_bias, TF_OptionalState:$state);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $beta `,` $decay `,` $a_log `,` $dt_bias
    (`state` `(` $state^ `)`)? attr-dict
    `:` type($query) `,` type($value) `,` type($beta) `,` type($decay) `,`
    type($a_log) `,` type($dt_bias) (`,` type($state)^)?
  }];
}

def TF_LinearAttentionOp : TF_RecurrentOp<"linear_attention", "linear_attn", [
    AllTypesMatch<["query", "key", "value", "result"]>]> {
  let summary = "attends to a decaying sum of keys times values";
  let description = [{
    Lightning attention (arXiv:2401.04658), token after token. For each head `h`
    of all `heads`, and `f = 1`:

        r = exp(-2^(-8*(h + 1)/heads) * f)
        state[b, h, i, j] = r * state[b, h, i, j]
                            + key[b, t, h, i] * value[b, t, h, j]
        y[b, t, h, j] = sum_i query[b, t, h, i] * state[b, h, i, j]

    `layers(n)`: later layers forget less (MiniMax-01, arXiv:2501.08313). With
    the number `l` of the layer (`transformer.repeat`) that the op is in,

        f = 1 - l/(n - 1 + 1e-5) + 1e-5

    Without a state, a step's first token has zeros before it. 5*heads*d*d FLOPs
    a token, a convention: chunked kernels do more.

    **Constraints:** queries, keys, values and the result are
    `[batch, query, heads, d]`, a state is `[batch, heads, d, d]`; heads and
    `d` are numbers; tokens and `d` are whole; no partial sums; `n` is 1 or more.

    **Example:**
    ```mlir
    !x = tensor<?x?x8x16xbf16, #transformer.dims<[batch, query, _, _]>>
    !s = !transformer.state<?x8x16x16xf32, #transformer.dims<[batch, _, _, _]>>
    func.func private @example(%q: !x, %k: !x, %v: !x) {
      %s = transformer.state : !s
      %y = transformer.linear_attention %q, %k, %v state(%s) layers(80)
        : !x, !s
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, TF_OptionalState:$state,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$layers);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`state` `(` $state^ `)`)?
    (`layers` `(` $layers^ `)`)? attr-dict `:` type($query) (`,` type($state)^)?
  }];
}

#endif // AUTOPAR_TRANSFORMER_RECURRENTOPS_TD

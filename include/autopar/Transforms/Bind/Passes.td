//===- Passes.td - Passes that say what a module is about -*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_BIND_PASSES_TD
#define AUTOPAR_TRANSFORMS_BIND_PASSES_TD

include "autopar/Transforms/PassClasses.td"

def BindWorkloadPass : ModulePass<"autopar-bind-workload"> {
  let summary = "gives the symbols of the module's dimensions other values";
  let description = [{
    Changes the module's `transformer.workload`, or adds one, and no type. What
    is not given stays as it was, and `assumed` if it was; `prompt` sets the new tokens of a prefill (and
    its context, unless that is given too), and a decode step has one new token
    and encodes nothing unless `source` is given.

    Requires nothing. Guarantees a workload with `query <= context`.

    ```mlir
    transformer.workload @w(phase = prefill, batch = 1, query = 2048, context = 2048)
    // autopar-bind-workload{phase=decode batch=8 context=4096}
    transformer.workload @w(phase = decode, batch = 8, query = 1, context = 4096)
    ```
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"\"", "prefill, decode or train">,
    Option<"batch", "batch", "int64_t", "0", "Sequences in a step (0: keep)">,
    Option<"prompt", "prompt", "int64_t", "0",
           "New tokens of each sequence in a prefill (0: keep)">,
    Option<"context", "context", "int64_t", "0",
           "Cached tokens of each sequence after the step (0: keep)">,
    Option<"encoderTokens", "encoder-tokens", "int64_t", "-1",
           "Positions of each sequence that an encoder encodes in the step (-1: "
           "keep)">,
    Option<"crossTokens", "cross-tokens", "int64_t", "-1",
           "Encoded positions of each sequence that cross attention sees (-1: "
           "keep)">,
  ];
  let dependentDialects = ["::autopar::transformer::TransformerDialect"];
}

def BindRequestsPass
    : Pass<"autopar-bind-requests", "::mlir::ModuleOp"> {
  let summary = "says what requests a service has";
  let description = [{
    Changes the module's `transformer.requests`, or adds one. What is not given
    stays as it was; a rate takes the place of a concurrency, and the other way
    round.

    Each row of `requestKnobs` (`autopar/Program/RequestKnobs.h`) is an option:
    `cached`, `acceptance`, `draft-cost`.

    Requires nothing. Guarantees requests that can be read; fails where there
    are none yet and a part is not given.

    ```mlir
    transformer.requests(concurrency = 64, prompt = 2000, output = 300)
    // autopar-bind-requests{rate=20 sla=tpot:30ms}
    transformer.requests(rate = 20, prompt = 2000, output = 300) sla(tpot_us = 30000.0)
    ```
  }];
  let options = [
    Option<"rate", "rate", "double", "0",
           "Arrival rate in requests per second, a Poisson process (0: keep)">,
    Option<"concurrency", "concurrency", "int64_t", "0",
           "Requests that run at once, each replaced when it ends (0: keep)">,
    Option<"prompt", "prompt", "std::string", "\"\"",
           "Tokens of prompts: 2000, uniform:100..500, lognormal:2000,0.8, "
           "histogram:128x3,4096x1">,
    Option<"output", "output", "std::string", "\"\"",
           "Tokens of answers, in the same forms">,
    Option<"sla", "sla", "std::string", "\"\"",
           "Latency limits: ttft:500ms,tpot:30ms">,
  ];
  let dependentDialects = ["::autopar::transformer::TransformerDialect"];
}

def BindMeshPass : ModulePass<"autopar-bind-mesh"> {
  let summary = "gives mesh axes their sizes";
  let description = [{
    Sets the sizes of the axes of the module's `parallel.mesh`, adding axes
    innermost, and a mesh where there is none; axes in another order are put in
    the order given where all are. `?` leaves a size open. Sets degrees that are
    products of axes.

    Requires nothing. Guarantees a mesh with these axes; a module that is split
    over an axis must allow its new size.

    ```mlir
    parallel.mesh @pod(tp = ?)
    // autopar-bind-mesh{axes=dp=2,tp=8,ep=dp*tp}
    parallel.mesh @pod(dp = 2, tp = 8) {ep = dp*tp}
    ```
  }];
  let options = [
    Option<"axes", "axes", "std::string", "\"\"",
           "Sizes and products, as in pp=4,dpi=8,tp=8,ep=dpi*tp">,
    ListOption<"neutral", "neutral", "std::string",
               "Axes that are left out, with their products, where their size "
               "is 1 and the mesh lacks them">,
  ];
  let dependentDialects = ["::autopar::parallel::ParallelDialect"];
}

def BindTargetPass : Pass<"autopar-bind-target", "::mlir::ModuleOp"> {
  let summary = "says what a module runs on";
  let description = [{
    Sets what is given in the module's `parallel.target`, or adds one; the rest of
    it stays. On the module that holds a deployment, it is what all its modules
    share; on one of them (`autopar-run-on-module`), its own.

    Requires nothing. Guarantees that nothing else changes.

    ```mlir
    // autopar-bind-target{hardware=h200-sxm-8 nodes=2}
    parallel.target hardware("h200-sxm-8") nodes(2)
    ```
  }];
  let options = [
    Option<"hardware", "hardware", "std::string", "\"\"",
           "Machine: name of the library or path of a file (default: h100-sxm-8)">,
    Option<"nodes", "nodes", "int64_t", "0", "Nodes of it (0: keep; default: 1)">,
    Option<"runtime", "runtime", "std::string", "\"\"",
           "Runtime: name of the library or path of a file (default: vllm)">,
    Option<"memoryUtilization", "memory-utilization", "double", "0",
           "The runtime's share of device memory, above 0 up to 1 (0: keep; "
           "default: the runtime's)">,
    Option<"prefillChunk", "prefill-chunk", "int64_t", "-1",
           "Prompt tokens that a replica computes in one step, 0 for whole "
           "prompts (-1: keep; default: the runtime's)">,
    Option<"maxNumSeqs", "max-num-seqs", "int64_t", "0",
           "Sequences that a replica runs at once, at most (0: keep; default: "
           "the runtime's)">,
    Option<"enforceEager", "enforce-eager", "bool", "false",
           "Capture no graphs (false: keep)">,
    ListOption<"overrides", "set", "std::string",
               "Values that replace those of the libraries, path=value">,
  ];
  let dependentDialects = ["::autopar::parallel::ParallelDialect"];
}

def ConvertFormatsPass : ModulePass<"autopar-convert-formats"> {
  let summary = "changes the formats of activations and of the KV cache";
  let description = [{
    Rewrites the element types of all floating-point values to `compute`, and
    those of caches to `kv-cache`. Weights stay as they are stored: where their
    format differs from the value's, the storage says so.

    With `rows`, caches of latents and of an indexer's keys get the rows that
    the runtime keeps of them, in which elements of several formats and scales
    lie side by side (`cache_rows` of `runtimes/`).

    Requires nothing. Guarantees equal shapes and equal checkpoint tensors.

    ```mlir
    func.func private @example() {
      %w = transformer.weight "w" stored [1, 0] : tensor<64x32xbf16>
      // autopar-convert-formats{compute=fp16}
      %v = transformer.weight "v" stored [1, 0] as bf16 : tensor<64x32xf16>
      return
    }
    ```
  }];
  let options = [
    Option<"compute", "compute", "std::string", "\"\"",
           "Format of activations and products (empty: keep)">,
    Option<"kvCache", "kv-cache", "std::string", "\"\"",
           "Format of the KV cache (empty: keep; auto: the runtime's choice "
           "for such weights)">,
    Option<"rows", "rows", "bool", "false",
           "Whether caches get the rows that the runtime keeps">,
  ];
  let dependentDialects = ["::autopar::parallel::ParallelDialect"];
}

def AbsorbLatentAttentionPass
    : ModulePass<"autopar-absorb-latent-attention"> {
  let summary = "multiplies queries into the latent space";
  let description = [{
    Marks every `transformer.latent_attention` as `absorbed`: the better form for
    few new tokens, as it expands no cached ones. The text of a step that is
    absorbed stays so. With `phase=each`, marks them as `by_phase` instead: for
    steps of prompts beside sequences that decode; so does a phase in a module
    that has `transformer.requests`. With either, selected tokens are absorbed in
    prompts, too: engines gather latents of each query (MQA mode of
    DeepSeek-V3.2, arXiv:2512.02556).

    Requires a workload where a phase is given. Guarantees equal types.

    ```mlir
    // autopar-absorb-latent-attention{phase=decode} in a step of
    transformer.workload @w(phase = decode, batch = 8, query = 1, context = 4096)
    ```
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"\"",
           "Only where the module's step is one of this phase: prefill or "
           "decode (empty: always; each: by the phase of each sequence)">,
  ];
}

def QuantizePass : ModulePass<"autopar-quantize"> {
  let summary = "stores linear and expert weights in a quantized format";
  let description = [{
    For what-if questions: gives a format of models/formats to all weights that
    are multiplied by a `linear` or `experts` op, and to the other parts of
    their checkpoint tensors. Embeddings, heads, routers and norms stay, and so
    do weights that have a format.

    Requires nothing. Guarantees equal values and equal types of values; fails
    where no weight was changed.

    ```mlir
    func.func private @example(%x: tensor<4x64xbf16>) {
      %w = transformer.weight "w.weight" stored [1, 0] : tensor<64x32xbf16>
      // autopar-quantize{format=bnb-int8}
      %v = transformer.weight "v.weight" stored [1, 0] as(#transformer.format<"bnb-int8"
          compute i8 {weight : i8, SCB : f32 [o], weight_format : ui8 []}>) : tensor<64x32xbf16>
      %y = transformer.linear %x, %v : tensor<4x64xbf16>, tensor<64x32xbf16> -> tensor<4x32xbf16>
      return
    }
    ```
  }];
  let options = [
    Option<"format", "format", "std::string", "\"\"",
           "Name of the library or path of a file">,
    ListOption<"ignore", "ignore", "std::string",
               "Regular expressions: weights whose name has a match stay">,
    ListOption<"parameters", "parameters", "std::string",
               "Values for parameters of the format, as in group=64">,
  ];
  let dependentDialects = ["::autopar::transformer::TransformerDialect"];
}

#endif // AUTOPAR_TRANSFORMS_BIND_PASSES_TD

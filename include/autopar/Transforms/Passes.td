//===- Passes.td - The passes of autopar ------------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_PASSES_TD
#define AUTOPAR_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

/// A pass that works on each module of a deployment.
class ModulePass<string argument>
    : PassBase<argument, "::autopar::ModulePass">;

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
    Option<"phase", "phase", "std::string", "\"\"", "prefill or decode">,
    Option<"batch", "batch", "int64_t", "0", "Sequences in a step (0: keep)">,
    Option<"prompt", "prompt", "int64_t", "0",
           "New tokens of each sequence in a prefill (0: keep)">,
    Option<"context", "context", "int64_t", "0",
           "Cached tokens of each sequence after the step (0: keep)">,
    Option<"source", "source", "int64_t", "-1",
           "Positions of each sequence that an encoder encodes in the step (-1: "
           "keep)">,
    Option<"memory", "memory", "int64_t", "-1",
           "Encoded positions of each sequence that cross attention sees (-1: "
           "keep)">,
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
               "Those of size 1 that a mesh without them does not get, nor "
               "their products">,
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
           "Format of the KV cache (empty: keep)">,
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
    steps of prompts beside sequences that decode.

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

def ListTensorsPass : Pass<"autopar-list-tensors", "::mlir::ModuleOp"> {
  let summary = "prints the tensors of the checkpoint";
  let description = [{
    Writes one line per tensor to standard error: name, shape, type and bytes,
    separated by tabs, in the order of the model.
  }];
}

class ShardPass<string name> : ModulePass<name> {
  let dependentDialects = ["::autopar::parallel::ParallelDialect",
                           "::autopar::transformer::TransformerDialect"];
}

def ShardTensorPass : ShardPass<"autopar-shard-tensor"> {
  let summary = "tensor parallelism: splits heads, widths and vocabulary";
  let description = [{
    Each op says which of its factors tensor parallelism splits first: heads of
    an attention, width of an activation, vocabulary of an embedding or of the
    logits. The split spreads along the ops' factors to the weights (column and
    row products follow from that), and types are recomputed from the weights on.
    Where an op cannot take an operand as it is, a `parallel.reshard` goes
    between. Key-value heads are split with `cap`, the vocabulary with `pad`.

    Heads and the widths of routed experts may be split over other axes than the
    rest: attention with tp=4 beside an MLP with tp=8, experts that are whole.
    The resharding between them is in the IR.

    Requires a mesh with the axes. Guarantees that functions keep their types;
    does nothing where weights and caches are split so already.
  }];
  let options = [
    ListOption<"axes", "axes", "std::string",
               "The mesh axes, major first (default: tp)">,
    ListOption<"attentionAxes", "attention-axes", "std::string",
               "Axes for heads, or none (default: axes)">,
    ListOption<"expertAxes", "expert-axes", "std::string",
               "Axes for widths of routed experts, or none (default: axes)">,
    ListOption<"keyAxes", "key-axes", "std::string",
               "Axes for key-value heads and what attention itself reads, or "
               "none (default: attention-axes)">,
    Option<"vocabularyMultiple", "vocabulary-multiple", "int64_t", "0",
           "The vocabulary is padded to a multiple of this before it is split "
           "(0: the target's runtime says)">,
  ];
}

def ShardDataPass : ShardPass<"autopar-shard-data"> {
  let summary = "data parallelism: splits sequences";
  let description = [{
    Splits the `batch` of all that functions take and return, loops carry and
    caches hold; weights are the same on all devices of the axes. Attention data
    parallelism is this pass over axes that tensor parallelism uses elsewhere:
    tokens are gathered before the weights that are split over them.

    Requires a mesh with the axes. Guarantees that no weight changes.

    ```mlir
    !x = tensor<?x?x64xbf16, #parallel.sharding<[batch by dp, query, _]>>
    ```
  }];
  let options = [ListOption<"axes", "axes", "std::string",
                            "The mesh axes, major first (default: dp)">];
}

def ShardSequencePass : ShardPass<"autopar-shard-sequence"> {
  let summary = "sequence parallelism: splits tokens between products";
  let description = [{
    Splits the `query` of what layers take and return over the axes of tensor
    parallelism. Norms and additions then work on a part of the tokens each, and
    the `all_reduce` behind a row product becomes a `reduce_scatter`, with an
    `all_gather` before the next column product: the same bytes, less memory.
    Korthikanti et al., arXiv:2205.05198, section 4.2.2.

    Requires a mesh with the axes. Guarantees that the model's own arguments and
    results keep their types.
  }];
  let options = [ListOption<"axes", "axes", "std::string",
                            "The mesh axes, major first (default: tp)">];
}

def ShardContextPass : ShardPass<"autopar-shard-context"> {
  let summary = "context parallelism: splits tokens everywhere";
  let description = [{
    Splits the `query` of all that functions take and return and loops carry, and
    the `source` of encoders, whose attention gathers keys and values. What
    attention with a cache does about the keys of the others is the kind:

    * `ring` splits caches by `context`; their parts go around (`parallel.ring`),
      and each device attends with its own queries (arXiv:2310.01889);
    * `all_to_all` splits heads instead of tokens inside attention, which must
      have enough of them (DeepSpeed-Ulysses, arXiv:2309.14509): inside of the
      split of tensor parallelism, which runs before.

    Costs count an equal share of the causal pairs for each device, as engines
    deal queries out in chunks from both ends (`#parallel.dim`).

    Requires a mesh with the axes. Guarantees that no weight of a product changes.
  }];
  let options = [
    ListOption<"axes", "axes", "std::string",
               "The mesh axes, major first (default: cp)">,
    Option<"kind", "kind", "std::string", "\"ring\"", "ring or all_to_all">];
}

def ShardDecodeContextPass : ShardPass<"autopar-shard-decode-context"> {
  let summary = "decode context parallelism: splits the KV cache by tokens";
  let description = [{
    Splits caches by `context` over axes that tensor parallelism may use for
    heads: where there are fewer KV heads than devices, each then holds a part of
    the tokens instead of a copy of the heads. Attention with a part of the keys
    gives partial sums, weighted by normalisers that the devices exchange
    (`transformer.attention`), which are reduced behind it.

    Requires a mesh with the axes; run it before tensor parallelism, which then
    leaves KV heads whole over them. Guarantees that no weight changes.
  }];
  let options = [ListOption<"axes", "axes", "std::string",
                            "The mesh axes, major first (default: dcp)">];
}

def ShardParametersPass : ShardPass<"autopar-shard-parameters"> {
  let summary = "FSDP: splits weights, and gathers them before use";
  let description = [{
    Splits each weight over the devices that would hold copies of it: the largest
    dimension that is not split, the last of equal ones, unevenly where it must be (ZeRO stage 3,
    arXiv:1910.02054; FSDP, arXiv:2304.11277). An `all_gather` before its first
    use gives every device the whole weight for a while.

    Requires a mesh with the axes, and weights that are split otherwise before:
    it is the last to split. Guarantees that activations and caches keep their
    types.
  }];
  let options = [
    ListOption<"axes", "axes", "std::string",
               "The mesh axes, major first, or none (default: dp)">,
    ListOption<"expertAxes", "expert-axes", "std::string",
               "Axes for weights of routed experts, or none (default: axes)">,
  ];
}

def ShardExpertsPass : ShardPass<"autopar-shard-experts"> {
  let summary = "expert parallelism: splits the experts";
  let description = [{
    Splits the expert dimension of routed experts' weights. Routed tokens go to
    the devices that have their experts, and back: an `all_to_all` over the axes
    that split tokens, and no transfer over those that do not, where each device
    takes its share and the parts are summed behind `combine`.

    Requires a mesh with the axes. Guarantees that only weights of routed experts
    change, and that there is one.
  }];
  let options = [
    ListOption<"axes", "axes", "std::string",
               "The mesh axes, major first (default: ep)">,
    Option<"redundant", "redundant", "int64_t", "0",
           "Slots of all devices beyond one for each expert: the split is padded "
           "to experts + redundant">,
  ];
}

def PlaceExpertsPass : ShardPass<"autopar-place-experts"> {
  let summary = "says which devices hold which experts";
  let description = [{
    Writes `parallel.expert_placement`, in place of one that is there. The layers
    are those of the step that have experts, by the numbers of their repeats; the
    slots are what the split of their weights makes room for. With loads (a file of
    `autopar.load/1` or CSV, or a word such as `zipf:1.0`) or a routing trace,
    experts are assigned to slots: the hottest rank decides, then sends between
    nodes, by the trace. Without, only the policy is written.

    Requires experts that are split over the axes and, with loads, sizes for
    them. Guarantees that nothing else changes.

    ```mlir
    parallel.mesh @pod(ep = 2)
    // autopar-place-experts{policy=block}
    parallel.expert_placement over [ep] policy block
    ```
  }];
  let options = [
    ListOption<"axes", "axes", "std::string",
               "The mesh axes, major first (default: ep)">,
    Option<"policy", "policy", "std::string", "\"block\"",
           "block, round_robin or balanced">,
    Option<"load", "load", "std::string", "\"\"",
           "Tokens per expert: a file, or a word such as zipf:1.0">,
    Option<"trace", "trace", "std::string", "\"\"",
           "Experts that tokens were routed to together: a file">,
    Option<"groupsInNode", "groups-in-node", "bool", "false",
           "Keep the groups that routers select from in one node">,
    Option<"tolerance", "tolerance", "double", "0.02",
           "By how much the hottest rank may be hotter to save sends">,
  ];
}

def PropagatePass : ShardPass<"autopar-propagate"> {
  let summary = "spreads the splits that a few values have";
  let description = [{
    Takes the splits of weights, caches and arguments that the types have, and
    spreads them along the ops' factors to all other weights, caches, arguments
    and results, through calls and loops; then types are recomputed. The first
    split that reaches a dimension stays; where an op cannot take an operand as
    it is, a `parallel.reshard` goes between.

    Requires a mesh with the axes. Guarantees that splits which are there stay.

    ```mlir
    parallel.mesh @pod(tp = 4)
    func.func private @example() {
      // One of two weights that meet in an activation, split by hand: the other
      // will be split by rows.
      %up = transformer.weight "up" : tensor<64x256xbf16, #parallel.sharding<[_, _ by tp]>>
      return
    }
    ```
  }];
}

include "autopar/Transforms/CollectivePasses.td"

def PrintCostProgramPass
    : Pass<"autopar-print-cost-program", "::mlir::ModuleOp"> {
  let summary = "prints what the module costs, with neither sizes nor seconds";
  let description = [{
    Writes the cost program as JSON (`autopar.program/1`) to standard error. It
    does not depend on the sizes of axes, nor on the workload; an axis of one
    device is as none.
  }];
}

/// A pass that writes a report of a module.
class ReportPass<string argument>
    : PassBase<argument, "::autopar::ReportPass">;
/// Options of all such passes.
defvar reportOptions = [
  Option<"format", "format", "std::string", "\"text\"", "text or json">,
  Option<"output", "output", "std::string", "\"-\"",
         "Where the report goes (-: standard output)">,
];

def StagePipelinePass : ModulePass<"autopar-stage-pipeline"> {
  let summary = "lays the layers over pipeline stages";
  let description = [{
    Adds `parallel.stages` over the axis `pp` of the mesh, in place of one that is
    there. Without `stages`, layers are balanced by what they cost on the
    machine: the heaviest device gets as little as can be, with what lies before
    and after the layers, and no device more memory than the runtime's share. A
    warning says where that memory is not enough; layers are then balanced by
    time alone.

    Requires a mesh with an axis `pp`, a size for each axis, a workload, and no
    `parallel.reshard`: it comes last.

    ```mlir
    // autopar-stage-pipeline{microbatches=4}
    parallel.mesh @mesh(pp = 2, tp = 8)
    parallel.stages over [pp] layers [0 to 40, 41 to 79] schedule("inference") microbatches(4)
    ```
  }];
  let options = [
    Option<"stages", "stages", "std::string", "\"\"",
           "Layers of each virtual stage, 0-19,20-40,... (default: by cost)">,
    Option<"interleave", "interleave", "int64_t", "0",
           "Virtual stages of each device (default: 1)">,
    Option<"schedule", "schedule", "std::string", "\"\"",
           "gpipe, one_f_one_b, interleaved, zero_bubble, dual_pipe, inference "
           "(default: inference, or interleaved)">,
    Option<"microbatches", "microbatches", "int64_t", "0",
           "Parts of the batch (default: what divides it, at most the stages)">,
  ];
  let dependentDialects = ["::autopar::parallel::ParallelDialect"];
}

def EstimatePass : ReportPass<"autopar-estimate"> {
  let summary = "reports memory, FLOPs, communication and latency of a step";
  let description = [{
    Reads the cost program off the IR, evaluates it on the module's
    `parallel.target`, and writes the report, which depends on nothing else. The
    module is not changed. Of a deployment it reports every module, and what a
    request moves over each `parallel.link`.

    What its warnings advise are remarks too, of the category `autopar-advice`,
    on the op that they are about: a cache, a collective, the mesh. They are
    silent without `--remarks-filter=autopar.*`.

    Requires sizes for all mesh axes, a workload, and no `parallel.reshard`.
  }];
  let options = !listconcat(reportOptions, [
    Option<"explain", "explain", "bool", "false",
           "Say how every number came about">,
    Option<"impact", "impact", "bool", "false",
           "Rank the figures by what 1 % more of each does to time and memory">,
    Option<"trace", "trace", "std::string", "\"\"",
           "File for the timeline of a pipeline, in Chrome's trace format">,
  ]);
}

def CloneModulePass : Pass<"autopar-clone-module", "::mlir::ModuleOp"> {
  let summary = "puts copies of a module into modules inside it";
  let description = [{
    The module keeps its name and gets one module inside for each of `names`,
    with what it held: two plans of one model, or the two sides of a deployment.

    Requires distinct names. Guarantees that the module holds nothing else, but
    for a `parallel.link` from each copy to the next where `link` is given.

    ```mlir
    // autopar-clone-module{names=prefill,decode link=true}
    module @model {
      module @prefill {
        transformer.workload @w(phase = prefill, batch = 1, query = 2048, context = 2048)
      }
      module @decode {
        transformer.workload @w(phase = prefill, batch = 1, query = 2048, context = 2048)
      }
      parallel.link @prefill to @decode
    }
    ```
  }];
  let options = [
    ListOption<"names", "names", "std::string", "Names of the copies">,
    Option<"link", "link", "bool", "false",
           "Tie them as the modules of one deployment">,
  ];
  let dependentDialects = ["::autopar::parallel::ParallelDialect"];
}

def RunOnModulePass : Pass<"autopar-run-on-module", "::mlir::ModuleOp"> {
  let summary = "runs a pipeline on one of the modules inside";
  let description = [{
    `builtin.module(builtin.module(...))` runs passes on all modules inside;
    this runs them on the one called `module`. Errors name it.

    Requires such a module. Guarantees what the pipeline does.

    ```mlir
    // autopar-run-on-module{module=decode pipeline=builtin.module(autopar-bind-workload{batch=8})}
    module @decode {
      transformer.workload @w(phase = decode, batch = 8, query = 1, context = 4096)
    }
    ```
  }];
  let options = [
    Option<"module", "module", "std::string", "\"\"", "Name of the module">,
    Option<"pipeline", "pipeline", "std::string", "\"builtin.module()\"",
           "As --pass-pipeline takes it">,
  ];
}

def DiffModulesPass : ReportPass<"autopar-diff-modules"> {
  let summary = "reports in what two plans of a model differ";
  let description = [{
    Compares the two modules inside: the collectives of a step, the layouts and
    formats of weights, caches and states, and the numbers of the two reports.
    The module is not changed.

    Requires two modules inside, of which each has what `autopar-estimate`
    requires.
  }];
  let options = reportOptions;
}

#endif // AUTOPAR_TRANSFORMS_PASSES_TD

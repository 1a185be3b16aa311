//===- Passes.td - Passes that split tensors --------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_SPLIT_PASSES_TD
#define AUTOPAR_TRANSFORMS_SPLIT_PASSES_TD

include "autopar/Transforms/PassClasses.td"

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
    the tokens of encoders. What attention does about the keys of the others is
    the kind:

    * `ring` splits caches by `context`; their parts, or keys and values that no
      cache has, go around (`parallel.ring`), and each device attends with its
      own queries (arXiv:2310.01889). Gradients of keys and values go around with
      them (`parallel.ring_reduce`);
    * `all_to_all` splits heads instead of tokens inside attention, which must
      have enough of them (DeepSpeed-Ulysses, arXiv:2309.14509): inside of the
      split of tensor parallelism, which runs before. Gradients are exchanged
      back;
    * `all_gather` gathers keys and values, and scatters the sums of their
      gradients (Llama 3, arXiv:2407.21783, section 3.3.2). A module with caches
      is refused: each device would keep all of them.

    By default modules that train have `all_gather`, as `parallel.strategy` then
    says, and others `ring`.

    Costs count an equal share of the causal pairs for each device, as engines
    deal queries out in chunks from both ends (`#parallel.dim`).

    Requires a mesh with the axes. Guarantees that no weight of a product changes.
  }];
  let options = [
    ListOption<"axes", "axes", "std::string",
               "The mesh axes, major first (default: cp)">,
    Option<"kind", "kind", "std::string", "\"\"",
           "ring, all_to_all or all_gather (default: all_gather in training, "
           "else ring)">];
}

def ShardDecodeContextPass : ShardPass<"autopar-shard-decode-context"> {
  let summary = "decode context parallelism: splits the KV cache by tokens";
  let description = [{
    Splits caches by `context` over axes that tensor parallelism may use for
    heads: where there are fewer KV heads than devices, each then holds a part of
    the tokens instead of a copy of the heads. Attention with a part of the keys
    gives partial sums, weighted by normalisers that the devices exchange
    (`transformer.attention`), which are reduced behind it. Caches that an
    indexer chooses tokens by stay whole, as the best of a part are not the best
    of all: each device then attends to those of the chosen tokens that it has.

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

def InsertCollectivesPass : ModulePass<"autopar-insert-collectives"> {
  let summary = "implements each reshard by collectives";
  let description = [{
    Turns a `parallel.reshard` into the cheapest sequence of collectives that does
    it: the one in which a device sends the fewest bytes, then that of the fewest
    steps. What one reshard reduces and the next one slices at once becomes a
    `reduce_scatter`; what is gathered and sliced again stays.

    The sizes of the mesh play no part: bytes are counted as if each axis had the
    nominal size 2, and only the axes that operand or result use are considered. On
    the way a dimension is split by some of the operand's or of the result's axes,
    for those divide it; where its rule is `any`, by any; where it is `cap` or
    `pad`, by all of the operand's, all of the result's, or none. A dimension whose
    split changes its rule is gathered first.

    Requires nothing. Guarantees that no reshard is left.

    ```mlir
    !partial = tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
    parallel.mesh @pod(tp = 8)
    func.func private @example(%x: !partial) {
      %y = parallel.reshard %x : !partial -> tensor<4x64xbf16>
      // becomes
      %z = parallel.all_reduce %x over [tp] : !partial -> tensor<4x64xbf16>
      return
    }
    ```
  }];
  let dependentDialects = ["::autopar::parallel::ParallelDialect",
                           "::autopar::transformer::TransformerDialect"];
}

def DispatchTokensPass : ModulePass<"autopar-dispatch-tokens"> {
  let summary = "says how routed tokens travel to their experts";
  let description = [{
    Writes on each `all_to_all` of routed tokens how it sends them: `by_node`, with
    the numbers of the router whose tokens they are, and on the way to the experts
    the format; of fp8 with a scale for each 128 values (DeepSeek-V3,
    arXiv:2412.19437, section 3.3.2).

    Requires that no reshard is left. Guarantees that nothing else changes; a
    module without such a collective stays as it is.

    ```mlir
    !tokens = tensor<?x64xbf16, #parallel.sharding<[{batch*8} by [batch by ep], _]>>
    !routed = tensor<?x64xbf16, #parallel.sharding<[{batch*8} grouped [256 by ep], _]>>
    parallel.mesh @pod(ep = 32)
    func.func private @example(%x: !tokens) {
      // autopar-dispatch-tokens{format=fp8}
      %y = parallel.all_to_all %x dim 0 to experts over [ep] as f8E4M3FN blocks(128)
          : !tokens -> !routed
      return
    }
    ```
  }];
  let options = [
    Option<"byNode", "by-node", "bool", "false",
           "Send a token once to each node that has one of its experts">,
    Option<"format", "format", "std::string", "\"\"",
           "Format of tokens on their way to experts (empty: keep)">,
  ];
  let dependentDialects = ["::autopar::parallel::ParallelDialect",
                           "::autopar::transformer::TransformerDialect"];
}

def ShardOptimizerPass : ShardPass<"autopar-shard-optimizer"> {
  let summary = "splits what optimizers keep, and gradients, over the replicas";
  let description = [{
    Each update of a weight is made of a part of it by each of the devices along
    `axes`, which have the whole weight: the gradient is reduced and scattered
    instead of reduced, what the optimizer keeps is split, and the new elements
    are gathered (ZeRO stage 1, Rajbhandari et al., arXiv:1910.02054, section 5.1;
    Megatron's distributed optimizer). With `gradients`, microbatches add up the
    gradient of that part alone, for which the backward reduces and scatters what
    each makes (stage 2, section 5.2). Of a weight, the largest dimension that is
    whole is split; one that is split over `axes` already stays as it is.

    Requires a module with updates, else does nothing; it comes last of these
    passes. Guarantees that forwards stay as they are, and backwards, too, without
    `gradients`.

    ```mlir
    // autopar-shard-optimizer{axes=dp}
    parallel.mesh(dp = 4)
    parallel.strategy zero(1)
    ```
  }];
  let options = [
    ListOption<"axes", "axes", "std::string",
               "Mesh axes of the replicas (default: dp)">,
    ListOption<"expertAxes", "expert-axes", "std::string",
               "Those of copies of experts (default: the same; none: of none)">,
    Option<"gradients", "gradients", "bool", "false",
           "Split the gradients that microbatches add up, too">,
  ];
}

#endif // AUTOPAR_TRANSFORMS_SPLIT_PASSES_TD

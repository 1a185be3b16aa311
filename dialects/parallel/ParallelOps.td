//===- ParallelOps.td - Mesh and collectives --------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PARALLEL_OPS_TD
#define AUTOPAR_PARALLEL_OPS_TD

include "parallel/ParallelAttrs.td"
include "interfaces/Interfaces.td"
include "interfaces/TensorHandle.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class PAR_Op<string mnemonic, list<Trait> traits = []>
    : Op<ParallelDialect, mnemonic, traits>;

include "parallel/PlanOps.td"

def PAR_AxesAttr : TypedArrayAttrBase<StrAttr, "mesh axes">;

def PAR_MeshOp : PAR_Op<"mesh", [
    DeclareOpInterfaceMethods<DeviceMeshOpInterface>]> {
  let summary = "names the axes of the devices";
  let description = [{
    Axes are atoms, outermost first; the last one runs over the fastest links.
    The device at places `i_0, i_1, ..` along axes of sizes `s_0, s_1, ..` has
    the number

        (i_0 * s_1 + i_1) * s_2 + ...

    so that neighbours along the last axis have neighbouring numbers. A size may
    be left open (`?`): such a module verifies, shards and prints. The braces
    name degrees that are products of axes; types and ops name axes only. A name of
    the mesh is for readers alone.

    **Constraints:** one per module; names are distinct; sizes are positive; a
    degree's axes exist and are distinct.

    **Example:**
    ```mlir
    parallel.mesh(pp = 4, dpo = 2, dpi = 8, tp = ?) {dp = dpo*dpi, ep = dpi*tp}
    ```
  }];
  let arguments = (ins OptionalAttr<SymbolNameAttr>:$sym_name, PAR_AxesAttr:$axes,
                       DenseI64ArrayAttr:$sizes,
                       DefaultValuedAttr<DictionaryAttr, "{}">:$degrees);
  let assemblyFormat = [{
    ($sym_name^)? `` custom<MeshAxes>($axes, $sizes) `` custom<Degrees>($degrees)
    attr-dict-with-keyword
  }];
  let hasVerifier = 1;
}

def PAR_StagesOp : PAR_Op<"stages", [MicrobatchesOpInterface]> {
  let summary = "lays the layers over pipeline stages";
  let description = [{
    Layers are the calls in the last loops of the module's public function that
    follow each other, counted from 0 as they run. The devices of the axis, of
    which `axes` has one, are the stages; with `interleave(v)` each has `v`
    virtual stages, and the ranges are dealt out:

        range r is virtual stage r div p of the device at place r mod p

    of `p` devices. The stack is not copied: a range says which of its layers a
    stage runs. What lies before the first layer is on the first virtual stage,
    what follows the last one on the last: that may be all that they have, where
    the first range is `embedding`, or the last one `head`. Other axes split tensors among the
    devices of a stage; this one splits none.

    An input of the function, an op without operands (a weight, a cache, a
    state, a saved value) and what collectives alone make of one is on each
    stage that reads it, and on no other: a table that embeds and scores has a
    copy on the first stage and one on the last. All other values are on the stage that computes
    them. A stage is sent those that the ones before it compute, and that it or
    one after it reads; it sends on what it does not read itself. Between places
    `a` and `a'` of the axis, each device `d` at `a'` has then

        y[d] = x[e]    e: the device at a that differs from d in this axis alone

    An argument that a function does not use is not read, nor is what only
    further iterations of a loop would read, in the last one. No value depends
    on stages.

    A backward runs the layers from the last one to the first, each on the stage
    that has it. What lies before its layers is on the last virtual stage, what
    follows them on the first, and a stage sends to the one before it. Once all
    backwards are done, stages that have copies of a weight sum its gradients,
    and each of them updates its copy:

        gradient of w[d] = sum of what backwards have added on d and on each
                           device with a copy that differs from d in this axis alone

    `batch` is divided into `microbatches` equal parts: of `b` sequences and `m`
    parts, part `i` has the sequences

        i * b/m  to  (i+1) * b/m - 1

    and is the batch that ops and the types' splits see: axes that split
    sequences split those of each part. A step whose batch does not divide is
    refused. Caches and states keep the sequences of all parts; results are
    those of all parts, put together. Each part goes through each stage once, in
    the order of `schedule`: gpipe, one_f_one_b, interleaved, zero_bubble,
    dual_pipe, inference. In dual_pipe, the second half of the parts goes the
    other way: range `r` of it is on the device at place `p - 1 - r`. Without
    gradients a device does the forwards alone, in that order, each when it has
    been sent what it reads. `assumed` names those of `schedule`,
    `microbatches` and `stages`, the ranges of a training, that nobody has chosen.

    **Constraints:** one per module; ranges follow each other from layer 0, each
    of one layer at least, but for the first and the last of several, as many as
    the one axis has devices times `interleave`; only the schedule `interleaved`
    has an `interleave` above 1. One stage without an axis is none: the
    microbatches of a training are `training.microbatches` then.

    **Example:**
    ```mlir
    parallel.mesh(pp = 2, tp = 8)
    parallel.stages over [pp] layers [0 to 40, 41 to 79] schedule(inference) microbatches(4)
    ```
  }];
  let arguments = (ins PAR_AxesAttr:$axes, DenseI64ArrayAttr:$ends,
                       DefaultValuedAttr<I64Attr, "1">:$interleave,
                       PAR_ScheduleAttr:$schedule, I64Attr:$microbatches,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$assumed);
  let assemblyFormat = [{
    `over` custom<Words>($axes) `layers` custom<LayerRanges>($ends)
    (`interleave` `(` $interleave^ `)`)? `schedule` `(` custom<Word>($schedule) `)`
    `microbatches` `(` $microbatches `)`
    (`assumed` custom<Words>($assumed)^)? attr-dict
  }];
  let extraClassDeclaration = [{
    /// The layers of each virtual stage.
    ::std::vector<::autopar::schedule::LayerRange> getRanges();
  }];
  let hasVerifier = 1;
}

def PAR_LinkOp : PAR_Op<"link", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "hands requests from one module of a deployment to another";
  let description = [{
    When a request is done in module `from`, the rows of its KV caches and its
    states move to module `to`, into the caches and states of the same name, in
    the layout that they have there: prefill and decode on devices of their own.
    Each device of `to` gets, of all that the devices of `from` hold, what its
    types say, whatever either's splits:

        kept_to[e][j..] = kept_from[d][j..]    d: any device of `from` with j

    `--estimate` reports both modules, and what a request moves:

        bytes = context * KV bytes per token + state bytes

    of which a device sends what it holds. With `by_layer`, the caches of a layer
    move while those after it are computed, so that requests wait for what is
    left; else all move when the prompt is read.

    **Constraints:** both are modules beside the op, distinct, each with a
    workload; their caches and states are the same but for layouts: function,
    name, extents, format and attributes.

    **Example:**
    ```mlir
    module @prefill {
      transformer.workload(phase = prefill, batch = 1, query = 2048, context = 2048)
    }
    module @decode {
      parallel.target hardware("h200-sxm-8")
      transformer.workload(phase = decode, batch = 64, query = 1, context = 2048)
    }
    parallel.link @prefill to @decode by_layer
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$from, FlatSymbolRefAttr:$to,
                       UnitAttr:$by_layer);
  let assemblyFormat = "$from `to` $to (`by_layer` $by_layer^)? attr-dict";
}

def PAR_ExpertPlacementOp : PAR_Op<"expert_placement"> {
  let summary = "says which devices hold which experts";
  let description = [{
    The devices of `axes` share the experts of each layer: the device at place
    `r` of `n` over them, its rank, holds the slots `[r*s/n, (r+1)*s/n)` of `s`,
    and slot `p` holds expert `slots[l, p]`. An expert in several slots splits
    its tokens evenly among them. Of `loads[l, e]` tokens of layer `layers[l]`
    that go to expert `e`, a rank then has

        tokens[l, r] = sum of loads[l, e] / slots of e, over the slots of r

    and a step waits for the hottest: rows of experts, and what is sent to them,
    are those of the mean times the hottest rank over the mean, averaged over
    the layers of one function. Reports compute this from the tables: edit them.

    Types say how many slots a device has, tables what is in them. Of a tensor
    with one entry for each of `E` experts, split over `axes` by `plain` or by
    `pad s`, a device has those of the experts in its slots, slots in rising
    order. A routed token on its way to an expert in `c` slots goes to one of
    them, `t mod c` of the `c` in rising order for token `t` of the step, as the
    set counts tokens. Tensors that are not split over `axes` have experts.

    Without tables nothing is known of the loads, and they count as even; no
    value depends on the op, as what types say of a part holds: slot `p` has
    expert `p`, and the slots from `E` on are padding. Slots of `E` experts that
    reports count by each policy:

        block         slot p holds expert p mod E
        round_robin   the i-th slot dealt out, slot (i div n) of rank
                      (i + i div lcm(E, n)) mod n, holds expert i mod E
        balanced      what the loads ask for, and the trace where there is one

    and on each rank in rising order. `redundant` slots are those beyond one per
    expert: `s = E + redundant`. `groups` and `groups_in_node`, `tolerance`,
    `loads_from` and `trace_from` are what the pass was asked for. `node_sends[l]`
    has what a routing trace told the pass: tokens, their sends to other nodes, and those
    of policy `block`; where slots are edited, it is out of date.

    **Constraints:** one per module; the axes are of its mesh, and distinct; layers
    rise; `slots` is `[layers, slots]`, `loads` is `[layers, experts]`, finite and not
    negative, `node_sends` is `[layers, 3]`; every expert has a slot; the product of the
    axes' sizes divides the slots; `balanced` has tables; groups divide the experts.

    **Example:**
    ```mlir
    parallel.mesh(ep = 2)
    parallel.expert_placement over [ep] policy balanced layers [3]
        slots dense<[[0, 1, 0, 2]]> : tensor<1x4xi32>
        loads dense<[[6.0, 2.0, 1.0]]> : tensor<1x3xf64> {redundant = 1}
    ```
  }];
  let arguments = (ins PAR_AxesAttr:$axes, PAR_PlacementPolicyAttr:$policy,
                       OptionalAttr<DenseI64ArrayAttr>:$layers,
                       OptionalAttr<ElementsAttr>:$slots,
                       OptionalAttr<ElementsAttr>:$loads,
                       OptionalAttr<ElementsAttr>:$node_sends,
                       DefaultValuedAttr<I64Attr, "0">:$redundant,
                       DefaultValuedAttr<I64Attr, "1">:$groups,
                       UnitAttr:$groups_in_node,
                       DefaultValuedAttr<F64Attr, "0.02">:$tolerance,
                       DefaultValuedAttr<StrAttr, "\"\"">:$loads_from,
                       DefaultValuedAttr<StrAttr, "\"\"">:$trace_from);
  let assemblyFormat = [{
    `over` custom<Words>($axes) `policy` custom<Word>($policy)
    (`layers` $layers^ `slots` $slots `loads` $loads)? (`node_sends` $node_sends^)?
    attr-dict
  }];
  let extraClassDeclaration = [{
    bool hasTables() { return static_cast<bool>(getSlotsAttr()); }
    /// How experts were placed; the op was verified, as for the tables below.
    ::autopar::placement::PlacementOptions getOptions();
    int64_t getNumSlots() { return getSlotsAttr().getShapedType().getDimSize(1); }
    int64_t getNumExperts() { return getLoadsAttr().getShapedType().getDimSize(1); }
    /// A row of each table.
    ::std::vector<int32_t> readSlots(size_t layer);
    ::std::vector<double> readLoads(size_t layer);
    /// Empty where there is no trace.
    ::std::vector<double> readNodeSends(size_t layer);
  }];
  let hasVerifier = 1;
}

def PAR_TensorOrHandle : AnyTypeOf<[AnyRankedTensor, TensorHandleInterface]>;

/// An op whose result is its operand, laid out otherwise, and called `name` in
/// text.
class PAR_LayoutOp<string mnemonic, string name, dag attributes,
                   TypeConstraint type = AnyRankedTensor> : PAR_Op<mnemonic, [
    Pure, EncodingsMatchModule,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<WorkloadOpInterface>]> {
  let arguments = !con((ins type:$input), attributes);
  let results = (outs type:$result);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      setName(getResult(), "}] # name # [{");
    }
  }];
}

class PAR_CollectiveOp<string mnemonic, string name, dag attributes,
                       TypeConstraint type = AnyRankedTensor>
    : PAR_LayoutOp<mnemonic, name,
                   !con(attributes, (ins PAR_AxesAttr:$axes)), type> {
  let hasFolder = 1;
}

def PAR_ReshardOp : PAR_LayoutOp<"reshard", "resharded", (ins), PAR_TensorOrHandle> {
  let summary = "asks for another layout";
  let description = [{
    Moves data: every device gets the elements that the result's type gives it.

        result = input

    Which collectives do it is decided by `autopar-insert-collectives`; until
    then it has no cost, and `--estimate` refuses it.

    **Constraints:** operand and result differ in their encodings only.

    **Example:**
    ```mlir
    parallel.mesh(tp = 8)
    func.func private @example(%x: tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>) {
      %y = parallel.reshard %x
          : tensor<64xbf16, #parallel.sharding<[_] partial [tp]>> -> tensor<64xbf16>
      return
    }
    ```
  }];
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
}

def PAR_AllReduceOp : PAR_CollectiveOp<"all_reduce", "sum", (ins)> {
  let summary = "sums partial values over axes";
  let description = [{
    Every device of a group over `axes` gets the sum of what they have:

        result_d[j..] = sum of input_e[j..] over all e of the group of d

    `result = input` without `axes` among its partial axes. Of sets the devices
    have the same rows. A ring moves `2(n-1)/n` of the buffer per device.

    **Constraints:** the axes are partial in the operand and gone in the result;
    nothing else changes.

    **Example:**
    ```mlir
    parallel.mesh(tp = 8)
    func.func private @example(%x: tensor<64xbf16, #parallel.sharding<[_] partial [tp]>>) {
      %y = parallel.all_reduce %x over [tp]
          : tensor<64xbf16, #parallel.sharding<[_] partial [tp]>> -> tensor<64xbf16>
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $input `over` custom<Words>($axes) attr-dict `:` type($input) `->` type($result)
  }];
}

def PAR_AllGatherOp : PAR_CollectiveOp<"all_gather", "gathered", (ins I64Attr:$dim)> {
  let summary = "puts a split dimension together again";
  let description = [{
    Every device of a group over `axes` gets what the others have of `dim`:

        result_d[.., j, ..] = input_e[.., j, ..]    e: one of the group with j

    for the indices `j` that the result's type gives device `d`.
    `result = input` with the suffix `axes` removed from the split of dimension
    `dim`. Padding that the result does not have is left out. Of a set, it is
    the rows of all. Each device gets `(n-1)/n` of the result from the others.

    **Constraints:** `axes` end the operand's split of `dim` (a set has no order:
    any of its axes will do), and what remains keeps its rule; nothing else
    changes.

    **Example:**
    ```mlir
    parallel.mesh(tp = 8)
    func.func private @example(%x: tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>>) {
      %y = parallel.all_gather %x dim 1 over [tp]
          : tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>> -> tensor<4x64xbf16>
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $input `dim` custom<TensorDim>($dim) `over` custom<Words>($axes) attr-dict
    `:` type($input) `->` type($result)
  }];
}

def PAR_ReduceScatterOp : PAR_CollectiveOp<"reduce_scatter", "part", (ins I64Attr:$dim)> {
  let summary = "sums partial values and keeps a part each";
  let description = [{
    Every device of a group over `axes` gets its part of the sum:

        result_d[.., j, ..] = sum of input_e[.., j, ..] over the group of d

    for the indices `j` of `dim` that the result's type gives device `d`.
    `result = input` with `axes` moved from the partial axes to the end of the
    split of dimension `dim`: an `all_reduce` followed by an `all_slice`, for
    half the bytes.

    **Constraints:** the axes are partial in the operand; a split that the operand
    has keeps its rule, a new one has any; nothing else changes.

    **Example:**
    ```mlir
    parallel.mesh(tp = 8)
    func.func private @example(%x: tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>) {
      %y = parallel.reduce_scatter %x dim 1 over [tp]
          : tensor<4x64xbf16, #parallel.sharding<[_, _] partial [tp]>>
          -> tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>>
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $input `dim` custom<TensorDim>($dim) `over` custom<Words>($axes) attr-dict
    `:` type($input) `->` type($result)
  }];
}

def PAR_AllToAllOp : PAR_CollectiveOp<"all_to_all", "exchanged", (ins
    I64Attr:$from, I64Attr:$to, OptionalAttr<I64Attr>:$top_k,
    OptionalAttr<I64Attr>:$groups, OptionalAttr<I64Attr>:$keep,
    OptionalAttr<TypeAttr>:$format, OptionalAttr<I64Attr>:$blocks)> {
  let summary = "moves a split from one dimension to another";
  let description = [{
    Every device of a group over `axes` gets from each other one what that has
    for it:

        result_d[.., i, .., j, ..] = input_e[.., i, .., j, ..]

    for the indices `i` of `from` and `j` of `to` that the result's type gives
    device `d`, `e` being a device of the group of `d` that has `i`.
    `result = input` with the suffix `axes` of the split of dimension `from`
    moved to the end of the split of dimension `to`. Each device sends `(n-1)/n`
    of what it has.

    `experts` is the grouping of a set of routed tokens: `dim 0 to experts` sends
    tokens to the devices that have their experts, `dim experts to 0` sends them
    back.

    `by_node` says how rows travel, and no value: the rows `(t, j)` of a token go
    once to each other node that has one of its experts, as they are copies of
    it, and there to each device that has one; back, a device and then a node
    adds up what it has of a token, as `transformer.combine` would, and sends the
    sum (DeepEP's kernels with NVLink and RDMA forwarding). Nothing but
    `combine` may use rows that come back so. The `top_k` experts of a token are
    of `keep` of `groups` groups of neighbours (`transformer.router`); all such
    choices taken as alike, of `E` experts in blocks of `c` on the nodes of a
    group, a token is on its way to

        nodes * (1 - sum over g of P(g) * C(M - c(g), top_k) / C(M, top_k))

    of them: `M = keep*E/groups` experts are in the groups that it keeps, `c(g)`
    of these on one node, and `P(g)` is hypergeometric. Devices in place of
    nodes likewise. A group inside one node moves its rows as without.

    `as f8E4M3FN blocks(128)`: what is sent is in that format, with an f32 scale
    for each block of a row; the result has the values of the operand, as far as
    the format has them.

    **Constraints:** `axes` end the operand's split of `from` (any axes of a set, in
    any order); `from` is not `to`; a split that the operand has keeps its rule, a
    new one has any; nothing else changes. `by_node` and `as` are for routed
    tokens between dimension 0 and `experts`, `as` on the way there; `top_k`
    divides the rows of the set, is at most the experts of the groups that are
    kept, and like `groups` at most 256; groups divide the experts; `blocks`
    are positive.

    **Example:**
    ```mlir
    parallel.mesh(tp = 8)
    func.func private @example(%x: tensor<8x64xbf16, #parallel.sharding<[_, _ by tp]>>) {
      %y = parallel.all_to_all %x dim 1 to 0 over [tp]
          : tensor<8x64xbf16, #parallel.sharding<[_, _ by tp]>>
          -> tensor<8x64xbf16, #parallel.sharding<[_ by tp, _]>>
      return
    }
    !tokens = tensor<?x64xbf16, #parallel.sharding<[{batch*8} by [batch by tp], _]>>
    !routed = tensor<?x64xbf16, #parallel.sharding<[{batch*8} grouped [256 by tp], _]>>
    func.func private @dispatch(%x: !tokens) {
      %y = parallel.all_to_all %x dim 0 to experts over [tp]
          by_node top_k(8) groups(8) keep(4) as f8E4M3FN blocks(128) : !tokens -> !routed
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $input `dim` custom<TensorDim>($from) `to` custom<TensorDim>($to) `over` custom<Words>($axes)
    (`by_node` `top_k` `(` $top_k^ `)` (`groups` `(` $groups^ `)` `keep` `(` $keep `)`)?)?
    (`as` $format^ (`blocks` `(` $blocks^ `)`)?)? attr-dict
    `:` type($input) `->` type($result)
  }];
  let extraClassDeclaration = [{
    bool isByNode() { return getTopK().has_value(); }
    /// Whether it moves routed tokens to their experts, or back.
    bool movesRoutedTokens();
    bool sendsToExperts();
  }];
}

def PAR_PermuteOp : PAR_CollectiveOp<"permute", "permuted", (ins)> {
  let summary = "puts the axes of splits in another order";
  let description = [{
    Every device of a group over `axes` gets the whole part of another one:

        result_d = input_e    e: the one of the group of d that had, by the
                                 operand's type, what d has by the result's

    `result = input` with the axes of each dimension in the order that the
    result says. The shape on a device and the partial sums stay, but for blocks
    of `any` that are one longer. Over no axes nothing moves; the result may
    then list the axes of sets and partial sums in another order, which means
    nothing.

    **Constraints:** `axes` are those between the first and the last that change
    place in a dimension, of all dimensions together; each dimension is split over
    the same axes as before; nothing else changes.

    **Example:**
    ```mlir
    parallel.mesh(dp = 2, tp = 8)
    func.func private @example(%x: tensor<64xbf16, #parallel.sharding<[_ by dp*tp]>>) {
      %y = parallel.permute %x over [dp, tp]
          : tensor<64xbf16, #parallel.sharding<[_ by dp*tp]>>
          -> tensor<64xbf16, #parallel.sharding<[_ by tp*dp]>>
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $input `over` custom<Words>($axes) attr-dict `:` type($input) `->` type($result)
  }];
}

def PAR_AllSliceOp : PAR_CollectiveOp<"all_slice", "slice", (ins I64Attr:$dim)> {
  let summary = "keeps a part of a whole dimension";
  let description = [{
    Every device keeps, of what it has, its part of `dim`:

        result_d[.., j, ..] = input_d[.., j, ..]

    for the indices `j` that the result's type gives device `d`.
    `result = input` with `axes` appended to the split of dimension `dim`. No
    bytes move between devices. `dim experts` keeps the routed tokens that go to
    the device's own experts.

    **Constraints:** the axes are not used by the operand; a split that the operand
    has keeps its rule, a new one has any; nothing else changes.

    **Example:**
    ```mlir
    parallel.mesh(tp = 8)
    func.func private @example(%x: tensor<4x64xbf16>) {
      %y = parallel.all_slice %x dim 1 over [tp]
          : tensor<4x64xbf16> -> tensor<4x64xbf16, #parallel.sharding<[_, _ by tp]>>
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $input `dim` custom<TensorDim>($dim) `over` custom<Words>($axes) attr-dict
    `:` type($input) `->` type($result)
  }];
  let hasCanonicalizer = 1;
}

include "parallel/RingOps.td"

#endif // AUTOPAR_PARALLEL_OPS_TD

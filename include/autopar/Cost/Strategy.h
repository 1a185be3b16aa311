//===- Strategy.h - The formulas of a cost program --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strategy is the graph of formulas of a cost program, valid for all
// machines, sizes of axes and workloads. Its columns map records of the program
// to nodes. Times are integer picoseconds: each launch and each call is rounded
// once, so that sums do not depend on their order.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_STRATEGY_H
#define AUTOPAR_COST_STRATEGY_H

#include "autopar/Cost/Graph.h"

#include <array>
#include <vector>

namespace autopar::cost {

/// A number of a chip or a runtime that the formulas of a strategy use.
struct FigureUse {
  enum class Kind : uint8_t {
    memory_bandwidth,
    memory_usable,
    peak,
    sustained_compute,
    curve_floor,
    compute_efficiency,
    memory_efficiency,
    exponent,
    tile_queries,
    tile_slots,
    tile_keys,
    tile_split_slots,
    kernel_floor,
    host_time,
    host_time_per_layer,
    host_time_per_sequence,
    overlaps_shared_experts,
    routing_skew,
    context_bytes,
    library_bytes,
    graph_bytes,
    graph_bytes_each,
    graphs,
    whole_graphs,
    graph_bytes_per_recurrent_graph,
    communication_bytes,
    communication_bytes_per_peer,
    memory_utilization,
    /// Whether `memory_utilization` is a share of the memory that everything
    /// else leaves free, and whether it sets the reserve for temporaries: 1 or
    /// 0.
    memory_of_free,
    memory_of_reserve,
    /// Whether `memory_utilization` has its default value: 1 if it has, else 0.
    reserve_by_rule,
    reserve_bytes,
    reserve_bytes_per_token,
    reserve_bytes_per_peer,
    reserve_least,
    reserve_bytes_per_graph_sequence,
    graph_sequences,
    expert_hidden_multiple,
    expert_intermediate_multiple,
    expert_contraction_multiple,
    token_budget,
    kv_block_tokens,
    profile_tokens,
    profile_sequences,
    profile_hidden_states,
    sampler_bytes_per_logit,
    keeps_expert_workspace,
    reduction_bucket,
    copies_gradients,
    casts_gathered_weights,
  };
  Kind kind = Kind::memory_bandwidth;
  /// For peaks and curves only: the kind of kernel, the number format in which
  /// it multiplies, and the format of its weights (`Kernel::storage`).
  program::KernelKind kernel = program::KernelKind::elementwise;
  ElementType type = ElementType::bf16;
  std::optional<ElementType> storage = std::nullopt;

  /// Whether the figure is a coefficient of the measured curve of a kernel.
  bool isOfCurve() const {
    return kind >= Kind::curve_floor && kind <= Kind::tile_split_slots;
  }

  bool operator==(const FigureUse &other) const {
    return kind == other.kind && kernel == other.kernel && type == other.type &&
           storage == other.storage;
  }
};

/// A kind of collective over the groups of some axes. The nodes `Op::call`
/// refer to it.
struct LinkUse {
  program::CollectiveKind kind = program::CollectiveKind::all_reduce;
  std::vector<program::AxisId> axes;
  std::optional<program::NodeDispatch> byNode = std::nullopt;
};

/// The shape of a kernel that selects an entry of its measured table.
struct ShapeUse {
  program::ShapeKind kind = program::ShapeKind::product;
  /// The kind and formats of the kernel, as in `FigureUse`.
  program::KernelKind kernel = program::KernelKind::matmul;
  ElementType type = ElementType::bf16;
  std::optional<ElementType> storage = std::nullopt;
  /// The sizes that the layout fixes: nodes in a strategy, slots in a tape.
  std::vector<uint32_t> fixed;

  bool operator==(const ShapeUse &other) const {
    return kind == other.kind && kernel == other.kernel && type == other.type &&
           storage == other.storage && fixed == other.fixed;
  }
};

/// The value of `Op::skew` and `Op::peak_skew` if loads are even, and of
/// `Op::kept` if no token is dropped.
inline constexpr int64_t evenSkew = 1'000'000;
/// The value of `Op::sent` for a byte that is sent once.
inline constexpr int64_t wholeSent = 1'000'000;

/// The objects to which leaves and calls of formulas refer by index.
struct Leaves {
  std::vector<FigureUse> figures;
  std::vector<LinkUse> links;
  std::vector<ShapeUse> shapes;
  /// The placement of experts whose loads `Op::skew` describes; null if loads
  /// are even.
  std::shared_ptr<const program::PlacedExperts> placement;
};

/// Names one record of a cost program, or the program as a whole.
struct RecordRef {
  enum class Kind : uint8_t {
    program,
    weight,
    kv_cache,
    state,
    activation,
    saved,
    kernel,
    collective,
  };
  Kind kind = Kind::program;
  uint32_t index = 0;
};

/// A condition that a plan must meet, else it is refused. Requirements are in
/// the order of the program's records; the first one that fails is reported.
struct Requirement {
  enum class Kind : uint8_t {
    /// The workload must give a size to symbol `index` of the program.
    sizes,
    /// `devices` must divide `extent`, the number of slots of placed experts.
    places,
    /// `devices` must divide `extent`.
    divides,
    /// `devices` must divide `extent`, or `extent` must divide `devices`.
    caps,
    /// A link must join the devices of link `index`, if `extent` bytes move.
    joins,
    /// The chip must have a peak rate for kernel `record`: figure `index`.
    multiplies,
  };
  Kind kind = Kind::divides;
  RecordRef record;
  NodeId extent = noNode, devices = noNode;
  uint32_t index = 0;
  /// The axes whose sizes multiply to `devices`.
  std::vector<program::AxisId> axes = {};
};

/// The sizes that a workload gives. `Op::symbol` numbers them, group of
/// sequences by group.
enum class Symbol : uint8_t { batch, query, context, source, memory };
inline constexpr size_t symbolCount = 5;

/// Which kernels a runtime launches as one (`Kernel::fusionGroup`).
struct Launching {
  bool mergesSharedInput = false, fusesElementwise = false;
  /// Whether the matmuls of a backward add to the stored gradients, without a
  /// kernel of its own for the addition.
  bool fusesAccumulation = false;
  /// Whether each expert has a matmul of its own, in which case the kernels
  /// that copy tokens to experts and back are launched, too.
  bool loopsExperts = false;

  bool merges(program::KernelKind kind) const;
  bool merges(program::Kernel::Epilogue::Kind kind) const;
  /// `launches`: whether the runtime launches `kernel` at all. `curveKindOf`:
  /// the kind of kernel whose measured curve applies.
  bool launches(const program::Kernel &kernel) const {
    return loopsExperts || !kernel.routed;
  }
  program::KernelKind curveKindOf(const program::Kernel &kernel) const {
    bool isLooped =
        loopsExperts && kernel.kind == program::KernelKind::grouped_matmul;
    return isLooped ? program::KernelKind::matmul : kernel.kind;
  }
};

/// Nodes of the counts of one kernel on one device; 0 if the runtime does not
/// launch it.
struct KernelNodes {
  /// How often the kernel is launched in a pass.
  NodeId count = noNode;
  /// FLOPs of the kernel on all devices together: `launched` with all rows of
  /// experts, `usefulFlops` without the rows that pad them. `localFlops` are
  /// those on one device, `squareFlops` those of attention without a causal
  /// mask.
  NodeId launched = noNode, flops = noNode, usefulFlops = noNode,
         localFlops = noNode, squareFlops = noNode;
  /// Bytes of each traffic of the kernel, and the bytes of weights and KV
  /// caches that it reads.
  std::vector<NodeId> traffic;
  NodeId keptReadBytes = noNode;
  /// Time of one launch on a device if its FLOPs ran at the peak rate, in us.
  NodeId idealUs = noNode;
  /// The FLOPs and bytes of work that runs at once: of the whole kernel, or of
  /// one group of sequences in attention.
  struct Share {
    NodeId localFlops = noNode, movedBytes = noNode;
  };
  std::vector<Share> shares;
  /// Sizes that select an entry of the kernel's measured table, for each of
  /// `shares`; empty for kernels without tables. Sizes of the workload change
  /// `x` and `y`.
  struct Shape {
    NodeId x = noNode, y = noNode;
    /// The nodes of those sizes of the shape that the layout fixes.
    std::vector<NodeId> fixed;
    /// Positive in a prefill, 0 in a decode step.
    NodeId isPrefill = noNode;
  };
  std::vector<Shape> shapes;
};

/// Nodes of kernels that are launched as one, `count` times per pass.
struct LaunchNodes {
  /// One kernel of the launch: the bytes that the launch moves for it, and the
  /// time that it would take alone, without the launch floor.
  struct Member {
    uint32_t kernel = 0;
    NodeId movedBytes = noNode, roofUs = noNode;
  };
  std::vector<Member> members;
  /// For a launch that joins kernels of two layers, the index of the border
  /// between them.
  std::optional<uint32_t> border = std::nullopt;
  NodeId count = noNode, launched = noNode;
  NodeId computeUs = noNode, memoryUs = noNode;
  /// Roofline time of the launch, the part of it that arithmetic limits, and
  /// the launch floor.
  NodeId roofPs = noNode, computePs = noNode, floorPs = noNode;
};

struct CollectiveNodes {
  NodeId count = noNode, groupSize = noNode, bytes = noNode, wireBytes = noNode,
         timePs = noNode, boundUs = noNode;
  uint32_t link = 0;
};

/// Nodes of one resident tensor (weight, KV cache or state), of which a device
/// holds `count`.
struct ResidentNodes {
  NodeId count = noNode;
  /// Numbers for the whole model; `storedBytes` is in the format of the
  /// checkpoint.
  NodeId parameters = noNode, activeParameters = noNode, storedBytes = noNode;
  /// Bytes on one device; KV caches in whole blocks.
  NodeId localBytes = noNode;
  /// Bytes of caches and states per sequence: on all devices without duplicates
  /// (`perSequence`), on one device (`localPerSequence`), and on one device in
  /// whole KV blocks (`blocksPerSequence`).
  NodeId perSequence = noNode, localPerSequence = noNode,
         blocksPerSequence = noNode;
  /// Bytes of KV caches per additional token of one sequence, on all devices
  /// and on one; and per additional encoded position.
  NodeId perToken = noNode, localPerToken = noNode, perEncodedToken = noNode;
  /// Number of routed experts on a device.
  NodeId experts = noNode;
};

/// The temporaries of layer kind `layer` that are in memory at the same time.
struct LiveNodes {
  uint32_t layer = 0;
  std::vector<uint32_t> activations;
  NodeId bytes = noNode, profileBytes = noNode;
};

/// Nodes of the times of one section (forward, backward or optimizer) in one
/// pass.
struct SectionNodes {
  NodeId computePs, memoryPs, floorPs;
  /// Times of collectives: those that kernels wait for; those that carry tokens
  /// to experts and back; those that may run beside matmuls of a backward;
  /// those that gather weights, and those that reduce gradients, both of which
  /// may run beside kernels.
  NodeId communicationPs, dispatchPs, inputPs, gatherPs, reductionPs;
  /// FLOPs on all devices, with the rows that pad experts and without them.
  NodeId flops, usefulFlops;
};

/// The nodes of the numbers of a whole step.
struct TotalNodes {
  NodeId parameters, activeParameters, checkpointBytes, storedOnlyParameters,
      expertsPerDevice;
  /// Tokens that a rank routes to experts per microbatch, and the most tokens
  /// that an expert takes; 0 if experts take all.
  NodeId routedTokens, expertCapacityTokens;
  NodeId weightBytes, kvCacheBytes, stateBytes, activationBytes, runtimeBytes,
      communicationBytes, graphBytes, totalBytes, capacityBytes, budgetBytes,
      fits;
  NodeId profileBytes, expertBytes, samplerBytes, reserveBytes, reservedBytes,
      kvCapacityBytes, kvCapacityTokens;
  /// Number of groups of devices with sequences of their own, and the number of
  /// sequences for which each has memory.
  NodeId replicas, capacitySequences;
  NodeId kvBytesPerToken, kvBytesPerTokenPerDevice, kvBytesPerSequence,
      stateBytesPerSequence, localBytesPerSequence, blocksPerSequence;
  NodeId linearFlops, attentionFlops, squareFlops, recurrenceFlops, logitsFlops,
      flops, localFlops;
  NodeId wireBytes, keptReadBytes, launches;
  /// Layers with attention or another mixer of tokens on a device, and the
  /// host's time per step for them.
  NodeId layers, layersPs;
  /// `floorPs`: launch floors and `layersPs`. `hostPs`: the rest of the host's
  /// time.
  NodeId floorPs, hostPs;
  NodeId computePs, memoryPs, communicationPs, stepPs;
  /// Times in training: forward and backward run once per microbatch, the
  /// optimizer once per iteration.
  std::array<SectionNodes, program::sectionCount> sections;
  /// Time of the backward's kernels that compute gradients of weights, per
  /// microbatch, with their launch floors.
  NodeId weightGradientPs;
  NodeId gradientBytes, optimizerBytes;
  /// Bytes per device of gradients that both ends of a pipeline hold
  /// (`isCopied`).
  NodeId copiedGradientBytes;
  /// Bytes per device of the gradient copies that an update makes.
  NodeId updateBytes;
  /// Bytes per device that the forward of one microbatch keeps for its
  /// backward.
  NodeId savedBytes;
};

/// Which records a strategy counts, and how often.
enum class Counting : uint8_t {
  /// Counts all records, for a step of the whole model on every device.
  whole,
  /// Counts records by `Op::kind_count`, `Op::passes` and `Op::microbatches`,
  /// for pipeline stages.
  parts,
};

struct Strategy : Leaves {
  Graph graph;
  Launching launching;
  Counting counting = Counting::whole;
  /// Whether the program has backwards.
  bool trains = false;
  std::vector<Requirement> requirements;
  // Nodes of each record, by the record's index in the program.
  std::vector<KernelNodes> kernels;
  std::vector<CollectiveNodes> collectives;
  std::vector<ResidentNodes> residents;
  /// Bytes of each activation on a device.
  std::vector<NodeId> activations;
  /// Bytes that one microbatch saves for its backward, by saved value.
  std::vector<NodeId> saved;
  /// Bytes of each activation in the profiling run by which the runtime sizes
  /// its temporaries.
  std::vector<NodeId> profiled;
  std::vector<LaunchNodes> launches;
  std::vector<LiveNodes> live;
  /// Whether all KV caches and states of sequences are split over the same
  /// devices.
  bool splitsSequencesAlike = true;
  /// Bytes that a stage receives: by layer of the stack, then the input of the
  /// operations after the last layer, then the model's own inputs.
  std::vector<NodeId> transferBytes;
  TotalNodes total;
};

/// Compiles the formulas of `program`, which hold for any machine. `groups`
/// lists the groups of sequences in a step, each with its phase (kernels
/// without a phase ignore it): for example prompts beside decoding sequences.
/// Matmuls run over the rows of all groups, attention runs once per group.
/// Values per sequence are those of the first group.
Strategy compile(const program::CostProgram &program, Launching launching,
                 Counting counting = Counting::whole,
                 const std::vector<program::Phase> &groups = {
                     program::Phase::prefill});

} // namespace autopar::cost

#endif // AUTOPAR_COST_STRATEGY_H

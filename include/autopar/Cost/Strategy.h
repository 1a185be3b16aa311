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

/// A number of a chip or a runtime that formulas use.
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
    /// Whether that share is one of the memory that the rest leaves free, and
    /// whether it sets the reserve for temporaries: 1 or 0.
    memory_of_free,
    memory_of_reserve,
    /// Whether the share has its default: 1 or 0.
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
  /// For peaks and curves: the kind of kernel, the format of its units, and the
  /// format of its weights (`Kernel::storage`).
  program::KernelKind kernel = program::KernelKind::elementwise;
  ElementType type = ElementType::bf16;
  std::optional<ElementType> storage = std::nullopt;

  /// Whether the figure is a coefficient of a kernel's curve.
  bool isOfCurve() const {
    return kind >= Kind::curve_floor && kind <= Kind::tile_split_slots;
  }

  bool operator==(const FigureUse &other) const {
    return kind == other.kind && kernel == other.kernel && type == other.type &&
           storage == other.storage;
  }
};

/// A kind of collective over a group of axes; `Op::call` refers to it.
struct LinkUse {
  program::CollectiveKind kind = program::CollectiveKind::all_reduce;
  std::vector<program::AxisId> axes;
  std::optional<program::NodeDispatch> byNode = std::nullopt;
};

/// The shape of kernels that selects an entry of their curve's table.
struct ShapeUse {
  program::ShapeKind kind = program::ShapeKind::product;
  /// The kernel, as in `FigureUse`.
  program::KernelKind kernel = program::KernelKind::matmul;
  ElementType type = ElementType::bf16;
  std::optional<ElementType> storage = std::nullopt;
  /// The sizes that a layout fixes: nodes of a strategy, slots of a tape.
  std::vector<uint32_t> fixed;

  bool operator==(const ShapeUse &other) const {
    return kind == other.kind && kernel == other.kernel && type == other.type &&
           storage == other.storage && fixed == other.fixed;
  }
};

/// `Op::skew` and `Op::peak_skew` of even loads; `Op::kept` if no token is
/// dropped.
inline constexpr int64_t evenSkew = 1'000'000;
/// `Op::sent` of a byte that is sent once.
inline constexpr int64_t wholeSent = 1'000'000;

/// The objects that leaves and calls of formulas refer to.
struct Leaves {
  std::vector<FigureUse> figures;
  std::vector<LinkUse> links;
  std::vector<ShapeUse> shapes;
  /// The placement of the experts whose loads `Op::skew` describes; null if
  /// loads are even.
  std::shared_ptr<const program::PlacedExperts> placement;
};

/// A record of the program, or the program as a whole.
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

/// A condition without which a plan is refused. Requirements are in the order
/// of the program's records; the first that fails is reported.
struct Requirement {
  enum class Kind : uint8_t {
    /// A workload gives a size to symbol `index` of the program.
    sizes,
    /// `devices` divides `extent`, the slots of placed experts.
    places,
    /// `devices` divides `extent`.
    divides,
    /// One of the two divides the other.
    caps,
    /// A link joins the devices of link `index`, if `extent` bytes move.
    joins,
    /// The chip has a peak for kernel `record`: figure `index`.
    multiplies,
  };
  Kind kind = Kind::divides;
  RecordRef record;
  NodeId extent = noNode, devices = noNode;
  uint32_t index = 0;
  /// The axes of `devices`.
  std::vector<program::AxisId> axes = {};
};

/// The sizes that a workload gives. `Op::symbol` numbers them group by group.
enum class Symbol : uint8_t { batch, query, context, source, memory };
inline constexpr size_t symbolCount = 5;

/// The kernels that a runtime launches as one (`Kernel::fusionGroup`).
struct Launching {
  bool mergesSharedInput = false, fusesElementwise = false;
  /// Whether matmuls of a backward accumulate into the kept gradients.
  bool fusesAccumulation = false;
  /// Whether each expert has a matmul of its own, so that kernels on tokens on
  /// their way to experts and back are launched too.
  bool loopsExperts = false;

  bool merges(program::KernelKind kind) const;
  bool merges(program::Kernel::Epilogue::Kind kind) const;
  /// Whether `kernel` is launched at all, and the kind of its curve.
  bool launches(const program::Kernel &kernel) const {
    return loopsExperts || !kernel.routed;
  }
  program::KernelKind curveKindOf(const program::Kernel &kernel) const {
    bool isLooped =
        loopsExperts && kernel.kind == program::KernelKind::grouped_matmul;
    return isLooped ? program::KernelKind::matmul : kernel.kind;
  }
};

/// Nodes of one launch on one device; 0 if nothing is launched.
struct KernelNodes {
  /// Launches per pass.
  NodeId count = noNode;
  /// FLOPs of the whole model: of all rows of experts, and without the rows
  /// that pad them (`usefulFlops`).
  NodeId launched = noNode, flops = noNode, usefulFlops = noNode,
         localFlops = noNode, squareFlops = noNode;
  /// Bytes of each traffic; bytes read of weights and caches.
  std::vector<NodeId> traffic;
  NodeId keptReadBytes = noNode;
  /// Time of one launch on a device if its FLOPs ran at the peak rate, in us.
  NodeId idealUs = noNode;
  /// The FLOPs and bytes that are computed at once: all of them, or one group
  /// of sequences in attention.
  struct Share {
    NodeId localFlops = noNode, movedBytes = noNode;
  };
  std::vector<Share> shares;
  /// Sizes that select an entry of the tables of shapes, for each share; empty
  /// for kernels without tables. Symbols change `x` and `y`.
  struct Shape {
    NodeId x = noNode, y = noNode;
    /// Sizes that a layout fixes.
    std::vector<NodeId> fixed;
    /// Whether the step is a prefill (above 0) or a decode.
    NodeId isPrefill = noNode;
  };
  std::vector<Shape> shapes;
};

/// Kernels that are launched as one, `count` times per pass.
struct LaunchNodes {
  /// One kernel: the bytes that the launch moves for it, and the time that it
  /// would take alone, without the floor.
  struct Member {
    uint32_t kernel = 0;
    NodeId movedBytes = noNode, roofUs = noNode;
  };
  std::vector<Member> members;
  /// For a launch of two runs, the index of the border that joins them.
  std::optional<uint32_t> border = std::nullopt;
  NodeId count = noNode, launched = noNode;
  NodeId computeUs = noNode, memoryUs = noNode;
  /// Time of the roofline, its part that is bound by arithmetic, and the floor.
  NodeId roofPs = noNode, computePs = noNode, floorPs = noNode;
};

struct CollectiveNodes {
  NodeId count = noNode, groupSize = noNode, bytes = noNode, wireBytes = noNode,
         timePs = noNode, boundUs = noNode;
  uint32_t link = 0;
};

/// Nodes of one tensor, of which a device keeps `count`.
struct ResidentNodes {
  NodeId count = noNode;
  /// Sizes for the whole model; bytes in the format of the checkpoint.
  NodeId parameters = noNode, activeParameters = noNode, storedBytes = noNode;
  /// Bytes on one device; caches in whole blocks.
  NodeId localBytes = noNode;
  /// Bytes per sequence of caches and states: of all devices without
  /// duplicates; on one device, without blocks and in blocks.
  NodeId perSequence = noNode, localPerSequence = noNode,
         blocksPerSequence = noNode;
  /// Bytes of caches per additional token of one sequence; per additional
  /// encoded token.
  NodeId perToken = noNode, localPerToken = noNode, perEncodedToken = noNode;
  /// Routed experts on a device.
  NodeId experts = noNode;
};

/// Temporaries of layer kind `layer` that are live at once.
struct LiveNodes {
  uint32_t layer = 0;
  std::vector<uint32_t> activations;
  NodeId bytes = noNode, profileBytes = noNode;
};

/// Times of a section in one pass.
struct SectionNodes {
  NodeId computePs, memoryPs, floorPs;
  /// Collectives that kernels wait for; those that carry tokens to experts and
  /// back; those that may run beside matmuls of a backward; those that gather
  /// weights, and those that reduce their gradients, which may run beside
  /// kernels.
  NodeId communicationPs, dispatchPs, inputPs, gatherPs, reductionPs;
  /// FLOPs of the whole model, with and without rows that pad experts.
  NodeId flops, usefulFlops;
};

/// Nodes of a step as a whole.
struct TotalNodes {
  NodeId parameters, activeParameters, checkpointBytes, storedOnlyParameters,
      expertsPerDevice;
  /// Tokens that a rank routes to experts per microbatch, and the capacity of
  /// an expert; 0 if experts have no capacity.
  NodeId routedTokens, expertCapacityTokens;
  NodeId weightBytes, kvCacheBytes, stateBytes, activationBytes, runtimeBytes,
      communicationBytes, graphBytes, totalBytes, capacityBytes, budgetBytes,
      fits;
  NodeId profileBytes, expertBytes, samplerBytes, reserveBytes, reservedBytes,
      kvCapacityBytes, kvCapacityTokens;
  /// Groups of devices with sequences of their own, and the sequences that each
  /// has room for.
  NodeId replicas, capacitySequences;
  NodeId kvBytesPerToken, kvBytesPerTokenPerDevice, kvBytesPerSequence,
      stateBytesPerSequence, localBytesPerSequence, blocksPerSequence;
  NodeId linearFlops, attentionFlops, squareFlops, recurrenceFlops, logitsFlops,
      flops, localFlops;
  NodeId wireBytes, keptReadBytes, launches;
  /// Layers with attention or another mixer of tokens on a device, and the
  /// host's time for them.
  NodeId layers, layersPs;
  /// Floors of launches and `layersPs`; the rest of the host's time.
  NodeId floorPs, hostPs;
  NodeId computePs, memoryPs, communicationPs, stepPs;
  /// Sections of training: forwards and backwards run once per microbatch, the
  /// optimizer once per iteration.
  std::array<SectionNodes, program::sectionCount> sections;
  /// Time of the backward's kernels that make gradients of weights, floors
  /// included.
  NodeId weightGradientPs;
  NodeId gradientBytes, optimizerBytes;
  /// Bytes per device of gradients that both ends of a pipeline have
  /// (`isCopied`).
  NodeId copiedGradientBytes;
  /// Bytes of copies of gradients that an update makes.
  NodeId updateBytes;
  /// Bytes that the forward of one microbatch keeps for its backward.
  NodeId savedBytes;
};

/// The records that a strategy counts.
enum class Counting : uint8_t {
  /// All records: a step of the whole model on every device.
  whole,
  /// Records by `Op::kind_count`, `Op::passes` and `Op::microbatches`: stages.
  parts,
};

struct Strategy : Leaves {
  Graph graph;
  Launching launching;
  Counting counting = Counting::whole;
  /// Whether the program has backwards.
  bool trains = false;
  std::vector<Requirement> requirements;
  // Columns by index of the program's records.
  std::vector<KernelNodes> kernels;
  std::vector<CollectiveNodes> collectives;
  std::vector<ResidentNodes> residents;
  /// Bytes of each activation.
  std::vector<NodeId> activations;
  /// Saved bytes of one microbatch.
  std::vector<NodeId> saved;
  /// Bytes of activations in the run by which the runtime sizes its
  /// temporaries.
  std::vector<NodeId> profiled;
  std::vector<LaunchNodes> launches;
  std::vector<LiveNodes> live;
  /// Whether all caches and states of sequences are split over the same
  /// devices.
  bool splitsSequencesAlike = true;
  /// Bytes that stages hand on: by layer of the stack, then the input of the
  /// operations after the last layer, then the model's own inputs.
  std::vector<NodeId> transferBytes;
  TotalNodes total;
};

/// Compiles the formulas of `program`, independently of a machine. A step has
/// groups of sequences, one per entry of `groups`, which gives their phase
/// (kernels without a phase ignore it): for example prompts beside decoding
/// sequences. Matmuls run over the rows of all groups, attention runs once per
/// group. Values per sequence are those of the first group.
Strategy compile(const program::CostProgram &program, Launching launching,
                 Counting counting = Counting::whole,
                 const std::vector<program::Phase> &groups = {
                     program::Phase::prefill});

} // namespace autopar::cost

#endif // AUTOPAR_COST_STRATEGY_H

//===- Strategy.h - The formulas of a cost program --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cost program turned into one graph of formulas, whatever the machine, the
// sizes of axes and the workload. Columns say which nodes belong to which
// record of the program. Times are whole picoseconds, each launch and each call
// rounded once, so that sums do not depend on their order.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_STRATEGY_H
#define AUTOPAR_COST_STRATEGY_H

#include "autopar/Cost/Graph.h"

#include <array>
#include <vector>

namespace autopar::cost {

/// A number of a chip or a runtime that formulas rest on.
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
    /// Whether that is a share of what the rest leaves, and whether it says
    /// what temporaries get: 1 or 0.
    memory_of_free,
    memory_of_reserve,
    /// Whether nobody said that share: 1 or 0.
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
  /// Of peaks and curves: what runs, on units of which format, with weights
  /// of which (`Kernel::storage`).
  program::KernelKind kernel = program::KernelKind::elementwise;
  ElementType type = ElementType::bf16;
  std::optional<ElementType> storage = std::nullopt;

  /// Whether it is a coefficient of a kernel's curve.
  bool isOfCurve() const {
    return kind >= Kind::curve_floor && kind <= Kind::tile_split_slots;
  }

  bool operator==(const FigureUse &other) const {
    return kind == other.kind && kernel == other.kernel && type == other.type &&
           storage == other.storage;
  }
};

/// A kind of collective over a group of axes: what `Op::call` is priced by.
struct LinkUse {
  program::CollectiveKind kind = program::CollectiveKind::all_reduce;
  std::vector<program::AxisId> axes;
  std::optional<program::NodeDispatch> byNode = std::nullopt;
};

/// The shape of kernels that a table of their curve goes by.
struct ShapeUse {
  program::ShapeKind kind = program::ShapeKind::product;
  /// As of `FigureUse`.
  program::KernelKind kernel = program::KernelKind::matmul;
  ElementType type = ElementType::bf16;
  std::optional<ElementType> storage = std::nullopt;
  /// What a layout fixes of it: nodes of a strategy, slots of a tape.
  std::vector<uint32_t> fixed;

  bool operator==(const ShapeUse &other) const {
    return kind == other.kind && kernel == other.kernel && type == other.type &&
           storage == other.storage && fixed == other.fixed;
  }
};

/// `Op::skew` and `Op::peak_skew` of even loads, `Op::kept` of tokens that are
/// all kept.
inline constexpr int64_t evenSkew = 1'000'000;
/// `Op::sent` of a byte that is sent once.
inline constexpr int64_t wholeSent = 1'000'000;

/// What leaves and calls of formulas refer to.
struct Leaves {
  std::vector<FigureUse> figures;
  std::vector<LinkUse> links;
  std::vector<ShapeUse> shapes;
  /// Where the experts lie whose loads `Op::skew` is about; null where those
  /// are even.
  std::shared_ptr<const program::PlacedExperts> placement;
};

/// A record of the program, or what all of it needs.
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

/// Something without which a plan is refused. Requirements are in the order in
/// which a reader of the program meets them: the first that fails is said.
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
    /// Something joins the devices of link `index`, where `extent` bytes move.
    joins,
    /// The chip has a peak for kernel `record`: figure `index`.
    multiplies,
  };
  Kind kind = Kind::divides;
  RecordRef record;
  NodeId extent = noNode, devices = noNode;
  uint32_t index = 0;
  /// Of `devices`.
  std::vector<program::AxisId> axes = {};
};

/// What a workload gives sizes to. `Op::symbol` counts them group by group.
enum class Symbol : uint8_t { batch, query, context, source, memory };
inline constexpr size_t symbolCount = 5;

/// Which kernels a runtime launches as one (`Kernel::fusionGroup`).
struct Launching {
  bool mergesSharedInput = false, fusesElementwise = false;
  /// Whether products of training add what they make to the gradients that are
  /// kept.
  bool fusesAccumulation = false;
  /// Whether each expert has a product of its own, so that what works on tokens
  /// on their way to experts and back is launched, too.
  bool loopsExperts = false;

  bool merges(program::KernelKind kind) const;
  bool merges(program::Kernel::Epilogue::Kind kind) const;
  /// Whether `kernel` is launched at all, and whose curve it runs on.
  bool launches(const program::Kernel &kernel) const {
    return loopsExperts || !kernel.routed;
  }
  program::KernelKind curveKindOf(const program::Kernel &kernel) const {
    bool isLooped =
        loopsExperts && kernel.kind == program::KernelKind::grouped_matmul;
    return isLooped ? program::KernelKind::matmul : kernel.kind;
  }
};

/// Of one launch on one device, 0 where there is nothing to launch.
struct KernelNodes {
  /// Times in a pass.
  NodeId count = noNode;
  /// FLOPs of the whole model: all that experts work on, and without the rows
  /// by which they are padded (`usefulFlops`).
  NodeId launched = noNode, flops = noNode, usefulFlops = noNode,
         localFlops = noNode, squareFlops = noNode;
  /// Bytes of its traffic, one by one; of the reads of weights and caches.
  std::vector<NodeId> traffic;
  NodeId keptReadBytes = noNode;
  /// All FLOPs at peak.
  NodeId idealUs = noNode;
  /// What of FLOPs and bytes is computed at once: all, or, of attention, each
  /// group of sequences.
  struct Share {
    NodeId localFlops = noNode, movedBytes = noNode;
  };
  std::vector<Share> shares;
  /// What tables of shapes go by, of each share; empty of kernels that have
  /// none. `x` and `y` are what symbols change.
  struct Shape {
    NodeId x = noNode, y = noNode;
    /// What a layout fixes.
    std::vector<NodeId> fixed;
    /// Whether the step reads a prompt where it is above 0, else decodes.
    NodeId isPrefill = noNode;
  };
  std::vector<Shape> shapes;
};

/// Kernels that are launched as one, `count` times in a pass.
struct LaunchNodes {
  /// One of them: the bytes that the launch moves for it, and the time that it
  /// would take alone, without a floor.
  struct Member {
    uint32_t kernel = 0;
    NodeId movedBytes = noNode, roofUs = noNode;
  };
  std::vector<Member> members;
  /// Of two runs, index of the border that joins them.
  std::optional<uint32_t> border = std::nullopt;
  NodeId count = noNode, launched = noNode;
  NodeId computeUs = noNode, memoryUs = noNode;
  /// The roofline's time, what of it is bound by arithmetic, and the floor.
  NodeId roofPs = noNode, computePs = noNode, floorPs = noNode;
};

struct CollectiveNodes {
  NodeId count = noNode, groupSize = noNode, bytes = noNode, wireBytes = noNode,
         timePs = noNode, boundUs = noNode;
  uint32_t link = 0;
};

/// Of one tensor, `count` of which a device keeps.
struct ResidentNodes {
  NodeId count = noNode;
  /// Of the whole model; bytes as the checkpoint has them.
  NodeId parameters = noNode, activeParameters = noNode, storedBytes = noNode;
  /// On one device; caches in whole blocks.
  NodeId localBytes = noNode;
  /// Of caches and states, one sequence: each value once; on a device, without
  /// blocks and in blocks.
  NodeId perSequence = noNode, localPerSequence = noNode,
         blocksPerSequence = noNode;
  /// Of caches, one more token of one sequence; one more that is encoded.
  NodeId perToken = noNode, localPerToken = noNode, perEncodedToken = noNode;
  /// Of routed experts: how many a device has.
  NodeId experts = noNode;
};

/// Temporaries that are live at once, in layer kind `layer`.
struct LiveNodes {
  uint32_t layer = 0;
  std::vector<uint32_t> activations;
  NodeId bytes = noNode, profileBytes = noNode;
};

/// What a section takes in one pass.
struct SectionNodes {
  NodeId computePs, memoryPs, floorPs;
  /// What kernels wait for; tokens on their way to experts and back; what
  /// products of a backward may run beside; what gathers weights and what
  /// reduces their gradients, which may run beside kernels.
  NodeId communicationPs, dispatchPs, inputPs, gatherPs, reductionPs;
  /// Of the whole model, with and without padded rows of experts.
  NodeId flops, usefulFlops;
};

/// What is said of a step as a whole.
struct TotalNodes {
  NodeId parameters, activeParameters, checkpointBytes, storedOnlyParameters,
      expertsPerDevice;
  /// What a rank routes to experts in a microbatch, and what an expert takes of
  /// it; 0 where it takes all.
  NodeId routedTokens, expertCapacityTokens;
  NodeId weightBytes, kvCacheBytes, stateBytes, activationBytes, runtimeBytes,
      communicationBytes, graphBytes, totalBytes, capacityBytes, budgetBytes,
      fits;
  NodeId profileBytes, expertBytes, samplerBytes, reserveBytes, reservedBytes,
      kvCapacityBytes, kvCapacityTokens;
  /// Groups of devices that hold sequences of their own, and how many each has
  /// room for.
  NodeId replicas, capacitySequences;
  NodeId kvBytesPerToken, kvBytesPerTokenPerDevice, kvBytesPerSequence,
      stateBytesPerSequence, localBytesPerSequence, blocksPerSequence;
  NodeId linearFlops, attentionFlops, squareFlops, recurrenceFlops, logitsFlops,
      flops, localFlops;
  NodeId wireBytes, keptReadBytes, launches;
  /// Layers that mix tokens which a device runs, and what the host takes for
  /// them.
  NodeId layers, layersPs;
  /// Floors of launches and `layersPs`; the rest of the host.
  NodeId floorPs, hostPs;
  NodeId computePs, memoryPs, communicationPs, stepPs;
  /// Of training, where forwards and backwards are done once for each
  /// microbatch, the optimizer once.
  std::array<SectionNodes, program::sectionCount> sections;
  /// What of the backward's kernels makes gradients of weights, with floors.
  NodeId weightGradientPs;
  NodeId gradientBytes, optimizerBytes;
  /// What of gradients both ends of a pipeline have (`isCopied`), on a device.
  NodeId copiedGradientBytes;
  /// Copies of gradients that an update makes.
  NodeId updateBytes;
  /// What the forward of one microbatch keeps for its backward.
  NodeId savedBytes;
};

/// Whose records a strategy counts.
enum class Counting : uint8_t {
  /// A step of the whole model on every device.
  whole,
  /// What `Op::kind_count`, `Op::passes` and `Op::microbatches` say: stages.
  parts,
};

struct Strategy : Leaves {
  Graph graph;
  Launching launching;
  Counting counting = Counting::whole;
  /// Whether the program has backwards.
  bool trains = false;
  std::vector<Requirement> requirements;
  // By index of the program's records.
  std::vector<KernelNodes> kernels;
  std::vector<CollectiveNodes> collectives;
  std::vector<ResidentNodes> residents;
  /// Bytes of each.
  std::vector<NodeId> activations;
  /// Of one microbatch.
  std::vector<NodeId> saved;
  /// The same in the run by which the runtime sizes its temporaries.
  std::vector<NodeId> profiled;
  std::vector<LaunchNodes> launches;
  std::vector<LiveNodes> live;
  /// Whether all that is kept of sequences is split over the same devices.
  bool splitsSequencesAlike = true;
  /// What stages hand on: by layer of the stack, to what follows the last one,
  /// then the model's own inputs.
  std::vector<NodeId> transferBytes;
  TotalNodes total;
};

/// Writes the formulas of `program` down. Machine-free. A step computes groups
/// of sequences, those of each alike and in the phase that `groups` says (which
/// kernels without a phase do not ask): prompts beside sequences that decode.
/// Products are over all rows together, attention takes each group in turn.
/// What is said of one sequence is said of the first group's.
Strategy compile(const program::CostProgram &program, Launching launching,
                 Counting counting = Counting::whole,
                 const std::vector<program::Phase> &groups = {
                     program::Phase::prefill});

} // namespace autopar::cost

#endif // AUTOPAR_COST_STRATEGY_H

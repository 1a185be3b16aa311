//===- //===- CostProgram.h - A parallel program's symbolic cost ----------===//
//-*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_COSTPROGRAM_H
#define AUTOPAR_PROGRAM_COSTPROGRAM_H

#include "autopar/Program/ExpertCapacity.h"
#include "autopar/Program/PlacedExperts.h"
#include "autopar/Program/Workload.h"
#include "autopar/Support/ElementType.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::program {

/// The section of a training iteration to which an op belongs. Inference has
/// only the forward. Forward and backward run once per microbatch, the
/// optimizer once per iteration.
enum class Section : uint8_t { forward, backward, optimizer };
inline constexpr size_t sectionCount = 3;

/// The kind of a kernel, which selects its measured curve (`kernels.<name>` in
/// hardware/chips).
enum class KernelKind : uint8_t {
  matmul,
  grouped_matmul,
  attention,
  /// Computes gradients of attention. A chip without a curve for it prices it
  /// as attention.
  attention_backward,
  /// Attention in the space of latent keys and values. Without a curve it is
  /// priced as attention.
  latent_attention,
  elementwise,
  gather,
  /// Recurrences, and convolutions of few tokens. Without a curve they are
  /// priced as elementwise kernels at the rate of vector units.
  scan,
  /// Scores all tokens and chooses the best. Without a curve it is priced as
  /// attention.
  index,
  /// Attention of tokens that all see each other and are not cached. Without a
  /// curve for its number format it is priced as attention.
  encoder_attention,
  /// Latent attention with selected tokens. Without a curve for its number
  /// format it is priced as latent attention.
  sparse_attention,
  /// Matmuls with a matrix per head. Without a curve for their number format
  /// they are priced as matmuls.
  batched_matmul,
  /// Recurrences with a decay per channel. Without a curve they are priced as
  /// scans.
  channel_scan,
  /// `hyper_pre` mixes the streams of hyper-connections into the input of a
  /// block; `hyper_post` adds the block's output to the streams. Without a
  /// curve for their number format they are priced as elementwise kernels.
  hyper_pre,
  hyper_post,
};

/// Whether kernels of `kind` run through the tokens of a sequence one after the
/// other.
inline bool isScan(KernelKind kind) {
  return kind == KernelKind::scan || kind == KernelKind::channel_scan;
}

/// Whether kernels of `kind` belong to hyper-connections.
inline bool isHyper(KernelKind kind) {
  return kind == KernelKind::hyper_pre || kind == KernelKind::hyper_post;
}

/// Whether kernels of `kind` have FLOPs, so that their curves have a compute
/// efficiency.
inline bool multiplies(KernelKind kind) {
  return kind != KernelKind::elementwise && kind != KernelKind::gather &&
         kind != KernelKind::hyper_post;
}

/// Which shape table a launch uses: that of matmuls, of decode attention, or of
/// prefill attention.
enum class ShapeKind : uint8_t { product, decode, prefill };
inline constexpr size_t shapeKindCount = 3;

/// The class under which a report counts the FLOPs of a kernel.
enum class FlopClass : uint8_t {
  none,
  linear,
  attention,
  recurrence,
  logits,
};

/// Counts the (query, key) pairs of an attention: q*c - q*(q-1)/2 if causal
/// (each of the `query` new tokens sees the cache up to itself; `context`
/// counts the cache after the step). A `window` other than 0 limits the keys of
/// a query to the last `window` (if not causal, to `window / 2` on either
/// side), a `chunk` other than 0 to those of the query's own chunk.
struct Pairs {
  Dim query, context;
  bool causal = true;
  int64_t window = 0;
  int64_t chunk = 0;
};

/// Bytes that a kernel reads from, or writes to, device memory.
struct Traffic {
  enum class Role : uint8_t { weight, kv_cache, state, activation };
  Role role = Role::activation;
  bool write = false;
  Dims shape;
  ElementType type = ElementType::bf16;
  /// Number of the value in the program, from 1. A launch of several kernels
  /// reads a value once, and not at all if the launch itself wrote it.
  uint32_t value = 0;
  /// If not 0, `shape[0]` counts experts, and only those experts are read that
  /// `rows` routed tokens reach with `topK` choices each.
  int64_t topK = 0;
  Dims rows;
};

/// One kernel, launched `count` times per step. It has `flopFactor` * rows *
/// columns * contraction (* pairs) FLOPs. A kernel without FLOPs (`flopFactor`
/// 0) takes the time of its traffic.
struct Kernel {
  /// Name of the kernel: layer kind and op, "decoder/q_proj"; unique in a
  /// program.
  std::string name;
  /// Mnemonic of the op that adds the kernel: "linear".
  std::string op;
  /// The layer kind of the kernel, as an index into `CostProgram::layers`.
  uint32_t layer = 0;
  int64_t count = 1;
  KernelKind kind = KernelKind::elementwise;
  FlopClass flopClass = FlopClass::none;
  /// Number format in which the matrix units multiply. For an elementwise
  /// kernel that casts a matmul's input, the format of its result, of 8 bits or
  /// fewer.
  ElementType compute = ElementType::bf16;
  /// Format of weights in 4-bit floats, which some chips multiply directly.
  std::optional<ElementType> storage = std::nullopt;
  int64_t flopFactor = 0;
  Dims rows, columns, contraction;
  std::optional<Pairs> pairs;
  /// Sizes of attention per head, which select entries of its shape tables.
  struct Heads {
    Dim ofKeys;
    /// Mean of the sizes of a query and of a value, per head.
    int64_t width = 0;
  };
  std::optional<Heads> heads = std::nullopt;
  std::vector<Traffic> traffic;
  /// Whether the kernel works on tokens that are sent to experts and back
  /// (dispatch, activation, combine). Its time is included in the curves of the
  /// grouped matmuls next to it.
  bool routed = false;
  /// Whether it is the kernel of its layer that mixes tokens: attention or a
  /// recurrence.
  bool mixesTokens = false;
  /// Whether it neither leads to the routed experts of its layer nor reads
  /// their results: an expert that all tokens share. Runtimes may run it beside
  /// them.
  bool besideExperts = false;
  /// Whether the kernel computes gradients of weights in a backward; no other
  /// kernel of the backward waits for it.
  bool ofWeights = false;
  /// An addition that a matmul could do itself when it writes its result: to
  /// the results of other matmuls, or to a stored gradient. `product` is the
  /// matmul's index in `CostProgram::kernels`.
  struct Epilogue {
    enum class Kind : uint8_t { sum, accumulation };
    Kind kind = Kind::sum;
    uint32_t product = 0;
  };
  std::optional<Epilogue> epilogue = std::nullopt;
  /// If set, the kernel computes only sequences in this phase; another kernel,
  /// with another form of the op, computes the others.
  std::optional<Phase> phase = std::nullopt;
  /// Kernels of one layer with the same group may be launched as one: matmuls
  /// with one input (q, k, v; gate, up) or with one sum, adjacent elementwise
  /// kernels, kernels of one scan.
  uint32_t fusionGroup = 0;
};

/// A point between two layers (or iterations) where the elementwise kernels
/// before and after it directly follow each other. A runtime that fuses
/// elementwise kernels launches both runs as one, `count` times per step.
/// Example: the residual sum that ends a layer and the norm that begins the
/// next. No run of kernels lies between two borders.
struct Border {
  /// Indices of the last kernel before the border and of the first kernel after
  /// it.
  uint32_t before = 0, after = 0;
  int64_t count = 0;
  /// The layer kind that contains the border. Absent for a border between
  /// layers of the stack or at either end of it: a pipeline stage has the
  /// borders that lead to its layers.
  std::optional<uint32_t> layer = std::nullopt;
  /// Pairs of value numbers (`Traffic::value`) of values that both sides use:
  /// the number in the kernels after the border, and the different number that
  /// the same value has in the kernels before it.
  std::vector<std::pair<uint32_t, uint32_t>> values = {};
};

/// The elementwise kernels at the beginning and at the end of a layer: the
/// first kernel of the beginning, and the last kernel of the end.
struct RunEnds {
  std::optional<uint32_t> head = std::nullopt, tail = std::nullopt;
};

enum class CollectiveKind : uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  /// Every device sends its data to one other device.
  permute,
  /// n - 1 steps in which each device sends to the next; the buffer is the sum
  /// of all parts.
  ring,
};

/// The routing of tokens that are sent once to each node
/// (`parallel.all_to_all`), and the axes that share the experts, major first.
struct NodeDispatch {
  int64_t topK = 1, experts = 1;
  /// A token's experts lie in `kept` of `groups` equal groups of consecutive
  /// experts.
  int64_t groups = 1, kept = 1;
  std::vector<AxisId> axes;
  /// Whether a token is sent once to each device inside a single node, too.
  bool inNode = false;

  bool operator==(const NodeDispatch &other) const {
    return topK == other.topK && experts == other.experts &&
           groups == other.groups && kept == other.kept && axes == other.axes &&
           inNode == other.inNode;
  }
};

/// One collective over the product of `axes`, called `count` times per step.
struct Collective {
  std::string name;
  CollectiveKind kind = CollectiveKind::all_reduce;
  uint32_t layer = 0;
  int64_t count = 1;
  std::vector<AxisId> axes;
  /// Shape of the input of each rank: the operand, split by all its axes.
  Dims shape;
  ElementType type = ElementType::bf16;
  /// If not 0, one f32 scale is sent per `block` values.
  int64_t block = 0;
  /// Whether the collective carries tokens to experts and back.
  bool routed = false;
  /// Whether the collective gathers weights, or sums or scatters their
  /// gradients. It may then run beside the computation of other layers.
  bool ofWeights = false;
  /// Whether the collective gathers the input of a matmul for the gradient of
  /// its weights, or sums the gradient of that input, in a backward. It may
  /// then run beside the matmuls of that backward.
  bool ofInputs = false;
  std::optional<NodeDispatch> byNode = std::nullopt;
  /// The layer kind whose experts split the input unevenly (as
  /// `Dim::sharedBy`), if no dimension of `shape` says so: the input is split
  /// by tokens, and the most loaded rank has most of them.
  std::optional<uint32_t> sharedBy = std::nullopt;
  /// For a gathered weight, the other layer kinds that use it. A pipeline stage
  /// without `layer` gathers the weight for itself.
  std::vector<uint32_t> readers = {};
};

/// A tensor that stays on the device between steps: a weight, a KV cache, a
/// state, a gradient or an optimizer state.
struct Resident {
  /// `gradient`: the sum of the gradients of microbatches. `optimizer`: the
  /// optimizer states of each parameter, master weights included.
  enum class Kind : uint8_t { weight, kv_cache, state, gradient, optimizer };
  /// Name of the tensor; for weights and their scales, the checkpoint's name
  /// without the layer prefix.
  std::string name;
  Kind kind = Kind::weight;
  uint32_t layer = 0;
  int64_t count = 1;
  Dims shape;
  /// Number format in which the tensor is stored.
  ElementType type = ElementType::bf16;
  /// For weights of routed experts: `shape[0]` counts experts, and a token uses
  /// `topK` of them.
  int64_t topK = 0;
  /// For KV caches: the dimension that the runtime allocates in blocks, or -1.
  int32_t pagedDim = -1;
  /// Whether the weight is in the checkpoint but is loaded by no step.
  bool stored = false;
  /// For quantised weights: the shape of the parameters that this tensor holds,
  /// with an extent of 0 if another tensor holds them (this one then has scales
  /// or zeros). If absent, it is `shape`.
  std::optional<Dims> values = std::nullopt;
  /// For `Kind::optimizer`: whether the tensor is the master copy of a weight.
  bool isMaster = false;
  /// For `Kind::weight`: whether the weight is split over replicas and gathered
  /// before use.
  bool isGathered = false;
  /// Index of the first kernel that reads or writes the tensor, if there is
  /// one.
  std::optional<uint32_t> user = std::nullopt;
  /// The other layer kinds that read the tensor too, such as the head, which
  /// reads a tied embedding.
  std::vector<uint32_t> readers = {};

  const Dims &parameters() const { return values ? *values : shape; }
};

/// A temporary that is in memory from launch `begin` to launch `end`,
/// inclusive. Launches are numbered in one pass through the distinct layers
/// (bodies of loops occur once).
struct Activation {
  std::string name;
  uint32_t layer = 0;
  Dims shape;
  ElementType type = ElementType::bf16;
  uint32_t begin = 0, end = 0;
  /// Whether the temporary holds tokens that are sent to experts and back.
  bool routed = false;
  /// Number of equal chunks into which its tokens are divided, of which one
  /// exists at a time.
  int64_t chunks = 1;
};

/// A value that the forward of a layer saves for its backward, `count` times
/// per step, once for each microbatch in flight. It is not counted as an
/// `Activation`.
struct Saved {
  std::string name;
  /// The layer kind whose forward computes the value, as an index into
  /// `CostProgram::layers`.
  uint32_t layer = 0;
  int64_t count = 1;
  Dims shape;
  ElementType type = ElementType::bf16;
  /// Number of equal chunks into which its tokens are divided, of which one
  /// exists at a time.
  int64_t chunks = 1;
};

/// Group-limited routing: a token's experts lie in `kept` of `all` equal groups
/// of consecutive experts.
struct ExpertGroups {
  int64_t all = 1, kept = 1;
};

/// A function of the model: first "model" itself, then each layer kind. The
/// operations of "model" after the layers are a separate entry with the same
/// name.
struct LayerKind {
  std::string name;
  /// How often a step runs the function; 0 if its weights are only stored.
  int64_t count = 1;
  /// First and last launch of the function, numbered as in `Activation`.
  uint32_t begin = 0, end = 0;
  Section section = Section::forward;
  /// The expert groups of the function's router.
  ExpertGroups expertGroups = {};
};

/// A layer kind, and how often it is run.
struct KindCount {
  /// The layer kind, as an index into `CostProgram::layers`.
  uint32_t layer = 0;
  int64_t count = 1;
};

/// The layers that pipeline stages divide: those called by the model's last
/// loops that directly follow each other.
struct LayerStack {
  /// One distinct layer: the layer kinds that it runs, and the values that it
  /// receives from earlier layers.
  struct Layer {
    std::vector<KindCount> kinds;
    RunEnds ends = {};
    struct Input {
      Dims shape;
      ElementType type = ElementType::bf16;
    };
    std::vector<Input> inputs;
  };
  /// Runs of layers: `count` times the sequence `layers`, in which each pair is
  /// an index into `LayerStack::layers` and the number of times that the layer
  /// runs.
  struct Run {
    int64_t count = 1;
    std::vector<std::pair<uint32_t, int64_t>> layers;
  };
  /// The distinct layers of the stack.
  std::vector<Layer> layers;
  /// All layers in order, as runs. Empty if the model has no such loops, or if
  /// the loops contain anything but calls.
  std::vector<Run> runs;
  /// The operations before the first layer, and those after the last layer.
  std::vector<KindCount> before, after;
  /// Indices of the last elementwise kernel before the first layer and of the
  /// first one after the last layer, if they may be fused with kernels of these
  /// layers.
  std::optional<uint32_t> tailBefore = std::nullopt, headAfter = std::nullopt;
  /// `inputs`: the inputs of the model itself, such as token ids. `outputs`:
  /// the inputs of the operations after the last layer.
  std::vector<Layer::Input> inputs, outputs;
};

/// The token positions that a model supports.
struct Positions {
  /// Length of the longest context in tokens; 0 if not known.
  int64_t longest = 0;
  /// Whether the model has a learned table with one row per position, so that
  /// it has none for further positions.
  bool areLearned = false;
  /// The method by which rotary angles are scaled for long contexts: "yarn"; ""
  /// if there is none.
  std::string scaling;
};

/// The cost of a step, independent of the workload and of mesh sizes, so that
/// it is extracted once per strategy. Records are in the order of the IR.
struct CostProgram {
  std::string model;
  Positions positions;
  /// Number format of the checkpoint's 16-bit weights, if runtimes convert
  /// them.
  std::optional<ElementType> castFrom;
  std::vector<std::string> symbols;
  std::vector<std::string> axes;
  std::vector<LayerKind> layers;
  LayerStack stack;
  std::vector<Kernel> kernels;
  std::vector<Border> borders;
  std::vector<Collective> collectives;
  std::vector<Resident> residents;
  std::vector<Activation> activations;
  std::vector<Saved> saved;
  /// The capacity of experts; absent if experts accept all routed tokens.
  std::optional<ExpertCapacity> capacity;
  /// The placement of experts and their loads; null if loads are not known, in
  /// which case they count as even.
  std::shared_ptr<const PlacedExperts> placement;

  /// Whether layer kind `layer` belongs to the model's own function.
  bool isModel(uint32_t layer) const {
    return layers[layer].name == layers.front().name;
  }
  /// Whether the program has backwards, so that a step is a training iteration.
  bool trains() const;
  /// Returns the traffic of the experts of `kernel` that ranks share, if their
  /// loads vary by chance; else null: capacities, and routers in training, even
  /// out loads.
  const Traffic *sharedExperts(const Kernel &kernel) const;
  /// Whether earlier tokens of a sequence are kept, so that a step may compute
  /// a chunk of a prompt.
  bool keepsTokens() const;
  /// Returns the axes that split the dimension of `dims` that counts sequences;
  /// null if there is no such dimension.
  const std::vector<AxisId> *sequenceAxes(const Dims &dims) const;
  /// Returns the axes that split sequences in KV caches and states (if there
  /// are none, in activations), the fewest if records differ: along these axes
  /// each device has its own sequences.
  std::vector<AxisId> sequenceAxes() const;
  /// Returns those of the sequence axes that some collective joins: devices
  /// along them run in lock step.
  std::vector<AxisId> lockStepAxes() const;
};

/// Whether a runtime that merges such kernels may launch `a` and `b` as one.
bool areOneRun(const Kernel &a, const Kernel &b);

std::string_view nameOf(Section section);
std::string_view nameOf(KernelKind kind);
std::string_view nameOf(FlopClass flopClass);
std::string_view nameOf(CollectiveKind kind);
std::string_view nameOf(SplitRule rule);
std::string_view nameOf(Resident::Kind kind);
std::string_view nameOf(Traffic::Role role);

/// Writes the program as JSON (`autopar.program/1`), for people, and for the
/// test that it does not depend on sizes.
std::string toJson(const CostProgram &program);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_COSTPROGRAM_H

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

/// The section of a training iteration. Inference has only the forward. Forward
/// and backward run once per microbatch, the optimizer once per iteration.
enum class Section : uint8_t { forward, backward, optimizer };
inline constexpr size_t sectionCount = 3;

/// The kind of a kernel, which selects its efficiency curve (`kernels.<name>`
/// in hardware/chips).
enum class KernelKind : uint8_t {
  matmul,
  grouped_matmul,
  attention,
  /// Gradients of attention; without a curve of the chip, priced as attention.
  attention_backward,
  /// Attention in the space of latent keys and values; without a curve, priced
  /// as attention.
  latent_attention,
  elementwise,
  gather,
  /// Recurrences, and convolutions of few tokens; without a curve, priced as
  /// elementwise kernels at the rate of vector units.
  scan,
  /// Scores of all tokens and the choice of the best; without a curve, priced
  /// as attention.
  index,
  /// Attention of tokens that all see each other and are not cached; without a
  /// curve of its format, priced as attention.
  encoder_attention,
  /// Latent attention with selected tokens; without a curve of its format,
  /// priced as latent attention.
  sparse_attention,
  /// Matmuls with a matrix per head; without a curve of their format, priced as
  /// matmuls.
  batched_matmul,
  /// Recurrences with a decay per channel; without a curve, priced as scans.
  channel_scan,
  /// Mixing the streams of hyper-connections into the input of a block, and
  /// adding its output to them; without a curve of their format, priced as
  /// elementwise kernels.
  hyper_pre,
  hyper_post,
};

/// Whether kernels of `kind` walk over the tokens of a sequence.
inline bool isScan(KernelKind kind) {
  return kind == KernelKind::scan || kind == KernelKind::channel_scan;
}

/// Whether kernels of `kind` are of hyper-connections.
inline bool isHyper(KernelKind kind) {
  return kind == KernelKind::hyper_pre || kind == KernelKind::hyper_post;
}

/// Whether kernels of `kind` have FLOPs, which curves have an efficiency of.
inline bool multiplies(KernelKind kind) {
  return kind != KernelKind::elementwise && kind != KernelKind::gather &&
         kind != KernelKind::hyper_post;
}

/// The table of shapes that a launch uses: that of matmuls, of decode
/// attention, or of prefill attention.
enum class ShapeKind : uint8_t { product, decode, prefill };
inline constexpr size_t shapeKindCount = 3;

/// The class in which a report counts the FLOPs of a kernel.
enum class FlopClass : uint8_t {
  none,
  linear,
  attention,
  recurrence,
  logits,
};

/// The (query, key) pairs of an attention: q*c - q*(q-1)/2 if causal (each of
/// `query` new tokens sees the cache up to itself; `context` counts the cache
/// after the step). A `window` other than 0 limits them to the last `window`
/// keys (if not causal, to `window / 2` keys on either side), a `chunk` other
/// than 0 to the keys of the query's own chunk.
struct Pairs {
  Dim query, context;
  bool causal = true;
  int64_t window = 0;
  int64_t chunk = 0;
};

/// Bytes that a kernel moves through device memory.
struct Traffic {
  enum class Role : uint8_t { weight, kv_cache, state, activation };
  Role role = Role::activation;
  bool write = false;
  Dims shape;
  ElementType type = ElementType::bf16;
  /// Number of the value in the program, from 1. A launch of several kernels
  /// reads a value once, and not at all if it wrote it.
  uint32_t value = 0;
  /// If not 0, `shape[0]` counts experts, and only those are read that `rows`
  /// routed tokens reach with `topK` choices each.
  int64_t topK = 0;
  Dims rows;
};

/// One kernel launch, `count` times a step. Its FLOPs are `flopFactor` * rows *
/// columns * contraction (* pairs). A kernel without FLOPs (`flopFactor` 0) is
/// bound by its traffic.
struct Kernel {
  /// Layer kind and op, "decoder/q_proj"; unique in a program.
  std::string name;
  /// Mnemonic of the op, "linear".
  std::string op;
  /// Index into `CostProgram::layers`.
  uint32_t layer = 0;
  int64_t count = 1;
  KernelKind kind = KernelKind::elementwise;
  FlopClass flopClass = FlopClass::none;
  /// Format in which the units multiply.
  ElementType compute = ElementType::bf16;
  /// Format of weights in 4-bit floats, which some chips multiply directly.
  std::optional<ElementType> storage = std::nullopt;
  int64_t flopFactor = 0;
  Dims rows, columns, contraction;
  std::optional<Pairs> pairs;
  /// Sizes of attention by head, which select entries of its tables of shapes.
  struct Heads {
    Dim ofKeys;
    /// Mean of the sizes of a query and a value.
    int64_t width = 0;
  };
  std::optional<Heads> heads = std::nullopt;
  std::vector<Traffic> traffic;
  /// Whether it works on tokens on their way to experts and back (dispatch,
  /// activation, combine). Curves of the grouped matmuls around it include it.
  bool routed = false;
  /// Whether it is the kernel of its layer that mixes tokens: attention, a
  /// recurrence.
  bool mixesTokens = false;
  /// Whether it makes gradients of weights in a backward; no other kernel of
  /// the backward waits for it.
  bool ofWeights = false;
  /// An addition that a matmul (an index into `CostProgram::kernels`) could do
  /// as it writes its result: to the results of other matmuls, or to a kept
  /// gradient.
  struct Epilogue {
    enum class Kind : uint8_t { sum, accumulation };
    Kind kind = Kind::sum;
    uint32_t product = 0;
  };
  std::optional<Epilogue> epilogue = std::nullopt;
  /// If set, the kernel computes only the sequences in this phase; others use
  /// another form of the op.
  std::optional<Phase> phase = std::nullopt;
  /// Kernels of one layer with the same group may be launched as one: matmuls
  /// with one input (q, k, v; gate, up) or with one sum, runs of elementwise
  /// kernels, runs of one scan.
  uint32_t fusionGroup = 0;
};

/// The border between two runs of elementwise kernels with nothing in between,
/// although a layer or an iteration ends there. A runtime that fuses such runs
/// launches them as one, `count` times a step. Example: the residual sum that
/// ends a layer and the norm that begins the next. No run follows one border
/// and precedes another.
struct Border {
  /// Indices of the last kernel of the run before, the first of the one after.
  uint32_t before = 0, after = 0;
  int64_t count = 0;
  /// The layer kind that contains the border. Absent for a border between
  /// layers of the stack or at either end of it: a pipeline stage has those
  /// that lead to its layers.
  std::optional<uint32_t> layer = std::nullopt;
  /// Pairs of values (`Traffic::value`): the number in the run after the
  /// border, and the different number of the same value in the run before.
  std::vector<std::pair<uint32_t, uint32_t>> values = {};
};

/// The runs of elementwise kernels at the beginning and the end of a part: the
/// first kernel of one, the last kernel of the other.
struct RunEnds {
  std::optional<uint32_t> head = std::nullopt, tail = std::nullopt;
};

enum class CollectiveKind : uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  /// Every device sends its data to another one.
  permute,
  /// n - 1 steps of a ring; the buffer is the sum of all parts.
  ring,
};

/// The routing of tokens that go to each node once (`parallel.all_to_all`), and
/// the axes that share the experts, major first.
struct NodeDispatch {
  int64_t topK = 1, experts = 1;
  /// A token's experts lie in `kept` of `groups` groups of consecutive experts,
  /// of equal size.
  int64_t groups = 1, kept = 1;
  std::vector<AxisId> axes;
  /// Whether tokens go to each device once inside a single node, too.
  bool inNode = false;

  bool operator==(const NodeDispatch &other) const {
    return topK == other.topK && experts == other.experts &&
           groups == other.groups && kept == other.kept && axes == other.axes &&
           inNode == other.inNode;
  }
};

/// One collective, `count` times a step, over the product of `axes`.
struct Collective {
  std::string name;
  CollectiveKind kind = CollectiveKind::all_reduce;
  uint32_t layer = 0;
  int64_t count = 1;
  std::vector<AxisId> axes;
  /// The input of each rank: the operand, split by all its axes.
  Dims shape;
  ElementType type = ElementType::bf16;
  /// If not 0, one f32 scale is sent per `block` values.
  int64_t block = 0;
  /// Whether it moves tokens on their way to experts and back.
  bool routed = false;
  /// Whether it gathers weights, or sums or scatters their gradients. It may
  /// then run beside the computation of other layers.
  bool ofWeights = false;
  /// Whether it gathers the input of a matmul for the gradient of its weights,
  /// or sums the gradient of that input, in a backward. It may then run beside
  /// the matmuls of that backward.
  bool ofInputs = false;
  std::optional<NodeDispatch> byNode = std::nullopt;
  /// Like `Dim::sharedBy`, if no dimension of `shape` has it: the input is
  /// split by tokens, and the most loaded rank has most of them.
  std::optional<uint32_t> sharedBy = std::nullopt;
  /// For a gathered weight, other layer kinds that use it. A part of the
  /// program without `layer` gathers it for itself.
  std::vector<uint32_t> readers = {};
};

/// Bytes that stay on the device between steps.
struct Resident {
  /// Gradients are those that microbatches accumulate; `optimizer` is the state
  /// per parameter, master weights included.
  enum class Kind : uint8_t { weight, kv_cache, state, gradient, optimizer };
  /// For weights and their scales: the checkpoint's name without the layer
  /// prefix.
  std::string name;
  Kind kind = Kind::weight;
  uint32_t layer = 0;
  int64_t count = 1;
  Dims shape;
  /// The stored format.
  ElementType type = ElementType::bf16;
  /// For weights of routed experts: `shape[0]` counts experts, and a token uses
  /// `topK`.
  int64_t topK = 0;
  /// For caches: the dimension that the runtime allocates in blocks, or -1.
  int32_t pagedDim = -1;
  /// Whether the weight is in the checkpoint but no step loads it.
  bool stored = false;
  /// For quantised weights: the shape of the parameters in this tensor, with an
  /// extent of 0 if they are in another tensor (scales, zeros). Else `shape`.
  std::optional<Dims> values = std::nullopt;
  /// For `Kind::optimizer`: whether it is the master copy of a weight.
  bool isMaster = false;
  /// For `Kind::weight`: whether it is split over replicas and gathered before
  /// use.
  bool isGathered = false;
  /// Index of the first kernel that reads or writes it, where one does.
  std::optional<uint32_t> user = std::nullopt;
  /// Other layer kinds that read it, such as the head for a tied embedding.
  std::vector<uint32_t> readers = {};

  const Dims &parameters() const { return values ? *values : shape; }
};

/// A temporary that is live from launch `begin` to launch `end`, inclusive, of
/// one pass through the distinct layers (loop bodies appear once).
struct Activation {
  std::string name;
  uint32_t layer = 0;
  Dims shape;
  ElementType type = ElementType::bf16;
  uint32_t begin = 0, end = 0;
  /// Whether it holds tokens on their way to experts and back.
  bool routed = false;
  /// Number of equal chunks of its tokens, of which one exists at a time.
  int64_t chunks = 1;
};

/// A value that the forward of a layer keeps for its backward, `count` times in
/// a step, once per microbatch in flight. It is no `Activation`.
struct Saved {
  std::string name;
  /// The layer kind whose forward computes it.
  uint32_t layer = 0;
  int64_t count = 1;
  Dims shape;
  ElementType type = ElementType::bf16;
  /// As `Activation::chunks`.
  int64_t chunks = 1;
};

/// Group-limited routing: a token's experts lie in `kept` of `all` groups of
/// consecutive experts, of equal size.
struct ExpertGroups {
  int64_t all = 1, kept = 1;
};

/// A function of the model: "model" itself, then each layer kind. The
/// operations of "model" after the layers are a kind of their own, with the
/// same name.
struct LayerKind {
  std::string name;
  /// How often a step runs it; 0 for one that is only stored.
  int64_t count = 1;
  /// Its first and last launch, numbered as in `Activation`.
  uint32_t begin = 0, end = 0;
  Section section = Section::forward;
  /// The groups of its router.
  ExpertGroups expertGroups = {};
};

/// A layer kind and the number of times that it runs.
struct KindCount {
  /// Index into `CostProgram::layers`.
  uint32_t layer = 0;
  int64_t count = 1;
};

/// The layers that pipeline stages divide: the model's last loops that directly
/// follow each other.
struct LayerStack {
  /// The parts of a layer, and the values that it takes from earlier layers.
  struct Layer {
    std::vector<KindCount> kinds;
    RunEnds ends = {};
    struct Input {
      Dims shape;
      ElementType type = ElementType::bf16;
    };
    std::vector<Input> inputs;
  };
  /// `count` times: `layers[i].first` (an index into `LayerStack::layers`),
  /// `layers[i].second` times.
  struct Run {
    int64_t count = 1;
    std::vector<std::pair<uint32_t, int64_t>> layers;
  };
  /// Distinct layers.
  std::vector<Layer> layers;
  /// Runs in order. Empty if the model has no such loops, or if they contain
  /// anything but calls.
  std::vector<Run> runs;
  /// The operations before the first layer, and after the last.
  std::vector<KindCount> before, after;
  /// The last run before the first layer, and the first run after the last
  /// layer.
  std::optional<uint32_t> tailBefore = std::nullopt, headAfter = std::nullopt;
  /// The inputs of the model itself: token ids; the inputs of the operations
  /// after the last layer.
  std::vector<Layer::Input> inputs, outputs;
};

/// The positions that a model supports.
struct Positions {
  /// Length of the longest context; 0 if not known.
  int64_t longest = 0;
  /// Whether there is a row for each of them and none for others.
  bool areLearned = false;
  /// The scaling of rotary angles: "yarn"; empty if there is none.
  std::string scaling;
};

/// The cost of a step, independent of the workload and of mesh sizes: all of
/// them share the program that is extracted for a strategy. Records are in the
/// order of the IR.
struct CostProgram {
  std::string model;
  Positions positions;
  /// Format of plain 16-bit weights in the checkpoint, if engines cast them.
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
  /// Absent if experts accept all routed tokens.
  std::optional<ExpertCapacity> capacity;
  /// Null if loads of experts are not known: they are then even.
  std::shared_ptr<const PlacedExperts> placement;

  /// Whether layer kind `layer` is a part of the model's own function.
  bool isModel(uint32_t layer) const {
    return layers[layer].name == layers.front().name;
  }
  /// Whether it has backwards: a step is an iteration of training.
  bool trains() const;
  /// The experts of `kernel` that ranks share, if their loads vary by chance;
  /// else null: capacities, and routers in training, even out loads.
  const Traffic *sharedExperts(const Kernel &kernel) const;
  /// Whether earlier tokens of a sequence are kept, so that a step may compute
  /// a part of a prompt.
  bool keepsTokens() const;
  /// The axes that split the dimension of `dims` that counts sequences; null if
  /// there is no such dimension.
  const std::vector<AxisId> *sequenceAxes(const Dims &dims) const;
  /// The axes that split sequences in caches and states (without any, in
  /// activations), the fewest if records differ: along them each device has its
  /// own sequences.
  std::vector<AxisId> sequenceAxes() const;
  /// The axes of those that a collective joins: devices along them run in lock
  /// step.
  std::vector<AxisId> lockStepAxes() const;
};

/// Whether a runtime that merges such kernels may launch both as one.
bool areOneRun(const Kernel &a, const Kernel &b);

std::string_view nameOf(Section section);
std::string_view nameOf(KernelKind kind);
std::string_view nameOf(FlopClass flopClass);
std::string_view nameOf(CollectiveKind kind);
std::string_view nameOf(SplitRule rule);
std::string_view nameOf(Resident::Kind kind);
std::string_view nameOf(Traffic::Role role);

/// Writes the program as JSON (`autopar.program/1`), for readers and for the
/// test that it does not depend on sizes.
std::string toJson(const CostProgram &program);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_COSTPROGRAM_H

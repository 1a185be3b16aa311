//===- CostProgram.h - What a parallel program costs, symbolically *- C++
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

/// Which part of a training iteration something is of. Steps of inference are
/// forwards. Forward and backward run once for each microbatch, the optimizer
/// once for all.
enum class Section : uint8_t { forward, backward, optimizer };
inline constexpr size_t sectionCount = 3;

/// Which efficiency curve of a chip a kernel runs on
/// (`kernels.<name>` in hardware/chips).
enum class KernelKind : uint8_t {
  matmul,
  grouped_matmul,
  attention,
  /// What attention's gradients take; where a chip has no curve for it, on that
  /// of attention.
  attention_backward,
  /// Attention in the space of latent keys and values; where a chip has no
  /// curve for it, on that of attention.
  latent_attention,
  elementwise,
  gather,
  /// Recurrences and convolutions of few tokens; where a chip has no curve for
  /// them, on that of elementwise kernels and at the rate of vector units.
  scan,
  /// Scores of all tokens and the choice of the best; where a chip has no curve
  /// for it, on that of attention.
  index,
  /// Attention of tokens that all see each other and go to no cache; where a
  /// chip has no curve of its format, on that of attention.
  encoder_attention,
  /// Latent attention with selected tokens; where a chip has no curve of its
  /// format, on that of latent attention.
  sparse_attention,
  /// A matrix of its own for each head; where a chip has no curve of its
  /// format, on that of products.
  batched_matmul,
  /// Recurrences that forget each channel by itself; where a chip has no curve
  /// for them, on that of scans.
  channel_scan,
  /// Streams of hyper-connections mixed into what a block reads, and what it
  /// made added to them; where a chip has no curve of their format, on that of
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

/// Which table of shapes a kernel's curve has for a launch: of products, or of
/// attention that decodes and that reads prompts.
enum class ShapeKind : uint8_t { product, decode, prefill };
inline constexpr size_t shapeKindCount = 3;

/// Where the FLOPs of a kernel are counted in a report.
enum class FlopClass : uint8_t {
  none,
  linear,
  attention,
  recurrence,
  logits,
};

/// The (query, key) pairs of an attention: q*c - q*(q-1)/2 where causal (each
/// of `query` new tokens sees the cache up to itself; `context` counts the
/// cache after the step), limited to the last `window` keys where not 0 (where
/// not causal, to `window / 2` keys on either side), or to the keys of the
/// query's own chunk of `chunk` tokens where not 0.
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
  /// Which value of the program it is, from 1: a launch of several kernels
  /// reads a value once, and not at all where it wrote it.
  uint32_t value = 0;
  /// Not 0: `shape[0]` counts experts, of which only the distinct ones that
  /// `rows` routed tokens with `topK` each reach are read.
  int64_t topK = 0;
  Dims rows;
};

/// One kernel launch, `count` times a step. Its FLOPs are
/// `flopFactor` * rows * columns * contraction (* pairs). A kernel that has
/// none (`flopFactor` 0) is bound by its traffic.
struct Kernel {
  /// Layer kind and op, "decoder/q_proj"; unique in a program.
  std::string name;
  /// Mnemonic of the op it comes from, "linear".
  std::string op;
  /// Index into `CostProgram::layers`.
  uint32_t layer = 0;
  int64_t count = 1;
  KernelKind kind = KernelKind::elementwise;
  FlopClass flopClass = FlopClass::none;
  /// Format that the units multiply.
  ElementType compute = ElementType::bf16;
  /// Format of weights in 4-bit floats, which chips may multiply as they are.
  std::optional<ElementType> storage = std::nullopt;
  int64_t flopFactor = 0;
  Dims rows, columns, contraction;
  std::optional<Pairs> pairs;
  /// Of attention by head: what tables of its shapes go by.
  struct Heads {
    Dim ofKeys;
    /// Mean of what a query and a value have.
    int64_t width = 0;
  };
  std::optional<Heads> heads = std::nullopt;
  std::vector<Traffic> traffic;
  /// Works on tokens on their way to experts and back (dispatch, activation,
  /// combine): a part of the grouped products around it, whose curves were
  /// measured with it.
  bool routed = false;
  /// The one kernel of its layer that brings tokens together: attention, a
  /// recurrence.
  bool mixesTokens = false;
  /// Of a backward: makes gradients of weights, for which no other kernel of it
  /// waits.
  bool ofWeights = false;
  /// Adds to what a product has made, an index of `CostProgram::kernels`, which
  /// could do that as it writes: the results of other products, or a gradient
  /// that is kept.
  struct Epilogue {
    enum class Kind : uint8_t { sum, accumulation };
    Kind kind = Kind::sum;
    uint32_t product = 0;
  };
  std::optional<Epilogue> epilogue = std::nullopt;
  /// Computes the sequences in this phase alone, where others take another
  /// form of the op.
  std::optional<Phase> phase = std::nullopt;
  /// Kernels of one layer with the same group may be launched as one by a
  /// runtime that merges them: products of one input (q, k, v; gate, up) or
  /// with one sum, and runs of elementwise kernels, runs of one scan.
  uint32_t fusionGroup = 0;
};

/// Two runs of elementwise kernels with nothing in between, though a layer or
/// an iteration ends there: a runtime that fuses such runs launches them as
/// one, `count` times a step. The residual sum that ends a layer and the norm
/// that begins the next. No run follows one border and precedes another.
struct Border {
  /// Indices of the last kernel of the run before, the first of the one after.
  uint32_t before = 0, after = 0;
  int64_t count = 0;
  /// The layer kind in which it lies. Nothing where it lies between layers of
  /// the stack or at either end of it: a pipeline stage has those that lead to
  /// its layers.
  std::optional<uint32_t> layer = std::nullopt;
  /// Values (`Traffic::value`) as the run after has them, and which values of
  /// the run before they are here, where the number is another one.
  std::vector<std::pair<uint32_t, uint32_t>> values = {};
};

/// What something begins and ends with, where that is a run of elementwise
/// kernels: the first kernel of one, the last of the other.
struct RunEnds {
  std::optional<uint32_t> head = std::nullopt, tail = std::nullopt;
};

enum class CollectiveKind : uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  /// Every device sends what it has to another one.
  permute,
  /// n - 1 steps of a ring; the buffer is all parts together.
  ring,
};

/// Routed tokens that go to each node once (`parallel.all_to_all`): how they
/// choose their experts, and the axes that share those, major first.
struct NodeDispatch {
  int64_t topK = 1, experts = 1;
  /// Experts are of `kept` of so many groups of neighbours, of equal size.
  int64_t groups = 1, kept = 1;
  std::vector<AxisId> axes;
  /// Where all are in one node, too: to each device once.
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
  /// What each rank puts in: the operand, split by all its axes.
  Dims shape;
  ElementType type = ElementType::bf16;
  /// With one f32 scale for each `block` values of it, where that is not 0.
  int64_t block = 0;
  /// Moves tokens on their way to experts and back.
  bool routed = false;
  /// Gathers weights, or sums or scatters their gradients: may run beside the
  /// computation of other layers.
  bool ofWeights = false;
  /// Of a backward: gathers what a product with weights has had as its input,
  /// or sums the gradient of that: may run beside the products of that
  /// backward.
  bool ofInputs = false;
  std::optional<NodeDispatch> byNode = std::nullopt;
  /// As `Dim::sharedBy`, where no dimension of `shape` has it: what each rank
  /// puts in is split by tokens, and the hottest one gets the most of it.
  std::optional<uint32_t> sharedBy = std::nullopt;
  /// Of a weight that is gathered: other layer kinds that use it. A part of the
  /// program without `layer` gathers for itself.
  std::vector<uint32_t> readers = {};
};

/// Bytes that stay on the device between steps.
struct Resident {
  /// Gradients are those that microbatches add up; `optimizer` is what an
  /// optimizer keeps of each parameter, master weights too.
  enum class Kind : uint8_t { weight, kv_cache, state, gradient, optimizer };
  /// Weights and what belongs to them: the checkpoint's name without the layer
  /// prefix.
  std::string name;
  Kind kind = Kind::weight;
  uint32_t layer = 0;
  int64_t count = 1;
  Dims shape;
  /// As stored.
  ElementType type = ElementType::bf16;
  /// Weights of routed experts: `shape[0]` counts experts, a token uses topK.
  int64_t topK = 0;
  /// Caches: the dimension that the runtime allocates in blocks, or -1.
  int32_t pagedDim = -1;
  /// A weight that the checkpoint has and a step does not load.
  bool stored = false;
  /// Weights of a format: the parameters that the tensor holds; an extent of 0
  /// where those are in another one (scales, zeros). Else `shape`.
  std::optional<Dims> values = std::nullopt;
  /// Of `Kind::optimizer`: the copy of a weight that the optimizer updates.
  bool isMaster = false;
  /// Of `Kind::weight`: split over replicas, and gathered before its use.
  bool isGathered = false;
  /// Index of the first kernel that reads or writes it, where one does.
  std::optional<uint32_t> user = std::nullopt;
  /// Other layer kinds that read it: an embedding that is the head, too.
  std::vector<uint32_t> readers = {};

  const Dims &parameters() const { return values ? *values : shape; }
};

/// A temporary, live from launch `begin` to launch `end` inclusive of one
/// pass through the distinct layers (loop bodies appear once).
struct Activation {
  std::string name;
  uint32_t layer = 0;
  Dims shape;
  ElementType type = ElementType::bf16;
  uint32_t begin = 0, end = 0;
  /// Tokens on their way to experts and back.
  bool routed = false;
  /// Equal parts of its tokens of which one exists at a time.
  int64_t chunks = 1;
};

/// A value that the forward of a layer keeps for its backward, `count` of them
/// in a step: one of each microbatch in flight. It is no `Activation`.
struct Saved {
  std::string name;
  /// The layer kind whose forward makes it.
  uint32_t layer = 0;
  int64_t count = 1;
  Dims shape;
  ElementType type = ElementType::bf16;
  /// As `Activation::chunks`.
  int64_t chunks = 1;
};

/// A token's experts are of `kept` of `all` groups of neighbours, of equal
/// size.
struct ExpertGroups {
  int64_t all = 1, kept = 1;
};

/// A function of the model: "model" itself, then each layer kind. What follows
/// the layers of "model" is a kind of its own, of the same name.
struct LayerKind {
  std::string name;
  /// How often a step runs it; 0 of one that is only stored.
  int64_t count = 1;
  /// Its first and last launch, as `Activation` counts them.
  uint32_t begin = 0, end = 0;
  Section section = Section::forward;
  /// Of its router.
  ExpertGroups expertGroups = {};
};

/// A layer kind that something runs so often.
struct KindCount {
  /// Index into `CostProgram::layers`.
  uint32_t layer = 0;
  int64_t count = 1;
};

/// The layers of the model, of which pipeline stages take ranges: its last
/// loops that follow each other directly.
struct LayerStack {
  /// What a layer is made of, and the values that it takes from before it.
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
  /// Each once.
  std::vector<Layer> layers;
  /// In order. Empty where the model has no such loops, or they hold anything
  /// but calls.
  std::vector<Run> runs;
  /// What lies before the first layer, and after the last.
  std::vector<KindCount> before, after;
  /// The end of what lies before the first layer, and the beginning of what
  /// follows the last.
  std::optional<uint32_t> tailBefore = std::nullopt, headAfter = std::nullopt;
  /// What the model itself is given: token ids; and what follows the last layer
  /// takes.
  std::vector<Layer::Input> inputs, outputs;
};

/// Everything a step costs, with neither workload nor mesh sizes in it: the
/// extracted program of one strategy is the same for all of them. Records are
/// in the order of the IR.
/// The positions that a model was made for.
struct Positions {
  /// Tokens of its longest context; 0 where that is not known.
  int64_t longest = 0;
  /// Whether there is a row for each of them and none for others.
  bool areLearned = false;
  /// How rotary angles are stretched: "yarn"; empty where they are not.
  std::string scaling;
};

struct CostProgram {
  std::string model;
  Positions positions;
  /// What plain weights of 16 bits have in the checkpoint, where engines cast
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
  /// Nothing where experts take all tokens that are routed to them.
  std::optional<ExpertCapacity> capacity;
  /// Null where nothing is known of the loads of experts: they are even.
  std::shared_ptr<const PlacedExperts> placement;

  /// Whether layer kind `layer` is a part of the model's own function.
  bool isModel(uint32_t layer) const {
    return layers[layer].name == layers.front().name;
  }
  /// Whether it has backwards: a step is an iteration of training.
  bool trains() const;
  /// The experts of `kernel` that ranks share, where chance says which of them
  /// most tokens go to; else null: capacities, and routers in training, even
  /// loads out.
  const Traffic *sharedExperts(const Kernel &kernel) const;
  /// Whether earlier tokens of a sequence are kept, so that a step may compute
  /// a part of a prompt.
  bool keepsTokens() const;
  /// The axes that split the dimension of `dims` that counts sequences; null
  /// where none does.
  const std::vector<AxisId> *sequenceAxes(const Dims &dims) const;
  /// Those of what is kept of sequences (where nothing is, of what is
  /// computed), the fewest where records differ: along them, each has its own.
  std::vector<AxisId> sequenceAxes() const;
  /// Of those, the ones that a collective joins: steps along them are steps of
  /// all.
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

/// The program as JSON text (`autopar.program/1`), for people and for the test
/// that it does not depend on sizes.
std::string toJson(const CostProgram &program);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_COSTPROGRAM_H

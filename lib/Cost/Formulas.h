//===- Formulas.h - The words that formulas are written in ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_FORMULAS_H
#define AUTOPAR_LIB_COST_FORMULAS_H

#include "autopar/Cost/Strategy.h"

#include <array>
#include <memory_resource>
#include <unordered_map>

namespace autopar::cost {

/// The sizes of symbols, by `Symbol`, of sequences that are alike.
using SymbolValues = std::array<Expr, symbolCount>;
/// Groups of sequences that a step computes together.
using Groups = std::vector<SymbolValues>;

bool hasSymbols(const program::Dim &dim);
bool hasSymbols(const program::Dims &dims);

/// Sizes, bytes and counts of the records of one program, as expressions of the
/// strategy's graph.
class Formulas {
public:
  Formulas(const program::CostProgram &program, Strategy &strategy,
           const std::vector<program::Phase> &phases);

  Expr number(int64_t value) { return {graph, graph.constant(value)}; }
  Expr figure(FigureUse::Kind kind,
              program::KernelKind kernel = program::KernelKind::elementwise,
              ElementType type = ElementType::bf16,
              std::optional<ElementType> storage = std::nullopt);
  /// A figure that counts.
  Expr whole(FigureUse::Kind kind) { return floor(figure(kind)); }
  /// Tokens of a block of the KV cache.
  Expr blockTokens() {
    return max(number(1), whole(FigureUse::Kind::kv_block_tokens));
  }
  Expr passes() { return isParts ? leaf(Op::passes, Rank::part) : number(1); }
  Expr microbatches() {
    return isParts ? leaf(Op::microbatches, Rank::part) : number(1);
  }
  Expr stages() { return leaf(Op::stages, Rank::layout); }
  /// Of the experts that the program places.
  Expr slots();
  Expr devices(const std::vector<program::AxisId> &axes);
  /// Load of the most loaded rank over the mean, of all layers of `kind` or of
  /// the worst (`Op::peak_skew`), in millionths.
  Expr skew(std::optional<uint32_t> kind, Op loads = Op::skew);

  /// Of the whole model. Where only one dimension has symbols, its sum over
  /// groups is split and padded: their rows lie in one matrix. Where several
  /// have, each group is a block of its own, and the blocks are added.
  Expr logical(const program::Extent &extent, const Groups &groups);
  Expr logical(const program::Extent &extent) { return logical(extent, step); }
  Expr logical(const program::Dims &dims, const Groups &groups);
  Expr logical(const program::Dims &dims) { return logical(dims, step); }
  /// What the worst device holds; `record` is asked for what cannot be split.
  Expr local(const program::Dim &dim, RecordRef record);
  Expr local(const program::Dims &dims, RecordRef record,
             const Groups &groups) {
    return localPaged(dims, -1, record, groups);
  }
  Expr local(const program::Dims &dims, RecordRef record) {
    return local(dims, record, step);
  }
  /// Dimension `paged` is rounded up to whole blocks.
  Expr localPaged(const program::Dims &dims, int32_t paged, RecordRef record,
                  const Groups &groups);
  /// The same for other sizes, which nothing is asked for.
  Expr localPaged(const program::Dims &dims, int32_t paged,
                  const Groups &groups);
  /// The same of a value that one layer holds at a time: where loads of experts
  /// are uneven, that of the layer whose most loaded rank has most.
  Expr mostHeld(const program::Dims &dims, const Groups &groups);
  /// Tokens that a rank routes, each once for every expert that it chooses, and
  /// how many of them an expert takes.
  Expr routedTokens(const Groups &groups);
  Expr expertCapacity(const Groups &groups);
  /// What `flops` of a kernel with `rows` are without the rows by which experts
  /// are padded to their capacity.
  Expr withoutPadding(Expr flops, const program::Dims &rows);
  /// Of the hottest device, where the mean one has `mean`.
  Expr hottest(Expr mean, std::optional<uint32_t> kind);
  /// What of `elements` exists at a time where their tokens are cut into
  /// `chunks`.
  Expr ofChunk(Expr elements, int64_t chunks) {
    return chunks == 1 ? elements : ceilDiv(elements, number(chunks));
  }
  /// Bytes of `elements` values of `type`, the last one rounded up.
  Expr bytes(Expr elements, ElementType type);

  /// How often a device runs `layer` in a pass, and a record that a step of the
  /// whole runs `count` times.
  Expr countOfKind(uint32_t layer);
  Expr countOf(uint32_t layer, int64_t count);
  Expr countOf(const program::Kernel &kernel);
  /// Launches that `border` joins.
  Expr countOf(const program::Border &border);
  /// Tensors that a device keeps.
  Expr countOf(const program::Resident &resident) {
    return countOfShared(resident.layer, resident.count, resident.readers);
  }
  /// Calls of a device: a weight that several kinds use is gathered once.
  Expr countOf(const program::Collective &collective) {
    return collective.readers.empty()
               ? countOf(collective.layer, collective.count)
               : countOfShared(collective.layer, collective.count,
                               collective.readers);
  }
  /// `value` where a device runs `layer`, else 0.
  Expr where(uint32_t layer, Expr value);

  void require(Requirement requirement);
  uint32_t link(const program::Collective &record);
  /// `Op::sent` of `link`.
  Expr sent(uint32_t link) { return leaf(Op::sent, Rank::layout, link); }
  Expr call(Op op, Expr bytes, uint32_t link) {
    return {graph, graph.make(op, bytes.node(), link)};
  }

  const program::CostProgram &program;
  Strategy &strategy;
  Graph &graph;
  /// What of the step `kernel` computes.
  Groups groupsOf(const program::Kernel &kernel) const;

  /// Sequences that devices of their own hold: 1, or more where caches and
  /// states (without any, activations) are split by sequence.
  Expr replicas();

  /// Of the step; of one sequence of its first group; of the run that sizes
  /// temporaries; of the fullest of the steps that the runtime makes of this
  /// one, where tokens are more than it computes at once.
  Groups step, single, profile, fullest;

private:
  Expr leaf(Op op, Rank rank, uint32_t index = 0) {
    // Parts may lack a layer kind, or a border.
    bool isPositive = op < Op::kind_count || op > Op::sent;
    return {graph, graph.leaf(op, index, rank, true, isPositive)};
  }
  Expr split(const program::Dim &dim, Expr extent, bool mayFail,
             Op loads = Op::skew);
  Expr limited(const program::Dim &dim, Expr routed, const Groups &groups);
  Expr keptOf(uint32_t kind, Expr routed, const Groups &groups);
  Expr mostRows(const Groups &groups);
  Expr countOfShared(uint32_t layer, int64_t count,
                     const std::vector<uint32_t> &readers);
  Expr product(int64_t factor, const std::vector<program::SymbolId> &ids,
               const SymbolValues &values);
  /// What is written of a shape: all of it, what a device has where splits
  /// divide, or anyway, or in the layer with the worst loads.
  enum class Form : uint8_t { logical, divided, local, most };
  template <typename Part>
  Expr product(const program::Dims &dims, const Groups &groups, Part part);
  template <typename Part>
  Expr sumOverGroups(const program::Dims &dims, const Groups &groups,
                     Part part);
  template <typename Part>
  Expr write(Form form, const program::Dims &dims, int32_t paged,
             const Groups &groups, Part part);
  Expr local(const program::Dim &dim, Expr extent, RecordRef record);
  void requireSplit(const program::Dim &dim, Expr extent, RecordRef record);
  void readSymbols();
  void addFullest();

  const bool isParts;
  /// By group of the step.
  const std::vector<program::Phase> phases;
  /// By symbol of the program.
  std::vector<Symbol> symbols;

  /// Many records have one shape, of which the same is written once.
  struct Written {
    Form form;
    int32_t paged;
    const program::Dim *shape;
    std::array<NodeId, symbolCount> sizes;

    bool operator==(const Written &other) const {
      return form == other.form && paged == other.paged &&
             shape == other.shape && sizes == other.sizes;
    }
  };
  struct WrittenHash {
    size_t operator()(const Written &written) const;
  };
  std::pmr::monotonic_buffer_resource memory;
  /// With the shapes, so that no other one comes to lie in their place.
  std::pmr::unordered_map<Written, std::pair<program::Dims, Expr>, WrittenHash>
      written{&memory};
};

/// Sums over records, by the section that they are of.
class SectionSums {
public:
  explicit SectionSums(Formulas &of) : formulas(&of) {
    sums.fill(of.number(0));
  }

  Expr &of(uint32_t layer) {
    return sums[static_cast<size_t>(formulas->program.layers[layer].section)];
  }
  /// Of one pass.
  Expr of(program::Section section) const {
    return sums[static_cast<size_t>(section)];
  }
  /// Of a step: all passes of forwards and backwards, one of the optimizer.
  Expr ofStep() const {
    return (of(program::Section::forward) + of(program::Section::backward)) *
               formulas->passes() +
           of(program::Section::optimizer);
  }
  /// Column `member` of the sections.
  void store(NodeId SectionNodes::*member) const;

  friend SectionSums operator+(SectionSums a, const SectionSums &b) {
    return a.apply(Op::add, b);
  }
  friend SectionSums operator-(SectionSums a, const SectionSums &b) {
    return a.apply(Op::subtract, b);
  }

private:
  SectionSums &apply(Op op, const SectionSums &other) {
    for (size_t i = 0; i < program::sectionCount; ++i)
      sums[i] = sums[i].apply(op, other.sums[i]);
    return *this;
  }

  Formulas *formulas;
  std::array<Expr, program::sectionCount> sums;
};

/// Elements of a weight on a device as kernels lay it out, of which `local` are
/// stored: kernels of routed experts in 4-bit floats fill tiles, some of them
/// with the values of each row alone and not with their scales.
Expr laidOut(Formulas &formulas, const program::Resident &weight, Expr local);

// The parts of `compile`, in the order of their requirements.
void addModelFormulas(Formulas &formulas);
void addMemoryFormulas(Formulas &formulas);
void addSavedFormulas(Formulas &formulas);
void addUpdateFormulas(Formulas &formulas);
void addCopyFormulas(Formulas &formulas);
void addKernelFormulas(Formulas &formulas);
void addCommunicationFormulas(Formulas &formulas);
void addLaunchFormulas(Formulas &formulas);
/// Takes out of what kernels wait for the steps of rings that run beside
/// attention on the part before: of n - 1 steps, each hides behind one n-th of
/// the attention of its layer (ring attention, arXiv:2310.01889, section 3).
void hideRings(Formulas &formulas);

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_FORMULAS_H

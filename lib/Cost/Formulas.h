//===- Formulas.h - Building blocks of formulas -----------------*- C++ -*-===//
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

/// Sizes of symbols, by `Symbol`, of sequences that are alike.
using SymbolValues = std::array<Expr, symbolCount>;
/// Groups of sequences that a step computes in one pass.
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
  /// A figure that is a count.
  Expr whole(FigureUse::Kind kind) { return floor(figure(kind)); }
  /// Tokens per block of the KV cache.
  Expr blockTokens() {
    return max(number(1), whole(FigureUse::Kind::kv_block_tokens));
  }
  Expr passes() { return isParts ? leaf(Op::passes, Rank::part) : number(1); }
  Expr microbatches() {
    return isParts ? leaf(Op::microbatches, Rank::part) : number(1);
  }
  Expr stages() { return leaf(Op::stages, Rank::layout); }
  /// Slots of the experts that the program places.
  Expr slots();
  Expr devices(const std::vector<program::AxisId> &axes);
  /// Load of the most loaded rank over the mean, in millionths, averaged over
  /// the layers of `kind`, or in the worst layer (`Op::peak_skew`).
  Expr skew(std::optional<uint32_t> kind, Op loads = Op::skew);

  /// Size for the whole model. If only one dimension has symbols, its sum over
  /// groups is split and padded, because the rows of all groups lie in one
  /// matrix. If several have, each group is a block of its own, and blocks are
  /// added.
  Expr logical(const program::Extent &extent, const Groups &groups);
  Expr logical(const program::Extent &extent) { return logical(extent, step); }
  Expr logical(const program::Dims &dims, const Groups &groups);
  Expr logical(const program::Dims &dims) { return logical(dims, step); }
  /// Size on the worst device. Requirements of splits are recorded for
  /// `record`.
  Expr local(const program::Dim &dim, RecordRef record);
  Expr local(const program::Dims &dims, RecordRef record,
             const Groups &groups) {
    return localPaged(dims, -1, record, groups);
  }
  Expr local(const program::Dims &dims, RecordRef record) {
    return local(dims, record, step);
  }
  /// Size with dimension `paged` rounded up to whole blocks.
  Expr localPaged(const program::Dims &dims, int32_t paged, RecordRef record,
                  const Groups &groups);
  /// The same for other sizes, without requirements.
  Expr localPaged(const program::Dims &dims, int32_t paged,
                  const Groups &groups);
  /// The same for a value that one layer holds at a time: if loads of experts
  /// are uneven, in the layer with the largest load of a rank.
  Expr mostHeld(const program::Dims &dims, const Groups &groups);
  /// Tokens that a rank routes, counted once per chosen expert, and the number
  /// of them that one expert accepts.
  Expr routedTokens(const Groups &groups);
  Expr expertCapacity(const Groups &groups);
  /// `flops` of a kernel with `rows`, without the rows that pad experts to
  /// their capacity.
  Expr withoutPadding(Expr flops, const program::Dims &rows);
  /// Value on the most loaded device, for a mean of `mean`.
  Expr mostLoaded(Expr mean, std::optional<uint32_t> kind);
  /// The elements of `elements` that exist at a time if their tokens are
  /// processed in `chunks` chunks.
  Expr ofChunk(Expr elements, int64_t chunks) {
    return chunks == 1 ? elements : ceilDiv(elements, number(chunks));
  }
  /// Bytes of `elements` values of `type`, rounded up.
  Expr bytes(Expr elements, ElementType type);

  /// How often a device runs `layer` in a pass, and a record that the whole
  /// model runs `count` times.
  Expr countOfKind(uint32_t layer);
  Expr countOf(uint32_t layer, int64_t count);
  Expr countOf(const program::Kernel &kernel);
  /// Number of launches that `border` joins.
  Expr countOf(const program::Border &border);
  /// Number of tensors that a device keeps.
  Expr countOf(const program::Resident &resident) {
    return countOfShared(resident.layer, resident.count, resident.readers);
  }
  /// Number of calls of a device. A weight that several layer kinds use is
  /// gathered once.
  Expr countOf(const program::Collective &collective) {
    return collective.readers.empty()
               ? countOf(collective.layer, collective.count)
               : countOfShared(collective.layer, collective.count,
                               collective.readers);
  }
  /// `value` if a device runs `layer`, else 0.
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
  /// The groups of the step that `kernel` computes.
  Groups groupsOf(const program::Kernel &kernel) const;

  /// Number of groups of devices with sequences of their own: more than 1 if
  /// caches and states (without any, activations) are split by sequence.
  Expr replicas();

  /// Sizes of the step; of one sequence of its first group; of the run that
  /// sizes temporaries; of the fullest step if the runtime splits this one by
  /// its token budget.
  Groups step, single, profile, fullest;

private:
  Expr leaf(Op op, Rank rank, uint32_t index = 0) {
    // A part may lack a layer kind or a border, so these counts may be 0.
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
  /// The form of a shape: whole; on a device, with splits that must divide; on
  /// a device, rounded up; on a device in the layer with the worst loads.
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
  /// Phase by group of the step.
  const std::vector<program::Phase> phases;
  /// Symbols by index in the program.
  std::vector<Symbol> symbols;

  /// Key of a product, so that records with the same shape share one
  /// expression.
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
  /// Holds copies of the shapes, so that their addresses stay unique.
  std::pmr::unordered_map<Written, std::pair<program::Dims, Expr>, WrittenHash>
      written{&memory};
};

/// Sums over records, by the section of their layer kind.
class SectionSums {
public:
  explicit SectionSums(Formulas &of) : formulas(&of) {
    sums.fill(of.number(0));
  }

  Expr &of(uint32_t layer) {
    return sums[static_cast<size_t>(formulas->program.layers[layer].section)];
  }
  /// The sum of one pass.
  Expr of(program::Section section) const {
    return sums[static_cast<size_t>(section)];
  }
  /// The sum of a step: all passes of forwards and backwards, one of the
  /// optimizer.
  Expr ofStep() const {
    return (of(program::Section::forward) + of(program::Section::backward)) *
               formulas->passes() +
           of(program::Section::optimizer);
  }
  /// Stores the sums into column `member` of the sections.
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

/// Elements of a weight on a device in the layout of its kernel, of which
/// `local` are stored. Kernels of routed experts in 4-bit floats pad to whole
/// tiles; some pad only the values of each row, not their scales.
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
/// Removes the ring steps that run beside attention on the previous part from
/// the time that kernels wait: of n - 1 steps, each hides behind one n-th of
/// the attention of its layer (ring attention, arXiv:2310.01889, section 3).
void hideRings(Formulas &formulas);

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_FORMULAS_H

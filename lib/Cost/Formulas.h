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

/// The sizes of the symbols of sequences that have equal sizes, indexed by
/// `Symbol`.
using SymbolValues = std::array<Expr, symbolCount>;
/// The groups of sequences that a step computes in one pass.
using Groups = std::vector<SymbolValues>;

bool hasSymbols(const program::Dim &dim);
bool hasSymbols(const program::Dims &dims);

/// Writes sizes, bytes and counts of the records of one program as expressions
/// in the strategy's graph.
class Formulas {
public:
  Formulas(const program::CostProgram &program, Strategy &strategy,
           const std::vector<program::Phase> &phases);

  Expr number(int64_t value) { return {graph, graph.constant(value)}; }
  Expr figure(FigureUse::Kind kind,
              program::KernelKind kernel = program::KernelKind::elementwise,
              ElementType type = ElementType::bf16,
              std::optional<ElementType> storage = std::nullopt);
  /// Returns a figure that is a count, as an integer.
  Expr whole(FigureUse::Kind kind) { return floor(figure(kind)); }
  /// Returns the number of tokens per block of the KV cache.
  Expr blockTokens() {
    return max(number(1), whole(FigureUse::Kind::kv_block_tokens));
  }
  Expr passes() { return isParts ? leaf(Op::passes, Rank::part) : number(1); }
  Expr microbatches() {
    return isParts ? leaf(Op::microbatches, Rank::part) : number(1);
  }
  Expr stages() { return leaf(Op::stages, Rank::layout); }
  /// Returns the number of slots of the experts that the program places.
  Expr slots();
  Expr devices(const std::vector<program::AxisId> &axes);
  /// Returns the load of the most loaded rank over the mean load, in
  /// millionths: the average over the layers of `kind` or, with
  /// `Op::peak_skew`, the value of the worst layer.
  Expr skew(std::optional<uint32_t> kind, Op loads = Op::skew);

  /// Returns the number of elements for the whole model. If only one dimension
  /// has symbols, the dimension's sum over all groups is split and padded,
  /// because the rows of all groups lie in one matrix. If several dimensions
  /// have symbols, each group is a block of its own, and the blocks are added.
  Expr logical(const program::Extent &extent, const Groups &groups);
  Expr logical(const program::Extent &extent) { return logical(extent, step); }
  Expr logical(const program::Dims &dims, const Groups &groups);
  Expr logical(const program::Dims &dims) { return logical(dims, step); }
  /// Returns the number of elements on the worst device. The requirements of
  /// splits are recorded for `record`.
  Expr local(const program::Dim &dim, RecordRef record);
  Expr local(const program::Dims &dims, RecordRef record,
             const Groups &groups) {
    return localPaged(dims, -1, record, groups);
  }
  Expr local(const program::Dims &dims, RecordRef record) {
    return local(dims, record, step);
  }
  /// Returns the number of elements on the worst device if dimension `paged` is
  /// rounded up to whole blocks of the KV cache.
  Expr localPaged(const program::Dims &dims, int32_t paged, RecordRef record,
                  const Groups &groups);
  /// Returns the same number for the sizes `groups`, without recording
  /// requirements.
  Expr localPaged(const program::Dims &dims, int32_t paged,
                  const Groups &groups);
  /// Returns the number of elements on a device of a value that only one layer
  /// holds at a time: if loads of experts are uneven, in the layer whose most
  /// loaded rank has the largest load.
  Expr mostHeld(const program::Dims &dims, const Groups &groups);
  /// `routedTokens` returns the tokens that a rank routes, counted once per
  /// chosen expert; `expertCapacity` the number of them that one expert
  /// accepts.
  Expr routedTokens(const Groups &groups);
  Expr expertCapacity(const Groups &groups);
  /// Returns the part of `flops` of a kernel with `rows` that is not spent on
  /// rows that pad experts to their capacity.
  Expr withoutPadding(Expr flops, const program::Dims &rows);
  /// Returns the value on the most loaded device if the mean over devices is
  /// `mean`.
  Expr mostLoaded(Expr mean, std::optional<uint32_t> kind);
  /// Returns how many of `elements` exist at a time if their tokens are
  /// processed in `chunks` chunks.
  Expr ofChunk(Expr elements, int64_t chunks) {
    return chunks == 1 ? elements : ceilDiv(elements, number(chunks));
  }
  /// Returns the bytes of `elements` values of `type`, rounded up.
  Expr bytes(Expr elements, ElementType type);

  /// `countOfKind` returns how often a device runs `layer` in a pass; `countOf`
  /// how often it has a record that the whole model has `count` times.
  Expr countOfKind(uint32_t layer);
  Expr countOf(uint32_t layer, int64_t count);
  Expr countOf(const program::Kernel &kernel);
  /// Returns the number of launches that `border` joins.
  Expr countOf(const program::Border &border);
  /// Returns the number of tensors that a device keeps of `resident`.
  Expr countOf(const program::Resident &resident) {
    return countOfShared(resident.layer, resident.count, resident.readers);
  }
  /// Returns how often a device calls the collective. A weight that several
  /// layer kinds use is gathered only once.
  Expr countOf(const program::Collective &collective) {
    return collective.readers.empty()
               ? countOf(collective.layer, collective.count)
               : countOfShared(collective.layer, collective.count,
                               collective.readers);
  }
  /// Returns `value` if a device runs `layer`, else 0.
  Expr where(uint32_t layer, Expr value);

  void require(Requirement requirement);
  uint32_t link(const program::Collective &record);
  /// Returns the bytes sent over `link`: the leaf `Op::sent`.
  Expr sent(uint32_t link) { return leaf(Op::sent, Rank::layout, link); }
  Expr call(Op op, Expr bytes, uint32_t link) {
    return {graph, graph.make(op, bytes.node(), link)};
  }

  const program::CostProgram &program;
  Strategy &strategy;
  Graph &graph;
  /// Returns the groups of the step that `kernel` computes.
  Groups groupsOf(const program::Kernel &kernel) const;

  /// Returns the number of groups of devices that have sequences of their own.
  /// It is more than 1 if caches and states are split by sequence; in a model
  /// without caches and states, activations tell.
  Expr replicas();

  /// Sizes of four steps: `step` is the step itself, `single` one sequence of
  /// its first group, `profile` the step that sizes temporaries, and `fullest`
  /// the fullest step if the runtime splits the step by its token budget.
  Groups step, single, profile, fullest;

private:
  Expr leaf(Op op, Rank rank, uint32_t index = 0) {
    // A part of the model may lack a layer kind or a border, so that these
    // counts may be 0.
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
  /// Says which size of a shape is meant: the whole one (`logical`); the size
  /// on a device, with splits that must divide (`divided`) or are rounded up
  /// (`local`); or the size on a device in the layer with the worst loads
  /// (`most`).
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
  /// The phase of each group of the step.
  const std::vector<program::Phase> phases;
  /// The symbols, by their index in the program.
  std::vector<Symbol> symbols;

  /// The key of a product, so that records with the same shape share one
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
  /// Holds copies of the shapes; each address stays the key of one shape.
  std::pmr::unordered_map<Written, std::pair<program::Dims, Expr>, WrittenHash>
      written{&memory};
};

/// Sums of a quantity over records, one sum for each section (forward,
/// backward, optimizer).
class SectionSums {
public:
  explicit SectionSums(Formulas &of) : formulas(&of) {
    sums.fill(of.number(0));
  }

  Expr &of(uint32_t layer) {
    return sums[static_cast<size_t>(formulas->program.layers[layer].section)];
  }
  /// Returns the sum of one pass over `section`.
  Expr of(program::Section section) const {
    return sums[static_cast<size_t>(section)];
  }
  /// Returns the sum of a whole step: of the forwards and backwards in all
  /// passes, and of the optimizer once.
  Expr ofStep() const {
    return (of(program::Section::forward) + of(program::Section::backward)) *
               formulas->passes() +
           of(program::Section::optimizer);
  }
  /// Stores the sums of all sections into their member `member`.
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

/// Returns the number of elements that a weight has on a device in the layout
/// of its kernel; `local` is the number without padding. Kernels of routed
/// experts in 4-bit floats pad to whole tiles; some of these kernels pad only
/// the values of each row, not their scales.
Expr laidOut(Formulas &formulas, const program::Resident &weight, Expr local);

// The steps of `compile`, in the order in which their requirements are checked.
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
/// Shortens the kernels of experts that all tokens share by what runs beside
/// the routed experts of their layer, if the runtime overlaps the two.
void hideSharedExperts(Formulas &formulas);

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_FORMULAS_H

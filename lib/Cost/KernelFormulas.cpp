//===- KernelFormulas.cpp - FLOPs and bytes of kernels --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpertFormulas.h"

#include "autopar/Hardware/Hardware.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;

/// Whether the kernel casts the input of products
/// (`WorkloadBuilder::castInput`): other elementwise kernels compute in 16 bits
/// or more.
static bool isCast(const Kernel &kernel) {
  constexpr int64_t bitsOfNarrow = 8;
  return kernel.kind == KernelKind::elementwise &&
         bitsOf(kernel.compute) <= bitsOfNarrow;
}

namespace {

/// Writes the formulas of one kernel.
class KernelFormulas {
public:
  KernelFormulas(Formulas &formulas, uint32_t index)
      : formulas(formulas), kernel(formulas.program.kernels[index]),
        ref{RecordRef::Kind::kernel, index}, step(formulas.groupsOf(kernel)),
        parts(findParts()), experts(formulas, index) {}

  KernelNodes build();

private:
  Expr launched();
  Expr isCastTo();
  bool isApart() const;
  std::vector<Groups> findParts() const;
  void addFlops(KernelNodes &nodes);
  Expr bytesOf(const Traffic &traffic, const Groups &groups);
  void addTraffic(KernelNodes &nodes);
  void addShapes(KernelNodes &nodes);
  Expr sizeOf(const Dims &dims, const Groups &groups) {
    return formulas.localPaged(dims, -1, groups);
  }
  KernelNodes::Shape shapeOfProduct();
  std::optional<KernelNodes::Shape> shapeOfAttention(const Groups &part);
  KernelNodes::Shape shapeOfLatents(const Groups &part);
  Expr seenTokens(const Groups &part);
  KernelNodes::Shape shapeOfRecurrence(const Groups &part);
  Expr isPrefill(const Groups &part);

  Formulas &formulas;
  const Kernel &kernel;
  RecordRef ref;
  const Groups step;
  /// The groups of the step that are computed at once.
  const std::vector<Groups> parts;
  ExpertFormulas experts;
  Expr gate;
};

} // namespace

/// 1 if the chip multiplies the format that a cast makes, 0 if it widens that
/// format: weights are then widened instead, and inputs stay as they are. A
/// format that a chip lacks has the peak of a wider one.
Expr KernelFormulas::isCastTo() {
  auto peakOf = [&](ElementType type) {
    return formulas.figure(FigureUse::Kind::peak, KernelKind::matmul, type);
  };
  return above(peakOf(kernel.compute), peakOf(ElementType::bf16));
}

/// 1, or 0 for a kernel without rows or whose results are all empty.
Expr KernelFormulas::launched() {
  Expr zero = formulas.number(0), one = formulas.number(1);
  if (kernel.count == 0)
    return zero;
  if (isCast(kernel))
    one = isCastTo();
  Expr result = one, results = zero;
  if (kernel.flopFactor != 0)
    result = above(formulas.logical(kernel.rows, step), zero);
  bool writes = false;
  for (const Traffic &traffic : kernel.traffic) {
    if (!traffic.write)
      continue;
    results = max(results, above(formulas.logical(traffic.shape, step), zero));
    writes = true;
  }
  return writes ? result * results : result;
}

/// Returns the number of pairs of a query and a key on the worst device.
/// Context parallelism balances pairs (zig-zag), so that each query has an
/// equal share of them; the worst device has the rounded-up number of queries.
static Expr localPairs(Formulas &formulas, const Pairs &pairs, Expr query,
                       Expr all) {
  Expr own = ceilDiv(query, formulas.devices(pairs.query.axes));
  Expr parts = query * formulas.devices(pairs.context.axes);
  Expr share = all.apply(Op::scale, own, max(formulas.number(1), parts));
  return pairs.query.axes.empty() && pairs.context.axes.empty() ? all : share;
}

/// Returns whether the kernel scans tokens and carries a state along. For
/// prompts such a kernel works in chunks and is another kernel than for
/// decodes.
static bool isRecurrence(const Kernel &kernel) {
  return isScan(kernel.kind) && kernel.mixesTokens && !kernel.rows.empty() &&
         !kernel.columns.empty();
}

/// Returns whether each group of sequences is computed on its own, because the
/// groups have different second operands or use different kernels.
bool KernelFormulas::isApart() const {
  int varying = 0;
  for (const Dims *dims : {&kernel.rows, &kernel.columns, &kernel.contraction})
    varying += hasSymbols(*dims);
  return kernel.pairs || varying > 1 || isRecurrence(kernel);
}

std::vector<Groups> KernelFormulas::findParts() const {
  if (!isApart())
    return {step};
  std::vector<Groups> parts;
  for (const SymbolValues &group : step)
    parts.push_back({group});
  return parts;
}

/// Adds the FLOPs of the kernel; a multiply-add counts as 2. Causal pairs are
/// counted exactly, while FlashAttention-2 (arXiv:2307.08691) section 3.1.1
/// halves the square.
void KernelFormulas::addFlops(KernelNodes &nodes) {
  Expr factor = formulas.number(kernel.flopFactor) * gate;
  auto product = [&](auto of) {
    return factor * of(kernel.rows) * of(kernel.columns) *
           of(kernel.contraction);
  };
  Expr allFlops = formulas.number(0), allLocal = allFlops, allSquare = allFlops;
  for (const Groups &part : parts) {
    Expr logical =
        product([&](const Dims &dims) { return formulas.logical(dims, part); });
    Expr local = product([&](const Dims &dims) {
      Expr own = formulas.local(dims, ref, part);
      return &dims == &kernel.rows ? experts.rows(own, part) : own;
    });
    Expr square = logical;
    if (kernel.pairs) {
      const Pairs &pairs = *kernel.pairs;
      Expr query = formulas.logical(pairs.query.extent, part);
      Expr context = formulas.logical(pairs.context.extent, part);
      Expr all =
          query.apply(Op::pairs, context, formulas.graph.addPairs(pairs));
      logical *= all;
      local *= localPairs(formulas, pairs, query, all);
      square *= query * context;
    }
    nodes.shares.push_back({local.node()});
    allFlops += logical;
    allLocal += local;
    allSquare += square;
  }
  nodes.flops = allFlops.node();
  nodes.usefulFlops = formulas.withoutPadding(allFlops, kernel.rows).node();
  nodes.localFlops = allLocal.node();
  nodes.squareFlops = allSquare.node();
}

/// Returns the bytes that a device reads or writes for `traffic`. Of routed
/// experts, only those that tokens reach are read.
Expr KernelFormulas::bytesOf(const Traffic &traffic, const Groups &groups) {
  auto whole = [&] {
    Expr elements = formulas.local(traffic.shape, ref, groups);
    if (traffic.role == Traffic::Role::activation)
      elements = experts.elements(elements, groups);
    return formulas.bytes(elements, traffic.type);
  };
  if (traffic.topK == 0 || traffic.shape.empty())
    return whole();
  Expr all = formulas.logical(traffic.shape.front().extent);
  if (all.isConstant(0))
    return all;
  return whole().apply(Op::round_product, experts.reached(traffic, groups));
}

void KernelFormulas::addTraffic(KernelNodes &nodes) {
  nodes.shares.resize(parts.size(), {formulas.number(0).node()});
  std::vector<Expr> moved(parts.size(), formulas.number(0));
  Expr kept = formulas.number(0);
  nodes.traffic.reserve(kernel.traffic.size());
  for (const Traffic &traffic : kernel.traffic) {
    Expr sum = formulas.number(0);
    for (size_t i = 0; i < parts.size(); ++i) {
      Expr bytes = gate * bytesOf(traffic, parts[i]);
      // Traffic that does not depend on the group, such as that of weights, is
      // read once for all groups.
      if (i != 0 && bytes.node() == sum.node())
        break;
      sum += bytes;
      moved[i] += bytes;
    }
    nodes.traffic.push_back(sum.node());
    if (!traffic.write && traffic.role != Traffic::Role::activation)
      kept += sum;
  }
  for (size_t i = 0; i < parts.size(); ++i)
    nodes.shares[i].movedBytes = moved[i].node();
  nodes.keptReadBytes = kept.node();
}

//===----------------------------------------------------------------------===//
// Shapes of launches, by which tables are read
//===----------------------------------------------------------------------===//

static const Traffic *findRead(const Kernel &kernel, Traffic::Role role) {
  for (const Traffic &traffic : kernel.traffic)
    if (traffic.role == role && !traffic.write)
      return &traffic;
  return nullptr;
}

KernelNodes::Shape KernelFormulas::shapeOfProduct() {
  KernelNodes::Shape shape;
  Expr rows = sizeOf(kernel.rows, step);
  shape.y = shape.isPrefill = formulas.number(0).node();
  if (kernel.kind == KernelKind::grouped_matmul) {
    const Traffic *weights = findRead(kernel, Traffic::Role::weight);
    Dims all;
    if (weights && !weights->shape.empty())
      all.push_back(weights->shape.front());
    Expr held = sizeOf(all, step);
    rows = experts.rows(rows, step) / held;
    if (!formulas.strategy.launching.loopsExperts) {
      Expr share = held / formulas.logical(all, step);
      shape.fixed = {held.node(), share.node()};
    }
  }
  shape.x = rows.node();
  if (kernel.kind == KernelKind::batched_matmul) {
    shape.fixed = {sizeOf({kernel.columns.front()}, step).node(),
                   sizeOf({kernel.columns.back()}, step).node()};
    return shape;
  }
  if (isHyper(kernel.kind)) {
    shape.fixed = {sizeOf({kernel.contraction.back()}, step).node()};
    return shape;
  }
  shape.fixed.push_back(sizeOf(kernel.columns, step).node());
  shape.fixed.push_back(sizeOf(kernel.contraction, step).node());
  return shape;
}

/// Returns whether the step is a prefill. Engines verify drafts of a few tokens
/// per sequence with their decode kernels, which is therefore no prefill.
Expr KernelFormulas::isPrefill(const Groups &part) {
  constexpr int64_t mostDecoded = 8;
  if (kernel.phase)
    return formulas.number(*kernel.phase == Phase::prefill);
  return above(part.front()[static_cast<size_t>(Symbol::query)],
               formulas.number(mostDecoded));
}

/// Returns the mean number of keys that a query sees.
Expr KernelFormulas::seenTokens(const Groups &part) {
  const Pairs &pairs = *kernel.pairs;
  Expr query = formulas.logical(pairs.query.extent, part);
  Expr context = formulas.logical(pairs.context.extent, part);
  Expr all = query.apply(Op::pairs, context, formulas.graph.addPairs(pairs));
  return all / max(query, formulas.number(1));
}

/// Returns the shape of attention over a cache of latents. For prompts with
/// selected tokens, the kernel gathers the selected tokens of each query.
KernelNodes::Shape KernelFormulas::shapeOfLatents(const Groups &part) {
  KernelNodes::Shape shape;
  Expr sequences = sizeOf(kernel.rows, part);
  Expr query = sizeOf({kernel.pairs->query}, part);
  Expr context = sizeOf({kernel.pairs->context}, part);
  if (kernel.pairs->window != 0)
    context = min(context, formulas.number(kernel.pairs->window));
  Expr prefills = isPrefill(part);
  bool isSparse = kernel.kind == KernelKind::sparse_attention;
  shape.x = isSparse ? select(prefills, sequences * query, sequences).node()
                     : sequences.node();
  shape.y =
      select(prefills, isSparse ? seenTokens(part) : query, context).node();
  shape.isPrefill = prefills.node();
  shape.fixed = {sizeOf(kernel.columns, part).node()};
  return shape;
}

/// Returns the shape of attention, whether it reads keys and values by head or
/// a cache of latents.
std::optional<KernelNodes::Shape>
KernelFormulas::shapeOfAttention(const Groups &part) {
  bool isLatent = (kernel.kind == KernelKind::latent_attention ||
                   kernel.kind == KernelKind::sparse_attention) &&
                  findRead(kernel, Traffic::Role::kv_cache);
  if (!kernel.pairs || (!isLatent && !kernel.heads))
    return std::nullopt;
  if (isLatent)
    return shapeOfLatents(part);
  KernelNodes::Shape shape;
  Expr sequences = sizeOf(kernel.rows, part);
  Expr heads = sizeOf(kernel.columns, part);
  Expr query = sizeOf({kernel.pairs->query}, part);
  if (kernel.kind == KernelKind::encoder_attention) {
    shape.x = (sequences * heads).node();
    shape.y = query.node();
    shape.isPrefill = formulas.number(1).node();
    shape.fixed = {formulas.number(kernel.heads->width).node()};
    return shape;
  }
  shape.isPrefill = isPrefill(part).node();
  Expr context = sizeOf({kernel.pairs->context}, part);
  if (kernel.pairs->window != 0)
    context = min(context, formulas.number(kernel.pairs->window));
  shape.y =
      select(Expr(formulas.graph, shape.isPrefill), query, context).node();
  Expr keyHeads = sizeOf({kernel.heads->ofKeys}, part);
  Expr headSize = formulas.number(kernel.heads->width);
  shape.x = (sequences * keyHeads).node();
  shape.fixed = {(heads / keyHeads).node(), headSize.node()};
  return shape;
}

/// Returns the shape of a recurrence: each head of each sequence has one state,
/// which advances token by token.
KernelNodes::Shape KernelFormulas::shapeOfRecurrence(const Groups &part) {
  KernelNodes::Shape shape;
  Expr sequences = sizeOf({kernel.rows.front()}, part);
  Expr heads = sizeOf({kernel.columns.front()}, part);
  shape.x = (sequences * heads).node();
  shape.y = sizeOf({kernel.rows.back()}, part).node();
  shape.isPrefill = isPrefill(part).node();
  return shape;
}

void KernelFormulas::addShapes(KernelNodes &nodes) {
  auto add = [&](const KernelNodes::Shape &shape) {
    bool isLaid =
        std::all_of(shape.fixed.begin(), shape.fixed.end(), [&](NodeId node) {
          return formulas.graph[node].rank <= Rank::layout;
        });
    if (isLaid)
      nodes.shapes.push_back(shape);
  };
  bool isProduct =
      !ShapeTable::namesOf(kernel.kind, ShapeKind::product).empty();
  if (isProduct && parts.size() == 1)
    add(shapeOfProduct());
  if (ShapeTable::namesOf(kernel.kind, ShapeKind::prefill).empty())
    return;
  for (const Groups &part : parts) {
    if (isRecurrence(kernel))
      add(shapeOfRecurrence(part));
    else if (std::optional<KernelNodes::Shape> shape = shapeOfAttention(part))
      add(*shape);
  }
}

KernelNodes KernelFormulas::build() {
  KernelNodes nodes;
  gate = launched();
  nodes.launched = gate.node();
  nodes.count = formulas.countOf(kernel).node();
  nodes.flops = nodes.usefulFlops = nodes.localFlops = nodes.squareFlops =
      nodes.keptReadBytes = nodes.idealUs = formulas.number(0).node();
  if (kernel.count == 0)
    return nodes;
  if (kernel.flopFactor != 0)
    addFlops(nodes);
  addTraffic(nodes);
  addShapes(nodes);
  return nodes;
}

/// Adds the logical FLOPs of each class, and the FLOPs of one device.
static void addFlopTotals(Formulas &formulas) {
  SectionSums linear(formulas), attention = linear, square = linear,
                                recurrence = linear, logits = linear,
                                local = linear, useful = linear;
  for (size_t i = 0; i < formulas.program.kernels.size(); ++i) {
    const Kernel &kernel = formulas.program.kernels[i];
    const KernelNodes &nodes = formulas.strategy.kernels[i];
    Expr count(formulas.graph, nodes.count);
    auto all = [&](NodeId node) { return count * Expr(formulas.graph, node); };
    local.of(kernel.layer) += all(nodes.localFlops);
    SectionSums *sums[] = {nullptr, &linear, &attention, &recurrence, &logits};
    if (SectionSums *sum = sums[static_cast<size_t>(kernel.flopClass)])
      sum->of(kernel.layer) += all(nodes.flops);
    if (kernel.flopClass != FlopClass::none)
      useful.of(kernel.layer) += all(nodes.usefulFlops);
    if (kernel.flopClass == FlopClass::attention)
      square.of(kernel.layer) += all(nodes.squareFlops);
  }
  SectionSums flops = linear + attention + recurrence + logits;
  flops.store(&SectionNodes::flops);
  useful.store(&SectionNodes::usefulFlops);
  TotalNodes &total = formulas.strategy.total;
  total.linearFlops = linear.ofStep().node();
  total.attentionFlops = attention.ofStep().node();
  total.squareFlops = square.ofStep().node();
  total.recurrenceFlops = recurrence.ofStep().node();
  total.logitsFlops = logits.ofStep().node();
  total.flops = flops.ofStep().node();
  total.localFlops = local.ofStep().node();
}

void autopar::cost::addKernelFormulas(Formulas &formulas) {
  formulas.strategy.kernels.reserve(formulas.program.kernels.size());
  for (uint32_t i = 0; i < formulas.program.kernels.size(); ++i)
    formulas.strategy.kernels.push_back(KernelFormulas(formulas, i).build());
  addFlopTotals(formulas);
}

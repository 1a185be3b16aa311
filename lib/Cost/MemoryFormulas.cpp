//===- MemoryFormulas.cpp - Weights, caches, temporaries ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"

#include "autopar/Program/ProgramFacts.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

using Kind = Resident::Kind;
using Use = FigureUse::Kind;

//===----------------------------------------------------------------------===//
// Parameters of the model
//===----------------------------------------------------------------------===//

/// Returns a reference to a resident tensor. Gradients and optimizer states are
/// reported as weights.
static RecordRef refOf(const CostProgram &program, const Resident &resident) {
  using Ref = RecordRef::Kind;
  static constexpr Ref kinds[] = {Ref::weight, Ref::kv_cache, Ref::state,
                                  Ref::weight, Ref::weight};
  return {kinds[static_cast<size_t>(resident.kind)],
          static_cast<uint32_t>(&resident - program.residents.data())};
}

/// Adds the number of routed experts that a layer has on a device: the largest
/// number over all layers. Only matrices are counted, because biases may be
/// unsplit where matmuls are summed over parts of experts.
static void addExperts(Formulas &formulas) {
  Expr most = formulas.number(0);
  for (const Resident &weight : formulas.program.residents) {
    bool isMatrix = weight.parameters().size() > 2;
    if (weight.topK == 0 || weight.stored || weight.count == 0 || !isMatrix)
      continue;
    Expr own = formulas.local(weight.parameters().front(),
                              refOf(formulas.program, weight));
    most = max(most, formulas.where(weight.layer, own));
  }
  formulas.strategy.total.expertsPerDevice = most.node();
}

/// Adds the parameters of a weight. Each value counts once, without replicas
/// and padding. Active parameters are those that one token uses.
static void addWeight(Formulas &formulas, const Resident &weight,
                      ResidentNodes &nodes) {
  const Dims &values = weight.parameters();
  Expr parameters = formulas.logical(values), active = parameters;
  if (weight.topK != 0 && !values.empty()) {
    Expr experts = max(formulas.number(1), formulas.logical(values[0].extent));
    Expr used = min(formulas.number(weight.topK), experts);
    active = floorDiv(parameters, experts) * used;
  }
  nodes.parameters = parameters.node();
  nodes.activeParameters = active.node();
  ElementType stored = weight.type;
  if (stored == ElementType::bf16)
    stored = formulas.program.castFrom.value_or(stored);
  nodes.storedBytes =
      formulas.bytes(formulas.logical(weight.shape), stored).node();
}

static void addCapacity(Formulas &formulas) {
  TotalNodes &total = formulas.strategy.total;
  total.routedTokens = total.expertCapacityTokens = formulas.number(0).node();
  if (!formulas.program.capacity)
    return;
  total.routedTokens = formulas.routedTokens(formulas.step).node();
  total.expertCapacityTokens = formulas.expertCapacity(formulas.step).node();
}

void autopar::cost::addModelFormulas(Formulas &formulas) {
  addExperts(formulas);
  addCapacity(formulas);
  TotalNodes &total = formulas.strategy.total;
  Expr parameters = formulas.number(0), active = parameters, bytes = parameters,
       storedOnly = parameters;
  for (const Resident &weight : formulas.program.residents) {
    ResidentNodes &nodes = formulas.strategy.residents.emplace_back();
    Expr count = formulas.countOf(weight);
    nodes.count = count.node();
    if (weight.kind != Kind::weight)
      continue;
    addWeight(formulas, weight, nodes);
    auto part = [&](NodeId node) { return count * Expr(formulas.graph, node); };
    bytes += part(nodes.storedBytes);
    bool isRun = !weight.stored && !isForDrafts(formulas.program, weight);
    (isRun ? parameters : storedOnly) += part(nodes.parameters);
    if (isRun)
      active += part(nodes.activeParameters);
  }
  total.parameters = parameters.node();
  total.activeParameters = active.node();
  total.checkpointBytes = bytes.node();
  total.storedOnlyParameters = storedOnly.node();
}

//===----------------------------------------------------------------------===//
// Bytes of weights, caches and states
//===----------------------------------------------------------------------===//

/// Returns the shape of what one more token adds to `cache` before the
/// attention window is full; `tokens` names the symbol of the growing
/// dimension.
static std::optional<Dims> shapeOfToken(const Resident &cache,
                                        const CostProgram &program,
                                        std::string_view tokens) {
  for (size_t i = 0; i < cache.shape.size(); ++i) {
    const Extent &extent = cache.shape[i].extent;
    auto found = std::find_if(
        extent.symbols.begin(), extent.symbols.end(),
        [&](SymbolId id) { return program.symbols[id] == tokens; });
    if (found == extent.symbols.end())
      continue;
    Dims shape = cache.shape;
    // The device that holds the new token holds all of this token's values.
    shape[i] = Dim{{extent.factor, extent.symbols, 0}, {}};
    auto &symbols = shape[i].extent.symbols;
    symbols.erase(symbols.begin() + (found - extent.symbols.begin()));
    return shape;
  }
  return std::nullopt;
}

/// Adds the bytes of a cache or state per sequence, and the bytes that each
/// additional token adds.
static void addPerSequence(Formulas &formulas, const Resident &kept,
                           ResidentNodes &nodes) {
  auto bytes = [&](Expr elements) {
    return formulas.bytes(elements, kept.type).node();
  };
  const Groups &single = formulas.single;
  nodes.perSequence = bytes(formulas.logical(kept.shape, single));
  nodes.localPerSequence = bytes(formulas.localPaged(kept.shape, -1, single));
  nodes.blocksPerSequence =
      bytes(formulas.localPaged(kept.shape, kept.pagedDim, single));
  if (kept.kind != Kind::kv_cache)
    return;
  if (auto token = shapeOfToken(kept, formulas.program, "context")) {
    nodes.perToken = bytes(formulas.logical(*token, single));
    nodes.localPerToken = bytes(formulas.localPaged(*token, -1, single));
  }
  if (auto token = shapeOfToken(kept, formulas.program, "cross_tokens"))
    nodes.perEncodedToken = bytes(formulas.logical(*token, single));
}

/// Returns the sum of the member `node` over the residents of `kind` that a
/// device keeps.
static Expr sumOf(Formulas &formulas, Kind kind, NodeId ResidentNodes::*node) {
  Expr sum = formulas.number(0);
  for (size_t i = 0; i < formulas.program.residents.size(); ++i) {
    const ResidentNodes &nodes = formulas.strategy.residents[i];
    if (formulas.program.residents[i].kind == kind && nodes.*node != noNode)
      sum +=
          Expr(formulas.graph, nodes.count) * Expr(formulas.graph, nodes.*node);
  }
  return sum;
}

/// Returns the master copy of `weight` that its optimizer updates; null if it
/// has none.
static const Resident *masterOf(const CostProgram &program,
                                const Resident &weight) {
  auto isCopy = [&](const Resident &other) {
    return other.isMaster && other.layer == weight.layer &&
           other.name == weight.name;
  };
  auto found =
      std::find_if(program.residents.begin(), program.residents.end(), isCopy);
  return found == program.residents.end() ? nullptr : &*found;
}

/// Joins weights and their master copies if the runtime casts weights when it
/// gathers them: a plan that gathers any weight then keeps every weight only
/// once, in the format of the master copy, and the bytes of the copy count as
/// the weight's. Experts without replicas are treated like the other weights,
/// although nothing gathers them.
static void joinCopies(Formulas &formulas) {
  const std::vector<Resident> &residents = formulas.program.residents;
  if (std::none_of(residents.begin(), residents.end(),
                   [](const Resident &one) { return one.isGathered; }))
    return;
  Expr casts = formulas.whole(Use::casts_gathered_weights);
  Expr none = formulas.number(0);
  for (size_t i = 0; i < residents.size(); ++i) {
    // A weight that is stored elsewhere is not on the device.
    bool isHeld = residents[i].kind == Kind::weight && !residents[i].stored;
    const Resident *master =
        isHeld ? masterOf(formulas.program, residents[i]) : nullptr;
    if (!master)
      continue;
    NodeId &own = formulas.strategy.residents[i].localBytes;
    NodeId &copy =
        formulas.strategy.residents[master - residents.data()].localBytes;
    Expr narrow(formulas.graph, own), wide(formulas.graph, copy);
    own = select(casts, wide, narrow).node();
    copy = select(casts, none, wide).node();
  }
}

static void addResidents(Formulas &formulas) {
  const std::vector<Resident> &residents = formulas.program.residents;
  for (Kind kind : {Kind::weight, Kind::kv_cache, Kind::state, Kind::gradient,
                    Kind::optimizer})
    for (size_t i = 0; i < residents.size(); ++i) {
      const Resident &resident = residents[i];
      ResidentNodes &nodes = formulas.strategy.residents[i];
      if (resident.kind != kind || resident.stored)
        continue;
      int32_t paged = kind == Kind::kv_cache ? resident.pagedDim : -1;
      Expr local =
          formulas.localPaged(resident.shape, paged,
                              refOf(formulas.program, resident), formulas.step);
      local = laidOut(formulas, resident, local);
      nodes.localBytes = formulas.bytes(local, resident.type).node();
      if (kind == Kind::kv_cache || kind == Kind::state)
        addPerSequence(formulas, resident, nodes);
    }
  joinCopies(formulas);
  TotalNodes &total = formulas.strategy.total;
  Expr copies = formulas.microbatches();
  auto sum = [&](Kind kind, NodeId ResidentNodes::*node) {
    return sumOf(formulas, kind, node);
  };
  using Nodes = ResidentNodes;
  total.weightBytes = sum(Kind::weight, &Nodes::localBytes).node();
  total.kvCacheBytes =
      (sum(Kind::kv_cache, &Nodes::localBytes) * copies).node();
  total.stateBytes = (sum(Kind::state, &Nodes::localBytes) * copies).node();
  total.gradientBytes = sum(Kind::gradient, &Nodes::localBytes).node();
  total.optimizerBytes = sum(Kind::optimizer, &Nodes::localBytes).node();
  total.kvBytesPerToken = sum(Kind::kv_cache, &Nodes::perToken).node();
  total.kvBytesPerTokenPerDevice =
      sum(Kind::kv_cache, &Nodes::localPerToken).node();
  total.kvBytesPerSequence = sum(Kind::kv_cache, &Nodes::perSequence).node();
  total.stateBytesPerSequence = sum(Kind::state, &Nodes::perSequence).node();
  total.localBytesPerSequence = (sum(Kind::kv_cache, &Nodes::localPerSequence) +
                                 sum(Kind::state, &Nodes::localPerSequence))
                                    .node();
  total.blocksPerSequence = (sum(Kind::kv_cache, &Nodes::blocksPerSequence) +
                             sum(Kind::state, &Nodes::blocksPerSequence))
                                .node();
}

//===----------------------------------------------------------------------===//
// Bytes of temporaries
//===----------------------------------------------------------------------===//

/// Returns the innermost layer kind that contains launch `first.begin`. A
/// launch outside of all layer kinds belongs to the layer kind of the
/// activation that begins there.
static uint32_t kindAt(const CostProgram &program, const Activation &first) {
  uint32_t owner = first.layer, begin = 0;
  for (uint32_t i = 0; i < program.layers.size(); ++i) {
    const LayerKind &kind = program.layers[i];
    if (kind.begin <= first.begin && first.begin <= kind.end &&
        kind.begin >= begin) {
      owner = i;
      begin = kind.begin;
    }
  }
  return owner;
}

/// Returns the maximal sets of temporaries of a layer kind that are live at the
/// same time. Such a set exists just before one of its members ends.
static std::vector<LiveNodes> findLiveSets(const CostProgram &program) {
  const std::vector<Activation> &all = program.activations;
  std::vector<uint32_t> order(all.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::make_pair(all[a].begin, a) < std::make_pair(all[b].begin, b);
  });
  std::vector<LiveNodes> sets;
  std::vector<uint32_t> live;
  for (size_t i = 0; i < order.size(); ++i) {
    const Activation &own = all[order[i]];
    auto hasEnded = [&](uint32_t other) { return all[other].end < own.begin; };
    live.erase(std::remove_if(live.begin(), live.end(), hasEnded), live.end());
    live.push_back(order[i]);
    if (i + 1 < order.size() && all[order[i + 1]].begin == own.begin)
      continue;
    uint32_t layer = kindAt(program, own);
    // If the set grows at the next launch of the same layer kind, it is a
    // subset of the next set and is not recorded.
    bool grows = i + 1 < order.size() &&
                 kindAt(program, all[order[i + 1]]) == layer &&
                 std::none_of(live.begin(), live.end(), [&](uint32_t other) {
                   return all[other].end < all[order[i + 1]].begin;
                 });
    if (!grows)
      sets.push_back({layer, live});
  }
  return sets;
}

static void addActivations(Formulas &formulas) {
  const CostProgram &program = formulas.program;
  Strategy &strategy = formulas.strategy;
  Expr none = formulas.number(0);
  for (uint32_t i = 0; i < program.activations.size(); ++i) {
    const Activation &activation = program.activations[i];
    formulas.local(activation.shape, {RecordRef::Kind::activation, i});
    Expr local = formulas.mostHeld(activation.shape, formulas.fullest);
    strategy.activations.push_back(
        formulas
            .bytes(formulas.ofChunk(local, activation.chunks), activation.type)
            .node());
    Expr profiled = formulas.mostHeld(activation.shape, formulas.profile);
    strategy.profiled.push_back(
        formulas.bytes(profiled, activation.type).node());
  }
  strategy.live = findLiveSets(program);
  Expr peak = none, profilePeak = none, expertPeak = none;
  for (LiveNodes &set : strategy.live) {
    Expr sum = none, profileSum = none, experts = none;
    for (uint32_t i : set.activations) {
      sum += Expr(formulas.graph, strategy.activations[i]);
      Expr profiled(formulas.graph, strategy.profiled[i]);
      profileSum += profiled;
      if (program.activations[i].routed)
        experts += profiled;
    }
    set.bytes = sum.node();
    set.profileBytes = profileSum.node();
    peak = max(peak, formulas.where(set.layer, sum));
    profilePeak = max(profilePeak, formulas.where(set.layer, profileSum));
    expertPeak = max(expertPeak, formulas.where(set.layer, experts));
  }
  Expr profiles = formulas.whole(Use::profile_tokens);
  TotalNodes &total = strategy.total;
  total.activationBytes = peak.node();
  total.profileBytes = select(profiles, profilePeak, none).node();
  total.expertBytes = select(profiles, expertPeak, none).node();
}

//===----------------------------------------------------------------------===//
// Memory reserved for temporaries
//===----------------------------------------------------------------------===//

/// Returns the number of devices of the largest collective, times the number of
/// pipeline stages.
static Expr mostPeers(Formulas &formulas) {
  Expr most = formulas.number(1);
  std::vector<const std::vector<AxisId> *> known;
  for (const Collective &collective : formulas.program.collectives) {
    bool isKnown =
        std::any_of(known.begin(), known.end(),
                    [&](const auto *axes) { return *axes == collective.axes; });
    if (isKnown)
      continue;
    known.push_back(&collective.axes);
    most = max(most, formulas.devices(collective.axes));
  }
  return most * formulas.stages();
}

/// Returns the memory of sampling in the step that sizes temporaries: bytes per
/// logit, the hidden states of all its tokens, and the workspace of experts,
/// which stays allocated.
static Expr samplerBytes(Formulas &formulas) {
  Expr most = formulas.number(0);
  for (const Kernel &kernel : formulas.program.kernels) {
    if (kernel.flopClass != FlopClass::logits || kernel.count == 0)
      continue;
    Expr scores = formulas.logical(kernel.columns) *
                  formulas.whole(Use::profile_sequences);
    Expr states = formulas.logical(kernel.contraction) *
                  formulas.whole(Use::profile_tokens) *
                  formulas.whole(Use::profile_hidden_states);
    Expr bytes = floor(scores * formulas.figure(Use::sampler_bytes_per_logit)) +
                 formulas.bytes(states, kernel.compute);
    most = max(most, formulas.where(kernel.layer, bytes));
  }
  return most + formulas.whole(Use::keeps_expert_workspace) *
                    Expr(formulas.graph, formulas.strategy.total.expertBytes);
}

/// Returns the bytes that `BudgetRule::reserve` keeps free: the rest beside the
/// given share of memory or, by default, the amount that the runtime's rule
/// gives.
static Expr reserveBytes(Formulas &formulas) {
  Expr usable = formulas.whole(Use::memory_usable);
  Expr left = usable - floor(formulas.figure(Use::memory_utilization) * usable);
  Expr byRule =
      floor(formulas.figure(Use::reserve_bytes_per_token) *
            formulas.whole(Use::token_budget)) +
      formulas.whole(Use::reserve_bytes) +
      formulas.whole(Use::reserve_bytes_per_graph_sequence) *
          formulas.whole(Use::graph_sequences) +
      formulas.whole(Use::reserve_bytes_per_peer) * mostPeers(formulas);
  byRule = max(byRule, formulas.whole(Use::reserve_least));
  return select(formulas.whole(Use::memory_of_reserve),
                select(formulas.whole(Use::reserve_by_rule), byRule, left),
                formulas.number(0));
}

/// Adds the memory that the KV cache cannot use: the temporaries of the step
/// that sizes them, or the runtime's reserve. For training, and for a runtime
/// that has neither, it is the temporaries of this step.
static void addReserve(Formulas &formulas) {
  TotalNodes &total = formulas.strategy.total;
  if (formulas.program.trains()) {
    total.profileBytes = total.expertBytes = total.samplerBytes =
        total.reserveBytes = formulas.number(0).node();
    total.reservedBytes = total.activationBytes;
    return;
  }
  Expr sampler = samplerBytes(formulas), reserve = reserveBytes(formulas);
  total.samplerBytes = sampler.node();
  total.reserveBytes = reserve.node();
  Expr profile = max(Expr(formulas.graph, total.profileBytes), sampler);
  Expr isKnown = formulas.whole(Use::profile_tokens) +
                 formulas.whole(Use::memory_of_reserve);
  total.reservedBytes =
      select(isKnown, max(profile, reserve),
             max(profile, Expr(formulas.graph, total.activationBytes)))
          .node();
}

//===----------------------------------------------------------------------===//
// Memory of the runtime, and what is left for KV caches
//===----------------------------------------------------------------------===//

/// Returns the bytes of communication buffers. They exist if a collective spans
/// several devices, and grow with each device beyond two of the largest
/// collective.
static Expr communicationBytes(Formulas &formulas) {
  Expr peers = mostPeers(formulas), two = formulas.number(2);
  Expr beyond = max(peers, two) - two;
  return above(peers, formulas.number(1)) *
         (formulas.whole(Use::communication_bytes) +
          beyond * formulas.whole(Use::communication_bytes_per_peer));
}

/// Returns the memory of captured graphs: a shared pool, and an amount for each
/// graph. The graph of a whole step takes more if scans keep states.
static Expr graphBytes(Formulas &formulas) {
  Expr bytes =
      formulas.whole(Use::graph_bytes) +
      formulas.whole(Use::graphs) * formulas.whole(Use::graph_bytes_each);
  const std::vector<Resident> &residents = formulas.program.residents;
  bool isRecurrent =
      std::any_of(residents.begin(), residents.end(), [](const Resident &kept) {
        return kept.kind == Kind::state;
      });
  if (!isRecurrent)
    return bytes;
  return bytes + formulas.whole(Use::whole_graphs) *
                     formulas.whole(Use::graph_bytes_per_recurrent_graph);
}

static Expr runtimeBytes(Formulas &formulas) {
  TotalNodes &total = formulas.strategy.total;
  Expr communication = communicationBytes(formulas);
  Expr graphs = graphBytes(formulas);
  total.communicationBytes = communication.node();
  total.graphBytes = graphs.node();
  return formulas.whole(Use::context_bytes) +
         formulas.whole(Use::library_bytes) + graphs + communication;
}

/// Returns the number of tokens whose caches and states fit in the budget of a
/// replica, in whole blocks. Each token counts as many bytes as a token of the
/// sequences in the step's first group.
static Expr capacityTokens(Formulas &formulas, Expr capacity) {
  Expr kept(formulas.graph, formulas.strategy.total.blocksPerSequence);
  Expr perSequence = max(formulas.number(1), kept);
  Expr block = formulas.blockTokens();
  Expr blocks =
      ceilDiv(formulas.single[0][static_cast<size_t>(Symbol::context)], block);
  Expr tokens = capacity.apply(Op::scale_down, blocks, perSequence) * block;
  return select(kept, tokens, formulas.number(0));
}

/// Returns the number of sequences whose caches and states fit in a replica;
/// they are as long as those of the step's first group.
static Expr capacitySequences(Formulas &formulas, Expr capacity) {
  Expr kept(formulas.graph, formulas.strategy.total.blocksPerSequence);
  Expr sequences = floorDiv(capacity, max(formulas.number(1), kept));
  return select(kept, sequences, formulas.number(0));
}

static void addBudget(Formulas &formulas) {
  TotalNodes &total = formulas.strategy.total;
  auto node = [&](NodeId id) { return Expr(formulas.graph, id); };
  Expr runtime = runtimeBytes(formulas);
  Expr trained = node(total.gradientBytes) + node(total.optimizerBytes) +
                 node(total.updateBytes);
  Expr bytes = node(total.weightBytes) + node(total.kvCacheBytes) +
               node(total.stateBytes) + node(total.reservedBytes) + runtime +
               trained;
  Expr usable = formulas.whole(Use::memory_usable);
  Expr share = formulas.figure(Use::memory_utilization);
  Expr fixed =
      node(total.weightBytes) + node(total.reservedBytes) + runtime + trained;
  Expr free = max(formulas.number(0), usable - fixed);
  Expr budget =
      select(formulas.whole(Use::memory_of_free),
             usable - free + floor(share * free), floor(share * usable));
  budget = select(formulas.whole(Use::memory_of_reserve), usable, budget);
  Expr left = budget - fixed;
  Expr capacity = formulas.program.trains() ? formulas.number(0)
                                            : max(formulas.number(0), left);
  total.runtimeBytes = runtime.node();
  total.totalBytes = bytes.node();
  total.capacityBytes = usable.node();
  total.budgetBytes = budget.node();
  total.fits = (formulas.number(1) - above(bytes, budget)).node();
  total.kvCapacityBytes = capacity.node();
  total.kvCapacityTokens = capacityTokens(formulas, capacity).node();
  total.replicas = formulas.replicas().node();
  total.capacitySequences = capacitySequences(formulas, capacity).node();
}

void autopar::cost::addMemoryFormulas(Formulas &formulas) {
  addResidents(formulas);
  addActivations(formulas);
  addSavedFormulas(formulas);
  addUpdateFormulas(formulas);
  addCopyFormulas(formulas);
  addReserve(formulas);
  addBudget(formulas);
}

//===- LaunchFormulas.cpp - Kernels launched as one, and their times ------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileFormulas.h"

#include "autopar/Hardware/Hardware.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;

using Use = FigureUse::Kind;

bool Launching::merges(KernelKind kind) const {
  switch (kind) {
  case KernelKind::matmul:
  case KernelKind::grouped_matmul:
  case KernelKind::scan:
    return mergesSharedInput;
  case KernelKind::elementwise:
    return fusesElementwise;
  case KernelKind::attention:
  case KernelKind::attention_backward:
  case KernelKind::latent_attention:
  case KernelKind::gather:
  case KernelKind::index:
  case KernelKind::encoder_attention:
  case KernelKind::sparse_attention:
  case KernelKind::batched_matmul:
  case KernelKind::channel_scan:
  case KernelKind::hyper_pre:
  case KernelKind::hyper_post:
    return false;
  }
  return false;
}

bool Launching::merges(Kernel::Epilogue::Kind kind) const {
  return kind == Kernel::Epilogue::Kind::sum ? mergesSharedInput
                                             : fusesAccumulation;
}

namespace {

/// Groups the kernels of a program into launches, in the order of the program.
class LaunchFormulas {
public:
  explicit LaunchFormulas(Formulas &formulas)
      : formulas(formulas), strategy(formulas.strategy) {}

  /// Finds the runs of kernels that are launched as one, then the pairs of runs
  /// that a border joins. A run that is launched together with another run is
  /// not launched on its own.
  void find();
  void addTimes(LaunchNodes &launch);

private:
  using Key = std::tuple<uint32_t, uint32_t, KernelKind, int64_t>;

  const Kernel &kernel(uint32_t index) const {
    return formulas.program.kernels[index];
  }
  static Key keyOf(const Kernel &kernel) {
    return {kernel.layer, kernel.fusionGroup, kernel.kind, kernel.count};
  }
  void findRuns();
  bool isEpilogue(uint32_t index) const;
  void join(uint32_t border);
  std::set<uint32_t> addendsOf(const LaunchNodes &launch) const;
  void addTraffic(LaunchNodes &launch);
  Expr addArithmetic(LaunchNodes &launch);
  void addRoofs(LaunchNodes &launch);
  std::optional<TileFormulas> tilesOf(uint32_t index, size_t part);
  Expr inWaves(uint32_t index, Expr flops, size_t part);
  Expr launchesOf(const LaunchNodes &launch);
  Expr ratioOf(const LaunchNodes &launch, size_t part);
  Expr ratioOf(ShapeKind kind, const Kernel &first,
               const KernelNodes::Shape &shape);
  uint32_t valueOf(const Traffic &traffic, const Kernel &kernel,
                   const LaunchNodes &launch) const;
  void require(uint32_t index);
  Expr node(NodeId id) { return {formulas.graph, id}; }
  Expr million() { return formulas.number(1'000'000); }
  /// Returns a coefficient of the curve that kernel `first` runs on.
  Expr figure(Use kind, const Kernel &first) {
    return formulas.figure(kind, strategy.launching.curveKindOf(first),
                           first.compute, first.storage);
  }
  Expr peakOf(const Kernel &kernel) {
    return formulas.figure(Use::peak, kernel.kind, kernel.compute,
                           kernel.storage);
  }
  /// Returns the time per FLOP of `kernel` in us, at the efficiency of a launch
  /// that begins with kernel `first`.
  Expr usPerFlop(const Kernel &kernel, const Kernel &first) {
    Expr rate = figure(Use::compute_efficiency, first) * peakOf(kernel);
    if (formulas.program.trains())
      rate *= formulas.figure(Use::sustained_compute);
    return million() / rate;
  }
  Expr usPerByte(const Kernel &first) {
    return million() / (figure(Use::memory_efficiency, first) *
                        formulas.figure(Use::memory_bandwidth));
  }

  Formulas &formulas;
  Strategy &strategy;
  std::map<Key, size_t> open;
  /// The launches that join two runs across a border, by the index of the run
  /// after the border.
  std::multimap<size_t, LaunchNodes> joined;
};

} // namespace

/// Returns whether kernel `index` is fused into a matmul as an epilogue.
bool LaunchFormulas::isEpilogue(uint32_t index) const {
  const auto &epilogue = kernel(index).epilogue;
  return epilogue && strategy.launching.merges(epilogue->kind);
}

void LaunchFormulas::findRuns() {
  std::vector<size_t> runs(formulas.program.kernels.size());
  for (uint32_t i = 0; i < formulas.program.kernels.size(); ++i) {
    const Kernel &next = kernel(i);
    size_t run = strategy.launches.size();
    if (!strategy.launching.launches(next) || next.count == 0 ||
        formulas.graph.isConstant(strategy.kernels[i].launched, 0))
      continue;
    if (isEpilogue(i))
      run = runs[next.epilogue->product];
    else if (strategy.launching.merges(next.kind))
      run = open.emplace(keyOf(next), run).first->second;
    if (run == strategy.launches.size())
      strategy.launches.emplace_back().count = formulas.countOf(next).node();
    strategy.launches[run].members.push_back({i});
    runs[i] = run;
  }
}

void LaunchFormulas::join(uint32_t index) {
  const Border &border = formulas.program.borders[index];
  auto before = open.find(keyOf(kernel(border.before)));
  auto after = open.find(keyOf(kernel(border.after)));
  if (before == open.end() || after == open.end() || border.count == 0)
    return;
  LaunchNodes &first = strategy.launches[before->second];
  LaunchNodes &second = strategy.launches[after->second];
  Expr count = formulas.countOf(border);
  LaunchNodes both;
  both.members = first.members;
  both.members.insert(both.members.end(), second.members.begin(),
                      second.members.end());
  both.border = index;
  both.count = count.node();
  first.count = (node(first.count) - count).node();
  second.count = (node(second.count) - count).node();
  joined.emplace(after->second, std::move(both));
}

void LaunchFormulas::find() {
  findRuns();
  if (strategy.launching.fusesElementwise)
    for (uint32_t i = 0; i < formulas.program.borders.size(); ++i)
      join(i);
  std::vector<LaunchNodes> launches;
  for (size_t i = 0; i < strategy.launches.size(); ++i) {
    launches.push_back(std::move(strategy.launches[i]));
    auto [begin, end] = joined.equal_range(i);
    for (auto it = begin; it != end; ++it)
      launches.push_back(std::move(it->second));
  }
  strategy.launches = std::move(launches);
}

/// Returns the number of the value that `traffic` moves. In a launch that joins
/// two runs across a border, it is the number that the run before the border
/// uses for this value.
uint32_t LaunchFormulas::valueOf(const Traffic &traffic, const Kernel &member,
                                 const LaunchNodes &launch) const {
  if (!launch.border)
    return traffic.value;
  const Border &border = formulas.program.borders[*launch.border];
  if (areOneRun(member, kernel(border.after)))
    for (auto [value, here] : border.values)
      if (value == traffic.value)
        return here;
  return traffic.value;
}

/// Returns the values that a launch accumulates while it computes them.
std::set<uint32_t> LaunchFormulas::addendsOf(const LaunchNodes &launch) const {
  std::set<uint32_t> addends;
  for (const LaunchNodes::Member &member : launch.members)
    if (isEpilogue(member.kernel))
      for (const Traffic &traffic : kernel(member.kernel).traffic)
        if (!traffic.write && traffic.value)
          addends.insert(traffic.value);
  return addends;
}

/// Adds the bytes that a launch moves. A launch reads each value once, and does
/// not read a value that it wrote. A value that it accumulates is not written a
/// second time either.
void LaunchFormulas::addTraffic(LaunchNodes &launch) {
  /// For each value, whether an earlier kernel of the launch read or wrote it.
  std::map<uint32_t, Expr> seen;
  std::set<uint32_t> addends = addendsOf(launch);
  Expr zero = formulas.number(0), one = formulas.number(1);
  for (LaunchNodes::Member &member : launch.members) {
    const Kernel &own = kernel(member.kernel);
    const KernelNodes &nodes = strategy.kernels[member.kernel];
    Expr moved = zero;
    for (size_t i = 0; i < own.traffic.size(); ++i) {
      if (addends.count(own.traffic[i].value))
        continue;
      auto had = seen.find(valueOf(own.traffic[i], own, launch));
      bool isAgain = !own.traffic[i].write && had != seen.end();
      Expr bytes = node(nodes.traffic[i]);
      moved += isAgain ? bytes * (one - had->second) : bytes;
    }
    for (const Traffic &traffic : own.traffic)
      if (uint32_t value = valueOf(traffic, own, launch)) {
        Expr &had = seen.emplace(value, zero).first->second;
        had = max(had, node(nodes.launched));
      }
    member.movedBytes = moved.node();
  }
}

/// Requires that the chip has a peak for kernel `index`. On a chip without a
/// vector peak only scans are exempt, because their price follows from their
/// traffic.
void LaunchFormulas::require(uint32_t index) {
  if (kernel(index).flopFactor == 0 || isScan(kernel(index).kind))
    return;
  formulas.require({Requirement::Kind::multiplies,
                    {RecordRef::Kind::kernel, index},
                    strategy.kernels[index].localFlops,
                    noNode,
                    formulas.graph[peakOf(kernel(index)).node()].a});
}

/// Returns the tiles of part `part` of an encoder's attention; nothing for
/// other kernels.
std::optional<TileFormulas> LaunchFormulas::tilesOf(uint32_t index,
                                                    size_t part) {
  const auto &shapes = strategy.kernels[index].shapes;
  if (kernel(index).kind != KernelKind::encoder_attention ||
      part >= shapes.size())
    return std::nullopt;
  return TileFormulas(formulas, kernel(index), shapes[part]);
}

Expr LaunchFormulas::inWaves(uint32_t index, Expr flops, size_t part) {
  std::optional<TileFormulas> tiles = tilesOf(index, part);
  return tiles ? tiles->inWaves(flops) : flops;
}

/// Adds the times that arithmetic alone and traffic alone would take, at the
/// rates of the launch's first kernel (Williams, Waterman, Patterson,
/// "Roofline" (2009)). Returns the time of all arithmetic in us.
Expr LaunchFormulas::addArithmetic(LaunchNodes &launch) {
  const Kernel &first = kernel(launch.members.front().kernel);
  Expr exponent = figure(Use::exponent, first), perByte = usPerByte(first);
  // FLOPs that run at the same rate are summed before they are divided by this
  // rate.
  std::map<NodeId, Expr> flops;
  for (LaunchNodes::Member &member : launch.members) {
    const Kernel &own = kernel(member.kernel);
    KernelNodes &nodes = strategy.kernels[member.kernel];
    Expr alone = formulas.number(0);
    if (own.flopFactor != 0) {
      Expr rate = usPerFlop(own, first);
      Expr local = inWaves(member.kernel, node(nodes.localFlops), 0);
      alone = local * rate;
      nodes.idealUs =
          (node(nodes.localFlops) * (million() / peakOf(own))).node();
      flops.emplace(rate.node(), formulas.number(0)).first->second += local;
    }
    require(member.kernel);
    Expr moved = node(member.movedBytes);
    member.roofUs = alone.apply(Op::roof, moved * perByte, exponent).node();
  }
  Expr compute = formulas.number(0);
  for (const auto &[rate, count] : flops)
    compute += count * node(rate);
  return compute;
}

Expr LaunchFormulas::ratioOf(ShapeKind kind, const Kernel &first,
                             const KernelNodes::Shape &shape) {
  ShapeUse use{kind, strategy.launching.curveKindOf(first), first.compute,
               first.storage, shape.fixed};
  auto &all = strategy.shapes;
  auto known = std::find(all.begin(), all.end(), use);
  auto index = static_cast<uint32_t>(known - all.begin());
  if (known == all.end())
    all.push_back(std::move(use));
  return octave(node(shape.x))
      .apply(Op::shape_ratio, octave(node(shape.y)), index);
}

/// Returns the factor by which a launch takes longer than its roofline. Matmuls
/// that are launched as one count with the columns of all of them or, if their
/// results are summed, with the contraction of all.
Expr LaunchFormulas::ratioOf(const LaunchNodes &launch, size_t part) {
  const Kernel &first = kernel(launch.members.front().kernel);
  const auto &shapes = strategy.kernels[launch.members.front().kernel].shapes;
  if (part >= shapes.size())
    return formulas.number(1);
  KernelNodes::Shape shape = shapes[part];
  if (ShapeTable::namesOf(first.kind, ShapeKind::product).empty()) {
    if (ShapeTable::namesOf(first.kind, ShapeKind::decode).empty())
      return ratioOf(ShapeKind::prefill, first, shape);
    Expr isPrefill = node(shape.isPrefill);
    return select(isPrefill, ratioOf(ShapeKind::prefill, first, shape),
                  ratioOf(ShapeKind::decode, first, shape));
  }
  if (launch.members.size() == 1)
    return ratioOf(ShapeKind::product, first, shape);
  auto isSum = [&](const LaunchNodes::Member &member) {
    return isEpilogue(member.kernel) &&
           kernel(member.kernel).epilogue->kind == Kernel::Epilogue::Kind::sum;
  };
  bool isSummed =
      std::any_of(launch.members.begin(), launch.members.end(), isSum);
  size_t fromEnd = isSummed ? 1 : 2;
  NodeId &joint = shape.fixed[shape.fixed.size() - fromEnd];
  for (size_t i = 1; i < launch.members.size(); ++i) {
    uint32_t member = launch.members[i].kernel;
    if (isEpilogue(member))
      continue;
    const auto &others = strategy.kernels[member].shapes;
    if (others.empty())
      return formulas.number(1);
    const std::vector<NodeId> &fixed = others.front().fixed;
    joint = (node(joint) + node(fixed[fixed.size() - fromEnd])).node();
  }
  return ratioOf(ShapeKind::product, first, shape);
}

/// Adds the times of the roofline. If a kernel computes groups of sequences
/// separately, it computes one group after the other.
void LaunchFormulas::addRoofs(LaunchNodes &launch) {
  struct Work {
    Expr compute, memory;
  };
  const Kernel &first = kernel(launch.members.front().kernel);
  Expr exponent = figure(Use::exponent, first), perByte = usPerByte(first);
  Expr compute = addArithmetic(launch), bytes = formulas.number(0);
  for (const LaunchNodes::Member &member : launch.members)
    bytes += node(member.movedBytes);
  std::vector<Work> parts = {{compute, bytes * perByte}};
  launch.computeUs = compute.node();
  launch.memoryUs = parts.front().memory.node();
  const auto &shares = strategy.kernels[launch.members.front().kernel].shares;
  if (launch.members.size() == 1 && shares.size() > 1) {
    parts.clear();
    uint32_t index = launch.members.front().kernel;
    for (size_t i = 0; i < shares.size(); ++i)
      parts.push_back({inWaves(index, node(shares[i].localFlops), i) *
                           usPerFlop(first, first),
                       node(shares[i].movedBytes) * perByte});
  }
  Expr roofs = formulas.number(0), bound = roofs;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Work &part = parts[i];
    Expr roof = part.compute.apply(Op::launch, part.memory, exponent);
    Expr ratio = ratioOf(launch, i);
    if (!ratio.isConstant(1))
      roof = roof.apply(Op::shaped, ratio);
    roofs += roof;
    bound += roof * above(part.compute, part.memory);
    if (auto tiles = tilesOf(launch.members.front().kernel, i))
      roofs += (tiles->partialBytes() * million() /
                formulas.figure(Use::memory_bandwidth))
                   .apply(Op::picoseconds, formulas.number(0));
  }
  launch.roofPs = roofs.node();
  launch.computePs = bound.node();
}

/// Returns the number of launches: one, and a second one if partial results
/// have to be summed.
Expr LaunchFormulas::launchesOf(const LaunchNodes &launch) {
  uint32_t first = launch.members.front().kernel;
  Expr further = formulas.number(0);
  for (size_t i = 0; auto tiles = tilesOf(first, i); ++i)
    further = max(further, tiles->isSplit());
  return formulas.number(1) + further;
}

/// Adds the times of a launch. Its floor is the larger of two: the chip's floor
/// for this kind of kernel, which is measured for a single kernel, and the
/// runtime's floor, the interval between kernels in a captured graph.
void LaunchFormulas::addTimes(LaunchNodes &launch) {
  addTraffic(launch);
  addRoofs(launch);
  const Kernel &first = kernel(launch.members.front().kernel);
  Expr launched = formulas.number(0);
  for (const LaunchNodes::Member &member : launch.members)
    launched = max(launched, node(strategy.kernels[member.kernel].launched));
  Expr floor =
      max(formulas.figure(Use::kernel_floor), figure(Use::curve_floor, first));
  launch.launched = launched.node();
  launch.floorPs = (launched * launchesOf(launch) *
                    floor.apply(Op::picoseconds, formulas.number(0)))
                       .node();
}

static Expr inPicoseconds(Formulas &formulas, Use figure) {
  return formulas.figure(figure).apply(Op::picoseconds, formulas.number(0));
}

/// Returns the host's time for a step without the time that layers add. Each
/// replica has an engine of its own.
static Expr hostPs(Formulas &formulas) {
  Expr sequences = formulas.number(0);
  for (const SymbolValues &group : formulas.step)
    sequences +=
        ceilDiv(group[static_cast<size_t>(Symbol::batch)], formulas.replicas());
  return (inPicoseconds(formulas, Use::host_time) +
          inPicoseconds(formulas, Use::host_time_per_sequence) * sequences) *
         formulas.microbatches();
}

/// Returns, for each section, the number of layers that mix tokens.
static SectionSums countLayers(Formulas &formulas) {
  SectionSums layers(formulas);
  for (const Kernel &kernel : formulas.program.kernels)
    if (kernel.mixesTokens)
      layers.of(kernel.layer) += formulas.countOf(kernel);
  return layers;
}

static void addTotals(Formulas &formulas) {
  auto node = [&](NodeId id) { return Expr(formulas.graph, id); };
  const CostProgram &program = formulas.program;
  SectionSums compute(formulas), roofs = compute, floors = compute,
                                 launches = compute, kept = compute,
                                 ofLayers = compute;
  Expr weightGradients = formulas.number(0);
  for (const LaunchNodes &launch : formulas.strategy.launches) {
    Expr count = node(launch.count);
    const Kernel &first = program.kernels[launch.members.front().kernel];
    Expr roof = count * node(launch.roofPs),
         floor = count * node(launch.floorPs);
    compute.of(first.layer) += count * node(launch.computePs);
    roofs.of(first.layer) += roof;
    floors.of(first.layer) += floor;
    launches.of(first.layer) += count * node(launch.launched);
    if (first.ofWeights)
      weightGradients += roof + floor;
    for (const LaunchNodes::Member &member : launch.members)
      kept.of(first.layer) +=
          count * node(formulas.strategy.kernels[member.kernel].keptReadBytes);
  }
  SectionSums layers = countLayers(formulas);
  for (uint32_t layer = 0; layer < program.layers.size(); ++layer)
    ofLayers.of(layer) =
        layers.of(layer) * inPicoseconds(formulas, Use::host_time_per_layer);
  floors = floors + ofLayers;
  compute.store(&SectionNodes::computePs);
  (roofs - compute).store(&SectionNodes::memoryPs);
  floors.store(&SectionNodes::floorPs);
  Expr host = hostPs(formulas);
  TotalNodes &total = formulas.strategy.total;
  total.weightGradientPs = weightGradients.node();
  total.layers = layers.ofStep().node();
  total.layersPs = ofLayers.ofStep().node();
  total.launches = launches.ofStep().node();
  total.keptReadBytes = kept.ofStep().node();
  total.computePs = compute.ofStep().node();
  total.memoryPs = (roofs - compute).ofStep().node();
  total.floorPs = floors.ofStep().node();
  total.hostPs = host.node();
  total.stepPs =
      ((roofs + floors).ofStep() + node(total.communicationPs) + host).node();
}

void autopar::cost::addLaunchFormulas(Formulas &formulas) {
  LaunchFormulas launches(formulas);
  launches.find();
  for (LaunchNodes &launch : formulas.strategy.launches)
    launches.addTimes(launch);
  hideSharedExperts(formulas);
  hideRings(formulas);
  addTotals(formulas);
}

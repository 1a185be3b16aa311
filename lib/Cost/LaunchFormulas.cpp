//===- LaunchFormulas.cpp - Kernels launched as one, and their times ------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"

#include <map>
#include <tuple>

using namespace autopar;

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
  case KernelKind::gather:
    return false;
  }
  return false;
}

namespace {

/// Lays kernels into launches, in the order of the program.
class LaunchFormulas {
public:
  explicit LaunchFormulas(Formulas &formulas)
      : formulas(formulas), strategy(formulas.strategy) {}

  void find();
  /// Traffic of a launch: it reads a value once, and not at all where it wrote
  /// it.
  void addTraffic(const LaunchNodes &launch);
  void addTimes(LaunchNodes &launch);

private:
  void addBounds(uint32_t index, const Kernel &first);
  /// Of the curve that `first` runs on.
  Expr figure(Use kind, const Kernel &first) {
    return formulas.figure(kind, first.kind, first.compute);
  }
  /// Microseconds, at the efficiencies of a launch that `first` begins.
  Expr usPerFlop(const Kernel &kernel, const Kernel &first) {
    return million() /
           (figure(Use::compute_efficiency, first) *
            formulas.figure(Use::peak, kernel.kind, kernel.compute));
  }
  Expr usPerByte(const Kernel &first) {
    return million() / (figure(Use::memory_efficiency, first) *
                        formulas.figure(Use::memory_bandwidth));
  }
  Expr node(NodeId id) { return {formulas.graph, id}; }
  Expr million() { return formulas.number(1'000'000); }

  Formulas &formulas;
  Strategy &strategy;
};

} // namespace

void LaunchFormulas::find() {
  using Key = std::tuple<uint32_t, uint32_t, KernelKind, int64_t>;
  std::map<Key, size_t> open;
  const std::vector<Kernel> &kernels = formulas.program.kernels;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const Kernel &kernel = kernels[i];
    size_t next = strategy.launches.size();
    if (kernel.routed || formulas.graph.isConstant(
                             strategy.kernels[i].launched, 0))
      continue;
    if (strategy.launching.merges(kernel.kind)) {
      Key key(kernel.layer, kernel.fusionGroup, kernel.kind, kernel.count);
      next = open.emplace(key, next).first->second;
    }
    if (next == strategy.launches.size())
      strategy.launches.emplace_back().count =
          formulas.countOf(kernel.layer, kernel.count).node();
    strategy.launches[next].kernels.push_back(i);
  }
}

void LaunchFormulas::addTraffic(const LaunchNodes &launch) {
  /// Whether an earlier kernel of the launch had the value.
  std::map<uint32_t, Expr> seen;
  for (uint32_t index : launch.kernels) {
    const Kernel &kernel = formulas.program.kernels[index];
    KernelNodes &nodes = strategy.kernels[index];
    Expr moved = formulas.number(0), kept = moved, one = formulas.number(1);
    for (size_t i = 0; i < kernel.traffic.size(); ++i) {
      const Traffic &traffic = kernel.traffic[i];
      Expr bytes = node(nodes.traffic[i]);
      auto had = seen.find(traffic.value);
      bool isAgain = !traffic.write && had != seen.end();
      moved += isAgain ? bytes * (one - had->second) : bytes;
      if (!traffic.write && traffic.role != Traffic::Role::activation)
        kept += bytes;
    }
    for (const Traffic &traffic : kernel.traffic)
      if (traffic.value) {
        Expr &had = seen.emplace(traffic.value, formulas.number(0)).first->second;
        had = max(had, node(nodes.launched));
      }
    nodes.movedBytes = moved.node();
    nodes.keptReadBytes = kept.node();
  }
}

/// What arithmetic and traffic would take alone, at the rates of the launch's
/// first kernel: Williams, Waterman, Patterson, "Roofline" (2009). A chip
/// without a rate for vectors prices scans by their traffic.
void LaunchFormulas::addBounds(uint32_t index, const Kernel &first) {
  const Kernel &kernel = formulas.program.kernels[index];
  KernelNodes &nodes = strategy.kernels[index];
  Expr compute = formulas.number(0), ideal = compute;
  if (kernel.flopFactor != 0) {
    Expr peak = formulas.figure(Use::peak, kernel.kind, kernel.compute);
    compute = node(nodes.localFlops) * usPerFlop(kernel, first);
    ideal = node(nodes.localFlops) * (million() / peak);
    if (kernel.kind != KernelKind::scan)
      formulas.require({Requirement::Kind::multiplies,
                        {RecordRef::Kind::kernel, index},
                        nodes.localFlops,
                        noNode,
                        formulas.graph[peak.node()].a});
  }
  Expr memory = node(nodes.movedBytes) * usPerByte(first);
  nodes.computeUs = compute.node();
  nodes.memoryUs = memory.node();
  nodes.idealUs = ideal.node();
  nodes.roofUs =
      compute.apply(Op::roof, memory, figure(Use::exponent, first)).node();
}

/// A launch takes at least the chip's floor for its kind, which was measured
/// for one kernel alone, and at least the runtime's, which is the pace of a
/// captured graph: the larger is the floor.
void LaunchFormulas::addTimes(LaunchNodes &launch) {
  const Kernel &first = formulas.program.kernels[launch.kernels.front()];
  Expr compute = formulas.number(0), bytes = compute, launched = compute;
  // FLOPs at one rate are added before they are times.
  std::map<NodeId, Expr> flops;
  Expr perByte = usPerByte(first);
  for (uint32_t index : launch.kernels) {
    addBounds(index, first);
    const KernelNodes &nodes = strategy.kernels[index];
    if (formulas.program.kernels[index].flopFactor != 0) {
      Expr rate = usPerFlop(formulas.program.kernels[index], first);
      flops.emplace(rate.node(), formulas.number(0)).first->second +=
          node(nodes.localFlops);
    }
    bytes += node(nodes.movedBytes);
    launched = max(launched, node(nodes.launched));
  }
  for (const auto &[rate, count] : flops)
    compute += count * node(rate);
  Expr memory = bytes * perByte;
  Expr roof = compute.apply(Op::launch, memory, figure(Use::exponent, first));
  Expr floor =
      max(formulas.figure(Use::kernel_floor), figure(Use::curve_floor, first));
  launch.launched = launched.node();
  launch.computeUs = compute.node();
  launch.memoryUs = memory.node();
  launch.roofPs = roof.node();
  launch.computePs = (roof * above(compute, memory)).node();
  launch.floorPs =
      (launched * floor.apply(Op::picoseconds, formulas.number(0))).node();
}

static void addTotals(Formulas &formulas) {
  auto node = [&](NodeId id) { return Expr(formulas.graph, id); };
  Expr compute = formulas.number(0), roofs = compute, floors = compute,
       launches = compute, kept = compute;
  for (const LaunchNodes &launch : formulas.strategy.launches) {
    Expr count = node(launch.count);
    compute += count * node(launch.computePs);
    roofs += count * node(launch.roofPs);
    floors += count * node(launch.floorPs);
    launches += count * node(launch.launched);
    for (uint32_t index : launch.kernels)
      kept += count * node(formulas.strategy.kernels[index].keptReadBytes);
  }
  TotalNodes &total = formulas.strategy.total;
  Expr passes = formulas.passes();
  Expr host = formulas.figure(Use::host_time)
                  .apply(Op::picoseconds, formulas.number(0)) *
              formulas.microbatches();
  total.launches = (launches * passes).node();
  total.keptReadBytes = (kept * passes).node();
  total.computePs = (compute * passes).node();
  total.memoryPs = ((roofs - compute) * passes).node();
  total.floorPs = (floors * passes).node();
  total.hostPs = host.node();
  total.stepPs =
      ((roofs + floors) * passes + node(total.communicationPs) + host).node();
}

void autopar::addLaunchFormulas(Formulas &formulas) {
  LaunchFormulas launches(formulas);
  launches.find();
  for (LaunchNodes &launch : formulas.strategy.launches) {
    launches.addTraffic(launch);
    launches.addTimes(launch);
  }
  addTotals(formulas);
}

//===- SharedExpertFormulas.cpp - Shared experts beside routed ones -------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

namespace {

/// The time of a stream of kernels per step: of their rooflines, and the rest,
/// in which units and memory wait.
struct Stream {
  Expr roofs, waits;

  Expr all() const { return roofs + waits; }
};

/// The experts of one layer kind: those that all tokens share, and those that
/// tokens are routed to.
class ExpertStreams {
public:
  ExpertStreams(Formulas &formulas, uint32_t layer)
      : formulas(formulas), layer(layer), shared{zero(), zero()},
        routed{zero(), zero()} {
    for (const LaunchNodes &launch : formulas.strategy.launches) {
      const Kernel &first = kernelOf(launch);
      if (first.layer != layer)
        continue;
      if (first.besideExperts)
        add(launch, shared);
      else if (first.kind == KernelKind::grouped_matmul || first.routed)
        add(launch, routed);
      mixesTokens |= first.besideExperts && first.mixesTokens;
    }
    const auto &collectives = formulas.program.collectives;
    for (size_t i = 0; i < collectives.size(); ++i)
      if (collectives[i].layer == layer && collectives[i].routed) {
        const CollectiveNodes &nodes = formulas.strategy.collectives[i];
        routed.waits += node(nodes.count) * node(nodes.timePs);
      }
  }

  /// Shortens the launches of shared experts by what runs beside others. The
  /// streams share units and memory, so their rooflines add up, while waits
  /// overlap; and neither stream ends before its own kernels:
  ///   time = max(roofs of both, shared, routed).
  /// Example, in us: 3 of roofs and 12 of waits beside 20 and 14 take
  /// max(23, 15, 34) = 34, so all 15 of the shared experts are hidden.
  void hide() const {
    if (mixesTokens || shared.all().isConstant(0))
      return;
    // Shares are in parts of 1e6, so that products with picoseconds of shared
    // experts stay below 2^63 up to 9 s in a step.
    Expr all = max(shared.all(), formulas.number(1)),
         whole = formulas.number(1'000'000);
    Expr hidden =
        min(shared.waits + routed.waits, min(shared.all(), routed.all()));
    Expr exposed =
        select(formulas.whole(FigureUse::Kind::overlaps_shared_experts),
               whole.apply(Op::scale_down, all - hidden, all), whole);
    for (LaunchNodes &launch : formulas.strategy.launches)
      if (kernelOf(launch).layer == layer && kernelOf(launch).besideExperts)
        for (NodeId *time :
             {&launch.roofPs, &launch.computePs, &launch.floorPs})
          *time = node(*time).apply(Op::scale_down, exposed, whole).node();
  }

private:
  Expr node(NodeId id) const { return {formulas.graph, id}; }
  Expr zero() const { return formulas.number(0); }
  const Kernel &kernelOf(const LaunchNodes &launch) const {
    return formulas.program.kernels[launch.members.front().kernel];
  }
  void add(const LaunchNodes &launch, Stream &stream) const {
    stream.roofs += node(launch.count) * node(launch.roofPs);
    stream.waits += node(launch.count) * node(launch.floorPs);
  }

  Formulas &formulas;
  uint32_t layer;
  Stream shared, routed;
  bool mixesTokens = false;
};

} // namespace

void autopar::cost::hideSharedExperts(Formulas &formulas) {
  for (uint32_t layer = 0; layer < formulas.program.layers.size(); ++layer)
    ExpertStreams(formulas, layer).hide();
}

//===- RingFormulas.cpp - Rings beside attention --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"

#include "autopar/Cost/Rings.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

bool autopar::cost::seesRing(const Kernel &kernel, const Collective &ring) {
  return kernel.layer == ring.layer && kernel.pairs &&
         kernel.pairs->context.axes.empty() &&
         kernel.pairs->query.axes == ring.axes;
}

namespace {

/// Collects the rings of one layer kind, each ring once per layer, and the
/// attention of this layer kind, beside which the rings run.
class LayerRings {
public:
  LayerRings(Formulas &formulas, uint32_t layer) : formulas(formulas) {
    const CostProgram &program = formulas.program;
    for (size_t i = 0; i < program.collectives.size(); ++i) {
      const Collective &record = program.collectives[i];
      if (record.layer != layer || record.kind != CollectiveKind::ring)
        continue;
      const CollectiveNodes &nodes = formulas.strategy.collectives[i];
      first = first ? first : &record;
      transfers += node(nodes.timePs);
      devices = node(nodes.groupSize);
      layers = node(nodes.count);
    }
    for (const LaunchNodes &launch : formulas.strategy.launches)
      if (first && seesRing(kernelOf(launch), *first))
        attention += node(launch.roofPs) + node(launch.floorPs);
  }

  bool isEmpty() const { return !first; }

  /// Returns the time of ring steps that is hidden. While attention works on
  /// one part of the keys, a ring step brings the next part; there are n parts
  /// and n - 1 ring steps.
  Expr hiddenPs() const {
    Expr others = devices - formulas.number(1);
    return layers *
           min(transfers, attention.apply(Op::scale_down, others, devices));
  }

private:
  Expr node(NodeId id) const { return Expr(formulas.graph, id); }
  const Kernel &kernelOf(const LaunchNodes &launch) const {
    return formulas.program.kernels[launch.members.front().kernel];
  }

  Formulas &formulas;
  const Collective *first = nullptr;
  Expr transfers = formulas.number(0), attention = formulas.number(0),
       devices = formulas.number(1), layers = formulas.number(0);
};

} // namespace

void autopar::cost::hideRings(Formulas &formulas) {
  SectionSums hidden(formulas);
  for (uint32_t layer = 0; layer < formulas.program.layers.size(); ++layer)
    if (LayerRings rings(formulas, layer); !rings.isEmpty())
      hidden.of(layer) += rings.hiddenPs();
  TotalNodes &total = formulas.strategy.total;
  auto subtract = [&](NodeId &from, Expr less) {
    from = (Expr(formulas.graph, from) - less).node();
  };
  for (size_t i = 0; i < sectionCount; ++i)
    subtract(total.sections[i].communicationPs,
             hidden.of(static_cast<Section>(i)));
  subtract(total.communicationPs, hidden.ofStep());
}

//===- Sensitivity.h - Derivatives of prices by figures ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_SENSITIVITY_H
#define AUTOPAR_COST_SENSITIVITY_H

#include "autopar/Cost/Pricer.h"

#include <functional>

namespace autopar::cost {

/// A number of the links of tier `tier` of the pool, such as its bandwidth.
struct LinkFigure {
  size_t tier = 0;
  hardware::Figure hardware::Tier::*figure = nullptr;
};

/// The change of a price with the logarithm of a figure: d price / d ln figure.
/// The slopes below and above the figure's value differ where the price has a
/// kink.
struct Slope {
  double below = 0, above = 0;
};

/// Computes derivatives of prices with respect to figures of chip, runtime and
/// links. Roundings are ignored, so that only choices (maximum, select) make a
/// price non-smooth.
class Sensitivity {
public:
  /// The arguments must outlive this object.
  Sensitivity(const Strategy &strategy, const hardware::Machine &machine,
              const runtime::Runtime &runtime,
              std::optional<double> memoryUtilization);

  /// Sets the layout, which `Pricer::lay` must not refuse, and the workload.
  void lay(const Layout &layout, Point point);

  /// Evaluates all nodes, without rounding, for other values of the figures;
  /// links have the numbers of `machine`.
  std::vector<double> evaluate(const std::vector<double> &figures,
                               const hardware::Machine &machine) const;
  /// Returns slopes of the sum of `outputs`: first by figure of the strategy,
  /// then by `linkFigures`. It takes one backward sweep through the graph, and
  /// a second one for figures that affect a choice between equal values.
  std::vector<Slope> slopes(const std::vector<NodeId> &outputs) const;
  std::vector<Slope> slopes(NodeId output) const {
    return slopes(std::vector<NodeId>{output});
  }
  /// Returns the slopes of `time`, a function of the machine, by `linkFigures`.
  /// Central differences suffice, because routes are linear or log-log in these
  /// figures.
  std::vector<double> linkSlopes(
      const std::function<double(const hardware::Machine &)> &time) const;

  const std::vector<BoundFigure> &figures() const { return bound; }
  const std::vector<LinkFigure> &linkFigures() const { return links; }

private:
  /// Returns the adjoint of each node: the derivative of the sum of `outputs`
  /// with respect to it. At a choice between equal operands the first one gets
  /// the adjoint if `takesFirst`, else the second.
  std::vector<double> sweep(const std::vector<NodeId> &outputs,
                            bool takesFirst) const;
  void addToOperands(NodeId id, bool takesFirst,
                     std::vector<double> &adjoints) const;
  double timeOfCalls(const hardware::Machine &on,
                     const std::vector<double> &adjoints) const;
  double oneSided(const std::vector<NodeId> &outputs, size_t figure,
                  double step) const;
  std::vector<double> slopesOf(const std::vector<double> &adjoints) const;

  const Strategy &strategy;
  const hardware::Machine &machine;
  const runtime::Runtime &runtime;
  std::vector<BoundFigure> bound;
  std::vector<LinkFigure> links;
  Layout layout;
  std::vector<GroupValues> groups;
  std::vector<double> values;
};

/// Returns a copy of `machine` with `value` for one figure of a link.
hardware::Machine withLinkFigure(const hardware::Machine &machine,
                                 LinkFigure figure, double value);

} // namespace autopar::cost

#endif // AUTOPAR_COST_SENSITIVITY_H

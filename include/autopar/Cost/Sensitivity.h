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

/// A figure of a link, in tier `tier` of the pool.
struct LinkFigure {
  size_t tier = 0;
  hardware::Figure hardware::Tier::*figure = nullptr;
};

/// The change of a number with a figure: d number / d ln figure. The two sides
/// differ where the number has a kink.
struct Slope {
  double below = 0, above = 0;
};

/// Derivatives of prices. Roundings are ignored, so that only choices (maximum,
/// select) make a number non-smooth.
class Sensitivity {
public:
  /// All arguments outlive it.
  Sensitivity(const Strategy &strategy, const hardware::Machine &machine,
              const runtime::Runtime &runtime,
              std::optional<double> memoryUtilization);

  /// Sets the layout, which must not be refused, and the point.
  void lay(const Layout &layout, Point point);

  /// Evaluates all nodes, without rounding, for other values of the figures;
  /// links have the figures of `machine`.
  std::vector<double> evaluate(const std::vector<double> &figures,
                               const hardware::Machine &machine) const;
  /// Slopes of the sum of `outputs`, by figure of the strategy, then by
  /// `linkFigures`: one backward sweep through the graph, and a second one for
  /// figures that meet a choice between equals.
  std::vector<Slope> slopes(const std::vector<NodeId> &outputs) const;
  std::vector<Slope> slopes(NodeId output) const {
    return slopes(std::vector<NodeId>{output});
  }
  /// Slopes of `time`, a function of the machine, by `linkFigures`. Central
  /// differences suffice: routes are linear or log-log in their figures.
  std::vector<double> linkSlopes(
      const std::function<double(const hardware::Machine &)> &time) const;

  const std::vector<BoundFigure> &figures() const { return bound; }
  const std::vector<LinkFigure> &linkFigures() const { return links; }

private:
  /// Adjoints of all nodes. At a choice between equals the first operand gets
  /// the adjoint, or the second.
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

/// Returns `machine` with one figure of a link replaced.
hardware::Machine withLinkFigure(const hardware::Machine &machine,
                                 LinkFigure figure, double value);

} // namespace autopar::cost

#endif // AUTOPAR_COST_SENSITIVITY_H

//===- Sensitivity.h - What prices rest on most -----------------*- C++ -*-===//
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

/// A figure of a link: of tier `tier` of the pool.
struct LinkFigure {
  size_t tier = 0;
  hardware::Figure hardware::Tier::*figure = nullptr;
};

/// How a number changes with a figure, relative to the figure: d value / d ln
/// figure. Where the two sides differ, the number has a kink there.
struct Slope {
  double below = 0, above = 0;
};

/// Derivatives of prices. Roundings count as what they round, so that a number
/// is smooth but for its choices.
class Sensitivity {
public:
  /// All arguments outlive it.
  Sensitivity(const Strategy &strategy, const hardware::Machine &machine,
              const runtime::Runtime &runtime,
              std::optional<double> memoryUtilization);

  /// The layout must be one that is not refused.
  void lay(const Layout &layout, Point point);

  /// Values of all nodes, without roundings, with other figures in place of
  /// those that were bound; the machine's links are those of `machine`.
  std::vector<double> evaluate(const std::vector<double> &figures,
                               const hardware::Machine &machine) const;
  /// Slopes of the sum of `outputs` by figure of the strategy, then by
  /// `linkFigures`. One sweep backwards through the graph, and one more for
  /// those that meet a choice between equals.
  std::vector<Slope> slopes(const std::vector<NodeId> &outputs) const;
  std::vector<Slope> slopes(NodeId output) const {
    return slopes(std::vector<NodeId>{output});
  }
  /// Slopes by `linkFigures` of what takes `time` on a machine. Central
  /// differences of routes, whose times are straight or log-log in what they
  /// rest on.
  std::vector<double> linkSlopes(
      const std::function<double(const hardware::Machine &)> &time) const;

  const std::vector<BoundFigure> &figures() const { return bound; }
  const std::vector<LinkFigure> &linkFigures() const { return links; }

private:
  /// Adjoints of all nodes. Of choices between equals, those of the first, or
  /// of the second.
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

/// `machine` with a figure of a link at another value.
hardware::Machine withLinkFigure(const hardware::Machine &machine,
                                 LinkFigure figure, double value);

} // namespace autopar::cost

#endif // AUTOPAR_COST_SENSITIVITY_H

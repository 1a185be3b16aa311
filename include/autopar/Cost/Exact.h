//===- Exact.h - Every node of a strategy, for people -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_EXACT_H
#define AUTOPAR_COST_EXACT_H

#include "autopar/Cost/Pricer.h"
#include "autopar/Support/Checked.h"

namespace autopar::cost {

/// The values of all nodes for one plan: integers in 128 bits, other values in
/// the doubles of prices.
class ExactValues {
public:
  /// All arguments outlive it.
  ExactValues(const Strategy &strategy, const hardware::Machine &machine,
              const runtime::Runtime &runtime,
              std::optional<double> memoryUtilization = std::nullopt);
  ~ExactValues();
  ExactValues(ExactValues &&) noexcept;

  /// Evaluates a step of one group. Returns the first requirement, in the
  /// program's order, that fails.
  Refusal evaluate(const Layout &layout, const program::Workload &workload) {
    return evaluate(layout, std::vector<program::Workload>{workload});
  }
  /// Evaluates a step of several groups, one workload each.
  Refusal evaluate(const Layout &layout,
                   const std::vector<program::Workload> &groups);

  Checked whole(NodeId node) const { return wholes[node]; }
  double real(NodeId node) const { return reals[node]; }
  const std::vector<BoundFigure> &figures() const { return bound; }
  const Route &route(uint32_t link) const;
  /// The slice of a shape's table that the layout selects; null where the shape
  /// was not measured.
  const hardware::ShapeGrid *shape(uint32_t index) const;

private:
  void calculate(NodeId id, const std::vector<program::Workload> &groups);
  Checked wholeOf(NodeId id) const;
  double realOf(NodeId id) const;
  bool isMet(const Requirement &requirement) const;

  const Strategy &strategy;
  std::vector<BoundFigure> bound;
  struct Links;
  std::unique_ptr<Links> links;
  std::vector<Checked> wholes;
  std::vector<double> reals;
};

} // namespace autopar::cost

#endif // AUTOPAR_COST_EXACT_H

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

/// The values of all nodes of a strategy for one plan: integers have 128 bits,
/// other values are the doubles that prices use.
class ExactValues {
public:
  /// The arguments must outlive this object.
  ExactValues(const Strategy &strategy, const hardware::Machine &machine,
              const runtime::Runtime &runtime,
              std::optional<double> memoryUtilization = std::nullopt);
  ~ExactValues();
  ExactValues(ExactValues &&) noexcept;

  /// Evaluates a step with one group of sequences. Returns the first
  /// requirement that fails, in the order of the program.
  Refusal evaluate(const Layout &layout, const program::Workload &workload) {
    return evaluate(layout, std::vector<program::Workload>{workload});
  }
  /// Evaluates a step with several groups of sequences; `groups` has the
  /// workload of each.
  Refusal evaluate(const Layout &layout,
                   const std::vector<program::Workload> &groups);

  Checked whole(NodeId node) const { return wholes[node]; }
  double real(NodeId node) const { return reals[node]; }
  const std::vector<BoundFigure> &figures() const { return bound; }
  const Route &route(uint32_t link) const;
  /// The part of the measured table of shape use `index` that applies to the
  /// layout; null if that shape was not measured.
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

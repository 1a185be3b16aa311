//===- PricedStep.h - The value of each formula of a step -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_PRICEDSTEP_H
#define AUTOPAR_EVALUATE_PRICEDSTEP_H

#include "autopar/Evaluate/PlanInputs.h"

namespace autopar::evaluation {

/// A step on the devices of one stage, with the value of every formula node.
struct PricedStep : PlanInputs {
  /// The arguments must outlive this object.
  PricedStep(const PlanInputs &inputs, const cost::Strategy &strategy);

  /// Evaluates all formulas on `layout`; returns an error if the layout is
  /// refused.
  std::optional<Error> price(const cost::Layout &layout);

  Checked whole(cost::NodeId node) const { return values.whole(node); }
  double real(cost::NodeId node) const { return values.real(node); }
  double microseconds(cost::NodeId ps) const;
  int64_t count(cost::NodeId node) const {
    return whole(node).int64().value_or(0);
  }

  /// For one launch: the times of its FLOPs and of its bytes at peak rates, and
  /// the bytes that it moves.
  struct LaunchPeak {
    double computeUs = 0, memoryUs = 0, movedBytes = 0;
  };
  LaunchPeak peakOf(const cost::LaunchNodes &launch) const;

  /// `curveOf` returns the measured curve for a launch that begins with
  /// `kernel`; null if the chip has none. `curveKindOf` returns the kind of
  /// kernel by which it is found.
  program::KernelKind curveKindOf(const program::Kernel &kernel) const {
    return strategy.launching.curveKindOf(kernel);
  }
  const hardware::KernelCurve *curveOf(const program::Kernel &kernel) const {
    return pool().chip.curve(curveKindOf(kernel), kernel.compute,
                             kernel.storage);
  }

  /// Returns how often a step runs the layers of kind `layer`.
  int64_t passesOf(uint32_t layer) const;
  /// Returns how often a step launches kernel `kernel`, or `launch`.
  Checked countOf(uint32_t kernel) const;
  Checked countOf(const cost::LaunchNodes &launch) const;

  int64_t axisSize(program::AxisId axis) const {
    return layout.axes[axis].size;
  }
  Checked groupSize(const std::vector<program::AxisId> &axes) const;
  cost::GroupLayout groupOf(const std::vector<program::AxisId> &axes) const;
  /// Returns the size of an extent, or the number of elements of a shape, for
  /// the whole model (not divided over devices).
  Checked logical(const program::Extent &extent) const;
  Checked logicalOf(const program::Dims &dims) const {
    Checked product = 1;
    for (const program::Dim &dim : dims)
      product *= logical(dim.extent);
    return product;
  }
  /// Whether devices communicate in this step: a collective spans several, or
  /// there is a pipeline.
  bool communicates() const;

  const cost::Strategy &strategy;
  cost::ExactValues values;
  cost::Layout layout;
};

/// Converts exact counts of a step to the 64-bit integers of a report. It keeps
/// an error for the first count that exceeds 63 bits.
class Narrowing {
public:
  explicit Narrowing(const PricedStep &step) : step(step) {}

  int64_t operator()(Checked value, const char *what);
  int64_t operator()(cost::NodeId node, const char *what) {
    return (*this)(step.whole(node), what);
  }
  void fail(const std::string &what, const char *bits);

  const std::optional<Error> &firstError() const { return error; }
  /// Returns `value`, or the error if one occurred.
  template <typename T>
  Result<T> finish(T value) {
    if (error)
      return std::move(*error);
    return value;
  }

private:
  const PricedStep &step;
  std::optional<Error> error;
};

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_PRICEDSTEP_H

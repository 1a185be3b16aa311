//===- Interval.h - Bounds of many plans at once ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_INTERVAL_H
#define AUTOPAR_COST_INTERVAL_H

#include "autopar/Cost/Pricer.h"

namespace autopar::cost {

struct Interval {
  double low = 0, high = 0;

  bool contains(double value) const { return low <= value && value <= high; }
};

/// A set of plans with one layout: an interval for each size of the workload
/// (by group, then by symbol), and for each number of the chip or runtime (by
/// index in the strategy).
struct Box {
  std::vector<Interval> symbols = std::vector<Interval>(symbolCount);
  std::vector<Interval> figures;
};

/// Computes bounds of a tape's outputs over a box. Each op is monotone in each
/// operand, so that its bounds are its values at two corners of the box,
/// computed with the arithmetic of prices. A box with one plan therefore yields
/// the plan's price, and the price of every plan in a box lies within the
/// bounds.
class Enclosure {
public:
  /// The arguments must outlive this object.
  Enclosure(const Tape &tape, const hardware::Machine &machine,
            const runtime::Runtime &runtime);
  ~Enclosure();

  /// Returns the bounds of each output, for a layout that `Pricer::lay` does
  /// not refuse.
  std::vector<Interval> enclose(const Layout &layout, const Box &box);

private:
  struct Links;
  void run(Rank rank);
  void layShapes();
  Interval calculate(const Instruction &step) const;
  Interval launch(const Instruction &step) const;

  const Tape &tape;
  std::unique_ptr<Links> links;
  std::vector<Interval> slots;
};

} // namespace autopar::cost

#endif // AUTOPAR_COST_INTERVAL_H

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

/// A box of plans of one layout: symbols, group by group, and figures, by index
/// of the strategy's.
struct Box {
  std::vector<Interval> symbols = std::vector<Interval>(symbolCount);
  std::vector<Interval> figures;
};

/// Bounds of the outputs of a tape over boxes. Each op is monotone in each
/// operand, so its bounds are its values at two corners, in the same arithmetic
/// as prices: a box of one plan has its price, and nothing in a box lies
/// outside.
class Enclosure {
public:
  /// All arguments outlive it.
  Enclosure(const Tape &tape, const hardware::Machine &machine,
            const runtime::Runtime &runtime);
  ~Enclosure();

  /// By output. The layout must be one that is not refused.
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

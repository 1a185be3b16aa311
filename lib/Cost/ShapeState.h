//===- ShapeState.h - Tables of shapes as layouts leave them ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_SHAPESTATE_H
#define AUTOPAR_LIB_COST_SHAPESTATE_H

#include "Run.h"

#include "autopar/Hardware/Hardware.h"

#include <memory>

namespace autopar::cost {

/// The grids of `Leaves::shapes`: each is reduced once.
class ShapeState {
public:
  ShapeState(const Leaves &leaves, const hardware::Chip &chip, bool ideal);

  /// `values` by what `ShapeUse::fixed` counts.
  void lay(const double *values);
  void lay(uint32_t shape, const double *values);
  const ShapeView *views() const { return laid.data(); }
  /// Null of a shape that no table has, or that is not laid.
  const hardware::ShapeGrid *grid(uint32_t shape) const {
    const Known *known = shapes[shape].current;
    return known ? &known->grid : nullptr;
  }

private:
  struct Known {
    std::vector<double> fixed;
    hardware::ShapeGrid grid;
    ShapeView view;
  };
  struct Own {
    const ShapeUse *use;
    /// Null where nobody measured them.
    const hardware::ShapeTable *table;
    std::vector<std::unique_ptr<Known>> known;
    const Known *current = nullptr;
  };
  static std::unique_ptr<Known> reduced(const hardware::ShapeTable &table,
                                        std::vector<double> fixed);

  std::vector<Own> shapes;
  /// What tables read of all values, and what that was.
  std::vector<uint32_t> read;
  std::vector<double> last;
  bool isLaid = false;
  std::vector<ShapeView> laid;
};

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_SHAPESTATE_H

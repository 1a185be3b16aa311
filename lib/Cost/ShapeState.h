//===- ShapeState.h - Slices of shape tables by layout ----------*- C++ -*-===//
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

/// The grids of `Leaves::shapes`. Each grid is reduced once for each set of
/// fixed sizes.
class ShapeState {
public:
  ShapeState(const Leaves &leaves, const hardware::Chip &chip, bool ideal);

  /// Sets the fixed sizes of shapes; `ShapeUse::fixed` has indices into
  /// `values`.
  void lay(const double *values);
  void lay(uint32_t shape, const double *values);
  const ShapeView *views() const { return laid.data(); }
  /// Returns the current grid of a shape; null if the shape has no table, or
  /// before `lay` is called.
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
    /// The table of the shape; null if the shape was not measured.
    const hardware::ShapeTable *table;
    std::vector<std::unique_ptr<Known>> known;
    const Known *current = nullptr;
  };
  static std::unique_ptr<Known> reduced(const hardware::ShapeTable &table,
                                        std::vector<double> fixed);

  std::vector<Own> shapes;
  /// The indices of the values that tables read (`read`), and the values of
  /// these at the last layout (`last`).
  std::vector<uint32_t> read;
  std::vector<double> last;
  bool isLaid = false;
  std::vector<ShapeView> laid;
};

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_SHAPESTATE_H

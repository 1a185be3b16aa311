//===- ShapeState.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeState.h"

#include <algorithm>
#include <limits>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;

/// Returns the shape table of the curve on which the kernels of `use` run; null
/// if there is none, or if its coordinates are those of another kind of kernel.
static const ShapeTable *tableOf(const ShapeUse &use, const Chip &chip) {
  const KernelCurve *curve = chip.curve(use.kernel, use.type, use.storage);
  const ShapeTable *table =
      curve ? curve->shapes[static_cast<size_t>(use.kind)].get() : nullptr;
  if (!table)
    return nullptr;
  std::vector<std::string_view> names =
      ShapeTable::namesOf(use.kernel, use.kind);
  bool isOwn = std::equal(
      names.begin(), names.end(), table->coordinates.begin(),
      table->coordinates.end(),
      [](std::string_view name, const ShapeTable::Coordinate &coordinate) {
        return name == coordinate.of;
      });
  return isOwn ? table : nullptr;
}

ShapeState::ShapeState(const Leaves &leaves, const Chip &chip, bool ideal)
    : laid(leaves.shapes.size()) {
  for (const ShapeUse &use : leaves.shapes) {
    shapes.push_back({&use, ideal ? nullptr : tableOf(use, chip), {}});
    if (shapes.back().table)
      read.insert(read.end(), use.fixed.begin(), use.fixed.end());
  }
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  last.resize(read.size(), std::numeric_limits<double>::quiet_NaN());
}

/// Repeats the ratios of a grid whose side `x` has only one size for twice that
/// size, so that values can be interpolated along `x`.
static void widen(ShapeGrid &grid) {
  if (grid.x.first != grid.x.last)
    return;
  ++grid.x.last;
  std::vector<double> again = grid.ratios;
  grid.ratios.insert(grid.ratios.end(), again.begin(), again.end());
}

std::unique_ptr<ShapeState::Known>
ShapeState::reduced(const ShapeTable &table, std::vector<double> fixed) {
  auto known = std::make_unique<Known>();
  known->grid = reduce(table, fixed);
  known->fixed = std::move(fixed);
  ShapeGrid &grid = known->grid;
  widen(grid);
  known->view = {grid.ratios.data(),  double(grid.x.first),
                 double(grid.x.last), double(grid.y.first),
                 double(grid.y.last), static_cast<uint32_t>(grid.y.size())};
  return known;
}

void ShapeState::lay(uint32_t index, const double *values) {
  Own &own = shapes[index];
  if (!own.table)
    return;
  const std::vector<uint32_t> &fixedBy = own.use->fixed;
  auto isHere = [&](const Known &known) {
    for (size_t i = 0; i < fixedBy.size(); ++i)
      if (known.fixed[i] != values[fixedBy[i]])
        return false;
    return true;
  };
  if (own.current && isHere(*own.current))
    return;
  auto found = std::find_if(own.known.begin(), own.known.end(),
                            [&](const auto &known) { return isHere(*known); });
  if (found == own.known.end()) {
    std::vector<double> fixed;
    for (uint32_t slot : fixedBy)
      fixed.push_back(values[slot]);
    own.known.push_back(reduced(*own.table, std::move(fixed)));
    found = own.known.end() - 1;
  }
  own.current = found->get();
  laid[index] = own.current->view;
}

/// Does nothing if the layout fixes the same sizes as the last layout.
void ShapeState::lay(const double *values) {
  bool isSame = isLaid;
  isLaid = true;
  for (size_t i = 0; i < read.size(); ++i) {
    isSame &= last[i] == values[read[i]];
    last[i] = values[read[i]];
  }
  if (isSame)
    return;
  for (uint32_t i = 0; i < shapes.size(); ++i)
    lay(i, values);
}

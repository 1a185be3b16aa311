//===- RoutedRows.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoutedRows.h"

#include <algorithm>
#include <map>

using namespace autopar;
using namespace autopar::interpreter;
using namespace mlir;

RowHomes::Home RowHomes::makeHome(const DimRef &dim, const DeviceGrid &grid) {
  Home home;
  home.dim = dim;
  home.extent = grid.valueOf(dim.extent);
  home.placesOf.resize(home.extent);
  int64_t parts = grid.sizeOf(dim.axes);
  for (int64_t place = 0; place < parts; ++place)
    for (int64_t index :
         partOf(home.extent, dim.rule, dim.multiple, parts, place))
      if (index >= 0)
        home.placesOf[index] = {place};
  return home;
}

/// Returns where experts are: in the slots of the placement's tables, if there
/// are any, else by the split of `dim`.
RowHomes::Home RowHomes::makeExperts(const DimRef &dim,
                                     const DeviceGrid &grid) {
  Home home = makeHome(dim, grid);
  ArrayRef<int32_t> slots = grid.expertSlots().experts();
  if (dim.axes.empty() || slots.empty())
    return home;
  for (std::vector<int64_t> &places : home.placesOf)
    places.clear();
  size_t each = slots.size() / grid.sizeOf(dim.axes);
  for (auto [slot, expert] : llvm::enumerate(slots))
    home.placesOf[expert].push_back(static_cast<int64_t>(slot / each));
  return home;
}

RowHomes::RowHomes(const TensorView &type, const DeviceGrid &grid)
    : grid(grid), set(type.dim(0)),
      experts(makeExperts(type.experts(0), grid)) {
  for (const DimRef &dim : type.tokens(0))
    tokens.push_back(makeHome(dim, grid));
}

bool RowHomes::isAt(const Home &home, int64_t place, int64_t device,
                    StringAttr axis) const {
  for (StringAttr minor : llvm::reverse(home.dim.axes)) {
    int64_t size = grid.sizeOf(minor);
    if (minor == axis)
      return place % size == grid.placeOf(device, axis);
    place /= size;
  }
  return false;
}

bool RowHomes::isAt(const RoutedRow &row, int64_t device,
                    ArrayRef<StringAttr> axes) const {
  return llvm::all_of(axes, [&](StringAttr axis) {
    if (llvm::is_contained(set.grouped, axis)) {
      // A zero expert, which returns its input and has no weights, is on no
      // device; `verify` reports missing rows.
      if (row.expert >= experts.extent)
        return false;
      // The tokens of an expert are distributed over its copies in turn.
      const std::vector<int64_t> &copies = experts.placesOf[row.expert];
      return isAt(experts, copies[row.token % copies.size()], device, axis);
    }
    int64_t rest = row.token;
    for (const Home &home : llvm::reverse(tokens)) {
      if (llvm::is_contained(home.dim.axes, axis))
        return isAt(home, home.placesOf[rest % home.extent].front(), device,
                    axis);
      rest /= home.extent;
    }
    return false;
  });
}

bool RowHomes::has(const RoutedRow &row, int64_t device) const {
  return isAt(row, device, set.axes) && isAt(row, device, set.grouped);
}

LocalTensor RowHomes::select(const LocalTensor &rows, int64_t device,
                             ArrayRef<StringAttr> axes) const {
  std::vector<int64_t> kept;
  for (size_t i = 0; i < rows.rows.size(); ++i)
    if (isAt(rows.rows[i], device, axes))
      kept.push_back(static_cast<int64_t>(i));
  return rows.select(0, kept);
}

std::vector<int64_t> RowHomes::numbersOf(const LocalTensor &rows,
                                         int64_t most) {
  std::vector<int64_t> numbers;
  for (const RoutedRow &row : rows.rows)
    numbers.push_back(row.token * most + row.slot);
  return numbers;
}

LogicalResult RowHomes::verify(Operation *op,
                               const std::vector<LocalTensor> &tensors) const {
  std::map<std::pair<int64_t, int32_t>, RoutedRow> all;
  for (const LocalTensor &local : tensors)
    for (const RoutedRow &row : local.rows)
      all.insert({{row.token, row.slot}, row});
  if (static_cast<int64_t>(all.size()) != grid.valueOf(set.extent))
    return op->emitError("devices have ")
           << all.size() << " rows together, expected "
           << grid.valueOf(set.extent);
  for (int64_t device : grid.active()) {
    const LocalTensor &local = tensors[device];
    std::vector<RoutedRow> expected;
    for (const auto &[number, row] : all)
      if (has(row, device))
        expected.push_back(row);
    if (expected != local.rows)
      return op->emitError("device ")
             << device
             << " has other rows than its type says: " << local.rows.size()
             << ", expected " << expected.size();
  }
  return success();
}

LocalTensor
autopar::interpreter::joinRows(const std::vector<LocalTensor> &parts) {
  LocalTensor all = parts.front();
  for (const LocalTensor &part : llvm::drop_begin(parts)) {
    all.shape[0] += part.shape[0];
    all.data.insert(all.data.end(), part.data.begin(), part.data.end());
    all.rows.insert(all.rows.end(), part.rows.begin(), part.rows.end());
  }
  std::vector<int64_t> order;
  for (size_t i = 0; i < all.rows.size(); ++i)
    order.push_back(static_cast<int64_t>(i));
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return all.rows[a] < all.rows[b]; });
  return all.select(0, order);
}

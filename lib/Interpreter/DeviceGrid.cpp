//===- DeviceGrid.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/DeviceGrid.h"

#include "autopar/Interfaces/Interfaces.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace mlir;

static std::vector<int64_t> range(int64_t begin, int64_t end) {
  std::vector<int64_t> all;
  for (int64_t i = begin; i < end; ++i)
    all.push_back(i);
  return all;
}

FailureOr<DeviceGrid> DeviceGrid::create(ModuleOp module,
                                         const Workload &workload) {
  DeviceGrid grid;
  grid.step = workload;
  for (auto mesh : module.getOps<DeviceMeshOpInterface>())
    for (Attribute name : mesh.getAxisNames()) {
      auto text = cast<StringAttr>(name);
      int64_t size = mesh.getAxisSize(text.getValue()).value_or(0);
      if (size == 0)
        return mesh.emitError("axis '")
               << text.getValue() << "' has no size: give one to run it";
      grid.axes.push_back({text, size, 1});
    }
  for (auto axis = grid.axes.rbegin(); axis != grid.axes.rend(); ++axis) {
    axis->stride = grid.devices;
    grid.devices *= axis->size;
  }
  grid.executing = range(0, grid.devices);
  FailureOr<ExpertSlots> slots = ExpertSlots::create(module);
  if (failed(slots))
    return failure();
  grid.slots = std::move(*slots);
  return grid;
}

const DeviceGrid::Axis &DeviceGrid::axis(StringAttr name) const {
  return *std::find_if(axes.begin(), axes.end(),
                       [&](const Axis &axis) { return axis.name == name; });
}

void DeviceGrid::enter(StringAttr axis, int64_t place) {
  executing.clear();
  for (int64_t device = 0; device < devices; ++device)
    if (placeOf(device, axis) == place)
      executing.push_back(device);
}

int64_t DeviceGrid::sizeOf(ArrayRef<StringAttr> names) const {
  int64_t product = 1;
  for (StringAttr name : names)
    product *= axis(name).size;
  return product;
}

int64_t DeviceGrid::placeOf(int64_t device, ArrayRef<StringAttr> names) const {
  int64_t place = 0;
  for (StringAttr name : names) {
    const Axis &own = axis(name);
    place = place * own.size + device / own.stride % own.size;
  }
  return place;
}

std::vector<int64_t> DeviceGrid::groupOf(int64_t device,
                                         ArrayRef<StringAttr> names) const {
  std::vector<int64_t> group = {device};
  for (StringAttr name : names) {
    const Axis &own = axis(name);
    std::vector<int64_t> wider;
    for (int64_t member : group) {
      int64_t first = member - member / own.stride % own.size * own.stride;
      for (int64_t i = 0; i < own.size; ++i)
        wider.push_back(first + i * own.stride);
    }
    group = std::move(wider);
  }
  return group;
}

int64_t DeviceGrid::valueOf(const NamedExtent &extent) const {
  int64_t value = extent.isNamed() ? extent.factor() : 1;
  for (StringRef symbol : extent.symbols())
    value *= symbol == "batch"            ? step.batch
             : symbol == "query"          ? step.query
             : symbol == "context"        ? step.context
             : symbol == "encoder_tokens" ? step.encoderTokens
                                          : step.crossTokens;
  return value;
}

std::optional<unsigned> DeviceGrid::batchDimOf(const TensorView &view) const {
  for (unsigned dim = 0; dim < view.rank(); ++dim)
    if (llvm::is_contained(view.dim(dim).extent.symbols(), "batch"))
      return dim;
  return std::nullopt;
}

int64_t DeviceGrid::extentOf(const TensorView &view, unsigned dim) const {
  return valueOf(view.extent(dim));
}

std::vector<int64_t>
autopar::interpreter::partOf(int64_t extent, SplitRule rule, int64_t multiple,
                             int64_t parts, int64_t place) {
  auto up = [](int64_t value, int64_t to) {
    return (value + to - 1) / to * to;
  };
  switch (rule) {
  case SplitRule::ring:
    return range(0, extent);
  case SplitRule::any:
    return range(place * extent / parts, (place + 1) * extent / parts);
  case SplitRule::cap:
    if (parts > extent)
      return {place / (parts / extent)};
    break;
  case SplitRule::pad: {
    int64_t each = up(up(extent, multiple), parts) / parts;
    std::vector<int64_t> part = range(place * each, (place + 1) * each);
    for (int64_t &index : part)
      index = index < extent ? index : -1;
    return part;
  }
  case SplitRule::plain:
    break;
  }
  return range(place * (extent / parts), (place + 1) * (extent / parts));
}

std::vector<int64_t> DeviceGrid::indicesOf(const TensorView &view, unsigned dim,
                                           int64_t device) const {
  DimRef ref = view.dim(dim);
  int64_t extent = extentOf(view, dim);
  if (ref.isWhole())
    return range(0, extent);
  if (slots.areIn(view.getType(), dim) && !slots.experts().empty())
    return slots.partOf(sizeOf(ref.axes), placeOf(device, ref.axes));
  return partOf(extent, ref.rule, ref.multiple, sizeOf(ref.axes),
                placeOf(device, ref.axes));
}

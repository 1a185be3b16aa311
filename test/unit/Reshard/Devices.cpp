//===- Devices.cpp - Collectives on data ----------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::reshard;
using namespace autopar::test;

static int64_t valueOf(int64_t element) { return element * 7919 + 13; }

Devices::Devices(std::vector<int64_t> extents, std::vector<int64_t> axisSizes,
                 const ShardLayout &layout)
    : extents(std::move(extents)), sizes(std::move(axisSizes)), layout(layout) {
  int64_t devices = 1;
  for (int64_t extent : this->extents)
    elements *= extent;
  for (int64_t size : sizes)
    devices *= size;
  for (int64_t device = 0; device < devices; ++device) {
    Values values(elements);
    std::vector<int64_t> adders = group(device, layout.partial);
    for (int64_t element = 0; element < elements; ++element) {
      if (!holds(layout, device, element))
        continue;
      // All but the first add anything; the first makes it right. Replicas
      // have equal places in their groups.
      size_t place = 0;
      while (adders[place] != device)
        ++place;
      auto addend = [&](size_t i) {
        return static_cast<int64_t>(i * 31 + i * i * element);
      };
      int64_t value = addend(place);
      if (place == 0) {
        value = valueOf(element);
        for (size_t i = 1; i < adders.size(); ++i)
          value -= addend(i);
      }
      values[element] = value;
    }
    data.push_back(std::move(values));
  }
}

int64_t Devices::coordinate(int64_t device, AxisId axis) const {
  for (size_t i = sizes.size() - 1; i > axis; --i)
    device /= sizes[i];
  return device % sizes[axis];
}

/// Which block of how many.
std::pair<int64_t, int64_t> Devices::block(const ShardLayout &layout,
                                           int64_t device, size_t dim) const {
  int64_t index = 0, count = 1;
  for (AxisId axis : layout.dims[dim]) {
    index = index * sizes[axis] + coordinate(device, axis);
    count *= sizes[axis];
  }
  return {index, count};
}

bool Devices::holds(const ShardLayout &layout, int64_t device,
                    int64_t element) const {
  for (size_t dim = extents.size(); dim-- > 0;) {
    int64_t place = element % extents[dim];
    element /= extents[dim];
    auto [index, count] = block(layout, device, dim);
    if (place < index * extents[dim] / count ||
        place >= (index + 1) * extents[dim] / count)
      return false;
  }
  return true;
}

/// The devices that differ from `device` in `axes` only.
std::vector<int64_t> Devices::group(int64_t device, const Axes &axes) const {
  std::vector<int64_t> members = {0};
  AxisSet varied = setOf(axes);
  for (AxisId axis = 0; axis < sizes.size(); ++axis) {
    std::vector<int64_t> more;
    for (int64_t member : members)
      for (int64_t at = 0; at < sizes[axis]; ++at)
        if (varied.count(axis) || at == coordinate(device, axis))
          more.push_back(member * sizes[axis] + at);
    members = more;
  }
  return members;
}

std::optional<int64_t> Devices::sum(const std::vector<int64_t> &devices,
                                    int64_t element) const {
  int64_t sum = 0;
  for (int64_t device : devices) {
    if (!data[device][element])
      return std::nullopt;
    sum += *data[device][element];
  }
  return sum;
}

/// What `device` holds after a step that is no permute.
std::string Devices::fill(const ReshardStep &step, int64_t device,
                          Values &now) const {
  bool reduces = step.kind == ReshardKind::all_reduce ||
                 step.kind == ReshardKind::reduce_scatter;
  bool alone = step.kind == ReshardKind::all_slice;
  std::vector<int64_t> members =
      alone ? std::vector<int64_t>{device} : group(device, step.axes);
  for (int64_t element = 0; element < elements; ++element) {
    if (!holds(step.result, device, element))
      continue;
    if (reduces) {
      now[element] = sum(members, element);
    } else {
      for (int64_t member : members) {
        if (!data[member][element])
          continue;
        if (now[element])
          return "two devices of a group hold an element";
        now[element] = data[member][element];
      }
    }
    if (!now[element])
      return "no device of the group holds an element";
  }
  return "";
}

std::string Devices::permute(const ReshardStep &step,
                             std::vector<Values> &now) const {
  std::vector<bool> sent(data.size());
  for (size_t device = 0; device < data.size(); ++device) {
    auto matches = [&](int64_t source) {
      for (size_t dim = 0; dim < extents.size(); ++dim)
        if (block(layout, source, dim) != block(step.result, device, dim))
          return false;
      return !sent[source];
    };
    bool found = false;
    for (int64_t source : group(device, step.axes)) {
      if (found || !matches(source))
        continue;
      found = sent[source] = true;
      now[device] = data[source];
    }
    if (!found)
      return "no device of the group has a block to send";
  }
  return "";
}

std::string Devices::run(const ReshardStep &step) {
  std::vector<Values> now(data.size(), Values(elements));
  std::string wrong;
  if (step.kind == ReshardKind::permute)
    wrong = permute(step, now);
  else
    for (size_t device = 0; device < data.size() && wrong.empty(); ++device)
      wrong = fill(step, device, now[device]);
  data = std::move(now);
  layout = step.result;
  return wrong;
}

std::string Devices::compare(const ShardLayout &goal) const {
  for (size_t device = 0; device < data.size(); ++device) {
    std::vector<int64_t> adders = group(device, goal.partial);
    for (int64_t element = 0; element < elements; ++element) {
      if (holds(goal, device, element) != data[device][element].has_value())
        return "a device holds another block";
      if (data[device][element] && sum(adders, element) != valueOf(element))
        return "a device holds another value";
    }
  }
  return "";
}

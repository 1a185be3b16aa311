//===- ExpertNodes.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/ExpertNodes.h"

#include "autopar/Support/Checked.h"
#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::cost;

std::optional<int64_t> autopar::cost::nodesOf(const GroupLayout &layout,
                                              int64_t devicesPerNode) {
  GroupLayout axes;
  for (const GroupAxis &axis : layout)
    if (axis.size > 1)
      axes.push_back(axis);
  if (axes.empty())
    return 1;
  int64_t stride = axes.back().stride, ranks = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].stride != stride * ranks)
      return std::nullopt;
    ranks *= axes[i].size;
  }
  int64_t span = (Checked(stride) * ranks).int64().value_or(limits::maxDevices);
  if (span <= devicesPerNode)
    return devicesPerNode % span == 0 ? std::optional<int64_t>(1)
                                      : std::nullopt;
  if (stride >= devicesPerNode)
    return stride % devicesPerNode == 0 ? std::optional<int64_t>(ranks)
                                        : std::nullopt;
  if (devicesPerNode % stride || ranks % (devicesPerNode / stride))
    return std::nullopt;
  return ranks / (devicesPerNode / stride);
}

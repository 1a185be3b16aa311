//===- Shape.h - Checks that profiles and traces share ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLACEMENT_SHAPE_H
#define AUTOPAR_LIB_PLACEMENT_SHAPE_H

#include "autopar/Placement/LoadProfile.h"

#include <map>

namespace autopar::placement {

/// Returns a text about the layer that is missing among the keys of `found`; ""
/// if none is missing.
template <typename T>
std::string missingLayer(const LoadShape &shape,
                         const std::map<int64_t, T> &found) {
  for (int64_t layer : shape.layers)
    if (!found.count(layer))
      return "layer " + std::to_string(layer) + " is missing";
  return found.empty() ? "there is no layer" : "";
}
/// Returns the largest number of an expert.
int64_t lastExpert(const LoadShape &shape);
bool endsWith(std::string_view text, std::string_view suffix);

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_SHAPE_H

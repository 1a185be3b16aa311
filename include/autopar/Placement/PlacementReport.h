//===- PlacementReport.h - A placement as a picture and as JSON -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLACEMENT_PLACEMENTREPORT_H
#define AUTOPAR_PLACEMENT_PLACEMENTREPORT_H

#include "autopar/Placement/Placement.h"

namespace autopar::placement {

/// Writes a text report of at most 80 columns: the gain, then a line per layer,
/// worst first, with one character per rank (or per group of neighbours, for
/// their maximum) that shows its load. At most `maxLayers` layers are shown;
/// the others are counted. `map` is the file of the slots, "" if they follow
/// from the policy.
std::string placementText(const ExpertPlacement &placement,
                          const std::string &map = "", size_t maxLayers = 8);

/// Writes the report as JSON, in the format `autopar.placement/1`.
std::string placementJson(const ExpertPlacement &placement,
                          const std::string &map = "");

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_PLACEMENTREPORT_H

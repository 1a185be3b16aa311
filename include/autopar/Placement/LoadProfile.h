//===- LoadProfile.h - Tokens per expert: autopar.load/1 --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLACEMENT_LOADPROFILE_H
#define AUTOPAR_PLACEMENT_LOADPROFILE_H

#include "autopar/Support/Json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::placement {

/// Tokens that each expert of a layer worked on: a token counts once for every
/// expert it was routed to.
struct LayerLoads {
  int64_t layer = 0;
  std::vector<double> tokens;
};

struct LoadProfile {
  int64_t experts = 0;
  /// By rising layer number; each has `experts` numbers.
  std::vector<LayerLoads> layers;
};

/// What a profile or a trace must fit. Absent: as the file has it.
struct LoadShape {
  std::optional<int64_t> experts;
  /// Numbers of the layers that have experts, rising: the file has these and
  /// no others. Empty: as the file has it.
  std::vector<int64_t> layers;
};

/// Why layer number `layer` may not be in the file; "" where it may.
std::string wrongLayer(const LoadShape &shape, int64_t layer);
/// What would work, for layers that are wrong or missing.
std::string layersNote(const LoadShape &shape);

/// Reads `autopar.load/1`, or a bare array of arrays. Rows of an array are the
/// layers of `shape` in order; without any, layers 0, 1, ...
Result<LoadProfile> readLoadJson(const JsonDocument &document,
                                 const LoadShape &shape);
/// Reads lines of `layer,expert,tokens` below a line of these words: one for
/// every expert of every layer, also where it worked on no tokens.
Result<LoadProfile> readLoadCsv(std::string_view text, const std::string &name,
                                const LoadShape &shape);
/// The one or the other, by the end of the name: ".csv", or JSON.
Result<LoadProfile> readLoadFile(const std::string &path,
                                 const LoadShape &shape);
/// The profile as `autopar.load/1`, which `readLoadJson` reads back unchanged.
std::string writeLoads(const LoadProfile &profile);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_LOADPROFILE_H

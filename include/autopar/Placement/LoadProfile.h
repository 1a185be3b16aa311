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

/// Tokens of each expert of a layer: a token counts once for every expert that
/// it was routed to.
struct LayerLoads {
  int64_t layer = 0;
  std::vector<double> tokens;
};

struct LoadProfile {
  int64_t experts = 0;
  /// Sorted by layer number; each has `experts` numbers.
  std::vector<LayerLoads> layers;
};

/// Conditions on a profile or a trace. Absent: none.
struct LoadShape {
  std::optional<int64_t> experts;
  /// Numbers of the layers with experts, sorted: the file has these and no
  /// others. Empty: any.
  std::vector<int64_t> layers;
};

/// The reason why layer number `layer` must not be in the file; "" if it may.
std::string wrongLayer(const LoadShape &shape, int64_t layer);
/// A note for an error about wrong or missing layers: the layers that work.
std::string layersNote(const LoadShape &shape);

/// Reads `autopar.load/1`, or a bare array of arrays. Rows of an array are the
/// layers of `shape` in order or, without any, layers 0, 1, ...
Result<LoadProfile> readLoadJson(const JsonDocument &document,
                                 const LoadShape &shape);
/// Reads lines of `layer,expert,tokens` below a line of these words: one for
/// every expert of every layer, also if it had no tokens.
Result<LoadProfile> readLoadCsv(std::string_view text, const std::string &name,
                                const LoadShape &shape);
/// Reads either format, by the suffix of the name: ".csv", else JSON.
Result<LoadProfile> readLoadFile(const std::string &path,
                                 const LoadShape &shape);
/// Writes the profile as `autopar.load/1`; `readLoadJson` reads it back
/// unchanged.
std::string writeLoads(const LoadProfile &profile);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_LOADPROFILE_H

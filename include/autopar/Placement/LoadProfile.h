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

/// Number of tokens of each expert of a layer. A token counts once for every
/// expert to which it was routed.
struct LayerLoads {
  int64_t layer = 0;
  std::vector<double> tokens;
};

struct LoadProfile {
  int64_t experts = 0;
  /// The layers, sorted by number; each has `experts` numbers.
  std::vector<LayerLoads> layers;
};

/// What a load profile or a trace must have; an absent field is not checked.
struct LoadShape {
  std::optional<int64_t> experts;
  /// Numbers of the layers with experts, sorted: the file must have these
  /// layers and no others. Empty: any layers.
  std::vector<int64_t> layers;
};

/// Returns why the file must not contain layer number `layer`; "" if it may.
std::string wrongLayer(const LoadShape &shape, int64_t layer);
/// Returns a note that lists the allowed layers, for an error about wrong or
/// missing ones.
std::string layersNote(const LoadShape &shape);

/// Reads loads from JSON: `autopar.load/1`, or a bare array of arrays. The rows
/// of an array are the layers of `shape` in order or, if it has none, layers 0,
/// 1, ...
Result<LoadProfile> readLoadJson(const JsonDocument &document,
                                 const LoadShape &shape);
/// Reads loads from CSV: a first line `layer,expert,tokens`, then one line for
/// every expert of every layer, even if it has no tokens.
Result<LoadProfile> readLoadCsv(std::string_view text, const std::string &name,
                                const LoadShape &shape);
/// Reads loads from a file: CSV if its name ends with ".csv", else JSON.
Result<LoadProfile> readLoadFile(const std::string &path,
                                 const LoadShape &shape);
/// Writes the profile as JSON (`autopar.load/1`), which `readLoadJson` reads
/// back unchanged.
std::string writeLoads(const LoadProfile &profile);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_LOADPROFILE_H

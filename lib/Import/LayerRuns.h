//===- LayerRuns.h - Layers as repeats of repeats ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_IMPORT_LAYERRUNS_H
#define AUTOPAR_LIB_IMPORT_LAYERRUNS_H

#include <cstdint>
#include <vector>

namespace autopar::importer {

/// A number of consecutive layers of one kind.
struct LayerRun {
  uint32_t kind;
  int64_t count;
};

/// A sequence of runs of layers that is repeated `count` times.
struct LayerPattern {
  std::vector<LayerRun> runs;
  int64_t count;
  /// Number of the pattern's first layer.
  int64_t first;
};

/// Splits the list of layers into few repeated patterns. It is greedy from the
/// front: of the patterns of up to 32 layers, it takes the one that covers most
/// layers, and the shortest of several.
std::vector<LayerPattern> findPatterns(const std::vector<uint32_t> &layers);

} // namespace autopar::importer

#endif // AUTOPAR_LIB_IMPORT_LAYERRUNS_H

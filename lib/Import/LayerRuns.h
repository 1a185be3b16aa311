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

/// `count` consecutive layers of one kind.
struct LayerRun {
  uint32_t kind;
  int64_t count;
};

/// A pattern of runs, repeated `count` times.
struct LayerPattern {
  std::vector<LayerRun> runs;
  int64_t count;
  /// Number of the first layer.
  int64_t first;
};

/// Splits layers into few repeated patterns: greedily from the front, by the
/// pattern of up to 32 layers that covers most; the shorter one wins a tie.
std::vector<LayerPattern> findPatterns(const std::vector<uint32_t> &layers);

} // namespace autopar::importer

#endif // AUTOPAR_LIB_IMPORT_LAYERRUNS_H

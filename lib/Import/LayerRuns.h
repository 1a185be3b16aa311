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

/// `count` layers of one kind in a row.
struct LayerRun {
  uint32_t kind;
  int64_t count;
};

/// A pattern of runs, `count` times in a row.
struct LayerPattern {
  std::vector<LayerRun> runs;
  int64_t count;
  /// Number of the first layer.
  int64_t first;
};

/// Splits layers into few repeated patterns: from the front, whichever pattern
/// of up to 32 layers covers most, the shorter where two cover the same.
std::vector<LayerPattern> findPatterns(const std::vector<uint32_t> &layers);

} // namespace autopar::importer

#endif // AUTOPAR_LIB_IMPORT_LAYERRUNS_H

//===- TileFormulas.h - Attention in tiles of queries and keys --*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_TILEFORMULAS_H
#define AUTOPAR_LIB_COST_TILEFORMULAS_H

#include "Formulas.h"

namespace autopar::cost {

/// Counts the tiles of attention without a cache. A processor takes some
/// queries of a head, and iterates over all keys or, if there are fewer tiles
/// than processors, over a part of the keys. A second launch then sums the
/// partial results (FlashAttention 3 and 4, `num_splits_heuristic` of
/// hopper/heuristics.h and of flash_attn/cute/interface.py; the scheduler's
/// blocks_per_sm of hopper/flash_prepare_scheduler.cu).
class TileFormulas {
public:
  /// Finds the tiles of `shape`, which gives streams of queries and a head
  /// size, on the curve of `kernel`.
  TileFormulas(Formulas &formulas, const program::Kernel &kernel,
               const KernelNodes::Shape &shape);

  /// Returns `flops` of the shape rounded up to whole waves of whole tiles,
  /// because idle processors of the last wave cost as much as busy ones.
  Expr inWaves(Expr flops);
  /// Returns 1 if there is a second launch, which sums partial results; else 0.
  Expr isSplit() { return above(splits, one); }
  /// Returns the bytes of partial results, written and read; 0 if there are no
  /// partial results.
  Expr partialBytes();

private:
  Expr whole(FigureUse::Kind kind);
  Expr findSplits();

  Formulas &formulas;
  const program::Kernel &kernel;
  Expr one, streams, queries, width;
  /// Queries per tile (`tile`), keys per tile (`keys`), and tiles that run at
  /// the same time (`slots`).
  Expr tile, keys, slots;
  Expr tiles, keyTiles, splits;
};

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_TILEFORMULAS_H

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

/// The tiles that attention without a cache is computed in: a processor takes
/// some queries of a head, and goes over all keys or, where there are fewer
/// tiles than processors, over a part of them. A second launch adds up what the
/// parts give (FlashAttention 3 and 4, `num_splits_heuristic` of
/// hopper/heuristics.h and of flash_attn/cute/interface.py; the scheduler's
/// blocks_per_sm of hopper/flash_prepare_scheduler.cu).
class TileFormulas {
public:
  /// Of `shape`, streams of queries with a head size, on the curve of `kernel`.
  TileFormulas(Formulas &formulas, const program::Kernel &kernel,
               const KernelNodes::Shape &shape);

  /// `flops` of the shape as processors are busy with whole waves of whole
  /// tiles: those that the last wave leaves idle take as long.
  Expr inWaves(Expr flops);
  /// Whether there is a second launch: 1 or 0.
  Expr isSplit() { return above(splits, one); }
  /// Bytes of partial results, written and read again; 0 where there are none.
  Expr partialBytes();

private:
  Expr whole(FigureUse::Kind kind);
  Expr findSplits();

  Formulas &formulas;
  const program::Kernel &kernel;
  Expr one, streams, queries, width;
  /// Queries and keys of a tile, and tiles at once.
  Expr tile, keys, slots;
  Expr tiles, keyTiles, splits;
};

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_TILEFORMULAS_H

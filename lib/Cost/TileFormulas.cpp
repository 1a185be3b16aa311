//===- TileFormulas.cpp - Attention in tiles of queries and keys ----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileFormulas.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

using Use = FigureUse::Kind;

Expr TileFormulas::whole(Use kind) {
  return floor(
      formulas.figure(kind, kernel.kind, kernel.compute, kernel.storage));
}

TileFormulas::TileFormulas(Formulas &formulas, const Kernel &kernel,
                           const KernelNodes::Shape &shape)
    : formulas(formulas), kernel(kernel), one(formulas.number(1)),
      streams(formulas.graph, shape.x), queries(formulas.graph, shape.y),
      width(formulas.graph, shape.fixed.front()),
      tile(whole(Use::tile_queries)), keys(whole(Use::tile_keys)),
      slots(max(one, whole(Use::tile_slots))) {
  tiles = streams * ceilDiv(queries, max(one, tile));
  keyTiles = ceilDiv(queries, max(one, keys));
  splits = findSplits();
}

/// Returns the number of parts into which the keys of a tile of queries are
/// split. Up to four tiles of keys are not split. If the chip has slots for
/// splits, each slot gets the mean number of tiles of queries and keys, rounded
/// up.
Expr TileFormulas::findSplits() {
  constexpr int64_t few = 4;
  Expr splitSlots = whole(Use::tile_split_slots);
  Expr share = ceilDiv(tiles * keyTiles, max(one, splitSlots));
  Expr evenly = ceilDiv(keyTiles, max(one, share));
  Expr atOnce = max(one, min(floorDiv(slots, max(one, tiles)), keyTiles));
  Expr many = select(splitSlots, evenly, atOnce);
  Expr isMany = above(keyTiles, formulas.number(few));
  return select(keys, select(isMany, many, one), one);
}

Expr TileFormulas::inWaves(Expr flops) {
  Expr waves = ceilDiv(tiles * splits, slots);
  Expr seen = select(keys, ceilDiv(keyTiles, max(one, splits)) * keys, queries);
  Expr computed = waves * slots * tile * seen;
  Expr ratio = computed / max(one, streams * queries * queries);
  return flops.apply(Op::round_product, select(tile, ratio, one));
}

Expr TileFormulas::partialBytes() {
  constexpr int64_t fp32 = 4, writtenAndRead = 2;
  Expr bytes = splits * streams * queries * width * (fp32 * writtenAndRead);
  return select(isSplit(), bytes, formulas.number(0));
}

"""The tiles that FlashAttention computes encoders in, as the cost program counts
them (lib/Cost/TileFormulas.cpp).

A processor takes a tile of queries of a head and goes over all keys. Where tiles
leave processors idle, versions 3 and 4 split the keys of each, if there are more
than FEW tiles of them, and a second launch adds up the partial results, which
are written and read in fp32.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import math

# Queries of a tile and tiles at once; keys of a tile and how keys are split:
# kBlockM of flash_fwd_launch_template.h (version 2, of Ada and Blackwell's
# smaller chips, which does not split without a paged cache), tile_size.h (3, of
# Hopper: keys are those of heads of 65 to 96, 192 of smaller ones; its scheduler
# gives each processor 1.1 times its share, so the others of 132 are 120), two
# tiles of 128 of flash_fwd_sm100 (4, of Blackwell: as many whole copies of all
# tiles as fit at once). A processor computes one tile; chips have as many as
# their datasheets say.
HOPPER = {"queries": 192, "slots": 132, "keys": 144, "split_slots": 120}
BLACKWELL = {"queries": 256, "slots": 148, "keys": 128}
GRACE_BLACKWELL = {**BLACKWELL, "slots": 152}
TILES = {
    "H100_SXM": HOPPER, "H200_SXM": HOPPER,
    "B200_SXM": BLACKWELL, "B300_SXM": BLACKWELL,
    "GB200": GRACE_BLACKWELL, "GB300": GRACE_BLACKWELL,
    "L40S": {"queries": 128, "slots": 142},
    "RTX_PRO_6000": {"queries": 128, "slots": 188},
}
FEW = 4
FP32 = 4


class Tiling:
    """A launch of `streams`, sequences times heads, in tiles.

    >>> hopper = Tiling(HOPPER, 16, 1024, 64)
    >>> hopper.splits, hopper.busy()
    (2, 1.740234375)
    >>> Tiling(BLACKWELL, 16, 1024, 64).splits
    2
    >>> Tiling(TILES["L40S"], 142, 128, 64).busy()
    1.0
    """

    def __init__(self, tiles, streams, queries, head_size):
        self.tiles = tiles
        self.streams, self.queries, self.width = streams, queries, head_size
        self.count = streams * math.ceil(queries / tiles["queries"])
        self.keys = tiles.get("keys", 0)
        self.splits = self.split(math.ceil(queries / self.keys)
                                 ) if self.keys else 1

    def split(self, key_tiles):
        if key_tiles <= FEW:
            return 1
        if "split_slots" in self.tiles:
            share = math.ceil(self.count * key_tiles /
                              self.tiles["split_slots"])
            return math.ceil(key_tiles / share)
        return max(1, min(self.tiles["slots"] // self.count, key_tiles))

    def busy(self):
        """FLOPs of whole waves of whole tiles over those of the shape:
        processors that the last wave leaves idle take as long."""
        slots = self.tiles["slots"]
        waves = math.ceil(self.count * self.splits / slots)
        seen = (math.ceil(math.ceil(self.queries / self.keys) / self.splits) *
                self.keys if self.keys else self.queries)
        return (waves * slots * self.tiles["queries"] * seen /
                (self.streams * self.queries ** 2))

    def partial_bytes(self):
        """Written and read again."""
        return (2 * self.splits * self.streams * self.queries * self.width *
                FP32 if self.splits > 1 else 0)

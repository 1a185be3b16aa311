"""Measured indexers of sparse attention that read prompts: scores of all tokens
that a token sees, and the best of them, as one launch of the cost program."""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import kernel_rows

ENGINE = "sglang/0.5.14"
HEADS, WIDTH, TOP_K = 64, 128, 2048
# Engines decode with a kernel for paged caches, which was measured for another
# model alone: of this one, a token takes as long as hundreds.
LEAST_NEW = 128


class Indexer(kernel_rows.Row):
    """`shape`: sequences, new tokens of each, those before."""

    __slots__ = ("shape",)

    def __init__(self, work, time, shape):
        super().__init__([work], time)
        self.shape = shape


def work(sequences, new, before):
    """FLOPs; bytes of queries and weights, the cache, indices and the new keys,
    of 16 bits."""
    pairs = new * before + new * (new + 1) // 2
    return (2 * sequences * pairs * HEADS * WIDTH,
            2 * sequences * (new * HEADS * (WIDTH + 1) +
                             (new + before) * WIDTH + new * WIDTH) +
            4 * sequences * new * TOP_K)


def indexers(data):
    """(gpu, format) -> engine, rows. Where no token sees more than it keeps
    there is nothing to select; where a token does, and the selection was not
    measured, the row is left out."""
    scores, selection = {}, {}
    for r in kernel_rows.table(data, "indexer.csv"):
        shape = tuple(int(r[x]) for x in ("batch", "isl", "prefix"))
        if r["op"] == "glm5_mqa_logits":
            scores[r["gpu"], shape] = float(r["latency_us"])
        elif r["op"] == "glm5_topk" and r["score_mode"] == "flat":
            selection[r["gpu"], shape] = float(r["latency_us"])
    rows = {}
    for (gpu, shape), time in scores.items():
        if shape[1] < LEAST_NEW:
            continue
        more = selection.get((gpu, shape))
        if more is None and shape[1] + shape[2] > TOP_K:
            continue
        rows.setdefault((gpu, "fp8"), []).append(
            Indexer(work(*shape), time + (more or 0), shape))
    return {key: (ENGINE, made) for key, made in rows.items()}

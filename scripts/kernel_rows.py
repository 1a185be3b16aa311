"""Measured kernels, with the FLOPs and bytes that the cost program counts."""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import csv

# A KV cache that the last-level cache holds is read faster than memory, which
# shows on the L40S (96 MB) and the RTX PRO 6000 (128 MiB); below 2 MB the floor
# decides everywhere.
CACHED_BYTES = {"L40S": (2e6, 96e6), "RTX_PRO_6000": (2e6, 136e6)}
# Experts without a gate have two matrices; triton, on the RTX PRO 6000 alone, is
# another kernel than the rest of its rows.
OTHER_EXPERTS = ("nongated", "triton")
# Prefill rows below this do not fill a chip, and cost a prompt nothing.
LONG_US = 100


class Row:
    """One measurement: its launches as (F, B), and whether it is there for
    the compute efficiency alone."""

    __slots__ = ("launches", "time", "compute")

    def __init__(self, launches, time, compute=False):
        self.launches, self.time, self.compute = launches, time, compute


def table(data, name):
    with open(data / name, encoding="utf-8", newline="") as file:
        yield from csv.DictReader(line for line in file
                                  if not line.startswith("#"))


def matmul(data):
    """(gpu, format) -> rows. `fp8`: one byte in, bf16 out."""
    rows = {}
    for r in table(data, "gemm.csv"):
        if r["dtype"] not in ("bfloat16", "fp8"):
            continue
        fp8 = r["dtype"] == "fp8"
        m, n, k = int(r["m"]), int(r["n"]), int(r["k"])
        if min(n, k) < 512:
            continue
        work = (2 * m * n * k, (m * k + n * k) * (1 if fp8 else 2) + m * n * 2)
        rows.setdefault((r["gpu"], "fp8" if fp8 else "bf16"), []).append(
            Row([work], float(r["latency_us"])))
    return rows


def attention(data):
    """Prefill rows give the compute efficiency, decode rows the rest: short
    prefills run far below either roof, and would otherwise be fitted by a
    bandwidth that decode does not have."""
    rows = {}
    for r in table(data, "attn_context.csv"):
        key = {("bfloat16", "bfloat16"): "bf16", ("fp8", "fp8"): "fp8"}.get(
            (r["attn_dtype"], r["kv_dtype"]))
        if not key:
            continue
        b, s, hq, hkv, d = (int(r[x]) for x in (
            "batch", "isl", "heads_q", "heads_kv", "head_dim"))
        if float(r["latency_us"]) < LONG_US:
            continue
        work = (2 * b * hq * d * s * (s + 1),
                2 * b * s * hq * d * 2 +
                2 * b * s * hkv * d * (1 if key == "fp8" else 2))
        rows.setdefault((r["gpu"], key), []).append(
            Row([work], float(r["latency_us"]), compute=True))
    for r in table(data, "attn_generation.csv"):
        key = "bf16" if r["kv_dtype"] == "bfloat16" else "fp8"
        b, s, hq, hkv, d = (int(r[x]) for x in (
            "batch", "kv_len", "heads_q", "heads_kv", "head_dim"))
        cache = 2 * b * s * hkv * d * (1 if key == "fp8" else 2)
        least, most = CACHED_BYTES.get(r["gpu"], (0, 0))
        if least < cache < most:
            continue
        work = (4 * b * s * hq * d, cache + 2 * b * hq * d * 2)
        rows.setdefault((r["gpu"], key), []).append(
            Row([work], float(r["latency_us"])))
    return rows


def grouped(data):
    """A row is two launches: gate and up as one, then down. Balanced routing
    only: which experts a skewed one reaches is not in the data."""
    rows = {}
    for r in table(data, "moe.csv"):
        if r["dist"] != "balanced" or r["kernel"] in OTHER_EXPERTS:
            continue
        key = {"bfloat16": "bf16", "fp8": "fp8", "fp8_block": "fp8"}.get(
            r["dtype"])
        if not key:
            continue
        size = 2 if key == "bf16" else 1
        tokens, hidden, inter, k, experts, tp, ep = (int(r[x]) for x in (
            "num_tokens", "hidden", "inter", "topk", "num_experts", "moe_tp",
            "moe_ep"))
        inter //= tp
        routed = tokens * k / ep
        if routed < 1:
            continue
        distinct = min(experts / ep, routed)
        up = (2 * routed * hidden * 2 * inter,
              distinct * hidden * 2 * inter * size +
              routed * (hidden * size + 2 * inter * 2))
        down = (2 * routed * inter * hidden,
                distinct * hidden * inter * size +
                routed * (inter * size + hidden * 2))
        rows.setdefault((r["gpu"], key), []).append(
            Row([up, down], float(r["latency_us"])))
    return rows

"""Measured scans, with the FLOPs and bytes that the cost program counts.

`bf16` are delta rules, whose chunks are products on matrix units: FLOPs are
those of the recurrence, against the peak of bf16. Those with a decay of each
head (gdn of linear_attn.csv) are the kind scan, those with a decay of each
channel (kda) channel_scan. `fp32` are convolutions of few tokens, on vector
units; of those beside kda, vLLM's prompts wait for the host. State spaces have
kernels of their own, which these rows do not have: mamba2_conv.csv is their
convolution alone.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import kernel_rows

# Benchmarks step one state again and again, which the last-level cache then
# holds (its size, datasheets): an engine steps those of all layers in between.
# Below 2 MB the floor decides.
LEAST_CACHED = 2e6
CACHES = {"H100_SXM": 50e6, "H200_SXM": 50e6, "B200_SXM": 126e6,
          "B300_SXM": 126e6, "GB200": 126e6, "GB300": 126e6, "L40S": 96e6,
          "RTX_PRO_6000": 136e6}
# TensorRT-LLM's and SGLang 0.5.10's convolutions take a third of the time that
# memory needs for all channels, and their recurrences less than it needs for a
# state: 14% on H100, 8% on H200, 2% on A100. What they move is not in the data.
ENGINE = "vllm/0.24.0"
IMPLEMENTATIONS = {"sglang": "sglang/0.5.14"}
# The only ones that were measured on all chips.
CHANNEL_ENGINE = "vllm/0.1.dev19262"
CHANNEL_IMPLEMENTATIONS = {"sglang": "sglang/0.5.16"}
# What vLLM 0.27.0 decodes with, of two that its version before was measured with.
OTHER_DECODE = ("fused_kda_decode",)
# SGLang's on H200 take up to 4.8 times as long as on H100, which has the same
# processors and less bandwidth, a tenth of them over twice; vLLM's at most 6%
# longer.
DISTURBED = {("H200_SXM", "sglang")}
# Prompts of fewer heads, of all sequences, leave processors without work, and
# shorter ones are launches: both are a matter of shapes.
LEAST_STREAMS = 128
STATE_BYTES, VALUE_BYTES = 4, 2
DELTA_FLOPS, CONV_FLOPS = 7, 2
KERNEL = 4


class Scan(kernel_rows.Row):
    """A launch with the sizes that a table of shapes goes by: recurrences side
    by side, new tokens of each; `compute` where it reads a prompt. `shape` is
    all that the kernel was told."""

    __slots__ = ("streams", "tokens", "shape")

    def __init__(self, work, time, prefill, shape, streams, tokens):
        super().__init__([work], time, compute=prefill)
        self.shape, self.streams, self.tokens = shape, streams, tokens


def delta_rule(sequences, tokens, key_heads, heads, key_dim, value_dim,
               decays=1):
    """FLOPs, bytes: queries, keys, values, a gate and `decays` of each head, and
    the result; the state is read and written once."""
    rows, state = sequences * tokens, sequences * heads * key_dim * value_dim
    return (DELTA_FLOPS * tokens * state,
            rows * VALUE_BYTES * (2 * key_heads * key_dim +
                                  2 * heads * value_dim +
                                  (1 + decays) * heads) +
            (1 + decays) * heads * VALUE_BYTES + 2 * state * STATE_BYTES)


def convolution(sequences, tokens, channels):
    rows = sequences * tokens
    return (CONV_FLOPS * KERNEL * rows * channels,
            VALUE_BYTES * (2 * rows * channels + KERNEL * channels +
                           2 * sequences * (KERNEL - 1) * channels))


def is_cached(gpu, size):
    return LEAST_CACHED < size < CACHES.get(gpu, 0)


def scans(data, engine):
    """(gpu, format) -> rows of gated delta rules and their convolutions."""
    rows, seen = {}, set()
    for r in kernel_rows.table(data, "linear_attn.csv"):
        if r["op"] != "gdn" or r["source"] != engine:
            continue
        is_conv = r["kernel"].startswith("causal_conv1d")
        b, s, hk, h, dk, dv = (int(r[x]) for x in (
            "batch", "seq_len", "heads_k", "heads_v", "head_k_dim",
            "head_v_dim"))
        # The width of the model around it is nothing to the kernel.
        shape = (b, s, 2 * hk * dk + h * dv) if is_conv else (b, s, hk, h, dk,
                                                              dv)
        key = r["gpu"], "fp32" if is_conv else "bf16"
        prefill = r["phase"] == "context"
        if (key, prefill, shape) in seen:
            continue
        seen.add((key, prefill, shape))
        work = convolution(*shape) if is_conv else delta_rule(*shape)
        size = work[1] if is_conv else b * h * dk * dv * STATE_BYTES
        if (is_conv or not prefill) and is_cached(r["gpu"], size):
            continue
        rows.setdefault(key, []).append(
            Scan(work, float(r["latency_us"]), prefill, shape, b * h, s))
    return rows


def channel_scans(data, engine):
    """The same of delta rules with a decay of each channel. Drafts are verified
    with the states behind each of their tokens, which no op keeps."""
    rows = {}
    for r in kernel_rows.table(data, "linear_attn.csv"):
        if (r["op"] != "kda" or r["source"] != engine or
                r["phase"] == "verify" or r["kernel"] in OTHER_DECODE or
                r["kernel"].startswith("causal_conv1d")):
            continue
        b, s, hk, h, dk, dv = shape = tuple(int(r[x]) for x in (
            "batch", "seq_len", "heads_k", "heads_v", "head_k_dim",
            "head_v_dim"))
        prefill = r["phase"] == "context"
        if prefill or not is_cached(r["gpu"], b * h * dk * dv * STATE_BYTES):
            rows.setdefault((r["gpu"], "bf16"), []).append(
                Scan(delta_rule(*shape, decays=dk), float(r["latency_us"]),
                     prefill, shape, b * h, s))
    return rows


def fills(row):
    """Whether it says what a curve without a table of shapes is about."""
    return not row.compute or (row.streams >= LEAST_STREAMS and
                               row.time >= kernel_rows.LONG_US)


# Kind -> what reads its rows, the engine of a chip's curves, those of runtimes.
KINDS = {
    "scan": (scans, ENGINE, IMPLEMENTATIONS),
    "channel_scan": (channel_scans, CHANNEL_ENGINE, CHANNEL_IMPLEMENTATIONS),
}


def of_curves(data, kind, engine):
    """(gpu, format) -> engine, rows: prefill gives the compute efficiency of
    recurrences, decode the rest; convolutions give all at once."""
    made = {}
    for (gpu, key), rows in KINDS[kind][0](data, engine).items():
        for row in rows if key == "fp32" else ():
            row.compute = False
        made[gpu, key] = engine, [row for row in rows if fills(row)]
    return made


def implementations(data):
    """runtime, kind, (gpu, format) -> engine, rows."""
    for kind, (_, _, engines) in KINDS.items():
        for runtime, engine in engines.items():
            yield runtime, kind, {
                (gpu, key): made for (gpu, key), made in
                of_curves(data, kind, engine).items()
                if (gpu, runtime) not in DISTURBED}

"""Measured encoders, products of absorbed heads, sparse prompts and
hyper-connections, with the FLOPs and bytes that the cost program counts."""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import kernel_rows
import scan_rows

# The first of these that measured a chip; all but TensorRT-LLM call one library
# for products, and FlashAttention for encoders. Hyper-connections of vLLM were
# not measured on RTX PRO 6000, where SGLang's take 5 times as long in front of a
# block as TensorRT-LLM's.
ENGINES = {
    "encoder_attention": ("vllm/0.24.0",),
    "batched_matmul": ("vllm/0.24.0", "sglang/0.5.14", "sglang/0.5.10"),
    "sparse_attention": ("sglang/0.5.14",),
    "hyper_pre": ("vllm/0.24.0", "trtllm/1.3.0rc20"),
    "hyper_post": ("vllm/0.24.0", "trtllm/1.3.0rc20"),
}
LATENT, ROPE, NOPE, VALUE, TOP_K = 512, 64, 128, 128, 2048
# Engines decode selected tokens with a kernel that splits the cache, and read
# prompts with one that does not, the only one that was measured.
LEAST_NEW = 128
# Benchmarks multiply by one weight again and again, which the last-level cache
# then holds: an engine reads those of all layers in between. Below 4 MB the
# floor decides, and with more tokens arithmetic. Caches of 96 MB and more, of
# chips whose memory is slow, hold what more tokens multiply, too.
LEAST_CACHED, LEAST_TOKENS = 4e6, 1024


class Mixer(kernel_rows.Row):
    """`count` equal launches; `shape` is what their table goes by."""

    __slots__ = ("shape",)

    def __init__(self, work, row, shape, compute=False, count=1):
        super().__init__([work] * count, float(row["latency_us"]),
                         [shape] * count, compute)
        self.shape = tuple(map(float, shape))


def numbers(row, *names):
    return [int(row[name]) for name in names]


def encoder(row):
    """Not causal; keys and values come from no cache."""
    b, s, h, d = numbers(row, "batch", "isl", "heads", "head_dim")
    return Mixer((4 * b * h * d * s * s, 4 * b * s * h * d * 2), row,
                 (b * h, s, d))


def absorbed(row):
    """Into the latents or out of them: products of each head."""
    t, h = numbers(row, "num_tokens", "num_heads")
    is_into = row["op"] == "mla_gen_pre"
    width, size = NOPE if is_into else VALUE, 1 if row["dtype"] == "fp8" else 2
    return Mixer((2 * t * h * width * LATENT,
                  h * width * LATENT * size + t * h * (width + LATENT) * 2),
                 row, (t, h, LATENT if is_into else VALUE))


def pairs(new, before, most):
    """Of new tokens with those that each sees, at most `most` of them."""
    rising = max(0, min(new, most - before))
    return (rising * before + rising * (rising + 1) // 2 +
            (new - rising) * most)


def selected(row):
    """Latent attention of prompts with the selected tokens, absorbed."""
    b, q, prefix, h = numbers(row, "batch", "isl", "prefix", "heads")
    all_pairs = pairs(q, prefix, TOP_K)
    return Mixer(
        (2 * b * all_pairs * h * (2 * LATENT + ROPE),
         b * (min(q + prefix, q * TOP_K) * (LATENT + ROPE) * 2 +
              q * (TOP_K * 4 + (h * (2 * LATENT + ROPE) + LATENT + ROPE) * 2))),
        row, (b * q, all_pairs / q, h), compute=True)


def before_block(row):
    """The product and the norm, then the mix: streams are read twice."""
    t, sites, n, hidden = numbers(row, "num_tokens", "num_sites", "hc_mult",
                                  "hidden")
    weights = n * hidden * n * (n + 2)
    return Mixer((2 * t * weights,
                  t * (2 * n + 1) * hidden * 2 +
                  (weights + t * n * (n + 1)) * 4), row, (t, hidden),
                 count=sites)


def after_block(row):
    """Streams and what the block made in, streams out."""
    t, sites, n, hidden = numbers(row, "num_tokens", "num_sites", "hc_mult",
                                  "hidden")
    return Mixer((0, t * (2 * n + 1) * hidden * 2 + t * n * (n + 1) * 4), row,
                 (t, hidden), count=sites)


def first_measured(data, kind, name, make, is_wanted=lambda row: True):
    """(gpu, format) -> rows of the first engine that has any, and which."""
    found = {}
    for r in kernel_rows.table(data, name):
        if r["source"] in ENGINES[kind] and is_wanted(r):
            found.setdefault(r["gpu"], {}).setdefault(r["source"], []).append(
                make(r))
    made = {}
    for gpu, engines in found.items():
        engine = next(e for e in ENGINES[kind] if e in engines)
        made[gpu, "bf16"] = engine, engines[engine]
    return made


def encoder_attention(data):
    return first_measured(data, "encoder_attention", "attn_encoder.csv",
                          encoder)


def batched_matmul(data):
    made = first_measured(data, "batched_matmul", "mla_bmm.csv", absorbed,
                          is_read)
    return {(gpu, key): rows for (gpu, key), rows in made.items()
            if gpu not in kernel_rows.CACHED_BYTES}


def is_read(row):
    """Whether a product of 16 bits reads its weight from memory, or need not."""
    tokens, heads = numbers(row, "num_tokens", "num_heads")
    return row["dtype"] == "bfloat16" and (
        tokens >= LEAST_TOKENS or heads * NOPE * LATENT * 2 < LEAST_CACHED)


def is_sparse_prompt(row):
    return row["op"] == "glm5_dsa_attn" and int(row["isl"]) >= LEAST_NEW


def sparse_attention(data, least_prefill=kernel_rows.LONG_US):
    """Prompts give the compute efficiency; the rest is of absorbed decode,
    which reads selected tokens as it reads all."""
    latent = kernel_rows.latent_attention(data)
    made = first_measured(data, "sparse_attention", "indexer.csv", selected,
                          is_sparse_prompt)
    return {(gpu, key): (engine, [
        *(row for row in rows if row.time >= least_prefill),
        *(row for row in latent[gpu, key][1] if not row.compute)])
        for (gpu, key), (engine, rows) in made.items()}


def hyper_pre(data):
    return first_measured(data, "hyper_pre", "mhc.csv", before_block,
                          lambda row: row["op"] == "mhc_pre")


def hyper_post(data):
    """Benchmarks read streams from the last-level cache where it holds them: an
    engine has read the weights of a block since they were mixed."""
    made = first_measured(data, "hyper_post", "mhc.csv", after_block,
                          lambda row: row["op"] == "mhc_post")
    return {(gpu, key): (engine, [
        row for row in rows
        if not scan_rows.is_cached(gpu, row.launches[0][1])])
        for (gpu, key), (engine, rows) in made.items()}


KINDS = {
    "encoder_attention": encoder_attention,
    "batched_matmul": batched_matmul,
    "sparse_attention": sparse_attention,
    "hyper_pre": hyper_pre,
    "hyper_post": hyper_post,
}

"""Measured kernels, with the FLOPs and bytes that the cost program counts."""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import csv
import math

# A KV cache that the last-level cache holds is read faster than memory, which
# shows on the L40S (96 MB) and the RTX PRO 6000 (128 MiB); below 2 MB the floor
# decides everywhere.
CACHED_BYTES = {"L40S": (2e6, 96e6), "RTX_PRO_6000": (2e6, 136e6)}
# Experts without a gate have two matrices; triton, on the RTX PRO 6000 alone, is
# another kernel than the rest of its rows; min_latency, which takes less than
# reading its experts does, routes by itself, and not in balance.
OTHER_EXPERTS = ("nongated", "triton", "min_latency")
# Chips whose units multiply 16 bits only: what an fp8 cache holds is widened.
WIDENED = ("B60",)
# Chips whose experts were measured with routing by a power law only.
POWER_LAW = ("B60",)
# Prefill rows below this do not fill a chip, and cost a prompt nothing.
LONG_US = 100
# Benchmarks of products take turns with copies of a weight.
COPIES = 5
MAIN = "main"
# Formats with scales: measured name, bytes of a weight with its scales.
SCALED = {
    "fp4": ("nvfp4", 0.5 + 1 / 16),
    "fp4_bf16": ("w4a16_mxfp4", 0.5 + 1 / 32),
    "fp4_fp8": ("w4a8_mxfp4_mxfp8", 0.5 + 1 / 32),
    "fp8_block": ("fp8_block", 1),
}
# The first of these engines that measured a chip. TensorRT-LLM's nvfp4 products
# of long rows and few columns take twice the time of the other engines', its
# 4-bit experts times bf16 up to three times, and its block-scaled experts on
# Blackwell are a kernel of its own. Dense block-scaled products of vLLM wait
# for the host; mxfp4 times mxfp8 it measured for other models than gpt-oss.
ENGINES = {
    "matmul": {"fp4": ("vllm/0.24.0",), "fp8_block": (MAIN,)},
    "grouped_matmul": {
        "fp4": ("vllm/0.24.0",),
        "fp4_bf16": ("vllm/0.24.0",),
        "fp4_fp8": ("sglang/0.5.14", MAIN),
        "fp8_block": ("vllm/0.24.0", "sglang/0.5.14"),
    },
}
# Engines whose experts may be others: kind -> format -> runtime -> engine.
# TensorRT-LLM's block-scaled experts were measured with one backend, DeepGEMM or
# CUTLASS, where served steps of some versions are of another: predictions of
# those get worse by its curve (TPOT, MAPE: 9.7 to 10.4 %).
IMPLEMENTATIONS = {
    "grouped_matmul": {
        "fp4": {"trtllm": MAIN, "sglang": "sglang/0.5.14"},
        "fp4_bf16": {"trtllm": MAIN, "sglang": "sglang/0.5.14"},
        "fp4_fp8": {"trtllm": MAIN, "sglang": "sglang/0.5.14"},
        "fp8_block": {"sglang": "sglang/0.5.14"},
    },
}
# Chips whose 4-bit experts times bf16 were measured in int4 alone: Marlin's, which
# engines run MXFP4 on there, too, with another table of 16 values and half as
# many bytes of scales.
OF_INT4 = {("A100_SXM", "fp4_bf16"): "int4_wo"}
# Models without a gate, which only TensorRT-LLM's rows say; and one whose kernel
# routes by itself, within groups of experts.
OTHER_WORK = {"sglang/0.5.14": ("Nemotron", "DeepSeek-V3")}
# Of vLLM: a model without a gate, and one whose kernel is another than the rest.
OTHER_KERNELS = {"vllm/0.24.0": ("Nemotron", "MiniMax-M3")}
# Kernels of 4-bit weights times bf16 take longer than the work of a device that
# holds a part of the experts, so only whole sets of experts count for them.
WHOLE_SETS = ("fp4_bf16",)
# Timed with another kernel than gpt-oss.
OTHER_MODELS = {"fp4_bf16": ("Kimi-K3-latent",)}
# What is measured under these names has the curve of a format.
EXPERT_FORMATS = {"bfloat16": "bf16", "fp8": "fp8", "fp8_block": "fp8"}
# Elsewhere one processor reads all of a sequence's cache: no roofline.
LATENT_CHIPS = ("H100_SXM", "H200_SXM", "B200_SXM", "B300_SXM", "GB200",
                "GB300")


class Row:
    """One measurement: its launches as (F, B), the sizes of each that tables of
    shapes go by, None of one that no table is for, and whether it is there for
    the compute efficiency alone."""

    __slots__ = ("launches", "time", "shapes", "compute")

    def __init__(self, launches, time, shapes=None, compute=False):
        self.launches, self.time = launches, time
        self.shapes = shapes or [None] * len(launches)
        self.compute = compute


def table(data, name):
    with open(data / name, encoding="utf-8", newline="") as file:
        yield from csv.DictReader(line for line in file
                                  if not line.startswith("#"))


def scale_times(data):
    """gpu -> k -> [(m, us)]: what finding the scale of an m x k input takes,
    which fp8 products of gemm.csv were timed with. Checkpoints have scales, or
    engines fuse it into the kernel before."""
    times = {}
    for r in table(data, "quantize.csv"):
        if r["op"] == "compute_scale" and r["source"].startswith("trtllm"):
            times.setdefault(r["gpu"], {}).setdefault(int(r["k"]), []).append(
                (int(r["m"]), float(r["latency_us"])))
    for column in times.values():
        for points in column.values():
            points.sort()
    return times


def scale_time(times, m, k):
    """Of the nearest k; between two m linear in the logarithm of m."""
    points = times[min(times, key=lambda other: abs(math.log(other / k)))]
    for (low, before), (high, after) in zip(points, points[1:]):
        if low <= m <= high:
            share = math.log(m / low) / math.log(high / low)
            return before + share * (after - before)
    return points[0][1] if m < points[0][0] else points[-1][1]


def matmul(data):
    """(gpu, format) -> rows. `fp8`: one byte in, bf16 out; the input, whose
    scale is given, is quantised in a launch before."""
    rows, scales = {}, scale_times(data)
    for r in table(data, "gemm.csv"):
        if r["dtype"] not in ("bfloat16", "fp8"):
            continue
        fp8 = r["dtype"] == "fp8"
        m, n, k = int(r["m"]), int(r["n"]), int(r["k"])
        if min(n, k) < 512:
            continue
        work = (2 * m * n * k, (m * k + n * k) * (1 if fp8 else 2) + m * n * 2)
        row = Row([work], float(r["latency_us"]), [(m, n, k)])
        if fp8 and r["gpu"] in scales:
            row = Row([(0, m * k * 3), work],
                      row.time - scale_time(scales[r["gpu"]], m, k),
                      [None, (m, n, k)])
        rows.setdefault((r["gpu"], "fp8" if fp8 else "bf16"), []).append(row)
    return rows


def attention(data, least_prefill=LONG_US):
    """Prefill rows give the compute efficiency, decode rows the rest: short
    prefills run far below either roof, and would otherwise be fitted by a
    bandwidth that decode does not have."""
    rows = {}
    for r in table(data, "attn_context.csv"):
        units = "fp8" if r["gpu"] not in WIDENED else "bfloat16"
        key = {("bfloat16", "bfloat16"): "bf16", (units, "fp8"): "fp8"}.get(
            (r["attn_dtype"], r["kv_dtype"]))
        if not key:
            continue
        b, s, hq, hkv, d = (int(r[x]) for x in (
            "batch", "isl", "heads_q", "heads_kv", "head_dim"))
        if float(r["latency_us"]) < least_prefill:
            continue
        work = (2 * b * hq * d * s * (s + 1),
                2 * b * s * hq * d * 2 +
                2 * b * s * hkv * d * (1 if key == "fp8" else 2))
        rows.setdefault((r["gpu"], key), []).append(
            Row([work], float(r["latency_us"]), [(b * hkv, s, hq // hkv, d)],
                compute=True))
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
            Row([work], float(r["latency_us"]), [(b * hkv, s, hq // hkv, d)]))
    return rows


def grouped(data, formats=EXPERT_FORMATS):
    """A row is two launches: gate and up as one, then down. Balanced routing
    only: which experts a skewed one reaches is not in the data."""
    rows = {}
    for r in table(data, "moe.csv"):
        if r["dist"] != "balanced" or r["kernel"] in OTHER_EXPERTS:
            continue
        key = formats.get(r["dtype"])
        if not key:
            continue
        size = 2 if key == "bf16" else 1
        shape = tokens, hidden, inter, k, experts, tp, ep = tuple(
            int(r[x]) for x in (
                "num_tokens", "hidden", "inter", "topk", "num_experts",
                "moe_tp", "moe_ep"))
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
            Row([up, down], float(r["latency_us"]),
                shapes_of_experts(shape)))
    return rows


def shapes_of_experts(shape):
    """Of both launches."""
    tokens, hidden, inter, k, experts, tp, ep = shape
    inter //= tp
    rows = tokens * k / experts, experts / ep, 1 / ep
    return [(*rows, 2 * inter, hidden), (*rows, hidden, inter)]


def is_cached(gpu, size):
    """Whether a benchmark reads `size` bytes from the last-level cache."""
    least, most = CACHED_BYTES.get(gpu, (0, 0))
    return least < size < most


def scaled_tables(data, *names):
    """Whether a file is of the main engines, and its rows."""
    return [(main, list(table(data, name))) for main, name in names]


def scaled_rows(tables, engines_of):
    """gpu, format, bytes of a weight, engine, rows of the file."""
    for key, engines in engines_of.items():
        dtype, size = SCALED[key]
        found = {}
        for main, rows in tables:
            for r in rows:
                engine = MAIN if main else r["source"]
                if r["dtype"] == dtype and engine in engines:
                    made = found.setdefault(r["gpu"], {})
                    made.setdefault(engine, []).append(r)
        for gpu, made in found.items():
            engine = next(e for e in engines if e in made)
            yield gpu, key, size, engine, made[engine]


def matmul_scaled(data):
    """(gpu, format) -> engine, rows: two launches each, the quantisation of the
    input, which engines fuse into the kernel before, and the product. As the
    cost program has it, products read and write 16 bits."""
    rows = {}
    tables = scaled_tables(data, (False, "gemm_backends.csv"),
                           (True, "gemm.csv"))
    for gpu, key, size, engine, measured in scaled_rows(tables,
                                                        ENGINES["matmul"]):
        made = []
        for r in measured:
            m, n, k = int(r["m"]), int(r["n"]), int(r["k"])
            if min(n, k) < 512 or is_cached(gpu, COPIES * n * k * size):
                continue
            made.append(Row([(0, m * k * (2 + size)),
                             (2 * m * n * k, n * k * size + m * (k + n) * 2)],
                            float(r["latency_us"]), [None, (m, n, k)]))
        rows[gpu, key] = engine, made
    return rows


def grouped_scaled(data, other_work=None):
    """The same of experts, with the fastest kernel of each shape: two launches,
    gate and up as one, then down. Balanced routing only, and no models that
    `other_work` names by engine."""
    tables = expert_tables(data)
    rows = experts_of(tables, ENGINES["grouped_matmul"], WHOLE_SETS,
                      other_work or {})
    for (gpu, key), dtype in OF_INT4.items():
        named = [(main, [{**r, "dtype": SCALED[key][0]} for r in measured
                         if (r["gpu"], r["dtype"]) == (gpu, dtype)])
                 for main, measured in tables]
        rows |= experts_of(named, {key: (MAIN,)}, WHOLE_SETS, other_work or {})
    return rows


def implementations(data):
    """runtime, kind, (gpu, format) -> engine, rows: the same of the engines of
    IMPLEMENTATIONS other than a chip's own, with whole sets of experts."""
    tables = expert_tables(data)
    for kind, keys in IMPLEMENTATIONS.items():
        own = {(gpu, key): engine for gpu, key, _, engine, _ in
               scaled_rows(tables, {key: ENGINES[kind][key] for key in keys})}
        for runtime in sorted({name for made in keys.values() for name in made}):
            engines = {key: (made[runtime],) for key, made in keys.items()
                       if runtime in made}
            rows = experts_of(tables, engines, SCALED, OTHER_WORK)
            yield runtime, kind, {at: made for at, made in rows.items()
                                  if made[1] and made[0] != own.get(at)}


def expert_tables(data):
    return scaled_tables(data, (False, "moe_backends.csv"), (True, "moe.csv"))


def experts_of(tables, engines, whole_sets, other_work):
    """(gpu, format) -> engine, rows."""
    rows = {}
    for gpu, key, size, engine, measured in scaled_rows(tables, engines):
        least = {}
        for r in measured:
            if (r["dist"] != "balanced" or r["kernel"] in OTHER_EXPERTS or
                    r["model"] in OTHER_MODELS.get(key, ()) or
                    r["model"].startswith(other_work.get(engine, ())) or
                    (key in whole_sets and r["moe_ep"] != "1")):
                continue
            shape = shape_of(r)
            time = float(r["latency_us"])
            least[shape] = min(time, least.get(shape, time))
        made = [Row(experts(shape, size), time, shapes_of_experts(shape))
                for shape, time in least.items()
                if shape[0] * shape[3] >= shape[6]]
        rows[gpu, key] = engine, [
            row for row in made
            if not is_cached(gpu, sum(b for _, b in row.launches))]
    return rows


def grouped_power_law(data):
    """Whole sets of experts of chips that have no rows of balanced routing:
    tokens reach as many experts as where each chooses by itself, E * (1 - (1 -
    k / E)^t), as the cost program has it; a power law reaches fewer."""
    keys = {"bfloat16": ("bf16", 2), "fp8": ("fp8", 1),
            "w4a16_mxfp4": ("fp4_bf16", SCALED["fp4_bf16"][1])}
    rows = {}
    for r in table(data, "moe.csv"):
        if (r["gpu"] not in POWER_LAW or r["dtype"] not in keys or
                r["moe_ep"] != "1"):
            continue
        key, size = keys[r["dtype"]]
        shape = shape_of(r)
        tokens, _, _, k, held, _, _ = shape
        reached = held * (1 - (1 - k / held) ** tokens)
        _, made = rows.setdefault((r["gpu"], key), (MAIN, []))
        made.append(Row(experts(shape, size, reached), float(r["latency_us"]),
                        shapes_of_experts(shape)))
    return rows


def shape_of(r):
    return tuple(int(r[x]) for x in (
        "num_tokens", "hidden", "inter", "topk", "num_experts", "moe_tp",
        "moe_ep"))


def experts(shape, size, reached=None):
    """The two launches of a gated layer with `size` bytes a weight, of which
    `reached` experts are read, or as many as in balance."""
    tokens, hidden, inter, k, held, tp, ep = shape
    inter //= tp
    routed = tokens * k / ep
    distinct = reached or min(held / ep, routed)
    return [(2 * routed * hidden * 2 * inter,
             distinct * hidden * 2 * inter * size +
             routed * (hidden + 2 * inter) * 2),
            (2 * routed * inter * hidden,
             distinct * hidden * inter * size + routed * (inter + hidden) * 2)]


def latent_attention(data, least_prefill=LONG_US):
    """The attention of multi-head latent attention, the products around it not
    included. `bf16`: expanded prefill gives the compute efficiency, absorbed
    decode the rest, as of attention. `fp8`: decode alone, as prefill multiplies
    the keys and values that it has expanded to 16 bits."""
    latent, rope, nope, value = 512, 64, 128, 128
    rows = {}
    for r in table(data, "mla.csv"):
        key = "bf16" if r["kv_dtype"] == "bfloat16" else "fp8"
        h, b, s = int(r["num_heads"]), int(r["batch"]), int(r["len"])
        time, size = float(r["latency_us"]), 2 if key == "bf16" else 1
        prefill = r["phase"] == "context"
        if r["gpu"] not in LATENT_CHIPS or (
                prefill and (key == "fp8" or time < least_prefill)):
            continue
        # Query and result of a head, keys and values of it where expanded; the
        # rope part of the key, and what is appended to the cache.
        if prefill:
            work = (b * s * (s + 1) * h * (nope + rope + value),
                    b * s * 2 * (h * (2 * nope + rope + 2 * value) + rope +
                                 latent + rope))
        else:
            work = (2 * b * s * h * (2 * latent + rope),
                    b * s * (latent + rope) * size +
                    b * 2 * (h * (2 * latent + rope) + latent + rope))
        rows.setdefault((r["gpu"], key), []).append(
            Row([work], time, [(b, s, h)], compute=prefill))
    return {key: (MAIN, made) for key, made in rows.items()}

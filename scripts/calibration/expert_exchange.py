"""Measured exchanges of tokens between the ranks of expert parallelism.

A dispatch sends each of a rank's tokens to the ranks of its top-k experts, a
combine sends back what they made of it. Elements are counted as the cost
program does, a row for each expert of a token, tokens * top_k * hidden; their
bytes by what the libraries send: a dispatch of SGLang's DeepEP fp8 with a scale
of 4 bytes for each 128 values, a combine 16 bits.

Of shapes that are kept apart (kept_apart.py: library, devices, hidden size,
top-k, experts, tokens) these models give the time, fitted to the others:

  table   of each hidden size, top-k and number of experts, straight in tokens
          between the nearest counts that were measured;
  line    latency + e / bandwidth, e the elements of a row for each expert, or
          once for each rank that has any of them, n * (1 - C(E - E/n, k) /
          C(E, k)) of n ranks: that which is nearer where it was fitted;
  near    the table of the nearest other layer, as of a model that was not
          measured: by the sum of weights times |ln of the ratio| of hidden
          size, top-k and experts, at the same elements;
  curve   by bytes alone, as a system file has it: one for dispatch and combine,
          the mean of both. Its errors are those of the two together, which is
          what a layer takes; beside them are those of NCCL's all-to-all.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import math
import statistics
from collections import defaultdict, namedtuple

import kept_apart
from kernel_rows import table

# `size`: bytes of an element that is sent.
Row = namedtuple("Row", "gpu library n op dtype shape tokens size time")
Shape = namedtuple("Shape", "hidden top_k experts")
SIZES = {"bfloat16": 2, "fp8": 1, "nvfp4": 0.5 + 1 / 16}
DEEPEP = {"deepep_ll": "DeepEP low latency", "deepep_normal": "DeepEP normal",
          "deepep_ll_v0.5.6": "DeepEP low latency",
          "deepep_normal_v0.5.6": "DeepEP normal"}
ENGINES = {
    "trtllm_deepep_ll": "TensorRT-LLM DeepEP low latency",
    "trtllm_deepep_ht": "TensorRT-LLM DeepEP high throughput",
    "deepep_ll": "vLLM DeepEP low latency",
    "deepep_ht": "vLLM DeepEP high throughput",
    "deepep_v2_context": "vLLM DeepEP v2 context",
    "deepep_v2_generation": "vLLM DeepEP v2 generation",
}
# Streaming multiprocessors of DeepEP's kernels where several were measured.
SMS = ("", "20")
# Weights of hidden size, top-k and experts in how far two layers are apart.
# Kernels of low latency have warps for each expert, the others send by rank.
LOW_LATENCY_WEIGHTS = (0.5, 1, 1)
WEIGHTS = (1, 1, 0.1)
# Where the curve by bytes is no nearer than this in the median, there is none.
MOST = 0.10
# The libraries of an engine, of which the faster counts.
IMPLEMENTATIONS = {
    "sglang": (("DeepEP low latency", "DeepEP normal"),
               "SGLang 0.5.14 DeepEP, low latency or normal"),
    "trtllm": (("NVLink two-sided",), "TensorRT-LLM NVLink two-sided exchange"),
}
# Octaves on either side that a point of a curve is made of.
WIDTH = 1


def devices_of(gpu, nodes):
    return nodes * (4 if gpu.startswith("GB") else 8)


def deepep_rows(data):
    """Rows of SGLang's DeepEP. A notify is a part of its dispatch or combine;
    one node was measured twice, of which the first holds."""
    rows, notify = {}, {}
    for r in table(data, "moe_deepep.csv"):
        library = DEEPEP[r["lib"]]
        n = devices_of(r["gpu"], int(r["nodes"]))
        op, _, part = r["op"].partition("_")
        shape = Shape(int(r["hidden"]), int(r["topk"]), int(r["experts"]))
        at = r["gpu"], library, n, op, shape, int(r["tokens"])
        if r["sms"] in SMS:
            (notify if part else rows).setdefault(at, float(r["latency_us"]))
    for (gpu, library, n, op, shape, tokens), time in rows.items():
        time += notify.get((gpu, library, n, op, shape, tokens), 0)
        size = 1 + 4 / 128 if op == "dispatch" else 2
        yield Row(gpu, library, n, op, "", shape, tokens, size, time)


def engine_rows(data):
    """Rows of DeepEP inside TensorRT-LLM and vLLM."""
    for r in table(data, "moe_a2a.csv"):
        dtype = r["dtype"] if r["op"] == "dispatch" else "bfloat16"
        yield Row(r["gpu"], ENGINES[r["lib"]], int(r["moe_ep"]), r["op"],
                  r["dtype"], Shape(int(r["hidden"]), int(r["topk"]),
                                    int(r["experts"])),
                  int(r["tokens"]), SIZES.get(dtype, 2),
                  float(r["latency_us"]))


def nvlink_rows(data):
    """Rows of TensorRT-LLM's exchange over NVLink. A two-sided dispatch is
    prepared first, which counts with it."""
    found = {}
    for r in table(data, "moe_alltoall_gb200.csv"):
        library = {"NVLinkTwoSided": "NVLink two-sided",
                   "NVLinkOneSided": "NVLink one-sided"}[r["kernel"]]
        shape = Shape(int(r["hidden"]), int(r["topk"]), int(r["num_experts"]))
        at = (r["gpu"], library, int(r["moe_ep"]), r["dtype"], shape,
              int(r["num_tokens"]))
        found.setdefault(at, {})[r["op"].removeprefix("alltoall_")] = float(
            r["latency_us"])
    for (gpu, library, n, dtype, shape, tokens), times in found.items():
        for op in ("dispatch", "combine"):
            time = times[op] + (times.get("prepare", 0) if op == "dispatch"
                                else 0)
            yield Row(gpu, library, n, op, dtype, shape, tokens,
                      SIZES[dtype] if op == "dispatch" else 2, time)


def read(data):
    return [*deepep_rows(data), *engine_rows(data), *nvlink_rows(data)]


def is_kept(row):
    return kept_apart.is_kept(row.library, row.n, *row.shape, row.tokens)


#===- Models -------------------------------------------------------------===#


def by_experts(row):
    """Elements that a rank sends, itself included."""
    return row.tokens * row.shape.top_k * row.shape.hidden


def by_ranks(row):
    """The same where a rank gets a token once."""
    experts, k = row.shape.experts, row.shape.top_k
    missed = math.comb(experts - experts // row.n, k) / math.comb(experts, k)
    return row.tokens * row.shape.hidden * row.n * (1 - missed)


def bytes_of(row):
    return by_experts(row) * row.size


def between(points, at):
    """Straight between the nearest of sorted (x, time), and on beyond the last;
    constant before the first."""
    if at <= points[0][0] or len(points) == 1:
        return points[0][1]
    above = next((i for i, point in enumerate(points) if point[0] > at),
                 len(points) - 1)
    (a, low), (b, high) = points[above - 1:above + 1]
    return low + max(0, high - low) * (at - a) / (b - a)


def table_model(rows):
    shapes = defaultdict(list)
    for row in rows:
        shapes[row.shape].append((row.tokens, row.time))
    for points in shapes.values():
        points.sort()
    return lambda row: between(shapes[row.shape], row.tokens)


def near_model(rows):
    """Of each row by the rows of other layers alone."""
    shapes = defaultdict(list)
    for row in rows:
        shapes[row.shape].append(row)
    is_low = rows[0].library.endswith("low latency")
    elements = by_experts if is_low else by_ranks
    weights = LOW_LATENCY_WEIGHTS if is_low else WEIGHTS

    def distance(shape, other):
        return sum(w * abs(math.log(a / b))
                   for w, a, b in zip(weights, shape, other))

    def model(row):
        other = min((s for s in shapes if s != row.shape),
                    key=lambda s: distance(row.shape, s))
        return between(sorted((elements(r), r.time) for r in shapes[other]),
                       elements(row))

    return model if len(shapes) > 1 else None


def error(time, measured):
    return abs(time / measured - 1)


def weighted_line(points):
    """Latency and time of an element by the least sum of squared relative
    errors, neither below 0."""
    w = [1 / t ** 2 for _, t in points]
    sx = sum(a * x for a, (x, _) in zip(w, points))
    st = sum(a * t for a, (_, t) in zip(w, points))
    sxx = sum(a * x * x for a, (x, _) in zip(w, points))
    sxt = sum(a * x * t for a, (x, t) in zip(w, points))
    slope = max(0, (sum(w) * sxt - sx * st) / (sum(w) * sxx - sx ** 2))
    return max(0, (st - slope * sx) / sum(w)), slope


def line_model(rows):
    """The model, and its latency and bandwidth in elements a second."""
    best = None
    for elements in (by_experts, by_ranks):
        latency, slope = weighted_line([(elements(r), r.time) for r in rows])

        def model(row, elements=elements, latency=latency, slope=slope):
            return latency + elements(row) * slope

        loss = statistics.median(error(model(r), r.time) for r in rows)
        if best is None or loss < best[0]:
            best = loss, model, elements, latency, slope
    return best[1:]


def smoothed(points, at):
    """The time at 2^at, by a line in logarithms through the points within WIDTH
    octaves; without such, as beyond the ends of a curve."""
    near = [(x - at, y, 1.01 - abs(x - at) / WIDTH) for x, y in points
            if abs(x - at) <= WIDTH]
    if not near:
        below, above = points[0], points[-1]
        return math.exp(below[1] if at < below[0]
                        else above[1] + math.log(2) * (at - above[0]))
    total = sum(w for _, _, w in near)
    x = sum(w * a for a, _, w in near) / total
    y = sum(w * b for _, b, w in near) / total
    spread = sum(w * (a - x) ** 2 for a, _, w in near)
    slope = (sum(w * (a - x) * (b - y) for a, b, w in near) / spread
             if spread > 1e-6 else 0)
    return math.exp(y - slope * x)


def curve_points(rows):
    """{log2 bytes: us}, the mean of dispatch and combine."""
    points = {op: sorted((math.log2(bytes_of(r)), math.log(r.time))
                         for r in rows if r.op == op)
              for op in ("dispatch", "combine")}
    first = math.ceil(min(p[0][0] for p in points.values()))
    last = math.floor(max(p[-1][0] for p in points.values()))
    return {at: sum(smoothed(p, at) for p in points.values()) / 2
            for at in range(first, last + 1)}


def at_bytes(curve, size):
    """Microseconds at `size` bytes, as lib/Cost/Route.cpp has it."""
    at = math.log2(size)
    first, last = min(curve), max(curve)
    if at >= last:
        return curve[last] * 2 ** (at - last)
    low = max(first, math.floor(at))
    share = max(0, at - low)
    return curve[low] * (curve[low + 1] / curve[low]) ** share


#===- Curves of systems --------------------------------------------------===#


def pairs(rows):
    """Dispatch and combine of the same tokens."""
    found = defaultdict(dict)
    for row in rows:
        found[row.gpu, row.library, row.n, row.dtype, row.shape,
              row.tokens][row.op] = row
    return [(made["dispatch"], made["combine"]) for made in found.values()
            if len(made) == 2]


def fastest(rows, libraries):
    """(gpu, n) -> pairs, of the libraries that measured one the fastest."""
    best = {}
    for pair in pairs(r for r in rows if r.library in libraries):
        row = pair[0]
        at = row.gpu, row.n, row.dtype, row.shape, row.tokens
        if at not in best or sum(r.time for r in pair) < sum(
                r.time for r in best[at]):
            best[at] = pair
    made = defaultdict(list)
    for (gpu, n, *_), pair in best.items():
        made[gpu, n].append(pair)
    return made


def pair_errors(curve, measured):
    """Errors of dispatch and combine together."""
    return [error(sum(at_bytes(curve, bytes_of(row)) for row in pair),
                  sum(row.time for row in pair)) for pair in measured]


def curves(data):
    """runtime, gpu, n, library, curve of all rows, its errors on the pairs that
    are kept apart where it is made of the others, these pairs."""
    rows = read(data)
    for runtime, (libraries, title) in IMPLEMENTATIONS.items():
        for (gpu, n), found in sorted(fastest(rows, libraries).items()):
            apart = [p for p in found if is_kept(p[0])]
            rest = [row for p in found if not is_kept(p[0]) for row in p]
            yield (runtime, gpu, n, title,
                   curve_points([row for pair in found for row in pair]),
                   pair_errors(curve_points(rest), apart), apart)


def implementations(data):
    """gpu -> runtime -> n -> (library, {log2 bytes: us}): the curves by bytes
    that hold."""
    made = {}
    for runtime, gpu, n, title, curve, errors, _ in curves(data):
        if kept_apart.quantiles(errors)[0] <= MOST:
            made.setdefault(gpu, {}).setdefault(runtime, {})[n] = title, curve
    return made


#===- Report -------------------------------------------------------------===#


def report(data, nccl):
    """Prints errors; `nccl`: (gpu, n) -> curve of its all-to-all."""
    report_rows(data)
    print("Errors in percent of dispatch and combine together, by curves of "
          "bytes\n"
          f"{'runtime':8} {'system':9} {'n':>2} {'apart':>5} "
          f"{'curve: median, p90':>19} {'NCCL: median, p90':>19}")
    for runtime, gpu, n, _, _, errors, apart in curves(data):
        other = (pair_errors(nccl[gpu, n], apart) if (gpu, n) in nccl else [])
        print(f"{runtime:8} {gpu:9} {n:2} {len(apart):5}"
              f"{columns([errors, other])}")
    print()


def report_rows(data):
    groups = defaultdict(list)
    for row in read(data):
        groups[row.library, row.gpu, row.n, row.op, row.dtype].append(row)
    print("Errors in percent on exchanges of experts kept apart\n"
          f"{'library':35} {'system':9} {'n':>2} {'op':8} {'dtype':8} "
          f"{'apart':>5} {'table: median, p90':>19} {'near: median, p90':>19} "
          f"{'line: median, p90':>19} {'latency':>8} {'elements/s':>10} sent")
    together = defaultdict(lambda: ([], [], []))
    for (library, gpu, n, op, dtype), rows in sorted(groups.items()):
        apart = [r for r in rows if is_kept(r)]
        rest = [r for r in rows if not is_kept(r)]
        line, elements, latency, slope = line_model(rest)
        errors = [[error(model(r), r.time) for r in apart] if model else []
                  for model in (table_model(rest), near_model(rest), line)]
        for name in (library, "all"):
            for kept, made in zip(together[name], errors):
                kept += made
        print(f"{library:35} {gpu:9} {n:2} {op:8} {dtype:8} {len(apart):5}"
              f"{columns(errors)} {latency:8.1f} "
              f"{1e6 / slope if slope else math.inf:10.2e} "
              f"{elements.__name__}")
    for library, errors in sorted(together.items(),
                                  key=lambda item: item[0] == "all"):
        print(f"{library:35} {'all':31} {len(errors[0]):5}{columns(errors)}")
    print()


def columns(errors):
    return "".join(f"    {kept_apart.percents(made) if made else '':15} "
                   for made in errors).rstrip()

#!/usr/bin/env python3
"""Fits the kernel curves of hardware/chips to measured kernels.

  t = floor + ((F / (ec * P))^q + (B / (eb * BW))^q)^(1/q)

F and B count the work of one launch as the cost program does; P and BW are the
chip's figures; floor, ec, eb and q are fitted per chip, kernel kind and format
by the least mean of |log(predicted / measured)| over four fifths of the rows.
The errors are those of the remaining fifth.

  scripts/fit_kernels.py --data DIR             prints the table of errors
  scripts/fit_kernels.py --data DIR --write     adds curves that
                                                hardware/chips lacks
  scripts/fit_kernels.py --data DIR --replace   and replaces those it has;
                                                scripts/fit_shapes.py --write
                                                makes their tables again

DIR holds gemm.csv, gemm_backends.csv, attn_context.csv, attn_generation.csv,
mla.csv, moe.csv and moe_backends.csv: the per-operator measurements of
ai-dynamo/aiconfigurator (Apache-2.0).
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import math
import pathlib
import random
import statistics
import sys

import hardware_files as files
import kernel_rows

CHIPS = {
    "A100_SXM": "a100-80gb-sxm",
    "H100_SXM": "h100-sxm",
    "H200_SXM": "h200-sxm",
    "B200_SXM": "b200-sxm",
    "B300_SXM": "b300-sxm",
    "GB200": "gb200",
    "GB300": "gb300",
    "L40S": "l40s",
    "RTX_PRO_6000": "rtx-pro-6000-server",
}
# The engine whose kernels were measured.
ENGINES = {
    "matmul": {"A100_SXM": "SGLang 0.5.10", "": "TensorRT-LLM 1.3.0rc20"},
    "attention": {"A100_SXM": "vLLM 0.14.0", "": "TensorRT-LLM 1.3.0rc20"},
    "grouped_matmul": {"A100_SXM": "SGLang 0.5.10",
                       "": "TensorRT-LLM 1.3.0rc20"},
    "latent_attention": {"": "TensorRT-LLM 1.3.0rc20"},
}
QUANTISED = "; two launches a row: quantisation of the input, then the product"
TITLES = {"vllm": "vLLM", "sglang": "SGLang"}
LAUNCHES = {
    "grouped_matmul": "; two launches a row: gate with up, then down",
    "matmul/fp4": QUANTISED,
    "matmul/fp8_block": QUANTISED,
    "latent_attention/bf16": "; expanded prefill and absorbed decode",
    "latent_attention/fp8": "; absorbed decode",
}
KINDS = ("matmul", "attention", "latent_attention", "grouped_matmul",
         "elementwise", "gather")
# Chips that nobody measured take the curves of their nearest relative.
RELATIVES = {
    "v100-32gb-sxm": "a100-80gb-sxm",
    "a100-40gb-sxm": "a100-80gb-sxm",
    "a100-80gb-pcie": "a100-80gb-sxm",
    "h100-96gb": "h100-sxm",
    "h100-pcie": "h100-sxm",
    "h100-nvl": "h100-sxm",
    "h800-sxm": "h100-sxm",
    "h20": "h200-sxm",
    "gh200-96gb": "h100-sxm",
    "gh200-144gb": "h200-sxm",
    "l4": "l40s",
    "rtx-4090": "l40s",
    "mi300x": "h200-sxm",
    "mi325x": "h200-sxm",
    "mi355x": "b200-sxm",
    "tpu-v4": "a100-80gb-sxm",
    "tpu-v5e": "a100-80gb-sxm",
    "tpu-v5p": "h100-sxm",
    "tpu-v6e": "h100-sxm",
}
# What a curve has that was measured on its chip alone.
OF_MEASURED = ("fit", "shapes", "decode_shapes", "prefill_shapes")
EXPONENTS = (1, 1.5, 2, 3, 4)
FIT_ROWS = 1200
# Engines have an implementation of their own where its curve differs by more than
# this from the chip's, in the median over the measured shapes.
DIFFERENCE = 0.05
FOLDS = 5
# Measured are CUTLASS's experts; engines serve with those of TensorRT-LLM Gen.
NOT_SERVED = {("trtllm", "fp4")}


def prepare(rows, peak, bandwidth):
    """Microseconds at the datasheet's figures, per launch."""
    return [([(f / peak * 1e6, b / bandwidth * 1e6) for f, b in row.launches],
             row.time) for row in rows]


def sample(rows, seed):
    """A random fifth to report errors on, and rows to fit."""
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return rows[:len(rows) // 5], rows[len(rows) // 5:][:FIT_ROWS]


def predict(launches, floor, ec, eb, q):
    time = 0.0
    for compute, memory in launches:
        compute, memory = compute / ec, memory / eb
        time += floor + (compute ** q + memory ** q) ** (1 / q)
    return time


def loss(prepared, point, q, most=1):
    floor, ec, eb = (math.exp(x) for x in point)
    if not (1 <= floor <= 100 and 0.01 <= ec <= most and 0.01 <= eb <= 1):
        return 1e9
    return sum(abs(math.log(predict(launches, floor, ec, eb, q) / time))
               for launches, time in prepared) / len(prepared)


def minimise(function, start, step=0.3, rounds=90):
    """Nelder and Mead's simplex: no derivative of |log| is needed."""
    n = len(start)
    simplex = [list(start)] + [
        [x + (step * (-1) ** i if i == j else 0) for j, x in enumerate(start)]
        for i in range(n)]
    values = [function(p) for p in simplex]
    for _ in range(rounds):
        order = sorted(range(n + 1), key=values.__getitem__)
        simplex = [simplex[i] for i in order]
        values = [values[i] for i in order]
        centre = [sum(p[j] for p in simplex[:-1]) / n for j in range(n)]

        def move(t):
            return [c + t * (w - c) for c, w in zip(centre, simplex[-1])]

        point = move(-1.0)
        value = function(point)
        if value < values[0]:
            further = move(-2.0)
            further_value = function(further)
            if further_value < value:
                point, value = further, further_value
        elif value >= values[-2]:
            point = move(0.5)
            value = function(point)
        if value < values[-1]:
            simplex[-1], values[-1] = point, value
        else:
            for i in range(1, n + 1):
                simplex[i] = [(a + b) / 2
                              for a, b in zip(simplex[0], simplex[i])]
                values[i] = function(simplex[i])
    best = min(range(n + 1), key=values.__getitem__)
    return simplex[best], values[best]


def fit_together(rows, q, most):
    """All coefficients from all rows."""
    start = [math.log(4), math.log(min(0.6, most)), math.log(0.7)]
    return minimise(lambda p: loss(rows, p, q, most), start)


def fit_apart(compute, rest, q):
    """The compute efficiency from `compute`, floor and bandwidth from `rest`,
    in turns."""
    floor, ec, eb = math.log(8), math.log(0.5), math.log(0.8)
    value = 0
    for _ in range(3):
        (floor, eb), first = minimise(
            lambda p: loss(rest, [p[0], ec, p[1]], q), [floor, eb], rounds=40)
        (ec,), second = minimise(
            lambda p: loss(compute, [floor, p[0], eb], q), [ec], rounds=25)
        value = first + second
    return [floor, ec, eb], value


def fit(rows, peak, bandwidth, seed, most=1):
    """The curve for `rows`, with a compute efficiency of at most `most` where
    all is fitted together, and its errors on a held-out fifth."""
    compute = [row for row in rows if row.compute]
    rest = [row for row in rows if not row.compute]
    held_compute, compute = sample(compute, seed)
    held, rest = sample(rest, seed)
    point = best_fit(prepare(compute, peak, bandwidth),
                     prepare(rest, peak, bandwidth), most)
    return *point, errors_on(prepare(held + held_compute, peak, bandwidth),
                             point)


def best_fit(compute, rest, most=1):
    best = None
    for q in EXPONENTS:
        point, value = (fit_apart(compute, rest, q) if compute
                        else fit_together(rest, q, most))
        if best is None or value < best[0]:
            best = (value, point, q)
    return *(math.exp(x) for x in best[1]), best[2]


def errors_on(prepared, point):
    return sorted(abs(predict(launches, *point) / time - 1)
                  for launches, time in prepared)


def fit_few(rows, peak, bandwidth, seed):
    """The curve for all of `rows`, and the errors of as many curves as there
    are folds, each on the fold that it was not fitted to."""
    rows = prepare(rows, peak, bandwidth)
    random.Random(seed).shuffle(rows)
    errors = []
    for i in range(FOLDS):
        rest = [row for j, row in enumerate(rows) if j % FOLDS != i]
        errors += errors_on(rows[i::FOLDS], best_fit([], rest))
    return *best_fit([], rows), sorted(errors)


def peak_key(key):
    """The format that a curve's kernels multiply in: `fp4_bf16` is fp4 in
    memory, `fp8_block` has scales of blocks."""
    return {"fp4_bf16": "bf16", "fp4_fp8": "fp8", "fp8_block": "fp8"}.get(
        key, key)


def title(kind, gpu, engine):
    if engine == kernel_rows.MAIN:
        return ENGINES[kind].get(gpu, ENGINES[kind][""])
    name, version = engine.split("/")
    return f"{TITLES[name]} {version}"


def measured_by(kind, gpu, engine):
    return (f"{title(kind, gpu, engine)} kernels on {gpu.replace('_', ' ')}, "
            "aiconfigurator systems data (Apache-2.0)")


def curve(kind, key, gpu, engine, result, rows):
    floor, ec, eb, q, errors = result
    work = [row.launches[-1] if kind == "matmul" else launch
            for row in rows for launch in row.launches]
    reference = measured_by(kind, gpu, engine) + ", fitted"
    reference += LAUNCHES.get(kind, LAUNCHES.get(f"{kind}/{key}", ""))
    return {
        "floor": {"value": files.rounded(floor), "unit": "us"},
        "compute_efficiency": {"value": files.rounded(ec), "unit": "1"},
        "memory_efficiency": {"value": files.rounded(eb), "unit": "1"},
        "exponent": q,
        "fit": {
            "median_error": files.rounded(errors[len(errors) // 2]),
            "p90_error": files.rounded(errors[len(errors) * 9 // 10]),
            "rows": len(rows),
            "range": {
                "flops": [files.rounded(min(w[0] for w in work), 2),
                          files.rounded(max(w[0] for w in work), 2)],
                "bytes": [files.rounded(min(w[1] for w in work), 2),
                          files.rounded(max(w[1] for w in work), 2)],
            },
        },
        "source": {"kind": "measured", "reference": reference},
    }


def without_quantisation(kernels):
    """The fp8 products of gemm.csv scale and quantise their input first: two or
    three more launches, which engines fuse into the kernel before. What their
    floor has above that of bf16 is that, and no part of the product."""
    products = kernels["matmul"]
    if "fp8" not in products:
        return
    more = (products["fp8"]["floor"]["value"] -
            products["bf16"]["floor"]["value"])
    products["fp8"]["floor"] = dict(products["bf16"]["floor"])
    products["fp8"]["source"]["reference"] += (
        f"; floor of the bf16 products, as the {more:.1f} us above it are the "
        "benchmark's quantisation of the input")


def streaming(kernels, least):
    """Elementwise and gather kernels: not measured, so the share of the
    bandwidth that matrix products reach, over the shortest of them."""
    relative = kernels["matmul"]["bf16"]
    return {"any": {
        "floor": {"value": files.rounded(max(1.0, least)), "unit": "us"},
        "memory_efficiency": dict(relative["memory_efficiency"]),
        "exponent": 1,
        "source": {"kind": "derived", "reference":
                   "memory efficiency of the bf16 matrix products of this "
                   "chip; floor of the shortest that was measured"},
    }}


def borrowed(chip, relative):
    """The curves of `relative`, for the formats that `chip` multiplies."""
    source = {"kind": "derived", "reference":
              f"curves of {relative['name']}, the nearest chip with "
              "measurements"}
    kernels = {}
    for kind, curves in relative["kernels"].items():
        for key, measured in curves.items():
            key = {"bf16": "bf16" if "bf16" in chip["peak_flops"] else
                   "fp16"}.get(key, key)
            if key != "any" and peak_key(key) not in chip["peak_flops"]:
                continue
            made = {k: v for k, v in measured.items()
                    if k not in OF_MEASURED}
            kernels.setdefault(kind, {})[key] = {**made, "source": source}
    return kernels


def merged(kernels, made, replace):
    """`kernels` and the curves of `made` that it lacks; or all of `made`."""
    together = {}
    for kind in KINDS:
        old, new = kernels.get(kind, {}), made.get(kind, {})
        added = {key: new[key] for key in new if key not in old}
        if replace and new:
            together[kind] = new
        elif old or new:
            together[kind] = {**old, **added}
    return together


def differs(made, other, rows, peak, bandwidth):
    """Whether two curves do, in the median over `rows`."""
    points = [[curve[name]["value"] for name in (
        "floor", "compute_efficiency", "memory_efficiency")] +
        [curve["exponent"]] for curve in (made, other)]
    return statistics.median(
        abs(predict(launches, *points[0]) / predict(launches, *points[1]) - 1)
        for launches, _ in prepare(rows, peak, bandwidth)) > DIFFERENCE


def implementations(data, chips):
    """gpu -> runtime -> kind -> format -> curve, where it differs from that of
    the chip's kernels."""
    made = {}
    for runtime, kind, measured in kernel_rows.implementations(data):
        for (gpu, key), (engine, rows) in sorted(measured.items()):
            chip = chips.get(gpu)
            if not chip or (runtime, key) in NOT_SERVED:
                continue
            peak = chip["peak_flops"][peak_key(key)]["value"]
            bandwidth = chip["memory_bandwidth"]["value"]
            result = fit_few(rows, peak, bandwidth,
                             f"{gpu}{runtime}{kind}{key}")
            fitted = curve(kind, key, gpu, engine, result, rows)
            if differs(fitted, chip["kernels"][kind][key], rows, peak,
                       bandwidth):
                report(chip, f"{runtime} {kind}", key, fitted)
                made.setdefault(gpu, {}).setdefault(runtime, {}).setdefault(
                    kind, {})[key] = fitted
    return made


def add_implementations(chip, made, replace):
    """Those of `made` that `chip` lacks; or all of `made`."""
    old = {} if replace else chip.get("implementations", {})
    together = {
        runtime: merged(old.get(runtime, {}), made.get(runtime, {}), False)
        for runtime in sorted({*old, *made})}
    chip.pop("implementations", None)
    if together:
        chip["implementations"] = together


def report(chip, kind, key, made):
    print(f"{chip['name']:19} {kind:21} {key:9} "
          f"{made['floor']['value']:6} "
          f"{made['compute_efficiency']['value']:6} "
          f"{made['memory_efficiency']['value']:6} "
          f"{made['exponent']:4} {made['fit']['median_error']:7.3f} "
          f"{made['fit']['p90_error']:7.3f} {made['fit']['rows']:5}",
          flush=True)


def measured_rows(data):
    """kind, read rows: (gpu, format) -> engine, rows."""
    for kind, read in (("matmul", kernel_rows.matmul),
                       ("attention", kernel_rows.attention),
                       ("grouped_matmul", kernel_rows.grouped)):
        yield kind, {key: (kernel_rows.MAIN, rows)
                     for key, rows in read(data).items()}
    yield "matmul", kernel_rows.matmul_scaled(data)
    yield "grouped_matmul", kernel_rows.grouped_scaled(data)
    yield "latent_attention", kernel_rows.latent_attention(data)


def fit_all(data, chips):
    """gpu -> kernels."""
    print(f"{'chip':19} {'kernel':21} {'format':9} {'floor':>6} {'ec':>6} "
          f"{'eb':>6} {'q':>4} {'median':>7} {'p90':>7} {'rows':>5}")
    least = {}
    kernels = {gpu: {} for gpu in chips}
    for r in kernel_rows.table(data, "gemm.csv"):
        if r["dtype"] == "bfloat16":
            time = float(r["latency_us"])
            least[r["gpu"]] = min(time, least.get(r["gpu"], time))
    for kind, measured in measured_rows(data):
        for (gpu, key), (engine, rows) in sorted(measured.items()):
            chip = chips.get(gpu)
            if not chip or peak_key(key) not in chip["peak_flops"]:
                continue
            # No attention multiplies faster than products of matrices do.
            most = (kernels[gpu]["matmul"]["bf16"]["compute_efficiency"][
                "value"] if kind == "latent_attention" else 1)
            result = fit(rows, chip["peak_flops"][peak_key(key)]["value"],
                         chip["memory_bandwidth"]["value"],
                         f"{gpu}{kind}{key}", most)
            made = curve(kind, key, gpu, engine, result, rows)
            kernels[gpu].setdefault(kind, {})[key] = made
            report(chip, kind, key, made)
    for gpu, made in kernels.items():
        without_quantisation(made)
        made["elementwise"] = streaming(made, least[gpu])
        made["gather"] = streaming(made, least[gpu])
    return kernels


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path,
                        default=files.ROOT / "../shared/data/measured/ops")
    parser.add_argument("--write", action="store_true",
                        help="add the curves that hardware/chips lacks")
    parser.add_argument("--replace", action="store_true",
                        help="and replace those that it has")
    arguments = parser.parse_args()
    if not (arguments.data / "gemm.csv").exists():
        print(f"skipped: no gemm.csv in {arguments.data}")
        return 0
    library = {path.stem: files.read(path) for path in
               sorted((files.ROOT / "hardware/chips").glob("*.json"))}
    measured = {gpu: library[name] for gpu, name in CHIPS.items()}
    for gpu, made in fit_all(arguments.data, measured).items():
        chip = measured[gpu]
        chip["kernels"] = merged(chip["kernels"], made, arguments.replace)
    for name, relative in RELATIVES.items():
        chip = library[name]
        chip["kernels"] = merged(
            chip["kernels"], borrowed(chip, library[relative]),
            arguments.replace)
    made = implementations(arguments.data, measured)
    for gpu, chip in measured.items():
        add_implementations(chip, made.get(gpu, {}), arguments.replace)
    if arguments.write or arguments.replace:
        for name, chip in library.items():
            files.write(files.ROOT / f"hardware/chips/{name}.json", chip)
    return 0


if __name__ == "__main__":
    sys.exit(main())

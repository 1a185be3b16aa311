"""Fits the kernel curves of hardware/chips to measured kernels.

  t = floor + ((F / (ec * P))^q + (B / (eb * BW))^q)^(1/q)

F and B count the work of one launch as the cost program does; P and BW are the
chip's figures; floor, ec, eb and q are fitted per chip, kernel kind and format
by the least mean of |log(predicted / measured)| over four fifths of the rows.
The errors are those of the remaining fifth.

A chip left out has, at its own peaks and bandwidth, the floor, ec, eb and q of

  nearest   the measured chip with the least |ln(peak / its peak)| +
            |ln(bandwidth / its bandwidth)|;
  typical   the median of each over the generations of measured chips that are
            not its own, of which each counts once, as their median;
  rule      the nearest of its own generation, else of TYPICAL_FORMATS the
            typical one, of others the nearest: what chips of RELATIVES have,
            with the errors of the same rule on measured chips in the source.

Of gemm.csv, gemm_backends.csv, attn_context.csv, attn_encoder.csv,
attn_generation.csv, indexer.csv, linear_attn.csv, mhc.csv, mla.csv, mla_bmm.csv,
moe.csv, moe_backends.csv and quantize.csv: the per-operator measurements of ai-dynamo/aiconfigurator
(Apache-2.0). scripts/calibration/fit.py writes them.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools
import math
import random
import statistics

import hardware_files as files
import indexer_rows
import kept_apart
import kernel_rows
import mixer_rows
import published_kernels
import scan_rows

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
    "B60": "arc-pro-b60",
}
# The engine whose kernels were measured.
ENGINES = {
    "matmul": {"A100_SXM": "SGLang 0.5.10", "B60": "vLLM 0.26.0",
               "": "TensorRT-LLM 1.3.0rc20"},
    "attention": {"A100_SXM": "vLLM 0.14.0", "B60": "vLLM 0.26.0",
                  "": "TensorRT-LLM 1.3.0rc20"},
    "grouped_matmul": {"A100_SXM": "SGLang 0.5.10", "B60": "vLLM 0.26.0",
                       "": "TensorRT-LLM 1.3.0rc20"},
    "latent_attention": {"": "TensorRT-LLM 1.3.0rc20"},
}
QUANTISED = "; two launches a row: quantisation of the input, then the product"
TITLES = {"vllm": "vLLM", "sglang": "SGLang", "trtllm": "TensorRT-LLM"}
LAUNCHES = {
    "grouped_matmul": "; two launches a row: gate with up, then down",
    "latent_attention/bf16": "; expanded prefill and absorbed decode",
    "latent_attention/fp8": "; absorbed decode",
    "scan/bf16": "; gated delta rule, chunked prefill and recurrent decode",
    "scan/fp32": "; convolution of 4 tokens",
    "channel_scan": "; kimi delta attention, chunked prefill and recurrent "
                    "decode",
    "encoder_attention": "; not causal, no cache",
    "batched_matmul": "; absorbed products of heads",
    "sparse_attention": "; prompts with 2048 selected tokens; decode as of "
                        "latent_attention",
    "hyper_pre": "; 20 iterations of Sinkhorn, two sites a row",
    "hyper_post": "; two sites a row",
    "index": "; scores and top 2048 of prompts, two launches measured apart",
}
KINDS = ("matmul", "attention", "latent_attention", "grouped_matmul",
         "elementwise", "gather", "scan", "index", "encoder_attention",
         "sparse_attention", "batched_matmul", "channel_scan", "hyper_pre",
         "hyper_post")
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
WIDENED = tuple(CHIPS[gpu] for gpu in kernel_rows.WIDENED)
# Measured chips of one design, which differ in memory, clocks and power.
GENERATIONS = {
    "h100-sxm": "Hopper", "h200-sxm": "Hopper",
    "b200-sxm": "Blackwell", "b300-sxm": "Blackwell",
    "gb200": "Blackwell", "gb300": "Blackwell",
}
# Chips of another design than every measured one.
FOREIGN = ("v100-32gb-sxm", "mi300x", "mi325x", "mi355x", "tpu-v4", "tpu-v5e",
           "tpu-v5p", "tpu-v6e")
# Kernels of 4 bits differ more by engine and design than a median tells.
TYPICAL_FORMATS = ("bf16", "fp8", "fp8_block")
COEFFICIENTS = ("floor", "compute_efficiency", "memory_efficiency")
# At most the median error of products of matrices of a chip left out.
LEFT_OUT_BAR = 0.15
# Chips of which nothing but a kind was not measured, or not as it can be: the
# chip and the runtime whose kernels are theirs. SGLang's delta rules are in
# Triton, FlashInfer's need a Hopper.
KINDS_OF = {("a100-80gb-sxm", "scan"): ("h100-sxm", "sglang")}
# Lanes of a chip's vector units that do 32-bit integer work in a clock, and
# clocks a second: AMD's CDNA3 white paper, 304 compute units of 4 x 16 lanes.
# Chips that multiply no 4 bits convert weights to 16 bits there.
INTEGER_LANES = {"mi300x": (304 * 64, 2.1e9), "mi325x": (304 * 64, 2.1e9)}
# Operations of a lane for a weight of mxfp4 on CDNA3, which has no vector
# arithmetic in bf16 (upcast8xMxfp4_SW and mxfpScaleBf16ViaF32 of Triton's
# third_party/amd): 11 that look 8 values up as 8 bits, 4 that convert two of
# them; then for each a shift, a product, a shift and a choice where the scale
# is no number, and one that packs two. The same law with 2 operations, as of
# pairs of bf16, gives Triton's experts 0.51 of the bandwidth of H100 (132 x 64
# lanes, 1.755 GHz) and 0.43 of H200's; measured are 0.49 and 0.40.
CONVERSION = 11 / 8 + 4 / 8 + 4 + 1 / 2
MXFP4_BYTES = 0.5 + 1 / 32
# What a curve has that was measured on its chip alone.
TABLES = ("shapes", "decode_shapes", "prefill_shapes")
OF_MEASURED = ("fit", "tiles", *TABLES)
# Chips whose peaks are so near have as many processors, which tables of shapes
# rest on.
SAME_PROCESSORS = 1.35
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
    """A random fifth to report errors on, and rows to fit; those of rows that
    have a shape are the same whatever else was measured."""
    rows = list(rows)
    if rows and hasattr(rows[0], "shape"):
        return kept_apart.split(rows)
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


def peak_of(chip, key):
    """The peak that kernels of `key` run at, and None where the chip has no
    such kernels: fp8 is widened to 16 bits on units without it."""
    peaks = chip["peak_flops"]
    wide = "bf16" if key == "fp8" and chip["name"] in WIDENED else key
    return peaks[peak_key(wide)]["value"] if peak_key(wide) in peaks else None


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
    if kind == "matmul" and len(rows[0].launches) > 1:
        reference += QUANTISED
    if kind == "grouped_matmul" and gpu in kernel_rows.POWER_LAW:
        reference += "; routing by a power law, experts reached as by chance"
    if (gpu, key) in kernel_rows.OF_INT4:
        reference += "; int4 of Marlin, which runs MXFP4 there, too"
    if key == "fp8" and gpu in kernel_rows.WIDENED:
        reference += "; widened to 16 bits"
    multiplies = any(flops for flops, _ in work)
    return {
        "floor": {"value": files.rounded(floor), "unit": "us"},
        **({"compute_efficiency": {"value": files.rounded(ec), "unit": "1"}}
           if multiplies else {}),
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


def borrowed(chip, relative, others, errors, kin):
    """The curves of `relative`, for the formats that `chip` multiplies, or what
    is typical of the measured chips `others` where none is of its design.
    `errors`: of measured chips left out, which the sources tell; `kin`: the same
    with tables of chips of their design."""
    foreign = chip["name"] in FOREIGN
    kernels = {}
    for kind, curves in relative["kernels"].items():
        for key, measured in curves.items():
            own = {"bf16": "bf16" if "bf16" in chip["peak_flops"] else
                   "fp16"}.get(key, key)
            if own != "any" and peak_key(own) not in chip["peak_flops"]:
                continue
            made = of_any_chip(measured)
            tables = (tables_of_kin(measured, kin, kind, key)
                      if has_tables_of(chip, relative) else {})
            reference = (f"curves of {relative['name']}, the nearest chip with "
                         "measurements")
            if foreign and key in TYPICAL_FORMATS:
                made = typical_curve(kind, key, others)
                reference = "median of the measured designs"
            rule = band(errors, kind, key, foreign)
            if key == "fp4_bf16" and chip["name"] in INTEGER_LANES:
                made["memory_efficiency"] = converting_efficiency(
                    chip, kernels[kind]["bf16"])
                rule = ("; memory_efficiency: weights are read as in bf16, then "
                        f"each takes {CONVERSION:.1f} operations of a lane of the "
                        "vector units, as CDNA3 has no arithmetic of bf16 or 4 "
                        "bits there (Triton, third_party/amd: "
                        "upcast8xMxfp4_SW, mxfpScaleBf16ViaF32)")
            if tables:
                rule = ", with its tables of shapes"
            kernels.setdefault(kind, {})[own] = {**made, **tables, "source": {
                "kind": "derived", "reference": reference + rule}}
    add_published(chip, kernels)
    return kernels


def add_published(chip, kernels):
    """The curves of kernels whose times the chip's own vendor published: tuned
    ones, which engines have for some shapes and versions alone. One that is
    further from its rows than others' curves are from a chip left out says less
    than those."""
    name, published = published_kernels.KERNELS.get(chip["name"], ("", {}))
    for (kind, key), (rows, where) in published.items():
        of = files.read(files.ROOT / "hardware/chips" / f"{name}.json")
        prepared = prepare(rows(), of["peak_flops"][peak_key(key)]["value"],
                           of["memory_bandwidth"]["value"])
        *values, exponent = best_fit([], prepared)
        errors = errors_on(prepared, (*values, exponent))
        if errors[len(errors) // 2] > LEFT_OUT_BAR:
            continue
        kernels[kind][key] = {
            name: {"value": files.rounded(value), "unit": unit}
            for name, value, unit in zip(COEFFICIENTS, values,
                                         ("us", "1", "1"))} | {
            "exponent": exponent, "source": {"kind": "derived", "reference":
            f"tuned kernels on {name.upper()}, {where}: {len(prepared)} shapes, "
            f"{100 * errors[len(errors) // 2]:.0f}% off in the median, "
            f"{100 * errors[len(errors) * 9 // 10]:.0f}% at the 90th "
            "percentile; shapes that an engine has no tuned kernel for take up "
            "to six times that (ROCm/aiter, PR 1930; sgl-project/sglang, "
            "PR 14043)"}}


def add_published_implementations(chip):
    """SGLang's block-scaled products where published ones are another kernel."""
    if chip["name"] not in published_kernels.KERNELS:
        return
    tuned = chip["kernels"]["matmul"]["fp8_block"]
    chip.setdefault("implementations", {}).setdefault("sglang", {})["matmul"] = {
        "fp8_block": {**tuned, "floor": {
            "value": files.rounded(published_kernels.triton_floor(), 2),
            "unit": "us"}, "source": {"kind": "derived", "reference":
            "floor: AITER's kernel in Triton, 124.5 us untuned and 52.2 tuned "
            "for a contraction of 7,168 (ROCm/aiter, PR 1232; 110 us gained by "
            "tuning one product, PR 1930), in proportion to it for the others "
            "of DeepSeek-V3 at TP 8: median of none tuned 63, one 41, all 26 us; "
            "the rest as tuned kernels"}}}


def converting_efficiency(chip, plain):
    """Share of the bandwidth that 4-bit weights are read with where a kernel
    reads them as those of `plain`, then converts them on the vector units."""
    lanes, clock = INTEGER_LANES[chip["name"]]
    bandwidth = chip["memory_bandwidth"]["value"]
    reading = 1 / (plain["memory_efficiency"]["value"] * bandwidth)
    converting = CONVERSION / MXFP4_BYTES / (lanes * clock)
    return {"value": files.rounded(1 / (reading + converting) / bandwidth),
            "unit": "1"}


def has_tables_of(chip, relative):
    """Whether `chip` has the tables of the chip whose curves it has."""
    peaks = [one["peak_flops"].get("bf16", {"value": 0})["value"]
             for one in (chip, relative)]
    return chip["name"] not in FOREIGN and max(
        peaks) <= SAME_PROCESSORS * min(peaks)


def tables_of_kin(measured, kin, kind, key):
    """Those of a curve, with the errors that measured chips have by tables of
    others of their design."""
    found = [error for (of, format_, _), (_, made) in kin.items()
             if (of, format_) == (kind, key) for error in made]
    if not found:
        return {}
    median, p90 = kept_apart.quantiles(found)
    tiles = {"tiles": measured["tiles"]} if "tiles" in measured else {}
    return tiles | {field: {**measured[field], "fit": {
        "median_error": files.rounded(median),
        "p90_error": files.rounded(p90), "rows": len(found)}}
            for field in TABLES if field in measured}


def of_any_chip(measured):
    return {k: v for k, v in measured.items() if k not in OF_MEASURED}


def add_kinds(library):
    """The curves of KINDS_OF, where there are none."""
    for (name, kind), (relative, runtime) in KINDS_OF.items():
        reference = (f"curves of {relative} with {runtime}, the nearest chip "
                     "whose kernels of this kind are in Triton, too")
        curves = library[relative]["implementations"][runtime][kind]
        library[name]["kernels"].setdefault(kind, {
            key: {**of_any_chip(measured),
                  "source": {"kind": "derived", "reference": reference}}
            for key, measured in curves.items()})


def typical_curve(kind, key, others):
    points, known = {}, ()
    for other in others:
        made = other["kernels"].get(kind, {}).get(key)
        if made and made["source"]["kind"] == "measured":
            known = made
            points.setdefault(generation(other["name"]), []).append(
                point_of(made))
    *values, exponent = typical(points)
    return {name: {"value": files.rounded(value), "unit": unit}
            for name, value, unit in zip(COEFFICIENTS, values,
                                         ("us", "1", "1"))
            if name in known} | {"exponent": exponent}


def band(errors, kind, key, foreign):
    """What the same rule gave of measured chips that were left out."""
    found = [error for (of, format_, name), made in errors.items()
             if (of, format_) == (kind, key) and
             foreign == (name not in GENERATIONS)
             for error in made["rule"]]
    if not found:
        return ""
    median, p90 = kept_apart.quantiles(found)
    return (f"; kernels of a measured chip left out are {100 * median:.0f}% "
            f"off in the median, {100 * p90:.0f}% at the 90th percentile")


def merged(kernels, made):
    """The kinds of `made`, and of `kernels` those that it lacks."""
    together = {kind: made.get(kind) or kernels.get(kind) for kind in KINDS}
    return {kind: curves for kind, curves in together.items() if curves}


def differs(made, other, rows, peak, bandwidth):
    """Whether two curves do, in the median over `rows`."""
    points = [point_of(curve) for curve in (made, other)]
    return statistics.median(
        abs(predict(launches, *points[0]) / predict(launches, *points[1]) - 1)
        for launches, _ in prepare(rows, peak, bandwidth)) > DIFFERENCE


def implementations(data, chips):
    """gpu -> runtime -> kind -> format -> curve, where it differs from that of
    the chip's kernels."""
    made = {}
    for runtime, kind, measured in itertools.chain(
            kernel_rows.implementations(data),
            scan_rows.implementations(data)):
        for (gpu, key), (engine, rows) in sorted(measured.items()):
            chip = chips.get(gpu)
            if (not chip or (runtime, key) in NOT_SERVED or
                    key not in chip["kernels"].get(kind, {})):
                continue
            peak = chip["peak_flops"][peak_key(key)]["value"]
            bandwidth = chip["memory_bandwidth"]["value"]
            result = (fit if kind in scan_rows.KINDS else fit_few)(
                rows, peak, bandwidth, f"{gpu}{runtime}{kind}{key}")
            fitted = curve(kind, key, gpu, engine, result, rows)
            if differs(fitted, chip["kernels"][kind][key], rows, peak,
                       bandwidth):
                report(chip, f"{runtime} {kind}", key, fitted)
                made.setdefault(gpu, {}).setdefault(runtime, {}).setdefault(
                    kind, {})[key] = fitted
    return made


def is_measured(kinds):
    return any(curve["source"]["kind"] == "measured"
               for formats in kinds.values() for curve in formats.values())


def add_implementations(chip, made):
    """`made`, and of the others those that nobody measured here."""
    stated = {runtime: kinds
              for runtime, kinds in chip.get("implementations", {}).items()
              if not is_measured(kinds)}
    together = {runtime: stated.get(runtime) or merged({}, made[runtime])
                for runtime in sorted({*stated, *made})}
    chip.pop("implementations", None)
    if together:
        chip["implementations"] = together


def report(chip, kind, key, made):
    print(f"{chip['name']:19} {kind:21} {key:9} "
          f"{made['floor']['value']:6} "
          f"{made.get('compute_efficiency', {'value': '-'})['value']:>6} "
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
    yield "grouped_matmul", kernel_rows.grouped_power_law(data)
    yield "latent_attention", kernel_rows.latent_attention(data)
    for kind, (_, engine, _) in scan_rows.KINDS.items():
        yield kind, scan_rows.of_curves(data, kind, engine)
    yield "index", indexer_rows.indexers(data)
    for kind, read in mixer_rows.KINDS.items():
        yield kind, read(data)


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
            peak = chip and peak_of(chip, key)
            if not peak:
                continue
            # No attention multiplies faster than products of matrices do.
            most = (kernels[gpu]["matmul"]["bf16"]["compute_efficiency"][
                "value"] if kind == "latent_attention" else 1)
            result = fit(rows, peak, chip["memory_bandwidth"]["value"],
                         f"{gpu}{kind}{key}", most)
            made = curve(kind, key, gpu, engine, result, rows)
            kernels[gpu].setdefault(kind, {})[key] = made
            report(chip, kind, key, made)
    for gpu, made in kernels.items():
        made["elementwise"] = streaming(made, least[gpu])
        made["gather"] = streaming(made, least[gpu])
    return kernels


def point_of(made):
    """Floor, efficiencies (1 where a curve has none) and exponent of a curve."""
    return [*(made.get(name, {"value": 1})["value"] for name in COEFFICIENTS),
            made["exponent"]]


def generation(name):
    return GENERATIONS.get(name, name)


def apart(chip, other):
    """How far two chips are in peak and bandwidth."""
    return sum(abs(math.log(a["value"] / b["value"])) for a, b in (
        (chip["peak_flops"]["bf16"], other["peak_flops"]["bf16"]),
        (chip["memory_bandwidth"], other["memory_bandwidth"])))


def are_kin(chip, other):
    """Whether two measured chips are of one design."""
    return (chip is not other and
            generation(chip["name"]) == generation(other["name"]))


def typical(points):
    """The median of each coefficient over generations; generation -> points."""
    middle = [[statistics.median(values) for values in zip(*made)]
              for made in points.values()]
    floor, ec, eb, _ = (statistics.median(values) for values in zip(*middle))
    return [floor, ec, eb, statistics.median_low(
        q for made in points.values() for *_, q in made)]


def left_out(chip, key, others):
    """rule -> point for a chip with the curves of `others`, (chip, curve)."""
    nearest = min(others, key=lambda other: apart(chip, other[0]))
    kin = [other for other in others if are_kin(chip, other[0])]
    points = {}
    for other, made in others:
        if generation(other["name"]) != generation(chip["name"]):
            points.setdefault(generation(other["name"]), []).append(
                point_of(made))
    made = {"nearest": point_of(nearest[1])}
    if points:
        made["typical"] = typical(points)
    if kin:
        made["rule"] = point_of(min(
            kin, key=lambda other: apart(chip, other[0]))[1])
    else:
        made["rule"] = made["typical" if key in TYPICAL_FORMATS else "nearest"]
    return made


def leave_one_out(data, chips):
    """(kind, format, chip) -> rule -> sorted errors."""
    errors = {}
    for kind, measured in measured_rows(data):
        for (gpu, key), (_, rows) in sorted(measured.items()):
            chip = chips.get(gpu)
            others = [(other, other["kernels"][kind][key])
                      for other in chips.values() if other is not chip and
                      other["kernels"].get(kind, {}).get(key, {}).get(
                          "source", {}).get("kind") == "measured"]
            peak = chip and peak_of(chip, key)
            own = chip and chip["kernels"].get(kind, {}).get(key)
            if not peak or not own or not rows or not others:
                continue
            prepared = prepare(rows, peak, chip["memory_bandwidth"]["value"])
            errors[kind, key, chip["name"]] = {
                rule: sorted(abs(predict(launches, *point) / time - 1)
                             for launches, time in prepared)
                for rule, point in left_out(chip, key, others).items()}
    return errors


def report_left_out(errors):
    """Prints them by chip and by kind."""
    rules = ("nearest", "typical", "rule")
    print("Errors in percent, median and 90th percentile, of a chip left out\n"
          f"{'kernel':17} {'format':9} {'chip':20} {'rows':>6} " +
          " ".join(f"{rule:>15}" for rule in rules))

    def line(kind, key, name, made):
        columns = " ".join(kept_apart.percents(made[rule]) if made.get(rule)
                           else f"{'':15}" for rule in rules)
        print(f"{kind:17} {key:9} {name:20} {len(made['rule']):6} {columns}")

    together = {}
    for (kind, key, name), made in sorted(errors.items()):
        line(kind, key, name, made)
        design = "of measured designs" if name in GENERATIONS else "of others"
        for whole in ((kind, "all", "all"), (kind, "all", design),
                      (kind, key, "all")):
            for rule, some in made.items():
                together.setdefault(whole, {}).setdefault(rule, []).extend(some)
    for (kind, key, name), made in sorted(together.items()):
        line(kind, key, name, made)
    median = kept_apart.quantiles(together["matmul", "all", "all"]["rule"])[0]
    print(f"matrix products: {100 * median:.1f}% by the rule, at most "
          f"{100 * LEFT_OUT_BAR:.0f}%: "
          f"{'met' if median <= LEFT_OUT_BAR else 'missed'}")


def report_kin(kin):
    """Prints errors with the curve of the nearest chip of a design, without and
    with its tables."""
    together = {}
    for (kind, _, _), made in kin.items():
        for whole, some in zip(together.setdefault(kind, ([], [])), made):
            whole += some
    print("Errors in percent of a chip left out, by the nearest of its design\n"
          f"{'kernel':17} {'rows':>6} {'curve':>15} {'with its tables':>15}")
    for kind, (curve, table) in sorted(together.items()):
        print(f"{kind:17} {len(curve):6} {kept_apart.percents(curve)} "
              f"{kept_apart.percents(table)}")


def of_measured(library):
    return {gpu: library[name] for gpu, name in CHIPS.items()}


def fit_curves(data, library):
    """Curves of the measured chips in place of those that they have."""
    measured = of_measured(library)
    for gpu, made in fit_all(data, measured).items():
        chip = measured[gpu]
        chip["kernels"] = merged(chip["kernels"], made)
    made = implementations(data, measured)
    for gpu, chip in measured.items():
        add_implementations(chip, made.get(gpu, {}))
    add_kinds(library)


def borrow(data, library, kin):
    """Those of the others; errors of measured chips left out."""
    measured = of_measured(library)
    errors = leave_one_out(data, measured)
    for name, relative in RELATIVES.items():
        chip = library[name]
        made = borrowed(chip, library[relative], measured.values(), errors, kin)
        chip["kernels"] = merged(chip["kernels"], made)
        add_published_implementations(chip)
    return errors

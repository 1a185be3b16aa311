"""Adds tables of shapes to the curves of gated delta rules that read prompts.

  t = floor + ((F / (ec * P))^q + (B / (eb * BW))^q)^(1/q) * ratio(shape)

All but `ratio` is the curve of scripts/fit_kernels.py. One processor goes
through the chunks of a head and a sequence, so a launch takes as long for one
head as for as many as the chip has processors: `ratio` is a table over heads
times sequences ("streams") and tokens of each ("query"), interpolated linearly
in octaves, exponent + mantissa - 1 of a size, and constant outside.

Four fifths of the shapes are fitted: with x the logarithms of the ratios, the
least

  sum |log(measured / predicted)| + FLATNESS * sum (x - x')^2

over rows and over cells next to each other, by SWEEPS of least squares with
weights 1 / |error|. Errors are those of the shapes that scripts/kept_apart.py
keeps apart.

Of linear_attn.csv of ai-dynamo/aiconfigurator (Apache-2.0). scripts/fit.py
writes them.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools
import math

import fit_kernels
import hardware_files as files
import kept_apart
import scan_rows

STREAMS = [2 ** i for i in range(1, 13)]
TOKENS = [2 ** i for i in (4, 7, 10, 12, 14)]
FLATNESS, SWEEPS, NOISE, MOST_CHANGE = 0.01, 60, 0.01, 1.0
LEAST_PERCENT, MOST_PERCENT = 1, 100_000
FIELD = "prefill_shapes"


def octaves(size):
    """
    >>> octaves(1), octaves(6), octaves(0.75)
    (0.0, 2.5, -0.5)
    """
    mantissa, exponent = math.frexp(size)
    return exponent - 1 + 2 * mantissa - 1


def place(at, size):
    """[(knot, weight)].

    >>> place([2, 4, 16], 3), place([2, 4, 16], 1), place([2, 4, 16], 8)
    ([(0, 0.5), (1, 0.5)], [(0, 1.0)], [(1, 0.5), (2, 0.5)])
    """
    if size <= at[0] or size >= at[-1]:
        return [(0 if size <= at[0] else len(at) - 1, 1.0)]
    above = next(i for i, knot in enumerate(at) if knot >= size)
    low, high = octaves(at[above - 1]), octaves(at[above])
    share = (octaves(size) - low) / (high - low)
    return [(knot, weight) for knot, weight in
            ((above - 1, 1 - share), (above, share)) if weight]


def cells_of(row):
    return [(x * len(TOKENS) + y, a * b)
            for (x, a), (y, b) in itertools.product(
                place(STREAMS, row.streams), place(TOKENS, row.tokens))]


def neighbours(cell):
    x, y = divmod(cell, len(TOKENS))
    return [i * len(TOKENS) + j
            for i, j in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
            if 0 <= i < len(STREAMS) and 0 <= j < len(TOKENS)]


class Curve:
    """What a curve of a chip says."""

    def __init__(self, chip, key, json):
        self.peak = chip["peak_flops"][key]["value"]
        self.bandwidth = chip["memory_bandwidth"]["value"]
        self.point = [json[name]["value"] for name in (
            "floor", "compute_efficiency", "memory_efficiency")] + [
                json["exponent"]]

    def time(self, row):
        (launches, _), = fit_kernels.prepare([row], self.peak, self.bandwidth)
        return fit_kernels.predict(launches, *self.point)

    def roof(self, row):
        return self.time(row) - self.point[0]


def streamed(chip, row):
    """As an elementwise kernel, and at the rate of vector units."""
    curve = chip["kernels"]["elementwise"]["any"]
    (flops, moved), = row.launches
    return (curve["floor"]["value"] +
            flops / chip["peak_flops"]["fp32"]["value"] * 1e6 +
            moved / chip["memory_bandwidth"]["value"] /
            curve["memory_efficiency"]["value"] * 1e6)


def ratio_of(row, ratios):
    return sum(weight * ratios[cell] for cell, weight in cells_of(row))


def fit_ratios(curve, rows):
    """One for each cell, in percent."""
    floor = curve.point[0]
    size = len(STREAMS) * len(TOKENS)
    logs, found = [0.0] * size, [[] for _ in range(size)]
    for row in rows:
        for cell, weight in cells_of(row):
            found[cell].append((row, weight * curve.roof(row)))
    predicted = {row: curve.time(row) for row in rows}
    for _, cell in itertools.product(range(SWEEPS), range(size)):
        pulls = neighbours(cell)
        weight = FLATNESS * len(pulls)
        force = FLATNESS * sum(logs[i] - logs[cell] for i in pulls)
        ratio = math.exp(logs[cell])
        for row, us in found[cell]:
            error = math.log(row.time / predicted[row])
            slope = us * ratio / predicted[row]
            factor = slope / max(abs(error), NOISE)
            force += factor * error
            weight += factor * slope
        logs[cell] += max(-MOST_CHANGE, min(MOST_CHANGE, force / weight))
        for row, us in found[cell]:
            predicted[row] += us * (math.exp(logs[cell]) - ratio)
    assert all(time > floor for time in predicted.values())
    return [max(LEAST_PERCENT, min(MOST_PERCENT, round(100 * math.exp(x))))
            for x in logs]


def errors(rows, time):
    return [abs(time(row) / row.time - 1) for row in rows]


def table(percent, kept):
    median, p90 = (files.rounded(x) for x in kept_apart.quantiles(kept))
    return {
        "coordinates": [{"of": "streams", "at": STREAMS},
                        {"of": "query", "at": TOKENS}],
        "percent": files.lines(percent),
        "fit": {"median_error": median, "p90_error": p90, "rows": len(kept)},
    }


def report(label, rows, *times):
    """Errors of `rows` by each of `times`, and the first's bias."""
    bias = sorted(times[0](row) / row.time for row in rows)[len(rows) // 2]
    figures = " ".join(kept_apart.percents(errors(rows, time))
                       for time in times)
    print(f"{label} {len(rows):5} {bias:6.2f} {figures}", flush=True)


def with_table(json, made):
    """The same, with the source last and `made` before it."""
    kept = {key: value for key, value in json.items()
            if key not in (FIELD, "source")}
    return {**kept, FIELD: made, "source": json["source"]}


def fit_delta_rule(chip, label, json, rows):
    """The curve with its table."""
    curve = Curve(chip, "bf16", json)
    prompts = [row for row in rows if row.compute]
    kept, others = kept_apart.split(prompts)
    percent = fit_ratios(curve, others)
    ratios = [x / 100 for x in percent]

    def time(row):
        return curve.point[0] + curve.roof(row) * ratio_of(row, ratios)

    decode = kept_apart.split([row for row in rows if not row.compute])[0]
    report(f"{label} decode   ", decode, lambda row: streamed(chip, row),
           curve.time)
    report(f"{label} prefill  ", kept, lambda row: streamed(chip, row),
           curve.time, time)
    return with_table(json, table(percent, errors(kept, time)))


def report_convolutions(chip, label, json, rows):
    curve = Curve(chip, "fp32", json)
    kept = kept_apart.split(rows)[0]
    for name, prefill in (("conv step", False), ("conv     ", True)):
        report(f"{label} {name}",
               [row for row in kept if row.compute == prefill],
               lambda row: streamed(chip, row), curve.time)


def fit_chip(gpu, chip, measured):
    for runtime, found in measured.items():
        kernels = (chip["kernels"] if not runtime else
                   chip.get("implementations", {}).get(runtime, {}))
        curves = kernels.get("scan", {})
        label = f"{chip['name']:19} {runtime or '-':6}"
        if "bf16" in curves and (gpu, "bf16") in found:
            curves["bf16"] = fit_delta_rule(chip, label, curves["bf16"],
                                            found[gpu, "bf16"])
        if "fp32" in curves and (gpu, "fp32") in found:
            report_convolutions(chip, label, curves["fp32"],
                                found[gpu, "fp32"])


def copy_tables(library):
    """To the chips that have the curves of others."""
    others = [(name, library[relative]["implementations"][runtime])
              for (name, kind), (relative, runtime) in
              fit_kernels.KINDS_OF.items() if kind == "scan"]
    others += [(name, library[relative]["kernels"])
               for name, relative in fit_kernels.RELATIVES.items()]
    for name, kernels in others:
        curves = library[name]["kernels"].get("scan", {})
        for key in {"bf16", "fp16"}.intersection(curves):
            if curves[key]["source"]["kind"] == "derived":
                curves[key] = with_table(
                    curves[key], next(curve[FIELD] for curve in
                                      kernels["scan"].values()
                                      if FIELD in curve))


def add_tables(data, library):
    """Tables in place of those that the chips have."""
    measured = {runtime: scan_rows.scans(data, engine)
                for runtime, engine in (
                    ("", scan_rows.ENGINE),
                    *scan_rows.IMPLEMENTATIONS.items())}
    print(f"{'chip':19} {'engine':6} {'phase':9} {'rows':>5} {'bias':>6} "
          f"{'as elementwise':>15} {'curve':>15} {'with table, %':>15}")
    for gpu, name in fit_kernels.CHIPS.items():
        fit_chip(gpu, library[name], measured)

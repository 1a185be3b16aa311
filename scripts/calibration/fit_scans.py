"""Adds tables of shapes to the curves of delta rules that read prompts.

  t = floor + ((F / (ec * P))^q + (B / (eb * BW))^q)^(1/q) * ratio(shape)

All but `ratio` is the curve of scripts/calibration/fit_kernels.py. One processor goes
through the chunks of a head and a sequence, so a launch takes as long for one
head as for as many as the chip has processors: `ratio` is a table over heads
times sequences ("streams") and tokens of each ("query"), interpolated linearly
in octaves, exponent + mantissa - 1 of a size, and constant outside.

Ratios are fitted as those of scripts/calibration/fit_shapes.py, to the shapes that
scripts/calibration/kept_apart.py does not keep apart; errors are of the others.

Of linear_attn.csv of ai-dynamo/aiconfigurator (Apache-2.0). scripts/calibration/fit.py
writes them.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools

import fit_kernels
import fit_shapes
import kept_apart
import scan_rows

# Of both kinds: decays of channels change nothing about who waits for whom.
TABLE = fit_shapes.Table("scan", "prefill_shapes", True, 2, {
    "streams": fit_shapes.powers(1, 12),
    "query": [2 ** i for i in (4, 7, 10, 12, 14)],
})


class Curve:
    """What a curve of a chip says."""

    def __init__(self, chip, key, json):
        self.peak = chip["peak_flops"][key]["value"]
        self.bandwidth = chip["memory_bandwidth"]["value"]
        self.point = fit_kernels.point_of(json)

    def time(self, row):
        (launches, _), = fit_kernels.prepare([row], self.peak, self.bandwidth)
        return fit_kernels.predict(launches, *self.point)

    def case(self, row):
        floor = self.point[0]
        roof = self.time(row) - floor
        return fit_shapes.Case(row.time, floor, [
            (cell, weight * roof) for cell, weight in
            TABLE.cells_of((row.streams, row.tokens))])


def streamed(chip, row):
    """As an elementwise kernel, and at the rate of vector units."""
    curve = chip["kernels"]["elementwise"]["any"]
    (flops, moved), = row.launches
    return (curve["floor"]["value"] +
            flops / chip["peak_flops"]["fp32"]["value"] * 1e6 +
            moved / chip["memory_bandwidth"]["value"] /
            curve["memory_efficiency"]["value"] * 1e6)


def errors(rows, time):
    return [abs(time(row) / row.time - 1) for row in rows]


def report(label, rows, *times):
    """Errors of `rows` by each of `times`, and the first's bias."""
    bias = sorted(times[0](row) / row.time for row in rows)[len(rows) // 2]
    figures = " ".join(kept_apart.percents(errors(rows, time))
                       for time in times)
    print(f"{label} {len(rows):5} {bias:6.2f} {figures}", flush=True)


def fit_delta_rule(chip, label, json, rows):
    """The curve with its table."""
    curve = Curve(chip, "bf16", json)
    prompts = [row for row in rows if row.compute]
    kept, others = kept_apart.split(prompts)
    percent = fit_shapes.fit_ratios(TABLE, [curve.case(row) for row in others])
    ratios = [x / 100 for x in percent]

    def time(row):
        return curve.case(row).predict(ratios)

    decode = kept_apart.split([row for row in rows if not row.compute])[0]
    report(f"{label} decode   ", decode, lambda row: streamed(chip, row),
           curve.time)
    report(f"{label} prefill  ", kept, lambda row: streamed(chip, row),
           curve.time, time)
    found = kept_apart.quantiles(errors(kept, time))
    return fit_shapes.with_tables(json, {
        TABLE.field: fit_shapes.table_json(TABLE, percent, found, len(kept))})


def report_convolutions(chip, label, json, rows):
    curve = Curve(chip, "fp32", json)
    kept = kept_apart.split(rows)[0]
    for name, prefill in (("conv step", False), ("conv     ", True)):
        report(f"{label} {name}",
               [row for row in kept if row.compute == prefill],
               lambda row: streamed(chip, row), curve.time)


def fit_chip(gpu, chip, measured):
    for (kind, runtime), found in measured.items():
        kernels = (chip["kernels"] if not runtime else
                   chip.get("implementations", {}).get(runtime, {}))
        curves = kernels.get(kind, {})
        label = f"{kind:12} {chip['name']:19} {runtime or '-':6}"
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
    for (name, kernels), kind in itertools.product(others, scan_rows.KINDS):
        curves = library[name]["kernels"].get(kind, {})
        for key in {"bf16", "fp16"}.intersection(curves):
            if curves[key]["source"]["kind"] == "derived":
                curves[key] = fit_shapes.with_tables(curves[key], {
                    TABLE.field: next(curve[TABLE.field] for curve in
                                      kernels[kind].values()
                                      if TABLE.field in curve)})


def add_tables(data, library):
    """Tables in place of those that the chips have."""
    measured = {(kind, runtime): read(data, engine)
                for kind, (read, own, engines) in scan_rows.KINDS.items()
                for runtime, engine in (("", own), *engines.items())}
    print(f"{'kernel':12} {'chip':19} {'engine':6} {'phase':9} {'rows':>5} "
          f"{'bias':>6} {'as elementwise':>15} {'curve':>15} "
          f"{'with table, %':>15}")
    for gpu, name in fit_kernels.CHIPS.items():
        fit_chip(gpu, library[name], measured)

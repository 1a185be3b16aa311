"""Adds tables of shapes to the kernel curves of the measured chips.

  t = floor + ((F / (ec * P))^q + (B / (eb * BW))^q)^(1/q) * ratio(shape)

All but `ratio` is the curve of scripts/calibration/fit_kernels.py: t and floor in us, F and
B the FLOPs and bytes of one launch; F of encoders is that of whole waves of
tiles, and what adds up parts of these is a launch of its own
(scripts/calibration/encoder_tiles.py). `ratio` is a table over sizes of it:

  matmul            rows | columns, contraction
  grouped_matmul    rows of an expert | experts of the device, their share of
                    all experts, columns, contraction
  attention         sequences * heads of the cache, context (decode) or query
                    (prefill) | query heads of each of these, head size
  latent_attention  sequences, context or query | heads
  sparse_attention  the same (decode), or queries of all sequences, the tokens
                    that each sees in the mean (prefill) | heads
  encoder_attention sequences * heads, query | head size
  batched_matmul    rows | heads, columns of each
  hyper_pre, _post  rows | hidden size

Sizes before the bar are interpolated linearly in octaves, exponent + mantissa
- 1 of a size, those after it linearly in log2, both constant outside the grid.

A hash of the shape keeps a fifth of the shapes apart, the same of every chip.
Tables are fitted to the others, and their errors are those of that fifth. With
x the logarithms of the ratios, the fit minimises

  sum |log(measured / predicted)|
    + FLATNESS * sum (x - x')^2 + LIKENESS * sum (x - x' - y + y')^2

over rows; over cells next to each other; and over squares of cells, of which
two sides are alike where rows leave it open. It goes over all cells SWEEPS
times, by least squares with weights 1 / |error|.

No ratio makes a time below the floor, so the floor of a curve goes down to
SHARE_OF_LEAST of the shortest launch that was measured, of the shapes that are
not kept apart. Rows that would need more than the bandwidth of the chip were
read from its last-level cache and do not count.

Of the measurements of scripts/calibration/fit_kernels.py, and of the same engines.
scripts/calibration/fit.py writes them.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import bisect
import collections
import math

import encoder_tiles
import fit_kernels
import hardware_files as files
import kept_apart
import kernel_rows
import mixer_rows

# Shapes that a table is made of; tables of few cells need fewer.
LEAST_ROWS = collections.defaultdict(lambda: 100, batched_matmul=30,
                                     hyper_pre=30, hyper_post=30)
FLATNESS, LIKENESS = 0.01, 0.1
SWEEPS = 40
# Successive over-relaxation: Young, "Iterative methods for solving partial
# difference equations of elliptic type" (1954).
OVER = 1.6
# Errors below this are noise: weights stay finite.
NOISE = 0.05
# A change of a logarithm in one sweep.
MOST_CHANGE = 1.0
SHARE_OF_LEAST = 0.95
LEAST_PERCENT, MOST_PERCENT = 1, 100_000
# Engines verify drafts of up to this many tokens with decode kernels.
MOST_DECODED = 8
BLOCKS_APART = {"bfloat16": "bf16", "fp8": "fp8"}
RATIOS = "; ratios of shapes: "


def powers(first, last, step=1):
    """2^first to 2^last."""
    return [2 ** i for i in range(first, last + 1, step)]


class Axis:
    """One coordinate of a grid, and where sizes lie on it.

    >>> Axis([1, 4], True).place(3)
    [(0, 0.25), (1, 0.75)]
    >>> Axis([1, 4], False).place(2)
    [(0, 0.5), (1, 0.5)]
    >>> Axis([1, 4], False).place(5), Axis([1, 4], True).place(0.5)
    ([(1, 1.0)], [(0, 1.0)])
    """

    def __init__(self, at, varies):
        self.at, self.scale = at, octaves if varies else math.log2
        self.known = {}

    def place(self, size):
        """[(knot, weight)]."""
        if size not in self.known:
            self.known[size] = self.find(size)
        return self.known[size]

    def find(self, size):
        above = bisect.bisect_left(self.at, size)
        if above in (0, len(self.at)):
            return [(max(above - 1, 0), 1.0)]
        low, high = (math.log2(x) for x in self.at[above - 1:above + 1])
        share = (self.scale(size) - low) / (high - low)
        return [(knot, weight) for knot, weight in
                ((above - 1, 1 - share), (above, share)) if weight]


def octaves(size):
    """
    >>> octaves(1), octaves(6), octaves(0.75)
    (0.0, 2.5, -0.5)
    """
    mantissa, exponent = math.frexp(size)
    return exponent - 1 + 2 * mantissa - 1


class Table:
    """The cells of one table, the last coordinate fastest. `phase` is whether
    its rows are prefills, None where it has all; `varying` coordinates are
    interpolated in octaves.

    >>> table = Table("", "", None, 1, {"a": [1, 2], "b": [1, 4]})
    >>> table.cells_of((2, 2))
    [(2, 0.5), (3, 0.5)]
    """

    def __init__(self, kind, field, phase, varying, knots, is_padded=False):
        self.kind, self.field, self.phase = kind, field, phase
        self.is_padded = is_padded
        self.knots = knots
        self.axes = [Axis(at, i < varying)
                     for i, at in enumerate(knots.values())]
        self.strides, self.size = [], 1
        for axis in reversed(self.axes):
            self.strides.insert(0, self.size)
            self.size *= len(axis.at)
        self.pulls = None

    def takes(self, row):
        if self.phase is None:
            return True
        is_prefill = row.compute
        return is_prefill == self.phase and (
            not is_prefill or row.shapes[0][1] > MOST_DECODED)

    def cells_of(self, shape):
        """[(cell, weight)]."""
        found = [(0, 1.0)]
        for axis, stride, size in zip(self.axes, self.strides, shape):
            found = [(cell + knot * stride, weight * share)
                     for cell, weight in found
                     for knot, share in axis.place(size)]
        return found

    def pad(self, percent):
        """Of a kernel that takes no less for less than the last knot of the
        last coordinate, which alone was measured.

        >>> Table("", "", None, 1, {"a": [1, 2], "b": [2, 8]}, True).pad(
        ...     [0, 10, 0, 20])
        [40, 10, 80, 20]
        """
        if not self.is_padded:
            return percent
        at = self.axes[-1].at
        return [percent[cell - cell % len(at) + len(at) - 1] * at[-1] //
                at[cell % len(at)] for cell in range(self.size)]

    def steps(self, i):
        """Pairs of cells that are next to each other on axis `i`."""
        stride, knots = self.strides[i], len(self.axes[i].at)
        return [(cell, cell + stride) for cell in range(self.size)
                if cell // stride % knots + 1 < knots]

    def find_pulls(self):
        """Of each cell, [(other, factor)] and the sum of the factors: what the
        terms of the fit that are of no row want it to be."""
        found = [collections.defaultdict(float) for _ in range(self.size)]
        for i in range(len(self.axes)):
            steps = self.steps(i)
            for low, high in steps:
                found[low][high] += FLATNESS
                found[high][low] += FLATNESS
            for j in range(i):
                for a, c in self.steps(j):
                    self.add_square(found, i, a, c)
        return [(list(pulls.items()), sum(pulls.values())) for pulls in found]

    def add_square(self, found, i, a, c):
        """Of cells `a` and `c`, and those above them on axis `i`."""
        stride, knots = self.strides[i], len(self.axes[i].at)
        if a // stride % knots + 1 == knots:
            return
        b, d = a + stride, c + stride
        for cell, sides, across in ((a, (b, c), d), (b, (a, d), c),
                                    (c, (a, d), b), (d, (b, c), a)):
            for side in sides:
                found[cell][side] += LIKENESS
            found[cell][across] -= LIKENESS


# Products of matrices have tiles of columns, so columns have a knot for each
# size that was measured; contraction is smooth. Tokens of experts and sequences
# were measured in steps of 4. Engines split a cache by how long it is and how
# many there are, so decode has a knot for each octave of both, but for latent
# attention, of which there is one cache for each sequence.
TABLES = (
    Table("matmul", "shapes", None, 1, {
        "rows": powers(0, 15),
        "columns": [512, 1024, 2048, 4096, 5120, 7168, 8192, 12288, 16384,
                    65536],
        "contraction": [512, 1024, 2048, 4096, 8192, 16384, 65536],
    }),
    Table("grouped_matmul", "shapes", None, 1, {
        "rows_per_expert": [1 / 32, 1 / 8, 1 / 2, *powers(1, 13, 2)],
        "experts": [4, 32, 256],
        "share": [1 / 32, 1 / 4, 1],
        "columns": [512, 2048, 6144, 16384],
        "contraction": [512, 2048, 8192],
    }),
    Table("attention", "decode_shapes", False, 2, {
        "streams": [1, *powers(2, 10), 4096],
        "context": powers(6, 17),
        "group": [1, 4, 16],
        "head_size": [64, 128],
    }),
    Table("attention", "prefill_shapes", True, 2, {
        "streams": powers(0, 12, 2),
        "query": powers(4, 14),
        "group": [1, 4, 16],
        "head_size": [64, 128],
    }),
    Table("latent_attention", "decode_shapes", False, 2, {
        "sequences": powers(0, 10, 2),
        "context": powers(4, 17),
        "heads": [8, 16, 32, 64, 128],
    }),
    Table("latent_attention", "prefill_shapes", True, 2, {
        "sequences": powers(0, 8, 2),
        "query": powers(4, 14),
        "heads": [8, 32, 128],
    }),
    Table("encoder_attention", "prefill_shapes", None, 2, {
        "streams": [*powers(1, 9, 2), 1024],
        "query": powers(4, 14),
        "head_size": [64, 72, 80],
    }),
    Table("sparse_attention", "decode_shapes", False, 2, {
        "sequences": powers(0, 10, 2),
        "context": powers(4, 17),
        "heads": [8, 16, 32, 64, 128],
    }),
    Table("sparse_attention", "prefill_shapes", True, 2, {
        "queries": powers(7, 16, 3),
        "seen": powers(6, 11),
        "heads": [8, 16, 32, 64],
    }, is_padded=True),
    Table("batched_matmul", "shapes", None, 1, {
        "rows": powers(0, 14, 2),
        "heads": [8, 16, 32, 64, 128],
        "columns": [128, 512],
    }),
    *(Table(kind, "shapes", None, 1, {
        "rows": powers(0, 18, 2),
        "hidden": [4096, 7168],
    }) for kind in ("hyper_pre", "hyper_post")),
)


class Case:
    """A row: its microseconds, those of them that no ratio changes, and cells
    with the microseconds that a ratio of 1 adds."""

    __slots__ = ("time", "base", "cells")

    def __init__(self, time, base, cells):
        self.time, self.base, self.cells = time, base, cells

    def predict(self, ratios):
        return self.base + sum(us * ratios[cell] for cell, us in self.cells)


class Curve:
    """A curve of a chip, and the rows that were measured of it."""

    def __init__(self, chip, kind, key, rows):
        self.json = chip["kernels"][kind][key]
        self.peak = fit_kernels.peak_of(chip, key)
        self.bandwidth = chip["memory_bandwidth"]["value"]
        self.floor = self.json["floor"]["value"]
        self.tiles = self.json.get("tiles")
        self.apart = [row for row in rows if is_apart(row)]
        self.rows = [row for row in rows if not is_apart(row)]

    def lower_floor(self):
        floor = files.rounded(SHARE_OF_LEAST * least_launch(self.rows))
        self.floor = min(self.floor, floor)
        self.json["floor"]["value"] = self.floor

    def roofs(self, row):
        """Of each launch, without floors."""
        _, *rates = fit_kernels.point_of(self.json)
        (launches, _), = fit_kernels.prepare([row], self.peak, self.bandwidth)
        if self.tiles:
            launches = [(compute * self.tiling(shape).busy(), memory) for
                        (compute, memory), shape in zip(launches, row.shapes)]
        return [fit_kernels.predict([launch], 0, *rates) for launch in launches]

    def tiling(self, shape):
        return encoder_tiles.Tiling(self.tiles, *shape)

    def combining(self, shape):
        """Microseconds of a launch that adds up partial results: another floor,
        and what these take at the bandwidth of memory."""
        moved = self.tiling(shape).partial_bytes() if self.tiles else 0
        return moved and self.floor + moved / self.bandwidth * 1e6

    def is_of_memory(self, row):
        moved = sum(b for _, b in row.launches)
        return moved / self.bandwidth * 1e6 <= row.time

    def case(self, row, table):
        base, cells = 0.0, collections.defaultdict(float)
        for roof, shape in zip(self.roofs(row), row.shapes):
            base += (self.floor + self.combining(shape) if shape else
                     self.floor + roof)
            for cell, weight in table.cells_of(shape) if shape else ():
                cells[cell] += roof * weight
        return Case(row.time, base, list(cells.items()))

    def cases(self, rows, table):
        return [self.case(row, table) for row in rows
                if table.takes(row) and self.is_of_memory(row)]


def is_apart(row):
    return kept_apart.is_kept(*map(float, row.shapes[-1]))


def least_launch(rows):
    return min(row.time / len(row.launches) for row in rows)


def fit_ratios(table, cases):
    """One for each cell, in percent."""
    table.pulls = table.pulls or table.find_pulls()
    logs = [median_log(cases)] * table.size
    ratios = [math.exp(x) for x in logs]
    rows_of = [[] for _ in range(table.size)]
    for i, case in enumerate(cases):
        for cell, us in case.cells:
            rows_of[cell].append((i, us))
    times = [case.time for case in cases]
    predicted = [case.predict(ratios) for case in cases]
    for _ in range(SWEEPS):
        for cell, rows in enumerate(rows_of):
            ratio, x = ratios[cell], logs[cell]
            pulls, weight = table.pulls[cell]
            force = sum(factor * logs[other] for other, factor in pulls)
            force -= weight * x
            for i, us in rows:
                error = math.log(times[i] / predicted[i])
                slope = us * ratio / predicted[i]
                factor = slope / max(abs(error), NOISE)
                force += factor * error
                weight += factor * slope
            change = OVER * force / weight
            change = max(-MOST_CHANGE, min(MOST_CHANGE, change))
            logs[cell], ratios[cell] = x + change, math.exp(x + change)
            for i, us in rows:
                predicted[i] += us * (ratios[cell] - ratio)
    return [percent_of(ratio) for ratio in ratios]


def percent_of(ratio):
    return max(LEAST_PERCENT, min(MOST_PERCENT, round(100 * ratio)))


def median_log(cases):
    """Of the ratio that each row alone would have."""
    ratios = sorted((case.time - case.base) / sum(us for _, us in case.cells)
                    for case in cases)
    return math.log(max(ratios[len(ratios) // 2], LEAST_PERCENT / 100))


def ratios_of(table):
    """Of a table that a chip has."""
    return [int(word) / 100 for line in table["percent"]
            for word in line.split()]


def all_errors(cases, ratios):
    return [abs(case.predict(ratios) / case.time - 1) for case in cases]


def errors(cases, percent):
    """The median and the 90th percentile."""
    return kept_apart.quantiles(all_errors(cases, [x / 100 for x in percent]))


def table_json(table, percent, found, rows):
    median, p90 = (files.rounded(error) for error in found)
    return {
        "coordinates": [{"of": name, "at": at}
                        for name, at in table.knots.items()],
        "percent": files.lines(percent),
        "fit": {"median_error": median, "p90_error": p90, "rows": rows},
    }


def measured_rows(data):
    """kind -> (gpu, format) -> engine, rows: those of fit_kernels, but short
    prefills too, and of experts one kernel for each format."""
    own = {
        "matmul": kernel_rows.matmul(data),
        "grouped_matmul": kernel_rows.grouped(data, BLOCKS_APART),
        "attention": kernel_rows.attention(data, least_prefill=0),
    }
    measured = {kind: {key: (kernel_rows.MAIN, rows)
                       for key, rows in found.items()}
                for kind, found in own.items()}
    measured["matmul"].update(kernel_rows.matmul_scaled(data))
    measured["grouped_matmul"].update(
        kernel_rows.grouped_scaled(data, kernel_rows.OTHER_KERNELS))
    measured["latent_attention"] = kernel_rows.latent_attention(
        data, least_prefill=0)
    for kind, read in mixer_rows.KINDS.items():
        measured[kind] = read(data)
    measured["sparse_attention"] = mixer_rows.sparse_attention(
        data, least_prefill=0)
    return measured


def with_tables(curve, tables):
    """The same, with the source last and `tables` before it."""
    fields = [table.field for table in TABLES]
    made = {key: value for key, value in curve.items() if key not in fields}
    source = made.pop("source")
    return {**made, **tables, "source": source}


def add_source(source, kind, gpu, engine):
    """A curve of another chip says who measured this one."""
    if source["kind"] == "derived":
        source["reference"] = (source["reference"].split(RATIOS)[0] + RATIOS +
                               fit_kernels.measured_by(kind, gpu, engine))


def fit_curve(curve, kind, label):
    """field -> table."""
    curve.lower_floor()
    made = {}
    for table in TABLES:
        cases = curve.cases(curve.rows, table) if table.kind == kind else []
        if len(cases) < LEAST_ROWS[kind]:
            continue
        apart = curve.cases(curve.apart, table)
        percent = table.pad(fit_ratios(table, cases))
        found = errors(apart, percent)
        made[table.field] = table_json(table, percent, found, len(apart))
        report(label, table, len(cases) + len(apart),
               errors(apart, [100] * table.size), found)
    return made


def fit_chip(gpu, chip, measured):
    for kind, keys in measured.items():
        for (of, key), (engine, rows) in sorted(keys.items()):
            curves = chip["kernels"].get(kind, {})
            if of != gpu or key not in curves or len(rows) < LEAST_ROWS[kind]:
                continue
            if kind == "encoder_attention":
                curves[key]["tiles"] = dict(encoder_tiles.TILES[gpu])
            curve = Curve(chip, kind, key, rows)
            tables = fit_curve(curve, kind, f"{chip['name']:19} {key:9}")
            if tables:
                add_source(curve.json["source"], kind, gpu, engine)
            curves[key] = with_tables(curve.json, tables)


def report(label, table, rows, before, after):
    figures = " ".join(f"{100 * error:7.1f}" for error in before + after)
    print(f"{table.kind:17} {table.field:14} {label} {rows:5} {table.size:5} "
          f"{figures}", flush=True)


def add_tables(data, library):
    """Tables in place of those that the measured chips have."""
    print(f"{'kernel':17} {'table':14} {'chip':19} {'format':9} {'rows':>5} "
          f"{'cells':>5} {'median':>7} {'p90':>7} {'median':>7} {'p90':>7}\n"
          f"{'':68} {'of the curve':>15} {'with table, %':>15}")
    measured = measured_rows(data)
    for gpu, name in fit_kernels.CHIPS.items():
        fit_chip(gpu, library[name], measured)


def errors_of_kin(data, library):
    """(kind, format, chip) -> errors of a measured chip by the curve of the
    nearest of its design, without and with that one's tables."""
    found = {}
    chips = fit_kernels.of_measured(library)
    for kind, keys in measured_rows(data).items():
        for (gpu, key), (_, rows) in sorted(keys.items()):
            kin = [other for other in chips.values()
                   if fit_kernels.are_kin(chips[gpu], other) and
                   key in other["kernels"].get(kind, {})]
            if not kin or len(rows) < LEAST_ROWS[kind]:
                continue
            nearest = min(kin, key=lambda other: fit_kernels.apart(
                chips[gpu], other))
            borrowed = {**chips[gpu], "kernels": nearest["kernels"]}
            curve = Curve(borrowed, kind, key, rows)
            for table in TABLES:
                made = curve.json.get(table.field)
                if table.kind != kind or not made:
                    continue
                ratios = ratios_of(made)
                cases = curve.cases(rows, table)
                before, after = found.setdefault(
                    (kind, key, chips[gpu]["name"]), ([], []))
                before += all_errors(cases, [1] * table.size)
                after += all_errors(cases, ratios)
    return found

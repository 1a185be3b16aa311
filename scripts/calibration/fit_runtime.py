#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the coefficients of a runtime to measured serving rows.

Minimises the mean of |log(predicted / measured)| of TPOT (--of=ttft: of TTFT)
over the rows that count by the rules of `autopar validate`, cold starts left
out; that makes every prediction. The search is Nelder and Mead's (1965).
Coefficients start at the priors given, and a ridge pulls them there: where rows
do not tell, the prior stays. One fit serves all versions of a runtime.

Prints the error of that fit and, of each family of models, each system and each
version, the error by a fit of the others: what a row has in common with those
that it is predicted by is then neither its model, its system nor its release.
Halves of rows would share all three. Writes nothing.

  scripts/calibration/fit_runtime.py serving.csv serving_2026.csv --runtime=vllm \\
      --fit host_time_per_layer=10 host_time_per_sequence=3 prompt_step_time=5000
  scripts/calibration/fit_runtime.py serving.csv serving_2026.csv --runtime=vllm --of=ttft \\
      --fit request_time=10000 request_time_per_token=3 request_time_per_stream=500
  scripts/calibration/fit_runtime.py serving.csv --runtime=vllm --leave-out --set=...

--leave-out names other groups than these three, or none. --without says what
the errors become with each coefficient at its neutral value, the rest fitted
again. --skip names systems whose kernels nobody measured: their errors are not
the runtime's.
"""

import argparse
import csv
import io
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

NEUTRAL = {"prompt_step_share": 1.0}
RANGES = {"prompt_step_share": (0.2, 1.0), "routing_skew": (0.0, 0.95)}
TOOL = pathlib.Path(__file__).resolve().parents[2] / "build/bin/autopar"


def family(model):
    """Qwen/Qwen3-235B-A22B -> qwen3; letters and digits up to a size."""
    name = model.split("/")[-1].lower()
    for known in ("deepseek", "gpt-oss", "llama-3.1-70b", "llama-3.1-8b", "qwen3.5", "qwen3"):
        if known in name:
            return known
    return name


def rules():
    """name -> rule, as autopar has them."""
    text = subprocess.run([str(TOOL), "validate", "--print-rules"], check=True, capture_output=True, text=True).stdout
    return json.loads(text)["rules"]


def is_cold(row, known):
    """Whether a row was measured while its engine still compiled."""
    cold = known["saturation"]
    return (
        f"measured={cold['cold_date']}" in row["silicon_data_source"]
        and row["backend"] == cold["cold_runtime"]
        and row["system"].startswith(cold["cold_system"])
        and row["precision"] == cold["cold_precision"]
    )


def has_ttft(row, known):
    """Whether the TTFT of a row counts."""
    rule = known["ttft"]
    ttft, tpot, tokens = float(row["silicon_ttft_ms"]), float(row["silicon_tpot_ms"]), int(row["osl"])
    queues = ttft > rule["saturated_ms"] and ttft > rule["saturated_share"] * (ttft + tokens * tpot)
    return tokens >= rule["min_output_tokens"] and not queues


def version_of(row):
    """The release of a row: 0.11.2rc1 -> 0.11.2; "" where it states none."""
    return re.match(r"[0-9.]*", row["backend_version"]).group().strip(".")


def read(paths):
    """The rows of several tables, with the columns of all."""
    rows, columns = [], {}
    for path in paths:
        with open(path, newline="") as file:
            table = list(csv.DictReader(file))
        columns.update(dict.fromkeys(table[0]))
        rows += table
    return [{column: row.get(column, "") for column in columns} for row in rows]


class Rows:
    """The rows of one runtime in a file of their own."""

    def __init__(self, rows, runtime, configs, folder, of="tpot"):
        self.columns = list(rows[0])
        self.rows = [row for row in rows if row["backend"] == runtime]
        self.of = of
        known = rules()
        self.rows = [row for row in self.rows if not is_cold(row, known)]
        if of == "ttft":
            self.rows = [row for row in self.rows if has_ttft(row, known)]
        self.runtime, self.configs = runtime, configs
        self.folder = pathlib.Path(folder)
        self.groups = {
            "model": {row["id"]: family(row["model_path"]) for row in self.rows},
            "system": {row["id"]: row["system"] for row in self.rows},
            "version": {row["id"]: version_of(row) for row in self.rows},
        }
        self.known = {}
        self.file = self.folder / "rows.csv"
        self.counting = None
        self.write(self.rows)

    def write(self, rows):
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns)
        writer.writeheader()
        writer.writerows(rows)
        self.file.write_text(text.getvalue())

    def predict(self, values):
        """(id, predicted, measured) of the rows that count."""
        key = tuple(sorted(values.items()))
        if key not in self.known:
            self.known[key] = self.ask(values)
        return self.known[key]

    def ask(self, values):
        output = self.folder / "predictions.csv"
        command = [str(TOOL), "validate", str(self.file), f"--predictions={output}"]
        if self.configs:
            command.append(f"--configs={self.configs}")
        for key, value in values.items():
            command.append(f"--set=runtimes.{self.runtime}.{key}={value!r}")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(output, newline="") as file:
            rows = [
                row
                for row in csv.DictReader(file)
                if not row["excluded_reason"] and row[f"predicted_{self.of}_ms"] and row[f"measured_{self.of}_ms"]
            ]
        if self.counting is None:
            # Which rows count does not depend on what is fitted.
            self.counting = {row["id"] for row in rows if "_disagg_" not in row["id"]}
            self.write([row for row in self.rows if row["id"] in self.counting])
        return [
            (row["id"], float(row[f"predicted_{self.of}_ms"]), float(row[f"measured_{self.of}_ms"]))
            for row in rows
            if row["id"] in self.counting
        ]


def figures(points):
    errors = sorted(abs(p / m - 1) * 100 for _, p, m in points)
    if not errors:
        return "no rows"
    bias = sum(p / m - 1 for _, p, m in points) / len(points) * 100
    return (
        f"n {len(errors)}, median {errors[len(errors) // 2]:.1f}, MAPE {sum(errors) / len(errors):.1f}, "
        f"p90 {errors[min(len(errors) - 1, int(0.9 * len(errors)))]:.1f}, bias {bias:+.1f}"
    )


class Fit:
    def __init__(self, rows, start, fixed, ridge, rounds, takes):
        self.rows, self.names, self.start = rows, list(start), start
        self.fixed, self.ridge, self.rounds, self.takes = fixed, ridge, rounds, takes
        self.known = {}

    def values(self, point):
        values = dict(self.fixed)
        for name, scale in zip(self.names, point):
            low, high = RANGES.get(name, (0.0, 1e6))
            values[name] = round(min(high, max(low, scale * (self.start[name] or 1.0))), 4)
        return values

    def loss(self, point):
        values = self.values(point)
        key = tuple(values.items())
        if key not in self.known:
            points = self.rows.predict(values)
            kept = [one for one in points if self.takes(one[0])]
            self.known[key] = sum(abs(math.log(p / m)) for _, p, m in kept) / len(kept)
        return self.known[key] + self.ridge * sum((scale - 1) ** 2 for scale in point)

    def run(self):
        count = len(self.names)
        simplex = [[1.0] * count]
        for i in range(count):
            simplex.append([1.35 if i == j else 1.0 for j in range(count)])
        losses = [self.loss(point) for point in simplex]
        for _ in range(self.rounds):
            order = sorted(range(count + 1), key=losses.__getitem__)
            simplex, losses = [simplex[i] for i in order], [losses[i] for i in order]
            if losses[-1] - losses[0] < 2e-5:
                break
            mean = [sum(point[i] for point in simplex[:-1]) / count for i in range(count)]

            def along(factor):
                point = [m + factor * (w - m) for m, w in zip(mean, simplex[-1])]
                return point, self.loss(point)

            point, loss = along(-1.0)
            if loss < losses[0]:
                further = along(-2.0)
                point, loss = further if further[1] < loss else (point, loss)
            elif loss >= losses[-2]:
                inner = along(0.5)
                if inner[1] >= losses[-1]:
                    best = simplex[0]
                    simplex = [best] + [[(a + b) / 2 for a, b in zip(best, p)] for p in simplex[1:]]
                    losses = [losses[0]] + [self.loss(p) for p in simplex[1:]]
                    continue
                point, loss = inner
            simplex[-1], losses[-1] = point, loss
        return self.values(simplex[losses.index(min(losses))])


def pairs(texts):
    return {key: float(value) for key, value in (text.split("=") for text in texts)}


def print_left_out(kind, rows, fit):
    """The errors of each group of `kind` by a fit of the others."""
    pooled, of = [], rows.groups[kind]
    groups = sorted({of[name] for name in rows.counting})
    for left_out in groups if len(groups) > 1 else ():
        found = fit(takes=lambda name, out=left_out: of[name] != out)
        own = [one for one in rows.predict(found) if of[one[0]] == left_out]
        print(f"  {left_out or 'unstated'} by the others: {figures(own)} {found}", flush=True)
        pooled += own
    print(f"  each {kind} by the others, pooled: {figures(pooled)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--runtime", required=True)
    parser.add_argument("--configs", default="")
    parser.add_argument("--of", choices=("tpot", "ttft"), default="tpot")
    parser.add_argument("--fit", nargs="+", default=[], metavar="NAME=PRIOR")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE")
    parser.add_argument("--ridge", type=float, default=0.001)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--skip", nargs="+", default=[], metavar="SYSTEM")
    parser.add_argument("--leave-out", nargs="*", default=["model", "system", "version"],
                        choices=("model", "system", "version"))
    parser.add_argument("--without", action="store_true", help="the errors without each coefficient")
    options = parser.parse_args()
    start, fixed = pairs(options.fit), pairs(options.set)
    table = [row for row in read(options.files) if row["system"] not in options.skip]
    with tempfile.TemporaryDirectory() as folder:
        rows = Rows(table, options.runtime, options.configs, folder, options.of)

        def fit(names=tuple(start), more=None, takes=lambda name: True):
            if not names:
                return {**fixed, **(more or {})}
            return Fit(
                rows,
                {n: start[n] for n in names},
                {**fixed, **(more or {})},
                options.ridge,
                options.rounds,
                takes,
            ).run()

        best = fit()
        print(options.runtime, best, "->", figures(rows.predict(best)), flush=True)
        for kind in options.leave_out if start else ():
            print_left_out(kind, rows, fit)
        for name in start if options.without else ():
            print(f"without {name}:", flush=True)
            others = tuple(other for other in start if other != name)
            neutral = {name: NEUTRAL.get(name, 0.0)}
            for kind in options.leave_out:
                print_left_out(kind, rows, lambda takes: fit(others, neutral, takes))
    return 0


if __name__ == "__main__":
    sys.exit(main())

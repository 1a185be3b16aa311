#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the coefficients of a runtime to measured serving rows.

Minimises the mean of |log(predicted / measured)| of TPOT (--of=ttft: of TTFT,
cold starts left out) over the rows that
count by the rules of `autopar validate`, which makes every prediction; the
search is Nelder and Mead's (1965). Coefficients start at the values given, and
a weight pulls them there: where rows do not tell, the prior stays.

  scripts/calibration/fit_runtime.py FILE.csv --runtime=vllm --fit=host_time_per_layer=13
  scripts/calibration/fit_runtime.py FILE.csv --runtime=sglang --fit=... --leave-out=model
  scripts/calibration/fit_runtime.py FILE.csv --runtime=vllm --since=0.14,2026-01 --of=ttft \\
      --fit request_time=10000 request_time_per_token=3 request_time_per_stream=500 \\
      --leave-out model system
  scripts/calibration/fit_runtime.py FILE.csv --runtime=vllm --set=...

--without says what the error becomes with each coefficient at its neutral
value, the rest fitted again; --halves fits to every other row of the table and
predicts the rest. --before and --since take the rows of some versions, with the
month in which that was released for rows that state none. Prints; writes
nothing.

  scripts/calibration/fit_runtime.py FILE.csv --runtime=trtllm --since=1.2,2026-01 --halves --fit=...
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

# Of its images the version is that of the container, not of the runtime.
CONTAINER = "ai-dynamo/"
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


def has_ttft(row, known):
    """Whether the TTFT of a row counts."""
    rule, cold = known["ttft"], known["saturation"]
    ttft, tpot, tokens = float(row["silicon_ttft_ms"]), float(row["silicon_tpot_ms"]), int(row["osl"])
    queues = ttft > rule["saturated_ms"] and ttft > rule["saturated_share"] * (ttft + tokens * tpot)
    is_cold = (
        f"measured={cold['cold_date']}" in row["silicon_data_source"]
        and row["backend"] == cold["cold_runtime"]
        and row["system"].startswith(cold["cold_system"])
        and row["precision"] == cold["cold_precision"]
    )
    return tokens >= rule["min_output_tokens"] and not queues and not is_cold


def parts(version):
    """1.2.0rc2 -> (1, 2, 0)."""
    return tuple(int(part) for part in re.match(r"[0-9.]*", version).group().split(".") if part)


def is_before(row, version, released):
    """Whether a row is of a version before, as autopar validate finds it."""
    stated = row["backend_version"] if CONTAINER not in row["silicon_data_source"] else ""
    month = re.search(r"measured=(\d{4}-\d\d)", row["silicon_data_source"])
    if parts(stated):
        return parts(stated) < parts(version)
    return bool(month) and month.group(1) < released


class Rows:
    """The rows of one runtime in a file of their own."""

    def __init__(self, path, runtime, configs, folder, of="tpot", takes=lambda row: True):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        self.columns = list(rows[0])
        self.rows = [row for row in rows if row["backend"] == runtime and takes(row)]
        self.is_even = {row["id"]: place % 2 == 0 for place, row in enumerate(self.rows)}
        self.of = of
        if of == "ttft":
            known = rules()
            self.rows = [row for row in self.rows if has_ttft(row, known)]
        self.runtime, self.configs = runtime, configs
        self.folder = pathlib.Path(folder)
        self.groups = {
            "model": {row["id"]: family(row["model_path"]) for row in self.rows},
            "system": {row["id"]: row["system"] for row in self.rows},
        }
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--runtime", required=True)
    parser.add_argument("--configs", default="")
    parser.add_argument("--of", choices=("tpot", "ttft"), default="tpot")
    parser.add_argument("--fit", nargs="+", default=[], metavar="NAME=START")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE")
    parser.add_argument("--ridge", type=float, default=0.001)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--leave-out", nargs="+", default=[], choices=("model", "system"),
                        help="each family of models, or each system, predicted by a fit of the others")
    parser.add_argument("--without", action="store_true", help="the error without each coefficient")
    parser.add_argument("--halves", action="store_true", help="each half of the rows predicted by a fit of the other")
    parser.add_argument("--before", metavar="VERSION,MONTH", help="rows of versions before")
    parser.add_argument("--since", metavar="VERSION,MONTH", help="rows of that version and later ones")
    options = parser.parse_args()
    start, fixed = pairs(options.fit), pairs(options.set)

    def of_versions(row):
        kept = not options.before or is_before(row, *options.before.split(","))
        return kept and (not options.since or not is_before(row, *options.since.split(",")))

    with tempfile.TemporaryDirectory() as folder:
        rows = Rows(options.file, options.runtime, options.configs, folder, options.of, of_versions)

        def fit(names, more=None, takes=lambda name: True):
            return Fit(
                rows,
                {n: start[n] for n in names},
                {**fixed, **(more or {})},
                options.ridge,
                options.rounds,
                takes,
            ).run()

        best = fit(start) if start else fixed
        print(options.runtime, best, "->", figures(rows.predict(best)), flush=True)
        if options.without:
            for name in start:
                others = [other for other in start if other != name]
                found = fit(others, {name: NEUTRAL.get(name, 0.0)})
                print(f"  without {name}: {figures(rows.predict(found))} {found}", flush=True)
        if options.halves:
            pooled = []
            for even in (True, False):
                found = fit(start, takes=lambda name, even=even: rows.is_even[name] == even)
                own = [one for one in rows.predict(found) if rows.is_even[one[0]] != even]
                print(f"  {'odd' if even else 'even'} rows by the others: {figures(own)} {found}", flush=True)
                pooled += own
            print(f"  halves, pooled: {figures(pooled)}", flush=True)
        for kind in options.leave_out:
            pooled, of = [], rows.groups[kind]
            groups = sorted({of[name] for name in rows.counting})
            for left_out in groups if len(groups) > 1 else ():
                found = fit(start, takes=lambda name, out=left_out: of[name] != out)
                own = [one for one in rows.predict(found) if of[one[0]] == left_out]
                print(f"  {left_out} by the others: {figures(own)} {found}", flush=True)
                pooled += own
            print(f"  left out by {kind}, pooled: {figures(pooled)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

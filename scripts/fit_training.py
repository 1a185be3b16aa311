#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits what iterations lose, and what allocators do, to measured iterations.

Of each runtime `straggler_share`, of those whose kernels hide communication
`hidden_communication` and, to models with experts and what was found of the
others, `hidden_dispatch`, of eager ones `host_time_per_layer` (the least within
5 % of the best), and with --of=peaks `allocator_overhead`: the values, in steps of
0.01, 0.1, milliseconds and 0.05, with the least mean of |predicted / measured - 1|
over the rows (of dense models but for `hidden_dispatch`) that count by the rules
of `autopar validate`, which makes every prediction. Only rows whose number is even are fitted; errors
of the others say how well that carries over.

  scripts/fit_training.py FILE.json             times, with errors of both halves
  scripts/fit_training.py FILE.json --of=peaks  peaks of memory
  scripts/fit_training.py FILE.json --kept      of the values in runtimes, no fit

Prints; writes nothing.
"""

import argparse
import collections
import csv
import json
import pathlib
import re
import subprocess
import tempfile

TOOL = pathlib.Path(__file__).resolve().parent.parent / "build/bin/autopar"
HIDES = ("nemo",)
EAGER = ("megatron-deepspeed", "fsdp")
HOST_TIMES_US = (0, 1000, 2000, 4000, 6000, 8000, 10000)
SLACK = 1.05
RUNTIMES = ("megatron", "megatron-deepspeed", "nemo", "fsdp", "fsdp2")
COLUMNS = {"times": "iter_time_s", "peaks": "peak_gib"}


def mixtures(file):
    """Ids of the rows of models with experts."""
    with open(file, encoding="utf-8") as text:
        rows = json.load(text)
    rows = rows["rows"] if isinstance(rows, dict) else rows
    return {row["id"] for row in rows if (row.get("arch") or {}).get("experts")}


def ratios(options, settings, of_mixtures=False):
    """runtime -> (number of the row, predicted / measured)."""
    found, column = collections.defaultdict(list), COLUMNS[options.of]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.csv"
        command = [str(TOOL), "validate", options.file, f"--predictions={out}"]
        command += [f"--set=runtimes.{path}={value}" for path, value in settings.items()]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(out, newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                predicted, measured = row[f"predicted_{column}"], row[f"measured_{column}"]
                counts = predicted and measured and not row["excluded_reason"]
                if counts and (row["id"] in options.mixtures) == of_mixtures:
                    number = int(re.sub(r"\D", "", row["id"]))
                    found[row["training_runtime"]].append((number, float(predicted) / float(measured)))
    return found


def error(rows, share=0.0):
    return sum(abs(ratio * (1 + share) - 1) for _, ratio in rows) / len(rows)


def even(rows):
    return [row for row in rows if row[0] % 2 == 0]


def odd(rows):
    return [row for row in rows if row[0] % 2]


def fit_stragglers(rows):
    return min((error(even(rows), share / 100), share / 100) for share in range(61))


def present_in(options):
    """Runtimes with rows to fit."""
    found = ratios(options, {})
    return [name for name in RUNTIMES if even(found[name])]


def fit_times(options):
    present = present_in(options)
    settings = {f"{name}.training.straggler_share": 0 for name in present}
    for name in set(HIDES) & set(present):
        path, tried = f"{name}.training.hidden_communication", []
        for tenths in range(10):
            rows = ratios(options, {**settings, path: tenths / 10})[name]
            tried.append((*fit_stragglers(rows), tenths / 10))
        settings[path] = min(tried)[2]
    for name in set(EAGER) & set(present):
        path, tried = f"{name}.host_time_per_layer", []
        for time in HOST_TIMES_US:
            rows = ratios(options, {**settings, path: time})[name]
            tried.append((fit_stragglers(rows)[0], time))
        settings[path] = min(time for least, time in tried if least <= SLACK * min(tried)[0])
    found = ratios(options, settings)
    for name in present:
        settings[f"{name}.training.straggler_share"] = fit_stragglers(found[name])[1]
    for name in set(HIDES) & set(present):
        path, tried = f"{name}.training.hidden_dispatch", []
        for tenths in range(11):
            rows = ratios(options, {**settings, path: tenths / 10}, of_mixtures=True)[name]
            tried.append((error(even(rows)), tenths / 10))
        settings[path] = min(tried)[1]
    return settings


def fit_peaks(options):
    settings = {}
    for name in present_in(options):
        path, tried = f"{name}.training.allocator_overhead", []
        for twentieths in range(21):
            rows = ratios(options, {path: twentieths / 20})[name]
            tried.append((error(even(rows)), twentieths / 20))
        settings[path] = min(tried)[1]
    return settings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--of", choices=COLUMNS, default="times")
    parser.add_argument("--kept", action="store_true")
    options = parser.parse_args()
    options.mixtures = mixtures(options.file)
    fit = {"times": fit_times, "peaks": fit_peaks}[options.of]
    settings = {} if options.kept else fit(options)
    for path, value in settings.items():
        print(f"{path} = {value}")
    kinds = [(kind, ratios(options, settings, of)) for kind, of in (("", False), (" with experts", True))]
    for name, rows in sorted((name + kind, rows) for kind, found in kinds for name, rows in found.items()):
        halves = [f"{len(half)} rows" + (f", MAPE {100 * error(half):.1f} %" if half else "") for half in (even(rows), odd(rows))]
        print(f"{name}: fitted {halves[0]}; others {halves[1]}")


if __name__ == "__main__":
    main()

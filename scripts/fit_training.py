#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits what iterations lose to measured ones, runtime by runtime.

Of each runtime `straggler_share`, and of those whose kernels hide communication
`hidden_communication`: the values, in steps of 0.01 and 0.1, with the least mean
of |predicted / measured - 1| over the dense rows that count by the rules of
`autopar validate`, which makes every prediction. Only rows whose number is even
are fitted; errors of the others say how well that carries over.

  scripts/fit_training.py FILE.json          with errors of both halves
  scripts/fit_training.py FILE.json --kept   of the values in runtimes, no fit

Prints; writes nothing.
"""

import argparse
import collections
import csv
import pathlib
import re
import subprocess
import tempfile

TOOL = pathlib.Path(__file__).resolve().parent.parent / "build/bin/autopar"
HIDES = ("nemo",)
RUNTIMES = ("megatron", "megatron-deepspeed", "nemo", "fsdp", "fsdp2")


def ratios(file, settings):
    """runtime -> (number of the row, predicted / measured)."""
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.csv"
        command = [str(TOOL), "validate", file, f"--predictions={out}"]
        command += [f"--set=runtimes.{path}={value}" for path, value in settings.items()]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(out, newline="") as lines:
            for row in csv.DictReader(lines):
                if row["predicted_iter_time_s"] and row["measured_iter_time_s"] and not row["excluded_reason"]:
                    ratio = float(row["predicted_iter_time_s"]) / float(row["measured_iter_time_s"])
                    found[row["training_runtime"]].append((int(re.sub(r"\D", "", row["id"])), ratio))
    return found


def error(rows, share=0.0):
    return sum(abs(ratio * (1 + share) - 1) for _, ratio in rows) / len(rows)


def even(rows):
    return [row for row in rows if row[0] % 2 == 0]


def odd(rows):
    return [row for row in rows if row[0] % 2]


def fit_stragglers(rows):
    return min((error(even(rows), share / 100), share / 100) for share in range(61))


def fit(file):
    settings = {f"{name}.training.straggler_share": 0 for name in RUNTIMES}
    for name in HIDES:
        path = f"{name}.training.hidden_communication"
        tried = []
        for tenths in range(10):
            rows = ratios(file, {**settings, path: tenths / 10})[name]
            tried.append((*fit_stragglers(rows), tenths / 10))
        settings[path] = min(tried)[2]
    found = ratios(file, settings)
    for name in RUNTIMES:
        settings[f"{name}.training.straggler_share"] = fit_stragglers(found[name])[1]
    return settings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--kept", action="store_true")
    options = parser.parse_args()
    settings = {} if options.kept else fit(options.file)
    for path, value in settings.items():
        print(f"{path} = {value}")
    found = ratios(options.file, settings)
    for name in RUNTIMES:
        rows = found[name]
        halves = [f"{len(half)} rows, MAPE {100 * error(half):.1f} %" for half in (even(rows), odd(rows))]
        print(f"{name}: fitted {halves[0]}; others {halves[1]}")


if __name__ == "__main__":
    main()

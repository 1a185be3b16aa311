#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits what iterations lose, and what allocators do, to measured iterations.

Of each runtime `straggler_share` and of chips of after the A100 `sustained_compute`, in
turns (steps of 0.01; of chips every 0.05 is predicted, and between them times are
linear in 1 / share); `contention` (0.1) and, of eager runtimes, `host_time_per_layer`
(the least of both within 5 % of the best), of those whose kernels hide communication
`hidden_communication` (0.1) and, to models with experts and with what was found of the
others, `routing_host_share` (0.01); with --of=peaks `allocator_overhead` (0.05). Found
are the values with the least mean of |predicted / measured - 1| over the rows that
count by the rules of `autopar validate`, which makes every prediction. Only rows whose
number is even are fitted; errors of the others say how well that carries over.

  scripts/calibration/fit_training.py FILE.json             times, with errors of both halves
  scripts/calibration/fit_training.py FILE.json --of=peaks  peaks of memory
  scripts/calibration/fit_training.py FILE.json --kept      of the values in runtimes, no fit

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

TOOL = pathlib.Path(__file__).resolve().parents[2] / "build/bin/autopar"
# A100s are the measure: what they lose cannot be told from `straggler_share`.
CHIPS = ("h100-sxm", "b200-sxm", "gb200", "gb300")
SHARES = (1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)
TURNS = 6
HIDES = ("nemo",)
EAGER = ("megatron", "megatron-deepspeed", "fsdp")
HOST_TIMES_US = (0, 500, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 10000)
CONTENTIONS = (0, 0.1, 0.2, 0.3, 0.4, 0.5)
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
        command += [f"--set={path}={value}" for path, value in settings.items()]
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


def stragglers(name):
    return f"runtimes.{name}.training.straggler_share"


def sustained(chip):
    return f"chips.{chip}.sustained_compute"


def rows_of_chips(options, settings):
    """chip -> (runtime, number of the row): those that its share changes."""
    whole = ratios(options, settings)
    found = {}
    for chip in CHIPS:
        slowed = ratios(options, {**settings, sustained(chip): SHARES[-1]})
        found[chip] = {(name, number) for name in whole
                       for (number, ratio), (_, other) in zip(whole[name], slowed[name]) if ratio != other}
    return found


def at_share(known, share):
    """What `known` of two of SHARES says of one between them."""
    above = max(i for i, one in enumerate(SHARES) if one >= share)
    if SHARES[above] == share:
        return known[above]
    part = (1 / share - 1 / SHARES[above]) / (1 / SHARES[above + 1] - 1 / SHARES[above])
    return known[above] * (1 - part) + known[above + 1] * part


def fit_shares(options, settings, present):
    """Shares of chips and runtimes, each the best for the others, in turns."""
    of_chips = rows_of_chips(options, {**settings, **{sustained(chip): 1 for chip in CHIPS}})
    chip_of = {row: chip for chip, rows in of_chips.items() for row in rows}
    known = collections.defaultdict(list)
    for share in SHARES:
        found = ratios(options, {**settings, **{sustained(chip): share for chip in CHIPS}})
        for name, rows in found.items():
            for number, ratio in even(rows):
                known[name, number].append(ratio)
    lost = {name: 0.1 for name in present}
    kept = {chip: 0.9 for chip in CHIPS}

    def mean_error(rows):
        return sum(error([(row, at_share(known[row], kept.get(chip_of.get(row), 1)))], lost[row[0]])
                   for row in rows) / len(rows)

    def settle(values, key, tried, rows):
        def error_at(value):
            values[key] = value
            return mean_error(rows)
        values[key] = min(tried, key=error_at)

    for _ in range(TURNS):
        for chip in CHIPS:
            rows = [row for row in known if chip_of.get(row) == chip]
            settle(kept, chip, [i / 100 for i in range(100, 69, -1)], rows)
        for name in present:
            settle(lost, name, [i / 100 for i in range(61)], [row for row in known if row[0] == name])
    return {**{stragglers(name): value for name, value in lost.items()},
            **{sustained(chip): value for chip, value in kept.items()}}


def fit_losses(options, settings, present):
    """What collectives beside kernels, and hosts, make kernels wait, whatever stragglers are."""
    contention = {name: f"runtimes.{name}.training.contention" for name in present}
    host = {name: f"runtimes.{name}.host_time_per_layer" for name in present if name in EAGER}
    tried = collections.defaultdict(list)
    for share in CONTENTIONS:
        for time in HOST_TIMES_US:
            both = {path: share for path in contention.values()} | {path: time for path in host.values()}
            found = ratios(options, {**settings, **both})
            for name in present if time == HOST_TIMES_US[0] else host:
                tried[name].append((fit_stragglers(found[name])[0], share, time))
    losses = {}
    for name, all_tried in tried.items():
        best = min(all_tried)[0]
        _, share, time = min((one for one in all_tried if one[0] <= SLACK * best), key=lambda one: one[1:])
        losses[contention[name]] = share
        if name in host:
            losses[host[name]] = time
    return losses


def fit_times(options):
    present = present_in(options)
    settings = {stragglers(name): 0 for name in present}
    settings |= fit_losses(options, settings, present)
    settings |= fit_shares(options, settings, present)
    for name in set(HIDES) & set(present):
        path, tried = f"runtimes.{name}.training.hidden_communication", []
        for tenths in range(10):
            rows = ratios(options, {**settings, stragglers(name): 0, path: tenths / 10})[name]
            tried.append((*fit_stragglers(rows), tenths / 10))
        _, settings[stragglers(name)], settings[path] = min(tried)
    for name in set(HIDES) & set(present):
        path, tried = f"runtimes.{name}.training.routing_host_share", []
        for hundredths in range(0, 31):
            rows = ratios(options, {**settings, path: hundredths / 100}, of_mixtures=True)[name]
            tried.append((error(even(rows)), hundredths / 100))
        settings[path] = min(tried)[1]
    return settings


def fit_peaks(options):
    settings = {}
    for name in present_in(options):
        path, tried = f"runtimes.{name}.training.allocator_overhead", []
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

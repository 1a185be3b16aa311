#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calibrates machines whose figures are known.

For each machine, every parameter of runtimes/calibration/parameters.json is
drawn from its prior; `autopar validate` predicts rows with them, which get 5 %
of noise; `autopar calibrate` sees the rows alone. Checks:

  coverage   90 % intervals have the drawn value of 80 to 97 % of parameters
  named      a parameter that moves no row by 0.1 % is not determined
  held out   the error of rows that were held out is below that before

Ends with a line `N passed, N failed, N skipped`.

usage: calibration.py [--bin DIR] [--machines N] [--quick]
"""

import argparse
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

NOISE = 0.05
HEAD = ["id", "backend", "model_path", "system", "isl", "osl", "lengths", "batch_size", "tp_size", "rounds", "silicon_ttft_ms", "silicon_tpot_ms"]


def rows():
    for model, tp in (("llama-3.1-8b", 1), ("llama-3.1-8b", 8), ("llama-3.1-70b", 8)):
        for prompt, answer in ((1024, 256), (8192, 256)):
            for concurrency in (1, 8, 64):
                yield [f"{model}-{tp}-{prompt}-{concurrency}", "sglang", model, "h100-sxm-8", prompt, answer, "mean", concurrency, tp, 8]


def write(path, measured):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        for row in rows():
            writer.writerow(row + list(measured(row[0])))


class Machine:
    def __init__(self, tool, folder, seed):
        self.tool, self.folder, self.draw = tool, folder, random.Random(seed)

    def run(self, *arguments):
        done = subprocess.run([str(self.tool), *arguments], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"error: autopar {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def predict(self, settings):
        table, output = self.folder / "asked.csv", self.folder / "predicted.csv"
        write(table, lambda _: (100, 10))
        self.run("validate", str(table), f"--predictions={output}", *[f"--set={path}={value!r}" for path, value in settings.items()])
        with open(output, newline="") as file:
            return {row["id"]: (float(row["predicted_ttft_ms"]), float(row["predicted_tpot_ms"])) for row in csv.DictReader(file)}

    def noisy(self, value):
        return value * math.exp(self.draw.gauss(0, NOISE))

    def calibrate(self, truth):
        table = self.folder / "measured.csv"
        write(table, lambda row: map(self.noisy, truth[row]))
        return json.loads(self.run("calibrate", str(table), "--json"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--machines", type=int, default=200)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    count = 6 if arguments.quick else arguments.machines
    passed, failures, inside, determined = 0, [], [], []
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(arguments.bin.resolve() / "autopar", pathlib.Path(folder), 0)
        today = machine.predict({})
        parameters = machine.calibrate(today)["parameters"]
        limits = {"efficiency": 1.0}
        silent = set()
        for one in parameters:
            more = one["before"] * (0.8 if one["path"].endswith("efficiency") else 1.25)
            moved = machine.predict({one["path"]: more})
            if all(abs(b / a - 1) < 1e-3 for row in today for a, b in zip(today[row], moved[row])):
                silent.add(one["path"])
        for seed in range(count):
            machine.draw = random.Random(seed + 1)
            truth = {}
            for one in parameters:
                value = one["before"] * math.exp(machine.draw.gauss(0, one["prior_spread"]))
                truth[one["path"]] = min(value, limits.get(one["path"].split(".")[-1], value))
            made = machine.calibrate(machine.predict(truth))
            for one in made["parameters"]:
                is_inside = one["low"] <= truth[one["path"]] <= one["high"]
                inside.append(is_inside)
                if one["is_determined"]:
                    determined.append(is_inside)
                if one["path"] in silent and one["is_determined"]:
                    failures.append(f"machine {seed}: {one['path']} moves nothing and is determined")
                else:
                    passed += 1
            for one in made["quantities"]:
                if one["mape_held_out_percent"] > max(one["mape_before_percent"], 100 * 1.6 * NOISE):
                    failures.append(f"machine {seed}: held-out error of {one['name']} {one['mape_held_out_percent']:.1f} %, before {one['mape_before_percent']:.1f} %")
                else:
                    passed += 1
    coverage = sum(inside) / len(inside)
    of_determined = sum(determined) / max(1, len(determined))
    print(f"{count} machines, {len(parameters)} parameters each, {len(silent)} that move no row")
    print(f"in their 90 % interval: {100 * coverage:.1f} % of all, {100 * of_determined:.1f} % of the {len(determined)} that are determined")
    if 0.80 <= coverage <= 0.97:
        passed += 1
    else:
        failures.append(f"coverage {100 * coverage:.1f} %")
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{passed} passed, {len(failures)} failed, 0 skipped")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

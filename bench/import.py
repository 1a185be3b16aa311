#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole-process time and memory of importing each config of a folder.

Runs the configs round-robin, so that noise of the machine falls on all alike,
and prints for each the median and the least wall time, the largest resident
size and the lines of IR; the slowest last."""

import argparse
import glob
import os
import statistics
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(tool, config, output):
    start = time.perf_counter()
    process = subprocess.Popen([tool, "--import-hf", config, "-o", output])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{config}: failed")
    return time.perf_counter() - start, usage.ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--configs", default=os.path.join(ROOT, "models"))
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    tool = os.path.join(options.bin, "autopar-translate")
    configs = sorted(glob.glob(os.path.join(options.configs, "*", "config.json")))
    times, memory, lines = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "model.mlir")
        for _ in range(options.runs):
            for config in configs:
                seconds, kib = run(tool, config, output)
                times.setdefault(config, []).append(seconds * 1e3)
                memory[config] = max(memory.get(config, 0), kib)
                with open(output) as file:
                    lines[config] = sum(1 for _ in file)
    for config in sorted(configs, key=lambda one: statistics.median(times[one])):
        print(f"{statistics.median(times[config]):7.1f} ms  {min(times[config]):6.1f} ms at least  "
              f"{memory[config] / 1024:5.1f} MiB  {lines[config]:4d} lines  {os.path.basename(os.path.dirname(config))}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole-process time and memory of `autopar-opt --shard-tp=8 --estimate`.

Runs each model in turn, round-robin, so that noise of the machine falls on all
alike, and prints the median wall time, the largest resident size, and the ratio
of times to the first model's. With --instructions: how many instructions of
user space each takes, which valgrind's callgrind counts."""

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
import time

# A model of 1,000 layers, and one of 1,000 layers and 1,000,000 experts: the
# size of the IR and the time to handle it follow the distinct layers.
VARIANTS = [
    ("llama-3.1-405b", "llama-3.1-405b", {}),
    ("qwen3-235b-a22b", "qwen3-235b-a22b", {}),
    ("llama-3.1-405b, 1,000 layers", "llama-3.1-405b",
     {"num_hidden_layers": 1000}),
    ("qwen3-235b-a22b, 1,000 layers, 1,000,000 experts", "qwen3-235b-a22b",
     {"num_hidden_layers": 1000, "num_experts": 1000000}),
    ("llama-3.3-70b", "llama-3.3-70b", {}),
    ("deepseek-v3", "deepseek-v3", {}),
]


def run(command):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)}: failed")
    return time.perf_counter() - start, usage.ru_maxrss


def instructions(command):
    process = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", process.stderr).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--models", default="models")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--instructions", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = []
        for index, (name, model, changes) in enumerate(VARIANTS):
            with open(f"{options.models}/{model}/config.json") as file:
                config = json.load(file) | changes
            path = f"{folder}/{index}.json"
            with open(path, "w") as file:
                json.dump(config, file)
            output = f"{folder}/{index}.mlir"
            subprocess.check_call([f"{options.bin}/autopar-translate",
                                   "--import-hf", path, "-o", output])
            commands.append((name, [f"{options.bin}/autopar-opt", "--shard-tp=8",
                                    "--estimate", output]))
        if options.instructions:
            print(f"{'millions':>9}  model")
            for name, command in commands:
                print(f"{instructions(command) / 1e6:9.2f}  {name}")
            return
        samples = [[] for _ in commands]
        for _ in range(options.runs):
            for index, (_, command) in enumerate(commands):
                samples[index].append(run(command))
    first = statistics.median(seconds for seconds, _ in samples[0])
    print(f"{'median ms':>9} {'max MB':>7} {'ratio':>6}  model")
    for (name, _), rows in zip(commands, samples):
        median = statistics.median(seconds for seconds, _ in rows)
        memory = max(size for _, size in rows) / 1000
        print(f"{median * 1e3:9.2f} {memory:7.1f} {median / first:6.2f}  {name}")


if __name__ == "__main__":
    main()

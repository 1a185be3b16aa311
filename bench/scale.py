#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole-process time of an estimate over layers, experts and devices.

Runs each case in turn, round-robin, so that noise of the machine falls on all
alike, and prints medians and their ratio to the first: 32 layers on 8 devices.
1,000 layers, 1,048,576 experts and 1,048,576 devices should stay within 2x."""

import argparse
import json
import statistics
import subprocess
import tempfile
import time

MODEL = "qwen3-30b-a3b"
SMALL = {"num_hidden_layers": 32}
LARGE = {"num_hidden_layers": 1000, "num_experts": 1 << 20}
FEW = ["--shard-tp=8", "--shard-ep=8", "--shard-sp"]
MANY = ["--shard-tp=8", "--shard-dp=131072", "--shard-ep=131072", "--shard-sp", "--batch=131072"]
CASES = [
    ("32 layers, 8 devices", SMALL, FEW),
    ("32 layers, 1,048,576 devices", {**SMALL, "num_experts": 1 << 20}, MANY),
    ("1,000 layers, 1,048,576 experts, 8 devices", LARGE, FEW),
    ("1,000 layers, 1,048,576 experts, 1,048,576 devices", LARGE, MANY),
    ("the same, ep = 1,048,576", LARGE, [f.replace("ep=131072", "ep=1048576") for f in MANY]),
    ("the same, fsdp", LARGE, [*MANY, "--fsdp"]),
]


def prepare(options, folder, index, changes):
    with open(f"{options.models}/{MODEL}/config.json", encoding="utf-8") as file:
        config = json.load(file) | changes
    path = f"{folder}/{index}.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    output = f"{folder}/{index}.mlir"
    subprocess.check_call([f"{options.bin}/autopar-translate", "--import-hf", path, "-o", output])
    return output


def run(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--models", default="models")
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = []
        for index, (_, changes, flags) in enumerate(CASES):
            model = prepare(options, folder, index, changes)
            commands.append([f"{options.bin}/autopar-opt", *flags, "--hardware=h100-sxm-8", "--nodes=131072",
                             "--estimate=json", "-o", f"{folder}/out.mlir", model])  # fmt: skip
        samples = [[] for _ in commands]
        lines = []
        for _ in range(options.runs):
            for index, command in enumerate(commands):
                samples[index].append(run(command))
                if len(lines) < len(commands):
                    with open(f"{folder}/out.mlir", encoding="utf-8") as file:
                        lines.append(len(file.readlines()))
    first = statistics.median(samples[0])
    print(f"{'median ms':>9} {'ratio':>6} {'IR lines':>8}  case")
    for (name, *_), rows, count in zip(CASES, samples, lines):
        median = statistics.median(rows)
        print(f"{median * 1e3:9.2f} {median / first:6.2f} {count:8}  {name}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Splits small models of random sizes by random flags, executes the result on
simulated devices and compares it with the unsplit model. What is refused must
say why.

Ends with a line `N passed, N failed`.

usage: random_plans.py [--bin DIR] [--count N] [--seed N] [--quick] [--show N]
"""

import json
import os
import random
import re
import sys
import tempfile

import drawn
from executed import MODELS, run

# Sizes that may differ without others: whole multiples of what they were.
SIZES = {
    "vocab_size": [97, 100, 128], "intermediate_size": [32, 48, 64], "num_key_value_heads": [1, 2, 4, 8],
    "num_experts_per_tok": [1, 2, 3], "moe_intermediate_size": [8, 16, 24], "sliding_window": [2, 3, 5],
    "moe_k": [1, 2, 3], "index_topk": [2, 3, 4],
}  # fmt: skip


def resized(config, rng):
    """`config` with a few sizes at random."""
    config = dict(config)
    for field, values in SIZES.items():
        if field in config and rng.random() < 0.4:
            config[field] = rng.choice(values)
    return config


def flags(rng):
    """The degrees of a plan and what goes with them, most of them 1."""
    degrees = {axis: rng.choice([1] * 8 + [2] * 8 + [4] * 4 + [3]) for axis in ["tp", "dp", "cp"]}
    if degrees["tp"] * degrees["dp"] * degrees["cp"] > 16:
        degrees["cp"] = 1
    said = [f"--shard-{axis}={degree}" for axis, degree in degrees.items() if degree > 1]
    ranks = degrees["tp"] * degrees["dp"] * degrees["cp"]
    optional = {
        "--shard-sp": 0.3 * (degrees["tp"] > 1), "--fsdp": 0.3 * (degrees["dp"] > 1),
        "--cp-kind=all-to-all": 0.5 * (degrees["cp"] > 1), "--shard-dcp=2": 0.2 * (degrees["tp"] > 1),
        f"--shard-attention-tp={rng.choice([1, 2])}": 0.2 * (degrees["tp"] > 1),
        f"--shard-ep={rng.choice([2, 4, 8])}": 0.4 * (ranks > 1), "--shard-etp=2": 0.1 * (ranks > 1),
    }  # fmt: skip
    said += [flag for flag, chance in optional.items() if rng.random() < chance]
    if any(flag.startswith("--shard-ep") for flag in said):
        said += [flag for flag in ("--dispatch-by-node", "--dispatch-dtype=fp8") if rng.random() < 0.3]
    return said


class Checker:
    def __init__(self, tools, folder, seed):
        self.tools, self.folder, self.seed = tools, folder, seed

    def check(self, number):
        """("passed" or "refused", "") or ("failed", why)."""
        rng = random.Random(f"{self.seed}/{number}")
        name = rng.choice(list(MODELS))
        config, plan = resized(MODELS[name], rng), flags(rng)
        base = f"{self.folder}/{number}"
        with open(f"{base}.json", "w", encoding="utf-8") as file:
            json.dump(config, file)
        batch, load = rng.choice([1, 2, 4, 5]), rng.choice(["7", "5,1", "4,2,1", "1,1,1", "3,3"])
        outcome = self.outcome(base, plan, batch, load)
        for suffix in [".json", ".mlir", ".split.mlir"]:
            if os.path.exists(base + suffix):
                os.remove(base + suffix)
        kind, why = outcome
        sizes = {field: config[field] for field in SIZES if config.get(field) != MODELS[name].get(field)}
        return kind, why and f"{name} {sizes or ''} {' '.join(plan)} batch {batch} steps of {load}: {why}"

    def outcome(self, base, plan, batch, load):
        whole, split = f"{base}.mlir", f"{base}.split.mlir"
        step = ["--phase=prefill", f"--batch={batch}", f"--prompt={load.split(',', 1)[0]}"]
        for command in [
            [f"{self.tools}/autopar-translate", "--import-hf", f"{base}.json", "-o", whole],
            [f"{self.tools}/autopar-opt", *plan, *step, whole, "-o", split],
        ]:
            code, said = run(command)
            if code:
                error = next((line for line in said.splitlines() if "error:" in line), said)
                # An error of an op that a pass wrote is an internal one, but for sizes
                # and where it says which flag would do.
                says_why = "' op " not in error or "does not divide" in error or re.search(r"note: (give|leave) --", said)
                refused = code == 1 and "error:" in error and says_why
                return ("refused", "") if refused else ("failed", error)
        code, said = run([f"{self.tools}/autopar-run", split, f"--check={whole}", f"--batch={batch}",
                          f"--query={load}"])  # fmt: skip
        same = not code and "the same on" in said
        return ("passed", "") if same else ("failed", said.splitlines()[0] if said else str(code))


def main():
    options = drawn.parse(__doc__, count=2000, quick=100)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(options.bin, folder, options.seed)
        said = "{refused} refused with a reason"
        return drawn.examine(checker.check, range(options.count), ["passed"], said, options.show)


if __name__ == "__main__":
    sys.exit(main())

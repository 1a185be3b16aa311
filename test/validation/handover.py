#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prefill under one plan, decode under another: the two modules of a
`parallel.link`, executed on simulated devices, against the unsplit model. The
caches and states of every kind of attention and recurrence change their layout
on the way.

Each model by each pair of plans by each load. What autopar-opt refuses must say
why. Ends with a line `N passed, N failed`.

usage: handover.py [--bin DIR] [--count N] [--seed N] [--quick] [--show N]
"""

import itertools
import json
import os
import random
import sys
import tempfile

import drawn
from executed import MODELS, SKEWED, run

# Of prefill and of decode.
PAIRS = [
    ("", "--shard-tp=4"), ("--shard-tp=2", "--shard-tp=8"), ("--shard-tp=8", "--shard-dp=2"),
    ("--shard-tp=2", "--shard-dp=2 --fsdp"), ("--shard-dp=4", "--shard-tp=2 --shard-dp=2"),
    ("--shard-cp=2", "--shard-tp=2"), ("--shard-cp=4", "--shard-dp=4"), ("--shard-tp=2", "--shard-cp=3"),
    ("--shard-cp=2 --cp-kind=all-to-all", "--shard-tp=4"), ("--shard-dp=2", "--shard-cp=2 --cp-kind=all-to-all"),
    ("--shard-cp=2 --shard-tp=2", "--shard-tp=4 --shard-dcp=2"),
    ("--shard-tp=2 --shard-sp", "--shard-tp=8 --shard-dcp=4"),
    ("--shard-tp=4 --shard-dcp=2", "--shard-cp=2"), ("--shard-tp=4", "--shard-tp=4 --shard-attention-tp=1"),
    ("--stage-pp=2 --microbatches=2 --shard-tp=2", "--shard-tp=4"), ("--shard-dp=2", "--stage-pp=2 --microbatches=4"),
    ("--shard-ep=2 --shard-tp=4", "--shard-ep=4 --shard-dp=4"),
    ("--shard-ep=2 --shard-dp=2 --shard-cp=2", f"--shard-ep=4 --shard-dp=4 {SKEWED}=balanced --redundant-experts=4"),
]  # fmt: skip

# New tokens of each step; the first is the prefill.
LOADS = ["6,1,1", "4,2,1"]


def options(plan):
    """Flags as the options of a pass."""
    flags = [flag.removeprefix("--") for flag in plan.split()]
    return " ".join(flag if "=" in flag else f"{flag}=true" for flag in flags)


def pipeline(pair):
    """Two modules of one, each with its plan."""
    steps = ["phase=prefill batch=4 prompt=6", "phase=decode batch=4 context=7"]
    plans = [
        f"autopar-run-on-module{{module={name} pipeline=builtin.module(autopar-plan{{{options(plan)} {step}}})}}"
        for name, plan, step in zip(["prefill", "decode"], pair, steps)
    ]
    clone = "autopar-clone-module{names=prefill,decode link=true}"
    return f"--pass-pipeline=builtin.module({','.join([clone, *plans])})"


class Checker:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder

    def check(self, case):
        """("passed" or "refused", "") or ("failed", why)."""
        name, pair, load = case
        base = f"{self.folder}/{name}.{PAIRS.index(pair)}.{load}"
        kind, why = self.outcome(name, base, pair, load)
        for suffix in [".json", ".mlir", ".two.mlir"]:
            if os.path.exists(base + suffix):
                os.remove(base + suffix)
        return kind, why and f"{name} {pair[0] or 'whole'} -> {pair[1]} steps of {load}: {why}"

    def outcome(self, name, base, pair, load):
        with open(f"{base}.json", "w", encoding="utf-8") as file:
            json.dump(MODELS[name], file)
        whole, two = f"{base}.mlir", f"{base}.two.mlir"
        code, said = run([f"{self.tools}/autopar-translate", "--import-hf", f"{base}.json", "-o", whole])
        if code:
            return "failed", said
        code, said = run([f"{self.tools}/autopar-opt", pipeline(pair), whole, "-o", two])
        if code:
            return ("refused", "") if "error:" in said else ("failed", said)
        command = [f"{self.tools}/autopar-run", two, f"--check={whole}", "--batch=4", f"--query={load}"]
        code, said = run(command)
        if code == 0 and "the same on" in said and "and then" in said:
            return "passed", ""
        return "failed", next((line for line in said.splitlines() if "error" in line), said[:200])


def main():
    options = drawn.parse(__doc__, None, 40)
    cases = list(itertools.product(MODELS, PAIRS, LOADS))
    if options.count:
        cases = random.Random(options.seed).sample(cases, options.count)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(options.bin, folder)
        said = "{passed} handed over, {refused} pairs of plans refused with a reason"
        return drawn.examine(checker.check, cases, ["passed"], said, options.show)


if __name__ == "__main__":
    sys.exit(main())

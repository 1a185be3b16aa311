#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes small models in one step and in several of the same tokens: the
logits of the last token must be the same, whatever caches and states kept in
between: `autopar-run --inputs-by-position --query=9` and `--query=8,1`.

Each model that caches or keeps a state, unsplit and by some plans. Logits of a
split module are compared with those of the unsplit one in one step. Caches that
one plan fills and another one reads are not tested here.
Ends with a line `N passed, N failed`.

usage: decode_equals_prefill.py [--bin DIR] [--count N] [--seed N] [--quick] [--show N]
"""

import itertools
import random
import subprocess
import sys
import tempfile

import drawn
from executed import MODELS, Cases, run

PLANS = ["", "--shard-tp=2", "--shard-cp=2", "--shard-tp=4 --shard-dcp=2", "--shard-ep=2 --shard-dp=2"]
# Steps of nine tokens together.
LOADS = ["8,1", "4,4,1", "6,1,1,1"]
TOLERANCE = 1e-9


def last_logits(printed, batch):
    """Of the last result that is printed, the row of each sequence's last token."""
    line = printed.strip().splitlines()[-1]
    shape, _, numbers = line[1:].partition("]")
    sizes = [int(size) for size in shape.split(",")]
    values = [float(number) for number in numbers.split()]
    each, width = len(values) // batch, sizes[-1]
    return [values[(b + 1) * each - width : (b + 1) * each] for b in range(batch)]


def difference(rows, expected):
    """The largest, relative to the largest logit; infinite where shapes differ."""
    if [len(row) for row in rows] != [len(row) for row in expected]:
        return float("inf")
    scale = max(abs(x) for row in expected for x in row)
    # NaN is the largest too.
    far = [abs(a - b) for row, other in zip(rows, expected) for a, b in zip(row, other)]
    return max(far) / scale if all(x == x for x in far) else float("inf")


class Steps:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.cases = Cases(tools, folder)
        self.wholes = {}
        for name in MODELS:
            module, said = self.cases.whole(name)
            if said:
                raise SystemExit(f"error: {name}: {said}")
            with open(module, encoding="utf-8") as file:
                text = file.read()
            if "transformer.kv_cache" in text or "transformer.state" in text:
                self.wholes[name] = module

    def logits(self, module, load, batch=4):
        command = [f"{self.tools}/autopar-run", module, "--inputs-by-position", f"--batch={batch}", f"--query={load}"]
        # What an encoder reads comes with the first step, of which it has no more
        # positions than tokens: that of LOADS has four at least.
        command += ["--encoder-tokens=4"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode:
            return None, done.stderr.strip()
        return last_logits(done.stdout, batch), ""

    def check(self, case):
        """("same", ""), ("refused", "") of a plan, or ("failed", why)."""
        name, plan, load = case
        where, module = f"{name} {plan or 'unsplit'} {load}", self.wholes[name]
        expected, said = self.logits(module, "9")
        if expected is None:
            return "failed", f"{where}: one step: {said}"
        if plan:
            module = f"{self.folder}/{'.'.join(case).replace(' ', '')}.mlir"
            step = ["--phase=prefill", "--batch=4", "--prompt=9"]
            code, said = run([f"{self.tools}/autopar-opt", *plan.split(), *step, self.wholes[name], "-o", module])
            if code:
                return ("refused", "") if "error:" in said else ("failed", f"{where}: {said}")
        found, said = self.logits(module, load)
        if found is None:
            return "failed", f"{where}: {said}"
        off = difference(found, expected)
        return ("same", "") if off <= TOLERANCE else ("failed", f"{where}: differs by {off:.1e}")


def main():
    options = drawn.parse(__doc__, count=None, quick=60)
    with tempfile.TemporaryDirectory() as folder:
        steps = Steps(options.bin, folder)
        every = list(itertools.product(steps.wholes, PLANS, LOADS))
        chosen = random.Random(options.seed).sample(every, min(len(every), options.count or len(every)))
        said = f"{len(steps.wholes)} models: {{same}} the same, {{refused}} plans refused with a reason"
        return drawn.examine(steps.check, chosen, ["same"], said, options.show)


if __name__ == "__main__":
    sys.exit(main())

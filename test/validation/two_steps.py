#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a report rests on is in the module: a plan that is written to a file and
estimated later, with no flag, has the report of the one step, byte by byte.

The commands are those of golden_cases.py (plans, pipelines, placements of
experts, deployments); half of the reports are JSON, half text. A command that
is refused in one step must be in two.

Ends with a line `N passed, N failed`.

usage: two_steps.py [--bin DIR] [--models DIR] [--count N] [--seed N]
"""

import argparse
import concurrent.futures
import os
import random
import sys
import tempfile

from golden_cases import CASES
from plan_models import MODELS, Model
from plans import Tools

SHARES = {"plans": 0.5, "staged": 0.2, "placed": 0.2, "deployed": 0.1}
REFUSED = "refused alike"


def compare(tools, path, flags, form, scratch, index):
    """None, or what differs."""
    estimate = f"--estimate={form}"
    once = tools.run("autopar-opt", *flags, estimate, "-o", os.devnull, path)
    split = os.path.join(scratch, f"{index}.mlir")
    first = tools.run("autopar-opt", *flags, "-o", split, path)
    if first.returncode:
        return REFUSED if once.returncode else f"refused without a report: {first.stderr.strip()}"
    then = tools.run("autopar-opt", estimate, "-o", os.devnull, split)
    os.unlink(split)
    if once.returncode or then.returncode:
        if once.returncode and then.returncode:
            return REFUSED
        return f"refused in one way: {(once.stderr + then.stderr).strip()}"
    if once.stdout == then.stdout:
        return None
    pairs = zip(once.stdout.splitlines(), then.stdout.splitlines())
    return next((f"{a!r}, then {b!r}" for a, b in pairs if a != b), "one report is longer")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--models", default="models")
    parser.add_argument("--count", type=int, default=620)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tools = Tools(args.bin)
        models = [Model(name, args.models, os.path.join(scratch, ""), tools) for name in MODELS]
        paths = {model.name: model.path for model in models}
        cases = []
        for kind, (_, draw) in CASES.items():
            rng = random.Random(f"{args.seed} {kind}")
            cases += [draw(rng, models) for _ in range(round(args.count * SHARES[kind]))]

        def run(index):
            name, flags = cases[index]
            return compare(tools, paths[name], flags, ("json", "text")[index % 2], scratch, index)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(run, range(len(cases))))
    failed, refused = 0, found.count(REFUSED)
    for (name, flags), wrong in zip(cases, found):
        if wrong and wrong != REFUSED:
            failed += 1
            print(f"  FAIL {' '.join(flags)} {name}\n    {wrong}")
    print(f"  {refused} commands refused in one step and in two")
    print(f"{len(cases) - failed - refused} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

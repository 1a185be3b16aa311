#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Closed and open loops of one load: the TTFT of a closed loop is that of an open
loop at the rate which the closed one achieves, for random deployments (those of
services.py) from eight requests at once to half of what they serve at most, and
for two pools of a deployment. Nobody meets himself in a closed loop, so that it is
up to a few percent faster; the parts of each TTFT add up to it; and one request
alone waits for no step of others.

Ends with a line `N passed, N failed`.

usage: loops.py [--bin DIR] [--count N] [--seed N] [--quick] [--verbose]
"""

import argparse
import json
import os
import random
import subprocess
import sys

import services

MOST_APART = 0.05
# Shares of the most that is served.
LOADS = (0.02, 0.5)
AT_ONCE = (8, 16, 32, 64)
POOLS = [("llama-3.1-8b", "h100-sxm-8", 1), ("llama-3.3-70b", "h200-sxm-8", 4), ("deepseek-v3", "h200-sxm-8", 8)]


class Pools:
    """A module of two pools, with the calls of `services.Deployment`."""

    def __init__(self, draw, folder, model, system, tp):
        self.flags = [f"--runtime={draw.choice(services.RUNTIMES)}", f"--prompt={draw.randint(200, 4000)}",
                      f"--output-tokens={draw.randint(50, 500)}"]  # fmt: skip
        self.source = f"--import-hf {model}"
        bind = f"autopar-bind-target{{hardware={system}}}"
        self.passes = [
            "--autopar-clone-module=names=prefill,decode link=true",
            f"--autopar-run-on-module=module=prefill pipeline=builtin.module({bind},autopar-plan{{shard-tp={tp}}})",
            f"--autopar-run-on-module=module=decode pipeline=builtin.module({bind},"
            f"autopar-plan{{shard-tp={tp} phase=decode batch=8 context=1000}})",
        ]
        self.bin = folder

    def serving(self, _, *flags):
        def run(tool, *arguments, given=None):
            done = subprocess.run([os.path.join(self.bin, tool), *arguments], input=given, capture_output=True, text=True)
            if done.returncode:
                raise ValueError(done.stderr.strip())
            return done.stdout

        module = run("autopar-translate", *self.source.split())
        module = run("autopar-opt", *self.passes, given=module)
        report = run("autopar-opt", "--estimate=json", "--nodes=2", *self.flags, *flags, given=module)
        return json.loads(report)["serving"]


def check(tool, deployment, at_once):
    """What is wrong, or nothing; None where the load is none of the range."""
    most = deployment.serving(tool, "--rate=0.001")["saturates_at_per_s"]
    closed = deployment.serving(tool, f"--concurrency={at_once}")
    rate = closed["requests_per_s"]
    if not LOADS[0] * most <= rate <= LOADS[1] * most:
        return None
    opened = deployment.serving(tool, f"--rate={rate:.9g}")
    for loop in (closed, opened):
        ttft, parts = loop["ttft_us"]["mean"], sum(loop["ttft_parts_us"].values())
        if abs(parts / ttft - 1) > 1e-9:
            return f"parts of {parts} us where the TTFT is {ttft}"
    apart = closed["ttft_us"]["mean"] / opened["ttft_us"]["mean"] - 1
    if abs(apart) > MOST_APART:
        return f"TTFT of the closed loop {apart:+.1%} of the open one's"
    alone = deployment.serving(tool, "--concurrency=1")["ttft_parts_us"]
    if alone["step"] + alone["queue"] > 1e-6 * alone["prompt"]:
        return f"one request waits for others: {alone}"
    return f"{apart:+.1%}", rate / most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a quarter of them")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    draw = random.Random(args.seed)
    count = args.count // 4 if args.quick else args.count
    tool = os.path.join(args.bin, "autopar")
    passed = failed = tried = 0
    while passed + failed < count and tried < 20 * count:
        tried += 1
        if tried % 4 == 0:
            deployment = Pools(draw, args.bin, *draw.choice(POOLS))
        else:
            deployment = services.Deployment(draw, services.PLANS + services.LOCKED_PLANS, (0, 1))
        at_once = draw.choice(AT_ONCE)
        try:
            found = check(tool, deployment, at_once)
        except ValueError as error:
            found = str(error)
        if found is None:
            continue
        is_wrong = isinstance(found, str)
        failed, passed = failed + is_wrong, passed + (not is_wrong)
        if is_wrong or args.verbose:
            what = f"WRONG: {found}" if is_wrong else f"{found[0]} at {found[1]:.0%}"
            source = getattr(deployment, "source", "")
            print(f"{what}: {at_once} at once: {source} {' '.join(deployment.flags)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed < count else 0


if __name__ == "__main__":
    sys.exit(main())

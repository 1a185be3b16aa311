#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steady state of a service, a closed form, against its simulation: random
deployments (models, plans, machines, runtimes, lengths) at 5 to 90 % of the rate
at which they saturate, each with arrivals of its own and as many requests as
replace those that run at once 180 times.

Every deployment checks what both must say alike: Little's law, the rate that is
served, and that reports keep their schema's order of percentiles. All together
are compared in the mean TPOT, the mean TTFT and the p99 of TTFT. The errors below
which 90 of 100 are have a bar, of each kind and of all kinds, which is said to be
missed where it is, and limits that fail: the bar, or somewhat above what was
measured, as simulations scatter. Of replicas that step together near saturation, what evicts
or has no steady state is said, and no failure.

Ends with a line `N passed, N failed`.

usage: services.py [--bin DIR] [--count N] [--seed N] [--requests N] [--turnovers N]
                   [--verbose]
"""

import argparse
import concurrent.futures
import json
import math
import os
import random
import subprocess
import sys

# Model, machines, and flags of plans that one node of them holds.
PLANS = [
    ("llama-3.1-8b", ("h100-sxm-8", "b200-sxm-8"), ("--shard-tp=1", "--shard-tp=2", "--shard-tp=2 --shard-dp=4")),
    ("llama-3.3-70b", ("h200-sxm-8", "h100-sxm-8"), ("--shard-tp=8", "--shard-tp=4", "--shard-tp=4 --shard-dp=2")),
    ("gpt-oss-120b", ("h100-sxm-8", "b200-sxm-8"), ("--shard-tp=4", "--shard-tp=8", "--shard-tp=2")),
    ("qwen3-30b-a3b", ("h100-sxm-8",), ("--shard-tp=2", "--shard-tp=4 --shard-ep=4")),
    ("qwen3-235b-a22b", ("h200-sxm-8",), ("--shard-tp=8 --shard-ep=8",)),
    ("deepseek-v3", ("h200-sxm-8", "b200-sxm-8"), ("--shard-tp=8 --shard-ep=8",)),
]  # fmt: skip
# Replicas that step together, whose prompts delay all. Near saturation caches may
# be full, and requests wait for room, which times of the closed form do not have:
# those whose report says so are not judged.
LOCKED_PLANS = [
    ("qwen3-235b-a22b", ("h200-sxm-8",), ("--shard-tp=4 --shard-dp=2 --shard-ep=8",)),
    ("deepseek-v3", ("h200-sxm-8", "b200-sxm-8"), ("--shard-tp=8 --shard-attention-tp=1 --shard-ep=8",)),
]
# Of one simulation.
MOST_REQUESTS = 1_000_000
RUNTIMES = ("vllm", "sglang", "trtllm")
# Of the errors that 90 of 100 deployments are below: what is wanted; and, from and
# up to which load, what fails, and whether what has no steady state does.
BARS = {"tpot": 0.04, "ttft": 0.06, "p99_ttft": 0.18}
KINDS = {
    "engines": (PLANS, (0.05, 0.9), {"tpot": 0.04, "ttft": 0.06, "p99_ttft": 0.18}, True),
    "in lock step": (LOCKED_PLANS, (0.05, 0.4), {"tpot": 0.04, "ttft": 0.06, "p99_ttft": 0.20}, True),
    # 0.30 while steps of decoding stood in first tokens: the same milliseconds are a larger share now.
    "in lock step, near saturation": (LOCKED_PLANS, (0.4, 0.9), {"tpot": 0.09, "ttft": 0.15, "p99_ttft": 0.40}, False),
}
LIMITS_OF_ALL = {"tpot": 0.04, "ttft": 0.06, "p99_ttft": 0.18}


def lengths(draw, least, most):
    mean = draw.randint(least, most)
    law = draw.choice(("fixed", "uniform", "lognormal"))
    if law == "uniform":
        return f"uniform:{mean // 2}..{mean * 3 // 2}"
    return f"lognormal:{mean},0.6" if law == "lognormal" else str(mean)


class Deployment:
    def __init__(self, draw, plans, loads):
        model, machines, plans = draw.choice(plans)
        self.flags = [model, f"--hardware={draw.choice(machines)}", *draw.choice(plans).split(),
                      f"--runtime={draw.choice(RUNTIMES)}", f"--prompt={lengths(draw, 100, 6000)}",
                      f"--output-tokens={lengths(draw, 50, 1000)}"]  # fmt: skip
        self.load = draw.uniform(*loads)
        # Arrivals of its own: those of one seed are all slow or all fast.
        self.seed = draw.randrange(1000)

    def serving(self, tool, *flags):
        done = subprocess.run([tool, "estimate", *self.flags, *flags, "--json"], capture_output=True, text=True)
        if done.returncode:
            raise ValueError(done.stderr.strip())
        return json.loads(done.stdout)["serving"]

    def run(self, tool, requests, turnovers):
        """The errors of the closed form, by name."""
        most = self.serving(tool, "--rate=0.001")["saturates_at_per_s"]
        self.flags.append(f"--rate={self.load * most:.6g}")
        # A steady state is where those that run at once were replaced often.
        inside = self.serving(tool)["running"]
        requests = min(MOST_REQUESTS, max(requests, round(turnovers * inside)))
        serving = self.serving(tool, f"--simulate={requests}", f"--seed={self.seed}")
        self.check(serving)
        self.fills_room = serving["fills_room"]
        simulated = serving["simulation"]
        pairs = {"tpot": ("tpot_us", "mean"), "ttft": ("ttft_us", "mean"), "p99_ttft": ("ttft_us", "p99")}
        return {name: serving[key][at] / simulated[key][at] - 1 for name, (key, at) in pairs.items()}

    def check(self, serving):
        for source in (serving, serving["simulation"]):
            for key in ("ttft_us", "tpot_us", "request_us"):
                times = [source[key][at] for at in ("p50", "p90", "p95", "p99")]
                if times != sorted(times):
                    raise ValueError(f"percentiles of {key}: {times}")
        # Little's law, for all that are in the deployment but for what servers add.
        inside = serving["running"] + serving["waiting"]
        whole = serving["requests_per_s"] * serving["request_us"]["mean"] / 1e6
        if inside > 1.05 * whole + 0.01:
            raise ValueError(f"{inside} run or wait, but a rate times a time is {whole}")
        served = serving["simulation"]["requests_per_s"]
        if abs(served / serving["requests_per_s"] - 1) > 0.1:
            raise ValueError(f"{served} requests/s in the simulation, {serving['requests_per_s']} asked")


def quantile(errors, share):
    ordered = sorted(abs(error) for error in errors)
    return ordered[int(share * (len(ordered) - 1))]


def compare(tool, args, deployments, wrong_word):
    """The errors of each, or None; says what is wrong."""

    def run(deployment):
        try:
            return deployment, deployment.run(tool, args.requests, args.turnovers), None
        except ValueError as error:
            return deployment, None, error

    results = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for deployment, error, wrong in pool.map(run, deployments):
            # The report says that its times lack what requests wait for room.
            if error and deployment.fills_room and wrong_word == "none":
                error, wrong = None, "requests wait for room, as the report says"
            results.append(error)
            if wrong:
                print(f"{wrong_word}: {' '.join(deployment.flags)}: {wrong}")
            elif args.verbose:
                text = ", ".join(f"{name} {value:+.1%}" for name, value in error.items())
                print(f"{text} at {deployment.load:.0%}: {' '.join(deployment.flags)}")
    return results


def allowed_beyond(count):
    """How many of `count` deployments of a sample are beyond a limit that 90 of
    100 keep: more than so many are in 1 of 100 samples."""
    chance = beyond = 0
    while (chance := chance + math.comb(count, beyond) * 0.1**beyond * 0.9 ** (count - beyond)) < 0.99:
        beyond += 1
    return beyond


def judge(kind, limits, results, is_sample):
    """How many deployments and limits are good."""
    errors = [error for error in results if error]
    good = len(errors)
    for name, bar in BARS.items():
        all_of = [error[name] for error in errors]
        if not all_of:
            continue
        typical, most = quantile(all_of, 0.5), quantile(all_of, 0.9)
        missed = "" if most <= bar else f", missed: {bar:.0%}"
        print(f"{kind}: {name}: {typical:.1%} in the median, 90 of 100 below {most:.1%}{missed}")
        if name not in limits:
            continue
        beyond = sum(error > limits[name] for error in all_of)
        holds = beyond <= allowed_beyond(len(all_of)) if is_sample else most <= limits[name]
        good += holds
        if not holds:
            print(f"FAIL: {kind}: {name}: expected 90 of 100 below {limits[name]:.0%}")
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--requests", type=int, default=20000)
    parser.add_argument("--turnovers", type=int, default=180)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    tool = os.path.join(args.bin, "autopar")
    draw = random.Random(args.seed)
    # A few deployments say little of 90 of 100.
    is_sample = args.count < 100
    passed = failed = 0
    all_results = []
    for kind, (plans, loads, limits, is_steady) in KINDS.items():
        count = args.count if plans is PLANS else args.count // 5
        deployments = [Deployment(draw, plans, loads) for _ in range(count)]
        results = compare(tool, args, deployments, "FAIL" if is_steady else "none")
        all_results += results
        good = judge(kind, limits, results, is_sample)
        passed += good
        judged = results if is_steady else [error for error in results if error]
        failed += len(judged) + len(limits) - good
    good = judge("all", LIMITS_OF_ALL, all_results, is_sample) - sum(map(bool, all_results))
    passed += good
    failed += len(LIMITS_OF_ALL) - good
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

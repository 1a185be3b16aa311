#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stages win where there is a reason for them, and only there: ten spaces whose
best plan must have stages, and beside each one that lacks the reason, whose best
plan must not. The best of the other kind is at least 3 % worse, or does not fit.
All plans of a space, with every number of microbatches, are listed here and
estimated one by one (`autopar estimate --json`): the search must find the same
best plan and the same frontier, bit for bit, and say where all others went.

Ends with a line `N passed, N failed`.

usage: staged_searches.py [--bin DIR] [--quick] [--self-test] [--verbose]
"""

import argparse
import concurrent.futures
import json
import math
import os
import subprocess
import sys
import tempfile

from search import divisors, frontier_of, sizes_of, words_of

# By how much the best of the other kind is behind.
MARGIN = 1.03


def decode(batch, context=4096):
    return ["--phase=decode", f"--batch={batch}", f"--context={context}"]


def prefill(batch, prompt=2048):
    return ["--phase=prefill", f"--batch={batch}", f"--prompt={prompt}", f"--context={prompt}"]


def links(system, bandwidth, latency):
    """Between nodes, in bytes per second and microseconds."""
    path = f"--set=systems.{system}.tiers.scale_out"
    return [f"{path}.bandwidth={bandwidth}", f"{path}.latency={latency}"]


class Space:
    """`limits` name the values of some degrees; those of cp and dcp are 1."""

    def __init__(self, why, model, machine, devices, step, goal="throughput", sets=(), **limits):
        self.why, self.model, self.machine, self.devices = why, model, machine, devices
        self.step, self.goal, self.sets = step, goal, list(sets)
        self.experts = "ep" in limits
        self.limits = {"cp": [1], "dcp": [1], **limits}
        self.batch = next(int(flag.split("=")[1]) for flag in step if flag.startswith("--batch="))

    def flags(self):
        return [f"--hardware={self.machine}", *self.step, *self.sets]

    def text(self, **other):
        limits = {**self.limits, **other}
        words = [f"{name}={'|'.join(map(str, values))}" for name, values in limits.items()]
        return ",".join(words + ["sp=off", "fsdp=off"])

    def search(self, **other):
        return ["search", self.model, f"--devices={self.devices}", f"--goal={self.goal}", f"--space={self.text(**other)}", *self.flags(), "--json"]

    def plans(self):
        """(stages, microbatches, words) of each."""
        for sizes in sizes_of(self.devices, self.experts, self.limits):
            for words in words_of(sizes, self.experts):
                if "sp" in words or "fsdp" in words:
                    continue
                if sizes["pp"] == 1:
                    yield 1, 1, ",".join(words)
                    continue
                for count in divisors(self.batch):
                    yield sizes["pp"], count, ",".join([*words, f"microbatches={count}", "schedule=inference", "interleave=1"])

    def estimate(self, words):
        nodes = max(1, -(-self.devices // (72 if "nvl72" in self.machine else 8)))
        return ["estimate", self.model, f"--plan={words}", f"--nodes={nodes}", *self.flags(), "--json"]


# One that stages win, for a reason; one that lacks it.
PAIRS = [
    (Space("all-reduces over tp 16 leave a node, over links of 1 GB/s", "llama-3.1-405b", "h100-sxm-8", 16, decode(64),
           sets=links("h100-sxm-8", 1e9, 50)),
     Space("links between nodes are as fast as those inside", "llama-3.1-405b", "h100-sxm-8", 16, decode(64),
           sets=links("h100-sxm-8", 450e9, 5))),
    (Space("tp stays inside a node, and two copies of the weights do not fit", "llama-3.1-405b", "h100-sxm-8", 16, decode(64),
           tp=[1, 2, 4, 8]),
     Space("tp may leave the node, over 50 GB/s", "llama-3.1-405b", "h100-sxm-8", 16, decode(32))),
    (Space("4 KV heads do not split over tp 8, and caches of 160k tokens fit only by layers", "qwen3-235b-a22b", "h100-sxm-8", 8,
           decode(3, 163840), ep=[1], etp=[1, 2, 4, 8]),
     Space("dcp splits the cache by tokens", "qwen3-235b-a22b", "h100-sxm-8", 8, decode(3, 131072), ep=[1], etp=[1, 2, 4, 8],
           dcp=[1, 2])),
    (Space("all-reduces of prompts over PCIe; copies do not fit", "llama-3.3-70b", "l40s-8", 8, prefill(16)),
     Space("each device holds a copy, and NVLink is there", "llama-3.3-70b", "gb200-nvl72", 8, prefill(16))),
    (Space("all-reduces of prompts over PCIe; one copy is all that fits", "falcon-180b", "h100-pcie-8", 8, prefill(16)),
     Space("a decode reads all weights of a stage for each microbatch", "falcon-180b", "h100-pcie-8", 8, decode(64))),
    (Space("all-reduces of prompts over PCIe; chunks follow each other through stages", "qwen2.5-32b", "rtx-4090-8", 8, prefill(16)),
     Space("one prompt of one chunk: stages wait for each other", "qwen2.5-32b", "rtx-4090-8", 8, prefill(1))),
    (Space("chunks of 16 prompts follow each other through the stages", "mistral-small-24b", "rtx-4090-8", 4, prefill(16)),
     Space("the latency of one sequence: stages save none of its time", "mistral-small-24b", "rtx-4090-8", 4, decode(1),
           goal="latency")),
    (Space("prompts of 16 sequences over 50 GB/s between nodes", "llama-3.1-405b", "h100-sxm-8", 16, prefill(16)),
     Space("the latency of one prompt", "llama-3.1-405b", "h100-sxm-8", 16, prefill(1), goal="latency")),
    (Space("all-reduces of prompts over PCIe; a device cannot hold a copy", "mixtral-8x22b", "l40s-8", 8, prefill(16), ep=[1]),
     Space("experts over two devices each, and a copy of the rest on all", "gpt-oss-120b", "l40s-8", 8, prefill(16), ep=[1])),
    (Space("all-reduces of 64 rows over PCIe cost more than reading weights twice", "qwen2.5-32b", "rtx-4090-8", 8, decode(64)),
     Space("16 rows: reading weights twice costs more than all-reduces", "qwen2.5-32b", "rtx-4090-8", 8, decode(16))),
]  # fmt: skip


class Tool:
    def __init__(self, binary, cache):
        self.binary = os.path.join(binary, "autopar")
        self.environment = {**os.environ, "AUTOPAR_CACHE": cache}

    def run(self, arguments):
        done = subprocess.run([self.binary, *arguments], capture_output=True, text=True, env=self.environment)
        return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr


def price(tool, space, plan):
    """(step, tokens/s, whether it fits, stages, microbatches) of a plan; None of
    an illegal one."""
    stages, microbatches, words = plan
    report, _ = tool.run(space.estimate(words))
    if report is None:
        return None
    return (report["latency"]["step_time_us"], report["throughput"]["tokens_per_s"],
            report["memory"]["per_device"]["fits"], stages, microbatches)  # fmt: skip


def rank(goal, price):
    """Less is better."""
    return price[0] if goal == "latency" else -price[1]


def winner(space, prices):
    return min((rank(space.goal, one) for one in prices), default=math.inf)


def check_reason(space, good, staged):
    """The best of all must be of the kind that the case is about, by far."""
    own = [one for one in good if (one[3] > 1) == staged]
    others = [one for one in good if (one[3] > 1) != staged]
    mine, theirs = winner(space, own), winner(space, others)
    ratio = theirs / mine if space.goal == "latency" else mine / theirs
    if not own or (others and ratio < MARGIN):
        return f"estimates: {'stages' if staged else 'no stages'} should win by {MARGIN}: {mine} against {theirs}"
    return None


def check_best(space, found, good, staged):
    if found["best"] is None:
        return "the search finds nothing"
    best = found["frontier"][found["best"]]
    plan = best["plan"]
    sizes = {axis["name"]: axis["size"] for axis in plan["axes"]}
    stages = sizes.get("pp", 1)
    microbatches = plan.get("pipeline", {}).get("microbatches", 1) if stages > 1 else 1
    if (stages > 1) != staged:
        return f"the winner is {best['label']}"
    least = winner(space, good)
    equal = [one for one in good if rank(space.goal, one) == least]
    said = (best["step_time_us"], best["tokens_per_s"], True, stages, microbatches)
    return None if said in equal else f"the search says {best['label']} {said}, estimates {equal}"


def check_rest(found, prices):
    good = [one for one in prices if one and one[2]]
    said = [(point["step_time_us"], point["tokens_per_s"]) for point in found["frontier"]]
    expected = frontier_of([(one[0], one[1]) for one in good])
    if said != expected:
        return f"frontier {said}, estimates {expected}"
    proof = found["proof"]
    counts = proof["evaluated"], proof["excluded"], proof["unfit"], proof["illegal"]
    unfit, illegal = sum(one is not None and not one[2] for one in prices), prices.count(None)
    # What a bound excludes may not fit, or be illegal.
    if proof["space"] != len(prices) or sum(counts) != len(prices) or counts[2] > unfit or counts[3] > illegal:
        return f"counts {proof}, of {len(prices)} estimates {unfit} do not fit, {illegal} are refused"
    return None


def check_winner(tool, space, found, folder):
    """The plan that the search names, as a file: an estimate says the same."""
    best = found["frontier"][found["best"]]
    path = os.path.join(folder, "plan.json")
    with open(path, "w") as file:
        json.dump(best["plan"], file)
    report, error = tool.run(space.estimate(path))
    if report is None:
        return error
    said = report["latency"]["step_time_us"], report["throughput"]["tokens_per_s"]
    return None if said == (best["step_time_us"], best["tokens_per_s"]) else f"the file of the plan is estimated at {said}"


def check(tool, space, staged, prices, found):
    """None, or what is wrong."""
    good = [one for one in prices if one and one[2]]
    wrong = check_reason(space, good, staged) or check_best(space, found, good, staged) or check_rest(found, prices)
    if wrong:
        return wrong
    with tempfile.TemporaryDirectory() as folder:
        return check_winner(tool, space, found, folder)


def compare(tool, pool, space, staged, verbose):
    prices = list(pool.map(lambda plan: price(tool, space, plan), space.plans()))
    found, error = tool.run(space.search())
    wrong = error if found is None else check(tool, space, staged, prices, found)
    if verbose and not wrong:
        others = [one for one in prices if one and one[2] and (one[3] > 1) != staged]
        best = found["frontier"][found["best"]]
        factor = rank(space.goal, min(others, key=lambda one: rank(space.goal, one))) if others else None
        print(f"{space.model} on {space.devices} of {space.machine}, {' '.join(space.step)}: {space.why}\n"
              f"  {best['label']}, {best['step_time_us']:.0f} us; of {len(prices)} plans, best of the other kind: "
              + (f"{abs(factor / rank(space.goal, (best['step_time_us'], best['tokens_per_s']))):.3f}" if factor else "none fits"))  # fmt: skip
    if wrong:
        print(f"autopar {' '.join(space.search())}\n  {space.why}\n  {wrong}")
    return not wrong


def self_test(tool, pool):
    """Answers that are wrong must fail: of a search without the stages that
    win, or with stages alone; numbers and counts that differ a little."""
    passed = failed = 0
    for staged, space in zip((True, False), PAIRS[9]):
        prices = list(pool.map(lambda plan: price(tool, space, plan), space.plans()))
        faults = {}
        faults["the other kind"], _ = tool.run(space.search(pp=[1] if staged else [2, 4]))
        for name in ("step_time_us", "tokens_per_s"):
            found, _ = tool.run(space.search())
            point = found["frontier"][found["best"]]
            point[name] = math.nextafter(point[name], math.inf)
            faults[name] = found
        found, _ = tool.run(space.search())
        found["proof"]["excluded"] += 1
        faults["excluded"] = found
        if staged:
            found, _ = tool.run(space.search())
            found["frontier"][found["best"]]["plan"]["pipeline"]["microbatches"] *= 2
            faults["microbatches"] = found
        for name, found in faults.items():
            noticed = found is None or check(tool, space, staged, prices, found)
            passed, failed = passed + bool(noticed), failed + (not noticed)
            if not noticed:
                print(f"not noticed, of {space.model}: {name}")
        # Nor may a case be about the wrong kind.
        good = [one for one in prices if one and one[2]]
        noticed = check_reason(space, good, not staged)
        passed, failed = passed + bool(noticed), failed + (not noticed)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--quick", action="store_true", help="two pairs of spaces")
    parser.add_argument("--self-test", action="store_true", help="wrong answers must fail")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tool = Tool(options.bin, cache)
        passed, failed = self_test(tool, pool) if options.self_test else (0, 0)
        pairs = [] if options.self_test else [PAIRS[6], PAIRS[9]] if options.quick else PAIRS
        for pair in pairs:
            for staged, space in zip((True, False), pair):
                good = compare(tool, pool, space, staged, options.verbose)
                passed, failed = passed + good, failed + (not good)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A search for training says what estimates of all plans of its space say: the
same frontier of memory and tokens/s, every number bit-equal, and as many plans
that do not fit or are illegal. Spaces are drawn small enough to estimate each
plan by itself, through the passes; the plans are listed here, not taken from
the search.

Ends with a line `N passed, N failed`.

usage: training_search.py [--bin DIR] [--count N] [--seed N] [--quick]
"""

import concurrent.futures
import itertools
import os
import random
import sys
import tempfile

from search import divisors, estimate_all, read_options, run, say, sizes_of

# Model, whether it has routed experts, its layers, machines.
SUBJECTS = [
    ("llama-3.2-1b", False, 16, ("h100-sxm-8", "a100-80gb-sxm-8")),
    ("llama-3.1-8b", False, 32, ("h100-sxm-8", "a100-80gb-sxm-8", "b200-sxm-8")),
    ("gpt2", False, 12, ("a100-80gb-sxm-8",)),
    ("gemma-7b", False, 28, ("h100-sxm-8",)),
    ("olmo-2-32b", False, 64, ("h100-sxm-8", "h200-sxm-8")),
    ("mixtral-8x7b", True, 32, ("h200-sxm-8",)),
    ("qwen3-30b-a3b", True, 48, ("h100-sxm-8", "b200-sxm-8")),
]  # fmt: skip
SCHEDULES = ("one_f_one_b", "interleaved", "gpipe", "zero_bubble")
RECOMPUTE = ("none", "selective", "full")
MOST = 300


class Space:
    def __init__(self, seed, quick):
        draw = random.Random(seed)
        while True:
            self.model, self.experts, self.layers, machines = draw.choice(SUBJECTS)
            self.devices, self.machine = draw.choice((1, 2, 4, 8, 16)), draw.choice(machines)
            self.context, self.runtime = draw.choice((512, 1024)), draw.choice(("megatron", "nemo", "fsdp2", "fsdp"))
            self.batches = sorted(draw.sample([4, 6, 16, 24, 64, 512], draw.choice((1, 1, 2))))
            self.limits = {}
            for name in ("pp", "tp", "cp", "dp", "ep", "etp"):
                if draw.random() < 0.5:
                    values = divisors(self.devices)
                    self.limits[name] = set(draw.sample(values, draw.randint(1, min(3, len(values)))))
            if draw.random() < 0.5:
                self.limits["shard_fsdp"] = set(draw.choices(divisors(self.devices), k=2))
            if not self.experts:
                self.limits.pop("ep", None)
                self.limits.pop("etp", None)
            self.some = {}
            for name, values in (("schedule", SCHEDULES), ("recompute", RECOMPUTE), ("zero", (0, 1, 2)), ("sp", ("off", "on")), ("fsdp", ("off", "on"))):
                if draw.random() < 0.6:
                    self.some[name] = [value for value in values if draw.random() < 0.5] or [values[0]]
            for name, values in (("micro_batch", (1, 2, 4)), ("microbatches", (1, 2, 8, 16)), ("interleave", (1, 2, 3, 4))):
                if draw.random() < 0.5:
                    self.some[name] = sorted(draw.sample(values, draw.randint(1, 3)))
            self.points = [point for batch in self.batches for point in self.list(batch)]
            if 0 < len(self.points) <= (60 if quick else MOST):
                return

    def wanted(self, name, values):
        return [value for value in values if value in self.some.get(name, values)]

    def list(self, batch):
        """(batch, words) of all plans."""
        for sizes in sizes_of(self.devices, self.experts, {**self.limits, "dcp": {1}}):
            if sizes["attention_tp"] != sizes["tp"] or batch % sizes["dp"]:
                continue
            for words in self.words_of(sizes):
                for passes in self.passes_of(sizes, batch // sizes["dp"]):
                    yield batch, words + passes

    def words_of(self, sizes):
        words = [f"{name}{sizes[name]}" for name in ("pp", "tp", "cp", "dp") if sizes[name] > 1 or name == "tp"]
        if self.experts and (sizes["ep"] > 1 or sizes["etp"] != sizes["tp"]):
            words += [f"ep{sizes['ep']}", f"etp{sizes['etp']}"]
        sp = self.wanted("sp", ("off", "on")) if sizes["tp"] > 1 else ["off"]
        stage = sizes["tp"] * sizes["cp"] * sizes["dp"]
        copies = sizes["dp"] * sizes["cp"] > 1 or sizes["ep"] * sizes["etp"] < stage
        splits = [["fsdp"]] if copies and "on" in self.wanted("fsdp", ("off", "on")) else []
        if not copies or "off" in self.wanted("fsdp", ("off", "on")):
            splits += [[f"zero={zero}"] if zero else [] for zero in (self.wanted("zero", (0, 1, 2)) if copies else (0,))]
        splits = [some for split in splits for some in self.parts_of(sizes["dp"] * sizes["cp"], split)]
        for one, split, again in itertools.product(sp, splits, self.wanted("recompute", RECOMPUTE)):
            yield words + (["sp"] if one == "on" else []) + split + [f"recompute={again}"]

    def parts_of(self, replicas, split):
        """`split` over each number of replicas that it may be; fsdp of a part says both."""
        wanted = self.limits.get("shard_fsdp", divisors(replicas))
        if replicas == 1 or not split:
            return [split] if 1 in wanted else []
        parts = [part for part in divisors(replicas) if part > 1 and part in wanted]
        return [split if part == replicas else [word for word in split if word != "fsdp"] + [f"fsdp{part}"] for part in parts]

    def passes_of(self, sizes, share):
        one, orders = 1 in self.wanted("interleave", [1]), []
        if sizes["pp"] == 1:
            orders = ["interleave=1"] if one else []
        else:
            for schedule in self.wanted("schedule", SCHEDULES):
                if schedule != "interleaved":
                    orders += [f"schedule={schedule}"] if one else []
                    continue
                virtual = divisors(max(1, self.layers // sizes["pp"]))
                orders += [f"schedule=interleaved,interleave={count}" for count in self.wanted("interleave", virtual) if count > 1]
        for size in self.wanted("micro_batch", divisors(share)):
            if share // size in self.wanted("microbatches", [share // size]):
                yield from ([f"micro-batch={size}", order] for order in orders)

    def flags(self):
        return [f"--hardware={self.machine}", "--phase=train", f"--context={self.context}", f"--runtime={self.runtime}"]

    def text(self):
        limits = [f"{name}={'|'.join(map(str, sorted(values)))}" for name, values in self.limits.items()]
        for name, values in self.some.items():
            if name not in ("sp", "fsdp") or len(values) == 1:
                limits.append(f"{name}=" + "|".join(map(str, values)))
        return ",".join(limits)

    def command(self):
        return ["search", self.model, f"--devices={self.devices}", "--batch=" + "|".join(map(str, self.batches)),
                *self.flags(), "--json"] + ([f"--space={self.text()}"] if self.text() else [])  # fmt: skip


def priced(binary, space, cache):
    """(bytes, tokens/s, time) of each plan that fits, and how many do not, or are illegal."""
    good, unfit, illegal = [], 0, 0
    for batch in space.batches:
        plans = [",".join(words) for point, words in space.points if point == batch]
        for row in estimate_all(binary, space, batch, plans, cache) if plans else []:
            if row["report"] is None:
                illegal += 1
                continue
            memory = row["report"]["memory"]["per_device"]
            unfit += not memory["fits"]
            if memory["fits"]:
                good.append((memory["total_bytes"], row["report"]["throughput"]["tokens_per_s"], row["report"]["latency"]["step_time_us"]))
    return good, unfit, illegal


def frontier_of(points):
    """No other is as good in both bytes and tokens/s and better in one."""
    best, kept = -1.0, []
    for point in sorted(points, key=lambda point: (point[0], -point[1])):
        if point[1] > best:
            kept.append(point)
            best = point[1]
    return kept


def compare(binary, seed, quick, cache):
    """None, or what differs."""
    space = Space(seed, quick)
    found = run(binary, space.command(), cache)
    proof = found["proof"]
    good, unfit, illegal = priced(binary, space, cache)
    said = [(point["total_bytes"], point["tokens_per_s"], point["step_time_us"]) for point in found["frontier"]]
    command = "autopar " + " ".join(space.command())
    if said != frontier_of(good):
        return f"{command}\n  frontier {said}\n  expected {frontier_of(good)}"
    counts = (proof["evaluated"], proof["excluded"], proof["unfit"], proof["illegal"])
    if proof["space"] != len(space.points) or counts != (len(good), 0, unfit, illegal):
        return f"{command}\n  counts {proof}, expected {len(good)} fit, {unfit} unfit, {illegal} illegal"
    return None


def main():
    options = read_options(__doc__, "8 small spaces")
    count = 8 if options.quick else options.count
    with tempfile.TemporaryDirectory() as cache, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return say(pool.map(lambda seed: compare(options.bin, seed, options.quick, cache), range(options.seed, options.seed + count)))


if __name__ == "__main__":
    sys.exit(main())

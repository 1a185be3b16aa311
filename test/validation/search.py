#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A search says what estimates of all plans of its space say: the same
frontier, every number bit-equal, and as many plans that do not fit or are
illegal. Spaces are drawn small enough to estimate each plan by itself, through
the passes; the plans are listed here, not taken from the search. In some, axes
lie on the machine in every order: those plans are files. In some, experts have
loads, and those on several devices copies. Then larger spaces,
whose frontier must be that of a search that excludes nothing.

Ends with a line `N passed, N failed`.

usage: search.py [--bin DIR] [--count N] [--seed N] [--quick] [--verbose]
"""

import argparse
import concurrent.futures
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile

# Model, its routed experts, devices, machines.
SUBJECTS = [
    ("llama-3.1-8b", 0, (1, 2, 4, 8), ("h100-sxm-8", "a100-sxm-80gb-8", "b200-sxm-8")),
    ("llama-3.3-70b", 0, (4, 8, 16), ("h100-sxm-8", "h200-sxm-8", "b200-sxm-8")),
    ("qwen3-235b-a22b", 128, (8, 16), ("h100-sxm-8", "h200-sxm-8")),
    ("deepseek-v3", 256, (8, 16), ("h200-sxm-8", "b200-sxm-8")),
    ("gpt-oss-120b", 128, (2, 4, 8), ("h100-sxm-8", "h200-sxm-8")),
    ("mixtral-8x7b", 8, (2, 4, 8), ("h100-sxm-8",)),
]  # fmt: skip
PHASES = [["--phase=decode", "--context=4096"], ["--phase=decode", "--context=700"],
          ["--phase=decode", "--context=32k"], ["--phase=prefill", "--prompt=2048", "--context=2048"],
          ["--phase=prefill", "--prompt=20000", "--context=20000"]]  # fmt: skip
LOADS = ("zipf:0.7", "log_normal:0.5")
MOST = 300


def divisors(value):
    return [i for i in range(1, value + 1) if value % i == 0]


def sizes_of(devices, experts, limits):
    """All sizes of a space, as dicts."""

    def wanted(name, values):
        return [value for value in values if name not in limits or value in limits[name]]

    for pp in wanted("pp", divisors(devices)):
        stage = devices // pp
        for tp in wanted("tp", divisors(stage)):
            for cp in wanted("cp", divisors(stage // tp)):
                for dp in wanted("dp", [stage // tp // cp]):
                    pairs = [(1, tp)]
                    if experts:
                        pairs = [(ep, etp) for ep in wanted("ep", divisors(stage)) for etp in wanted("etp", divisors(stage // ep))]
                    for (ep, etp), attention in itertools.product(pairs, wanted("attention_tp", divisors(tp))):
                        for dcp in wanted("dcp", divisors(attention)):
                            yield dict(pp=pp, tp=tp, cp=cp, dp=dp, ep=ep, etp=etp, attention_tp=attention, dcp=dcp)


def copies_of(sizes, experts, limits):
    """Slots for copies of experts that lie on several devices."""
    if "redundant_experts" in limits:
        return sorted(limits["redundant_experts"])
    slots = ((experts // sizes["ep"] + 2**i) * sizes["ep"] for i in itertools.count())
    return [0] + [count - experts for count in itertools.takewhile(lambda count: count <= 2 * experts, slots)]


def words_of(sizes, experts, load=None, limits=()):
    """A plan in words, and the choices that it has beside."""
    words = [f"{name.replace('_', '-')}{sizes[name]}" for name in ("pp", "tp", "cp", "dp") if sizes[name] > 1 or name == "tp"]
    if sizes["attention_tp"] < sizes["tp"]:
        words.append(f"attention-tp{sizes['attention_tp']}")
    if sizes["dcp"] > 1:
        words.append(f"dcp{sizes['dcp']}")
    stage = sizes["tp"] * sizes["cp"] * sizes["dp"]
    if experts and (sizes["ep"] > 1 or sizes["etp"] != sizes["tp"]):
        words += [f"ep{sizes['ep']}", f"etp{sizes['etp']}"]
    sp = ["", "sp"] if sizes["tp"] > 1 else [""]
    copies = sizes["dp"] * sizes["cp"] > 1 or sizes["ep"] * sizes["etp"] < stage
    fsdp = ["", "fsdp"] if copies else [""]
    kinds = ["cp-kind=ring", "cp-kind=all_to_all"] if sizes["cp"] > 1 else [""]
    placed = [""]
    if load and sizes["ep"] > 1:
        placed = [f"redundant-experts={count},expert-load={load}" for count in copies_of(sizes, experts, limits)]
    for choice in itertools.product(sp, fsdp, kinds, placed):
        yield words + [word for word in choice if word]


class Space:
    def __init__(self, seed, quick):
        draw = random.Random(seed)
        while True:
            self.model, self.experts, devices, machines = draw.choice(SUBJECTS)
            self.devices, self.machine = draw.choice(devices), draw.choice(machines)
            self.step = draw.choice(PHASES)
            self.orders = draw.random() < 0.25
            self.batches = sorted(draw.sample([1, 2, 3, 8, 16, 64, 256, 1000], 1 if self.orders else 2))
            self.limits = {}
            for name in ("pp", "tp", "cp", "dp", "attention_tp", "dcp", "ep", "etp"):
                if draw.random() < 0.5:
                    values = divisors(self.devices)
                    self.limits[name] = set(draw.sample(values, draw.randint(1, min(3, len(values)))))
            if not self.experts:
                self.limits.pop("ep", None)
                self.limits.pop("etp", None)
            self.micro = draw.choice([None, {1, 2, 4}])
            self.load = draw.choice([None, *LOADS]) if self.experts else None
            if self.load and draw.random() < 0.5:
                self.limits["redundant_experts"] = set(draw.sample([0, 8, 16, 24, 64], 2))
            self.points = [point for batch in self.batches for point in self.list(batch)]
            if 0 < len(self.points) and self.size() <= (60 if quick else MOST):
                return

    def list(self, batch):
        """(batch, words) of all plans."""
        for sizes in sizes_of(self.devices, self.experts, self.limits):
            for words in words_of(sizes, self.experts, self.load, self.limits):
                if sizes["pp"] == 1:
                    yield batch, words
                    continue
                for count in divisors(batch):
                    if not self.micro or count in self.micro:
                        yield batch, words + [f"microbatches={count}", "schedule=inference", "interleave=1"]

    def size(self):
        return len(self.points) * (24 if self.orders else 1)

    def flags(self):
        return [f"--hardware={self.machine}", *self.step]

    def text(self):
        limits = [f"{name}={'|'.join(map(str, sorted(values)))}" for name, values in self.limits.items()]
        if self.micro:
            limits.append("microbatches=" + "|".join(map(str, sorted(self.micro))))
        if self.orders:
            limits.append("order=all")
        return ",".join(limits)

    def command(self):
        return ["search", self.model, f"--devices={self.devices}", "--batch=" + "|".join(map(str, self.batches)),
                *self.flags(), "--json"] + ([f"--space={self.text()}"] if self.text() else []) + (
                    [f"--expert-load={self.load}"] if self.load else [])  # fmt: skip


def run(binary, arguments, cache):
    done = subprocess.run([os.path.join(binary, "autopar"), *arguments], capture_output=True, text=True, env={**os.environ, "AUTOPAR_CACHE": cache})
    if done.returncode != 0 or not done.stdout:
        raise RuntimeError(" ".join(arguments) + "\n" + done.stderr)
    return json.loads(done.stdout)


def estimate(binary, space, batch, plans, cache):
    """The rows of a table of plans: one that the flags refuse ends the command."""
    nodes = max(1, -(-space.devices // 8))
    padded = plans + [plans[-1]] * max(0, 3 - len(plans))
    separator = "," if plans[0].endswith(".json") else ";"
    try:
        table = run(binary, ["compare", space.model, "--plans=" + separator.join(padded), f"--batch={batch}", f"--nodes={nodes}",
                             *space.flags(), "--json"], cache)  # fmt: skip
        return table["rows"][: len(plans)]
    except RuntimeError:
        if len(plans) == 1:
            return [{"report": None}]
        half = len(plans) // 2
        return estimate(binary, space, batch, plans[:half], cache) + estimate(binary, space, batch, plans[half:], cache)


def estimate_all(binary, space, batch, plans, cache):
    return [row for first in range(0, len(plans), 60) for row in estimate(binary, space, batch, plans[first : first + 60], cache)]


def orders_of(plan, folder, number):
    """A plan of `autopar.plan/1` in all orders of its axes of several devices."""
    axes = plan.get("axes", [])
    movable = [i for i, axis in enumerate(axes) if axis["size"] > 1]
    for count, order in enumerate(itertools.permutations(movable)):
        own = dict(plan, axes=list(axes))
        for place, axis in zip(movable, order):
            own["axes"][place] = axes[axis]
        path = os.path.join(folder, f"{number}-{count}.json")
        with open(path, "w") as file:
            json.dump(own, file)
        yield path


def priced(binary, space, cache, folder):
    """(step, tokens/s) of each plan that fits, and how many do not, or are illegal."""
    good, unfit, illegal = [], 0, 0
    for batch in space.batches:
        plans = [",".join(words) for point, words in space.points if point == batch]
        rows = estimate_all(binary, space, batch, plans, cache) if plans else []
        if space.orders:
            files = []
            for number, row in enumerate(rows):
                if row["report"] is None:
                    # Refused whatever the order.
                    words = plans[number]
                    illegal += math.factorial(axes_of(words))
                    continue
                files += orders_of(row["report"]["plan"], folder, f"{batch}-{number}")
            rows = estimate_all(binary, space, batch, files, cache) if files else []
        for row in rows:
            if row["report"] is None:
                illegal += 1
            elif not row["report"]["memory"]["per_device"]["fits"]:
                unfit += 1
            else:
                good.append((row["report"]["latency"]["step_time_us"], row["report"]["throughput"]["tokens_per_s"]))
    return good, unfit, illegal


def axes_of(words):
    """A refused plan has no report: the atoms of its mesh by its words. Only of
    plans without experts and parts of tp."""
    if any(word in words for word in ("ep", "attention", "dcp")):
        raise LookupError
    return sum(1 for word in words.split(",") for name in ("pp", "tp", "cp", "dp") if word.startswith(name) and word[2:].isdigit() and int(word[2:]) > 1)


def frontier_of(points):
    """No other is as good in both and better in one."""
    best, steps = -1.0, []
    for step, tokens in sorted(points, key=lambda point: (point[0], -point[1])):
        if tokens > best:
            steps.append((step, tokens))
            best = tokens
    return steps


def compare(binary, seed, quick, cache):
    """None, or what differs."""
    space = Space(seed, quick)
    found = run(binary, space.command(), cache)
    full = run(binary, [*space.command(), "--verify"], cache)
    with tempfile.TemporaryDirectory() as folder:
        try:
            good, unfit, illegal = priced(binary, space, cache, folder)
        except LookupError:
            return ""
    expected = frontier_of(good)
    command = "autopar " + " ".join(space.command())
    for answer in (found, full):
        said = [(point["step_time_us"], point["tokens_per_s"]) for point in answer["frontier"]]
        if said != expected:
            return f"{command}\n  frontier {said}\n  expected {expected}"
    counts = counts_of(full["proof"])
    if full["proof"]["excluded"] or counts != (len(good), unfit, illegal):
        return f"{command}\n  counts {counts}, expected {(len(good), unfit, illegal)}"
    return wrong_proof(command, found, full)


def counts_of(proof):
    return proof["evaluated"], proof["unfit"], proof["illegal"]


def wrong_proof(command, found, full):
    """What a bound excludes may fit or not, or be illegal; all else is counted as without bounds."""
    proof = found["proof"]
    adds_up = sum(counts_of(proof)) + proof["excluded"] == proof["space"] == full["proof"]["space"]
    are_fewer = all(own <= all_ for own, all_ in zip(counts_of(proof), counts_of(full["proof"])))
    if not adds_up or not are_fewer:
        return f"{command}\n  proof {proof}, without bounds {full['proof']}"
    return None


def verify(binary, seed, cache):
    """A search with bounds and one without say the same."""
    draw = random.Random(seed)
    model, experts, _, machines = draw.choice(SUBJECTS[1:])
    devices = draw.choice((16, 32))
    batches = sorted(draw.sample([1, 2, 4, 7, 16, 33, 64, 256, 1000, 4096], 4))
    space = draw.choice(["cp=1", "sp=off", "cp=1|2,order=all,attention_tp=1|2|4,dcp=1", "pp=1|2|4,cp=1"])
    command = ["search", model, f"--devices={devices}", f"--hardware={draw.choice(machines)}", *draw.choice(PHASES),
               "--batch=" + "|".join(map(str, batches)), f"--space={space}", "--json"]  # fmt: skip
    bound, full = run(binary, command, cache), run(binary, [*command, "--verify"], cache)
    if full["proof"]["excluded"] or bound["frontier"] != full["frontier"]:
        return " ".join(command) + "\n  another frontier with --verify"
    if bound["rivals"] != full["rivals"] or within(bound) != within(full):
        return " ".join(command) + "\n  others are close with --verify"
    return wrong_proof(" ".join(command), bound, full)


def within(answer):
    """By choice, the values that are close to the best."""
    return {name: effect["within_5_percent"] for name, effect in answer["effects"].items()}


def read_options(description, quick):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help=quick)
    return parser.parse_args()


def say(answers):
    """Prints what is wrong with spaces, and counts those that nothing is wrong with. Returns the exit code."""
    passed = failed = 0
    for answer in answers:
        passed += answer is None
        if answer:
            failed += 1
            print(answer)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def main():
    options = read_options(__doc__, "10 small spaces, 2 larger ones")
    count = 10 if options.quick else options.count
    larger = 2 if options.quick else max(1, options.count // 15)
    with tempfile.TemporaryDirectory() as cache, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda seed: compare(options.bin, seed, options.quick, cache), range(options.seed, options.seed + count)))
        answers += pool.map(lambda seed: verify(options.bin, seed, cache), range(options.seed, options.seed + larger))
    skipped = answers.count("")
    if skipped:
        print(f"{skipped} spaces have refused plans with parts in every order: not compared")
    return say(answers)


if __name__ == "__main__":
    sys.exit(main())

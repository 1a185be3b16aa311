#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What capacities of experts drop, of drawn models, plans and loads:

* a greater factor drops no more, and never has fewer FLOPs;
* from the share of the hottest expert on nothing is dropped, and the report is
  that of the plan without a capacity;
* what is dropped of even loads, and what an expert takes, are those of the
  formula, written here again;
* padded experts work on as many rows as all of them take, whatever loads are;
* padding raises the FLOPs of the hardware and leaves those of the model;
* a module says the same of itself in a second step, byte by byte.

Ends with a line `N passed, N failed`.

usage: expert_capacity.py [--bin DIR] [--quick] [--count N] [--seed N]
"""

import argparse
import concurrent.futures
import json
import math
import os
import random
import subprocess
import sys
import tempfile

# Experts, and how many of them a token chooses.
MODELS = {"mixtral-8x7b": (8, 2), "qwen3-30b-a3b": (128, 8), "deepseek-v2-lite": (64, 6)}
PLANS = [
    "--shard-dp=8 --shard-ep=8", "--shard-dp=4 --shard-tp=2 --shard-sp --shard-ep=8 --shard-etp=1", "--shard-dp=8 --shard-ep=4",
    "--shard-dp=4 --shard-ep=4 --stage-pp=2", "--shard-dp=4 --shard-cp=2 --shard-ep=8",
    "--shard-dp=8 --shard-ep=8 --dispatch-dtype=fp8",
]  # fmt: skip
LOADS = ["", "", "even", "zipf:0.5", "zipf:1.0", "log_normal:0.24"]
FACTORS = [0.5, 0.8, 1, 1.25, 2, 4]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


class Case:
    def __init__(self, tools, folder, number, rng):
        self.tools, self.folder, self.number = tools, folder, number
        self.model = rng.choice(sorted(MODELS))
        self.experts, self.top_k = MODELS[self.model]
        self.load = rng.choice(LOADS)
        self.batch = rng.choice([8, 16])
        self.context = rng.choice([32, 509, 1000, 4096])
        self.plan = rng.choice(PLANS)
        if "--shard-cp" in self.plan:
            self.context += -self.context % 4
        if "--shard-sp" in self.plan:
            self.context += self.context % 2
        self.flags = ["--phase=train", f"--batch={self.batch}", f"--context={self.context}", "--runtime=megatron"]
        self.flags += self.plan.split() + ([f"--expert-load={self.load}"] if self.load else [])

    def __str__(self):
        return f"{' '.join(self.flags)} {self.model}"

    def report(self, *flags):
        done = run(f"{self.tools}/autopar", "estimate", self.model, *self.flags, *flags, "--json")
        if done.returncode:
            raise ValueError(f"{' '.join(flags)}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def limited(self, factor, *flags):
        return self.report(f"--expert-capacity-factor={factor}", *flags)

    @staticmethod
    def counts(report):
        """What a capacity that drops nothing leaves as it was."""
        training = {key: value for key, value in report["training"].items()
                    if key not in ("expert_capacity", "not_modelled")}
        return [training, report["flops"], report["memory"], report["latency"], report["communication"]]

    def expect(self, right, *what):
        if not right:
            raise ValueError(" ".join(str(part) for part in what))

    def check_formula(self, report, factor):
        own = report["training"]["expert_capacity"]
        degrees = {"--shard-tp=2": 2, "--shard-cp=2": 2}
        ways = math.prod(ways for flag, ways in degrees.items() if flag in self.plan)
        routed = self.context // ways * self.top_k
        taken = math.ceil(factor * routed / self.experts - 1e-9)
        self.expect(own["routed_tokens"] == routed, "routed", own, routed)
        self.expect(own["tokens"] == taken, "taken", own, taken)
        if not self.load:
            dropped = 1 - min(1, self.experts * taken / routed)
            self.expect(abs(own["dropped_share"] - dropped) < 1e-12, "dropped", own, dropped)

    def check(self):
        plain = self.report()
        before, flops = 1.0, 0
        for factor in FACTORS:
            report = self.limited(factor)
            self.check_formula(report, factor)
            own = report["training"]["expert_capacity"]
            self.expect(own["dropped_share"] <= before + 1e-12, factor, "drops more", own)
            self.expect(report["flops"]["total"] >= flops, factor, "has fewer FLOPs")
            before, flops = own["dropped_share"], report["flops"]["total"]
        enough = self.limited(self.experts)
        self.expect(enough["training"]["expert_capacity"]["dropped_share"] == 0, "enough drops something")
        self.expect(self.counts(enough) == self.counts(plain), "enough is not the plan without a capacity")
        self.check_padded()
        return self.check_two_steps()

    def check_padded(self):
        padded = self.limited(1.25, "--pad-experts-to-capacity")
        self.flags = [flag for flag in self.flags if not flag.startswith("--expert-load")]
        even = self.limited(1.25, "--pad-experts-to-capacity")
        self.expect(padded["flops"] == even["flops"], "padded experts follow their loads")
        self.expect(even["flops"]["total"] > self.limited(1.25)["flops"]["total"], "padding adds nothing")
        self.check_utilisation(even["training"]["flops"], self.report()["training"]["flops"])

    def check_utilisation(self, padded, plain):
        """Of even loads, which 1.25 times their mean do not drop of."""
        self.expect(abs(padded["model"] / plain["model"] - 1) < 1e-6, "padding is of the model", padded, plain)
        self.expect(plain["padding"] == 0 and padded["padding"] > 0, "padding is not told apart", padded, plain)
        self.expect(padded["forward"] - padded["padding"] == padded["model"] / 3, "model is not the rest", padded)
        self.expect(padded["hardware"] > plain["hardware"], "padding is not computed", padded, plain)

    def check_two_steps(self):
        module, split = (f"{self.folder}/{self.number}{part}.mlir" for part in ("", ".split"))
        flags = [*self.flags, "--expert-capacity-factor=0.8", "--pad-experts-to-capacity"]
        opt = f"{self.tools}/autopar-opt"
        run(f"{self.tools}/autopar-translate", "--import-hf", self.model, "-o", module)
        once = run(opt, *flags, "--estimate=json", "-o", os.devnull, module)
        run(opt, *flags, module, "-o", split)
        twice = run(opt, "--estimate=json", "-o", os.devnull, split)
        self.expect(once.stdout and once.stdout == twice.stdout, "other reports in two steps", once.stderr, twice.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        count = 8 if options.quick else options.count
        cases = [Case(options.bin, folder, number, rng) for number in range(count)]

        def tried(case):
            said = str(case)
            try:
                case.check()
            except ValueError as error:
                return f"{said}\n    {error}"
            return None

        for wrong in pool.map(tried, cases):
            if wrong:
                failed += 1
                print(f"  FAIL {wrong}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

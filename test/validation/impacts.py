#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What --impact says of each figure is what happens to reports when the figure
is set to a little more and a little less: time, memory and KV capacity of
staged plans of every schedule, and of prompts that are cut.

Times are whole picoseconds, so a difference is as exact as its roundings; of a
kink each side is compared on its own.

Ends with a line `N passed, N failed`.

usage: impacts.py [--bin DIR] [--quick] [--show]
"""

import argparse
import collections
import concurrent.futures
import json
import os
import sys
import tempfile

from plans import Tools

STEP = 1e-3
# The largest step that is taken for a small one, as a part of the figure.
COARSE = 0.1
TRAINED = "--phase=prefill --batch=32 --prompt=1024 --microbatches=16"
# Model, then the plan.
CASES = [
    ("llama-3.1-405b", "--shard-tp=8 --stage-pp=16 --nodes=16 --phase=prefill --batch=32 --prompt=2048"),
    ("llama-3.1-405b", "--shard-tp=8 --stage-pp=16 --interleave=2 --schedule=interleaved --nodes=16 " + TRAINED),
    ("llama-3.1-405b", "--shard-tp=8 --stage-pp=16 --nodes=16 --phase=decode --batch=64 --context=4096"),
    ("deepseek-v3", "--hardware=h200-sxm-8 --shard-tp=8 --stage-pp=4 --nodes=4 --phase=decode --batch=64 --context=4096"),
    ("deepseek-v3", "--hardware=h200-sxm-8 --shard-tp=8 --stage-pp=4 --nodes=4 --phase=prefill --batch=8 --prompt=5000"),
    ("deepseek-v3", "--hardware=h200-sxm-8 --shard-tp=8 --stage-pp=4 --nodes=4 --schedule=dual_pipe " + TRAINED),
    ("llama-3.3-70b", "--shard-tp=8 --stage-pp=4 --nodes=4 --schedule=1f1b " + TRAINED),
    ("llama-3.3-70b", "--shard-tp=8 --stage-pp=4 --nodes=4 --schedule=gpipe " + TRAINED),
    ("llama-3.3-70b", "--shard-tp=8 --stage-pp=4 --nodes=4 --schedule=zero_bubble " + TRAINED),
    ("llama-3.3-70b", "--shard-tp=4 --stage-pp=2 --stages=0-29,30-79 --phase=prefill --batch=2 --prompt=30000"),
    ("llama-3.3-70b", "--shard-tp=4 --stage-pp=2 --set=runtimes.vllm.kernel_floor=2.74 --phase=decode --batch=8 --context=4096"),
    ("gemma-2-27b", "--shard-tp=2 --stage-pp=4 --runtime=ideal --phase=decode --batch=8 --context=9000"),
    ("gpt-oss-120b", "--shard-tp=2 --shard-ep=2 --stage-pp=2 --phase=decode --batch=16 --context=4096"),
    ("llama-3.3-70b", "--shard-tp=8 --phase=prefill --batch=2 --prompt=30000"),
    ("llama-3.1-8b", "--shard-dp=8 --zero=1 --runtime=megatron --phase=train --batch=64 --context=4096"),
    ("llama-3.1-8b", "--shard-dp=2 --shard-tp=4 --shard-sp --fsdp --runtime=fsdp2 --recompute=full --phase=train --batch=64 --context=4096"),
    ("llama-3.3-70b", "--shard-tp=8 --shard-sp --stage-pp=4 --nodes=4 --interleave=2 --micro-batch=1 --runtime=nemo --phase=train --batch=32 --context=4096"),
    ("deepseek-v3", "--shard-dp=16 --shard-ep=16 --stage-pp=4 --nodes=8 --micro-batch=1 --runtime=nemo --recompute=full --phase=train --batch=256 --context=4096"),
]  # fmt: skip

Numbers = collections.namedtuple("Numbers", "time total capacity")
KEYS = ("step_time_us", "total_bytes", "kv_capacity_tokens")


class Plan:
    """A module whose stages are chosen, which is what figures do not change."""

    def __init__(self, tools, path):
        self.tools, self.path = tools, path
        self.report = self.estimate("--impact")
        self.at = self.numbers(self.report)

    def estimate(self, *flags):
        done = self.tools.run("autopar-opt", "--estimate=json", *flags, "-o", os.devnull, self.path)
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr

    @staticmethod
    def numbers(report):
        memory = report["memory"]
        return Numbers(report["latency"]["step_time_us"], memory["per_device"]["total_bytes"],
                       memory["kv_capacity_tokens"])  # fmt: skip

    def moved(self, impact, factor):
        report = self.estimate(f"--set={impact['figure']}={impact['value'] * factor!r}")
        return report if isinstance(report, str) else self.numbers(report)

    def sides(self, impact):
        """What 1 % less and 1 % more does, by differences; None where the figure cannot be set so."""
        value = impact["value"]
        step = max(1, round(value * STEP)) / value if value == int(value) else STEP
        less, more = self.moved(impact, 1 - step), self.moved(impact, 1 + step)
        if isinstance(less, str) or isinstance(more, str):
            return None
        # A whole number of few, as 2 or 6, moves by so much that a kink may lie in between.
        if step > COARSE and any(abs(a - 2 * old + b) > limit for a, old, b, limit in zip(less, self.at, more, self.tolerances())):
            return None
        return [[(new - old) / step / 100 for new, old in zip(side, self.at)] for side in (less, more)]

    def tolerances(self):
        # Roundings of thousands of times; of a capacity, to blocks of tokens.
        return 3e-7 * self.at.time, 1e-9 * self.at.total + 2, 16 / STEP / 100


def compare(plan, impact):
    """How far off the impact is, by number, in parts of its tolerance; None: cannot be set."""
    # Roundings have no slope, so what they round to has none.
    sides = None if impact["figure"].endswith(".kv_block_tokens") else plan.sides(impact)
    if not sides:
        return None
    said = [impact["one_percent_more"][key] for key in KEYS]
    less = impact.get("one_percent_less")
    wrong = []
    for i, tolerance in enumerate(plan.tolerances()):
        below, above = sides[0][i], sides[1][i]
        if less:
            # Of one side, the difference is off by what bends in a step.
            tolerance += STEP * (abs(above) + abs(below))
            off = max(abs(said[i] - above), abs(less[KEYS[i]] - below))
        else:
            off = abs(said[i] - (above - below) / 2)
        wrong.append(off / tolerance)
    return wrong


class Checks:
    def __init__(self, tools, scratch, show):
        self.tools, self.scratch, self.show = tools, scratch, show

    def write(self, model):
        self.tools.check("autopar-translate", "--import-hf", model, "-o", self.path(model))

    def path(self, name):
        return os.path.join(self.scratch, f"{name}.mlir")

    def run(self, case):
        """Lines to print, and how many impacts were right, wrong and not to be set."""
        model, flags = case
        path = self.path(CASES.index(case))
        self.tools.check("autopar-opt", *flags.split(), "-o", path, self.path(model))
        plan = Plan(self.tools, path)
        if isinstance(plan.report, str):
            return [f"  FAIL {model} {flags}: {plan.report}"], collections.Counter(wrong=1)
        lines, counts, worst = [], collections.Counter(), [0, 0, 0]
        for impact in plan.report["impact"]:
            off = compare(plan, impact)
            counts["unset" if off is None else "wrong" if max(off) > 1 else "right"] += 1
            counts["kinks"] += "one_percent_less" in impact
            if off is None:
                continue
            worst = list(map(max, worst, off))
            if max(off) > 1:
                lines.append(f"  FAIL {model} {flags}\n    {impact}: {off}")
        if self.show:
            lines.append(f"  {model} {flags}: of the tolerances of {', '.join(KEYS)} {worst}")
        return lines, counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--quick", action="store_true", help="every other plan")
    parser.add_argument("--show", action="store_true", help="the worst errors of each plan")
    args = parser.parse_args()
    cases = CASES[::2] if args.quick else CASES
    total = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(Tools(args.bin), scratch, args.show)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(checks.write, sorted({model for model, _ in cases})))
            for lines, counts in pool.map(checks.run, cases):
                total += counts
                for line in lines:
                    print(line)
    if not args.quick and not total["kinks"]:
        total["wrong"] += 1
        print("  FAIL no plan has a kink")
    print(f"  {len(cases)} plans, {total['kinks']} kinks, {total['unset']} figures that cannot be set so")
    print(f"{total['right']} passed, {total['wrong']} failed")
    return total["wrong"] != 0


if __name__ == "__main__":
    sys.exit(main())

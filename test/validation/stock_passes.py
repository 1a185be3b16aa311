#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs passes that come with MLIR on plans: split, staged, and with placed
experts. Each alone, then all in random orders; inlining once more where no
function asks not to be inlined. What they print parses, and prints as it is;
its report has the same bytes as before, and so has the list of its tensors.
Without those requests a module may be refused instead, with an error.

Ends with a line `N passed, N failed`.

usage: stock_passes.py [--bin DIR] [--models DIR] [--orders N] [--seed N]
                       [--quick] [--show N]
"""

import argparse
import concurrent.futures
import os
import random
import sys
import tempfile

from golden_cases import draw_placed, draw_plan, draw_staged
from plan_models import Model
from plans import Tally, Tools, first_error

PASSES = ("--cse", "--canonicalize", "--inline", "--symbol-dce", "--symbol-privatize=exclude=model",
          "--strip-debuginfo", "--sccp", "--loop-invariant-code-motion")  # fmt: skip
CHOSEN = ("llama-3.1-8b", "qwen2.5-7b", "starcoder2-7b", "gemma-2-27b", "mixtral-8x7b", "gpt-oss-20b", "deepseek-v3",
          "deepseek-v2-lite", "qwen3-next-80b-a3b", "lfm2-1.2b", "nemotron-3-nano-30b-a3b", "t5")  # fmt: skip
QUICK = ("llama-3.1-8b", "deepseek-v2-lite", "t5")
# Flags of a plan that are no part of the module.
OUTSIDE = ("--hardware", "--nodes", "--runtime", "--memory-utilization")
NO_INLINE = " attributes {no_inline}"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Plan:
    """A model that a plan has rewritten, and what is said about it."""

    def __init__(self, tools, path, flags):
        self.tools, self.path = tools, path
        self.outside = [flag for flag in flags if flag.split("=")[0] in OUTSIDE]
        self.stripped = f"{path}.stripped.mlir"
        text = read(path)
        with open(self.stripped, "w", encoding="utf-8") as file:
            file.write(text.replace(NO_INLINE, ""))
        self.may_inline = NO_INLINE in text
        self.said = self.says(path, os.devnull)

    def says(self, path, again):
        """Exit code, report, tensors, errors; prints the module to `again`."""
        done = self.tools.run("autopar-opt", path, "--autopar-list-tensors", *self.outside, "--estimate=json", "-o", again)
        lines = done.stderr.splitlines()
        tensors = [line for line in lines if "\t" in line]
        return done.returncode, done.stdout, tensors, first_error(done.stderr) if done.returncode else ""

    def problems(self, passes, stripped):
        with tempfile.TemporaryDirectory(dir=os.path.dirname(self.path)) as folder:
            output, again = os.path.join(folder, "output.mlir"), os.path.join(folder, "again.mlir")
            before = self.stripped if stripped else self.path
            done = self.tools.run("autopar-opt", before, *passes, "-o", output)
            if done.returncode:
                refused = stripped and done.returncode == 1 and "error: " in done.stderr
                return [] if refused else [("passes fail", done.stderr[:300])], False
            code, report, tensors, error = self.says(output, again)
            if code:
                return [("what is printed is refused", error)], True
            found = []
            if report != self.said[1]:
                found.append(("report", "differs"))
            if tensors != self.said[2]:
                found.append(("tensors", f"{len(tensors)} instead of {len(self.said[2])}, or others"))
            if read(again) != read(output):
                found.append(("text", "prints otherwise when it is read"))
            return found, read(output) != read(before)


def draw_plans(rng, tools, model, folder):
    """A split, a staged and, where there are experts, a placed plan that are legal."""
    for kind, draw in (("split", draw_plan), ("staged", draw_staged), ("placed", draw_placed)):
        if kind == "placed" and not model.experts:
            kind, draw = "split again", draw_plan
        for attempt in range(100):
            _, flags = draw(rng, [model])
            path = os.path.join(folder, f"{model.name}.{kind}.{attempt}.mlir".replace(" ", "-"))
            done = tools.run("autopar-opt", *flags, "--estimate=json", model.path, "-o", path)
            plan = Plan(tools, path, flags) if done.returncode == 0 else None
            if plan and plan.said[0] == 0 and plan.said[2]:
                yield plan, f"{' '.join(flags)} {model.path}"
                break
        else:
            raise SystemExit(f"{model.name}: no {kind} plan is legal")


def draw_orders(rng, count):
    """Sequences of passes, and whether requests not to be inlined are dropped."""
    yield from (((name,), False) for name in PASSES)
    yield ("--inline",), True
    for number in range(count):
        yield rng.sample(PASSES, len(PASSES)), number % 3 == 0


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--models", default=os.path.join(ROOT, "models"))
    parser.add_argument("--orders", type=int, default=20)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--show", type=int, default=3)
    return parser.parse_args()


def main():
    args = parse_arguments()
    rng, tools, tally = random.Random(args.seed), Tools(args.bin), Tally(args.show)
    changed = 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        cases = []
        for name in QUICK if args.quick else CHOSEN:
            model = Model(name, args.models, scratch, tools)
            for plan, command in draw_plans(rng, tools, model, scratch):
                for passes, stripped in draw_orders(rng, 2 if args.quick else args.orders):
                    if plan.may_inline or not stripped:
                        text = f"{command} | {' '.join(passes)}{' (may inline)' * stripped}"
                        cases.append((text, pool.submit(plan.problems, passes, stripped)))
        for text, future in cases:
            problems, changes = future.result()
            tally.add(problems, text)
            changed += changes
    tally.print()
    print(f"{changed} modules changed on the way")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return tally.failed > 0


if __name__ == "__main__":
    sys.exit(main())

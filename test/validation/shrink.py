#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shrinks the bundled models, the small configs of the tests, and those of a
folder; imports what comes of each, splits it, executes both on simulated
devices and compares them: `autopar models shrink`, `autopar-run --check`.

What cannot be split or executed must say why, at a place; it is counted.
Ends with a line `N passed, N failed`.

usage: shrink.py [--bin DIR] [--configs DIR] [--quick] [--only TEXT] [--show N]
"""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import sys
import tempfile

from executed import MODELS, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES = os.path.join(ROOT, "test", "Import", "Inputs", "cases.json")
# Of what has experts, and of what has none.
PLANS = {True: ["--shard-tp=2", "--shard-ep=2 --shard-dp=2"], False: ["--shard-tp=2", "--shard-tp=4 --shard-sp"]}
# A config that is no larger than this can be executed.
MAX_PARAMETERS = 6_000_000
QUICK = ["bundled llama-3.3-70b", "bundled deepseek-v3.2", "bundled gemma-3-27b", "bundled gpt-oss-120b",
         "bundled qwen3-next-80b-a3b", "bundled nemotron-3-nano-30b-a3b", "bundled llama-4-scout",
         "bundled gpt2", "bundled bert-base"]  # fmt: skip


def configs(folder, more):
    """Names and paths of all configs; those of tests are written to `folder`."""
    found = {}
    for kind, where in {"bundled": os.path.join(ROOT, "models"), "real": more}.items():
        for path in sorted(glob.glob(os.path.join(where, "*", "config.json"))) if where else []:
            found[f"{kind} {os.path.basename(os.path.dirname(path))}"] = path
    with open(CASES, encoding="utf-8") as file:
        bases = json.load(file)["bases"]
    for kind, examples in {"executed": MODELS, "case": bases}.items():
        for name, config in examples.items():
            path = found[f"{kind} {name}"] = os.path.join(folder, f"{kind}.{name}.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(config, file)
    return found


class Shrinker:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder

    def check(self, named):
        """What became of a config: outcomes and why, one for each step."""
        name, path = named
        base = os.path.join(self.folder, name.replace(" ", "."))
        small, whole = f"{base}.small.json", f"{base}.mlir"
        code, said = run([f"{self.tools}/autopar", "models", "shrink", path, "-o", small])
        if code:
            known, _ = run([f"{self.tools}/autopar-translate", "--import-hf", path, "-o", os.devnull])
            return [("cannot be imported", "") if known else ("failed", f"{name}: {said}")]
        code, said = run([f"{self.tools}/autopar", "models", "show", small, "--json"])
        if code:
            return [("failed", f"{name}: the small one: {said}")]
        count = json.loads(said)["parameters"]
        if count > MAX_PARAMETERS:
            return [("failed", f"{name}: {count} parameters are left")]
        run([f"{self.tools}/autopar-translate", "--import-hf", small, "-o", whole])
        with open(whole, encoding="utf-8") as file:
            text = file.read()
        source = ["--encoder-tokens=4"] if re.search(r"\bsource\b|\bmemory\b", text) else []
        plans = PLANS["transformer.experts " in text]
        return [("shrunk", "")] + [self.execute(name, whole, plan, source) for plan in plans]

    def execute(self, name, whole, plan, source):
        split = whole.replace(".mlir", ".split.mlir")
        step = ["--phase=prefill", "--batch=2", "--prompt=6"]
        code, said = run([f"{self.tools}/autopar-opt", *plan.split(), *step, whole, "-o", split])
        if code:
            return ("split refused", f"{name} {plan}: {said}") if "error:" in said else ("failed", f"{name}: {said}")
        for load in ["6", "4,1,1"]:
            code, said = run([f"{self.tools}/autopar-run", split, f"--check={whole}", "--batch=2", f"--query={load}",
                              *source])  # fmt: skip
            if code == 1 and ".mlir:" in said and "cannot be executed" in said:
                return "not executed", f"{name} {plan}: {said}"
            if code or "the same on" not in said:
                return "failed", f"{name} {plan} steps of {load}: {said or code}"
        return "the same", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--configs", help="a folder with a folder for each config.json")
    parser.add_argument("--quick", action="store_true", help="a few models")
    parser.add_argument("--only", help="names that contain this")
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--verbose", action="store_true", help="say why what is refused is")
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    tally, failures = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        chosen = [(name, path) for name, path in configs(folder, options.configs).items()
                  if (options.only or "") in name and (not options.quick or name in QUICK)]  # fmt: skip
        checker = Shrinker(options.bin, folder)
        for outcomes in pool.map(checker.check, chosen):
            for outcome, why in outcomes:
                tally[outcome] += 1
                if outcome == "failed":
                    failures.append(why)
                elif why and (options.only or options.verbose):
                    print(f"{outcome}: {why}")
    for why in failures[: options.show]:
        print(f"FAIL {why[:600]}")
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.items())))
    print(f"{tally['shrunk'] + tally['the same']} passed, {len(failures)} failed")
    return 1 if failures or not tally["the same"] else 0


if __name__ == "__main__":
    sys.exit(main())

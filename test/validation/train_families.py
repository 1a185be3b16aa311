#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a tiny model of every type that can be imported, plain and by plans.

The configs are the defaults of test/types/expected.jsonl, shrunk by `autopar
models shrink`, and those of executed.py. An iteration of each is built, split
and estimated: by one device, by parameters split over replicas, by tensor and
sequence parallelism, and by experts or, where there are none, by stages. What
comes of it is executed: the gradients of the whole must be differences of the
loss along a random direction, and what is split must compute what the whole
does, new weights included, of a sample by every optimizer too.

What has no backward, split or execution yet must be refused: with exit code 1,
the op's name or what to do, and not by MLIR's verifier. Ends with a line
`N passed, N failed`.

usage: train_families.py [--bin DIR] [--quick] [--only TEXT] [--estimate-only]
                         [--verbose] [--show N]
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

from executed import MODELS, run
from type_lists import EXPECTED

STEP = ["--phase=train", "--batch=4", "--prompt=6"]
PLANS = ["--shard-dp=2 --fsdp", "--shard-tp=2 --shard-sp"]
OF_EXPERTS, OF_OTHERS = "--shard-ep=2 --shard-dp=2", "--stage-pp=2 --micro-batch=1"
OPTIMIZERS = ["adafactor", "muon", "adamw-8bit"]
# What MLIR's own checks say, and what ends a process.
VERIFIER = re.compile(
    r"does not dominate|operand #\d|result #\d|failed to verify|expects? (?:different|the same) type"
    r"|op requires|dimension \d+ of (?:operand|result)|LLVM ERROR|Stack dump|Assertion|out of memory"
)
QUICK = ["bart", "qwen3_vl", "mllama", "encoder-decoder", "blip", "t5", "mixtral", "florence2", "lfm2", "gpt2",
         "blip-2", "dia"]  # fmt: skip
SAMPLE = ["bart", "t5", "qwen3_vl", "mixtral", "gpt2", "llama", "deepseek_v3"]


def configs(folder):
    """Names and paths of the configs that can be imported."""
    found = {}

    def add(name, config):
        while name in found:
            name += "+"
        found[name] = os.path.join(folder, f"{name}.config.json")
        with open(found[name], "w", encoding="utf-8") as file:
            json.dump(config, file)

    for line in EXPECTED.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for variant in record["variants"][:1]:
            if variant["verdict"] != "refused":
                add(record["type"], variant["config"])
    for name, config in MODELS.items():
        add(f"{name} executed", config)
    return found


class Trainer:
    def __init__(self, tools, folder, executes):
        self.tools, self.folder, self.executes = tools, folder, executes

    def trained(self, flags, source, result):
        """Nothing where a module was made of `source`, else why not and what was said."""
        code, said = run([f"{self.tools}/autopar-opt", *flags, source, "-o", result])
        if code == 0:
            code, said = run([f"{self.tools}/autopar", "estimate", result, "--json"])
        if code == 0:
            return None
        right = code == 1 and "error: " in said and not VERIFIER.search(said)
        return ("refused" if right else "failed"), said

    def executed(self, module, whole=None):
        flags = [f"--check={whole}", "--iterations=2"] if whole else []
        try:
            code, said = run([f"{self.tools}/autopar-run", module, *flags, "--directional-derivative"])
        except subprocess.TimeoutExpired:
            return "too large to execute", "error: takes more than two minutes"
        if code == 0 and "are those of the loss" in said and (not whole or "the same on" in said):
            return "executed", ""
        if code == 1 and "error: " in said and re.search(r"not executed|cannot be executed|has no split form", said):
            return "not executed", said
        return "failed", said or f"exit code {code}"

    def check(self, named):
        """Outcomes of a config, each with the plan and what was said."""
        name, path = named
        base = os.path.join(self.folder, name.replace(" ", "."))
        small, module, whole = f"{base}.small.json", f"{base}.mlir", f"{base}.whole.mlir"
        code, _ = run([f"{self.tools}/autopar", "models", "shrink", path, "-o", small])
        # Sizes of some parts cannot be made small alone: the model is then taken whole, and not executed.
        is_small = not code and not run([f"{self.tools}/autopar-translate", "--import-hf", small, "-o", module])[0]
        if not is_small:
            code, said = run([f"{self.tools}/autopar-translate", "--import-hf", path, "-o", module])
            if code:
                return [("failed", "import", said)]
        with open(module, encoding="utf-8") as file:
            text = file.read()
        step = STEP + ["--encoder-tokens=4"] * ("encoder_tokens" in text) + ["--cross-tokens=4"] * ("cross_tokens" in text)
        fault = self.trained(step, module, whole)
        if fault:
            return [(fault[0], "plain", fault[1])]
        outcomes = [("trained", "plain", "")]
        if self.executes and is_small:
            outcome, said = self.executed(whole)
            outcomes.append((outcome, "plain", said))
        plans = [*PLANS, OF_EXPERTS if "transformer.experts " in text else OF_OTHERS]
        if name in SAMPLE:
            plans += [f"{plan} --optimizer={kind}" for plan in PLANS for kind in OPTIMIZERS]
        return outcomes + [outcome for plan in plans for outcome in self.split(base, module, whole, step, plan)]

    def split(self, base, module, whole, step, plan):
        split = f"{base}.split.mlir"
        fault = self.trained(step + plan.split(), module, split)
        if fault:
            return [(fault[0], plan, fault[1])]
        if not self.executes:
            return [("trained", plan, "")]
        optimizer = [flag for flag in plan.split() if flag.startswith(("--optimizer", "--micro-batch"))]
        if optimizer:
            whole = f"{base}.like.mlir"
            fault = self.trained(step + optimizer, module, whole)
            if fault:
                return [("failed", plan, fault[1])]
        outcome, said = self.executed(split, whole)
        return [("trained", plan, ""), (outcome, plan, said)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--quick", action="store_true", help="some types")
    parser.add_argument("--only", help="types that contain this")
    parser.add_argument("--estimate-only", action="store_true", help="execute nothing")
    parser.add_argument("--verbose", action="store_true", help="say why what is refused is")
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    tally, failures, reasons = collections.Counter(), [], collections.defaultdict(set)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        chosen = [(name, path) for name, path in configs(folder).items()
                  if (options.only or "") in name and (not options.quick or name in QUICK)]  # fmt: skip
        trainer = Trainer(options.bin, folder, not options.estimate_only)
        for (name, _), outcomes in zip(chosen, pool.map(trainer.check, chosen)):
            for outcome, plan, said in outcomes:
                tally[outcome] += 1
                first = next((line for line in said.splitlines() if "error" in line), said[:300])
                first = first.split("error: ", 1)[-1]
                if outcome == "failed":
                    failures.append(f"FAIL {name}, {plan}: {first}")
                elif said:
                    reasons[f"{outcome}: {first}"].add(name)
    if options.verbose:
        for reason, names in sorted(reasons.items()):
            print(f"{reason} ({', '.join(sorted(names))})")
    print("\n".join(failures[: options.show]))
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.items())))
    print(f"{tally['trained'] + tally['executed']} passed, {len(failures)} failed")
    return 1 if failures or not tally["trained"] else 0


if __name__ == "__main__":
    sys.exit(main())

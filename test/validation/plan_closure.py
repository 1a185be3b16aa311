#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plan of a report, given back as --plan, prices the same.

Draws questions of steps, iterations of training and services with random knobs,
each knob of a plan beside some of the others; estimates them; gives the plan
that the report has back in place of the flags, and compares the two reports
whole, but for what they assume: the plan gives what was a default. Refused draws are drawn again. A flag that help lists under a heading of
plans and that no draw here gives fails, and so does one that no report took.

Ends with a line `N passed, N failed`.

usage: plan_closure.py [--bin DIR] [--count N] [--seed N] [--quick]
"""

import argparse
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile

DENSE = ["llama-3.1-8b", "gemma-3-27b", "qwen3-32b", "llama-3.3-70b"]
EXPERTS = ["qwen3-30b-a3b", "deepseek-v3", "glm-4.5", "gpt-oss-20b"]
STEPS = {
    "prefill": ["--phase=prefill --batch=8 --prompt=4096"],
    "decode": ["--phase=decode --batch=64 --context=8192"],
    "iteration": [f"--phase=train --batch=128 --context=2048 --runtime={one}" for one in ("fsdp2", "megatron", "nemo")],
    "service": ["--rate=2 --prompt=1500 --output-tokens=150", "--concurrency=8 --prompt=lognormal:1500,0.5 --output-tokens=150"],
}  # fmt: skip
# The axes of a plan; sizes are of 32 devices.
SPLITS = ["--shard-tp=4 --shard-dp=4", "--shard-tp=2 --shard-dp=8", "--shard-tp=8", "--shard-dp=8",
          "--shard-tp=2 --shard-cp=2 --shard-dp=4", "--mesh=dp=4,tp=4", "--shard-tp=4 --shard-dp=4 --map=tp,dp"]  # fmt: skip
# Knobs by what they are about: a flag, or several that need each other.
KNOBS = {
    "all": ["--shard-sp", "--fsdp", "--fsdp --shard-fsdp=2", "--cp-kind=all-to-all", "--cp-kind=ring", "--dtype=fp16",
            "--memory-utilization=0.8", "--gpu-memory-utilization=0.7", "--stage-pp=2", "--stage-pp=2 --microbatches=4",
            "--stage-pp=4 --schedule=gpipe", "--stage-pp=2 --interleave=2", "--enforce-eager"],
    "inference": ["--kv-format=fp8", "--kv-dtype=bf16", "--prefill-chunk=1024", "--max-num-batched-tokens=2048",
                  "--max-num-seqs=64", "--shard-attention-tp=1", "--shard-dcp=2"],
    "training": ["--micro-batch=2", "--recompute=full", "--recompute=norms+mlp", "--recompute=save_products/2", "--zero=1",
                 "--zero=2", "--optimizer=muon", "--optimizer=adafactor", "--optimizer=adamw-8bit", "--optimizer=sgd",
                 "--gradient-format=bf16", "--master-format=none", "--state-format=bf16", "--product-format=fp8",
                 "--dropout=0.1", "--unfused-attention", "--loss=fused", "--loss=eager", "--loss-chunks=4"],
    "experts": ["--shard-ep=2", "--shard-ep=4 --shard-etp=1", "--dispatch-by-node", "--dispatch-dtype=fp8",
                "--shard-ep=4 --expert-load=zipf:1.0", "--shard-ep=4 --expert-load=zipf:1.0 --place-experts=round_robin",
                "--shard-ep=4 --expert-load=log_normal:0.3 --redundant-experts=16",
                "--shard-ep=4 --expert-load=zipf:0.5 --expert-groups-in-node"],
    "experts in training": ["--expert-capacity-factor=1.25", "--mtp-layers=1",
                            "--expert-capacity-factor=2 --pad-experts-to-capacity"],
    # Layers of each stage, of a model that has 32.
    "stages": ["--stage-pp=2 --stages=0-9,10-31"],
}  # fmt: skip
# Under the headings of plans, but no part of a plan: files that name one.
OTHERS = {"from", "plan", "diff-plans", "trace", "expert-trace"}
HEADINGS = ("How to split", "Experts", "Pipeline", "Training", "Formats")


def draw(dice):
    """A model, the question, and the flags of a plan."""
    kind = dice.choice(list(STEPS))
    has_experts = dice.random() < 0.5
    model = dice.choice(EXPERTS if has_experts else DENSE)
    pool = KNOBS["all"] + KNOBS["training" if kind == "iteration" else "inference"]
    if has_experts:
        pool = pool + KNOBS["experts"] + (KNOBS["experts in training"] if kind == "iteration" else [])
    if model == "llama-3.1-8b":
        pool = pool + KNOBS["stages"]
    step = dice.choice(STEPS[kind])
    flags = dice.choice(SPLITS).split()
    for words in dice.sample(pool, dice.randint(1, 4)):
        names = {word.split("=")[0] for word in words.split()}
        if not names & {word.split("=")[0] for word in flags}:
            flags += words.split()
    return model, step.split() + ["--nodes=8"], flags


class Checker:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def estimate(self, model, flags):
        done = subprocess.run([self.binary, "estimate", model, *flags, "--json"], capture_output=True, text=True,
                              timeout=120, cwd=self.folder)  # fmt: skip
        return (json.loads(done.stdout), "") if done.returncode == 0 else (None, done.stderr.strip())

    def check(self, seed):
        """The flags that were given, and what is wrong."""
        dice = random.Random(seed)
        for _ in range(50):
            model, step, flags = draw(dice)
            first, _ = self.estimate(model, step + flags)
            if first is not None:
                break
        else:
            return [], f"seed {seed}: fifty draws were refused"
        path = os.path.join(self.folder, f"plan-{seed}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(first["plan"], file)
        second, error = self.estimate(model, [*step, f"--plan={path}"])
        command = " ".join(["autopar estimate", model, *step, *flags])
        if second is None:
            return flags, f"{command}: its plan is refused: {error}"
        differ = [key for key in first if key != "assumptions" and first[key] != second.get(key)]
        return flags, f"{command}: {', '.join(differ)} differ" if differ else ""


def flags_of_help(binary):
    text = subprocess.run([binary, "estimate", "--help"], capture_output=True, text=True).stdout
    found, heading = set(), ""
    for line in text.splitlines():
        if line and not line.startswith(" "):
            heading = line.rstrip(":")
        flag = re.match(r"  (?:-\w, )?--([a-z0-9-]+)", line)
        if flag and heading in HEADINGS:
            found.add(flag[1])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="40 draws, whatever flags they take")
    options = parser.parse_args()
    binary = os.path.abspath(os.path.join(options.bin, "autopar"))
    count = 40 if options.quick else options.count
    taken, failures = set(), []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        checker = Checker(binary, folder)
        for flags, failure in pool.map(checker.check, range(options.seed, options.seed + count)):
            taken |= {flag.split("=")[0].removeprefix("--") for flag in flags}
            failures += [failure] if failure else []
    passed = count - len(failures)
    if not options.quick:
        failures += [f"--{name}: no draw gives it" for name in sorted(flags_of_help(binary) - OTHERS - taken)]
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{passed} passed, {len(failures)} failed")
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main())

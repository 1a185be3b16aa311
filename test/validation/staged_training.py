#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes iterations of training of small models over pipeline stages, on
simulated devices, against the unsplit model: each stage runs the forwards and
the backwards of its layers alone, on what it was sent, and updates what it has.

Each model by each plan, for two iterations: the loss, the gradients and the new
weights must be those of the unsplit model (`autopar-run --check`), and gradients
must be the derivative of the loss along a random direction. Weights of a stage,
and what it sends in forwards and backwards, must be as many bytes as the estimate
says. What is refused must be refused for the reason expected.
Ends with a line `N passed, N failed`.

usage: staged_training.py [--bin DIR] [--count N] [--seed N] [--quick] [--show N]
"""

import itertools
import json
import os
import random
import re
import sys
import tempfile

import drawn
from executed import MODELS, SKEWED, run
from staged_runs import STAGED, held
from training_gradients import OF_MODEL

# All models that can be trained, of four layers where they are cheap to have more of.
TRAINED = {**MODELS, **STAGED}
PLANS = [
    # Schedules, which change no value.
    "--stage-pp=2 --microbatches=1", "--stage-pp=2 --microbatches=4", "--stage-pp=2 --schedule=gpipe --microbatches=2",
    "--stage-pp=4 --schedule=one_f_one_b --microbatches=4", "--stage-pp=4 --schedule=zero_bubble --microbatches=4",
    "--stage-pp=2 --interleave=2 --microbatches=2", "--stage-pp=2 --interleave=2 --microbatches=4 --shard-tp=2",
    "--stage-pp=2 --schedule=dual_pipe --microbatches=4", "--stage-pp=2 --schedule=dual_pipe --microbatches=4 --shard-tp=2",
    # Other axes within stages.
    "--stage-pp=2 --shard-tp=2 --microbatches=2", "--stage-pp=2 --shard-tp=4 --shard-sp --microbatches=2",
    "--stage-pp=2 --shard-tp=2 --map=tp,pp --microbatches=2", "--stage-pp=3 --shard-tp=2 --shard-sp --microbatches=2",
    "--stage-pp=2 --shard-dp=2 --microbatches=2", "--stage-pp=2 --shard-dp=2 --zero=1 --microbatches=2",
    "--stage-pp=2 --shard-dp=2 --zero=2 --microbatches=2", "--stage-pp=2 --shard-dp=2 --fsdp --microbatches=2",
    "--stage-pp=2 --shard-dp=2 --fsdp --shard-tp=2 --shard-sp --microbatches=2 --interleave=2",
    "--stage-pp=2 --shard-dp=4 --shard-fsdp=2 --microbatches=1", "--stage-pp=2 --shard-cp=2 --microbatches=2",
    "--stage-pp=2 --shard-cp=2 --cp-kind=all-to-all --microbatches=2",
    "--stage-pp=2 --shard-cp=2 --cp-kind=ring --shard-tp=2 --microbatches=2",
    "--stage-pp=2 --shard-tp=4 --shard-attention-tp=2 --microbatches=2",
    "--stage-pp=2 --shard-ep=2 --shard-dp=2 --microbatches=2", "--stage-pp=2 --shard-ep=4 --shard-tp=4 --shard-sp --microbatches=2",
    "--stage-pp=2 --shard-ep=2 --shard-dp=2 --zero=1 --schedule=dual_pipe --microbatches=2",
    f"--stage-pp=2 --shard-ep=2 --shard-dp=2 --microbatches=2 {SKEWED}=balanced",
    # What backwards make again, optimizers, and what is predicted beside the next token.
    "--stage-pp=2 --recompute=full --microbatches=2", "--stage-pp=2 --recompute=full:1 --interleave=2 --microbatches=2",
    "--stage-pp=2 --recompute=full/2 --microbatches=4", "--stage-pp=2 --recompute=selective --unfused-attention --microbatches=2",
    "--stage-pp=2 --shard-tp=2 --recompute=norms,mlp,experts --microbatches=4",
    "--stage-pp=2 --recompute=attention_core --dropout=0.2 --unfused-attention --microbatches=2",
    "--stage-pp=2 --recompute=save_products --microbatches=2",
    "--stage-pp=2 --shard-tp=2 --optimizer=muon --microbatches=2", "--stage-pp=2 --optimizer=sgd --microbatches=2",
    "--stage-pp=2 --optimizer=adafactor --microbatches=2", "--stage-pp=2 --mtp-layers=1 --microbatches=2",
    "--stage-pp=2 --mtp-layers=2 --shard-tp=2 --shard-sp --microbatches=2", "--stage-pp=2 --mtp-layers=1 --schedule=dual_pipe",
    "--stage-pp=2 --encoder-tokens=2 --microbatches=2", "--stage-pp=2 --encoder-tokens=2 --shard-tp=2 --microbatches=4",
    # Ranges that are not equal: stages of an embedding or of a head alone.
    "--stage-pp=2 --stages=embedding,LAYERS --microbatches=2", "--stage-pp=2 --stages=LAYERS,head --shard-tp=2 --microbatches=2",
    "--stage-pp=3 --stages=embedding,LAYERS,head --microbatches=4", "--stage-pp=2 --stages=0-0,REST --microbatches=2",
]  # fmt: skip
QUICK = 12
BATCH = 4

REASONS = [
    r"has no backward yet", r"cannot split", r"the model has no routed experts", r"has no encoder", r"does not divide",
    r"of layers that predict further tokens the model has", r"schedule \w+ of \d+ microbatches? over \d+ stages",
    r"stages are \d+ virtual stages, but the model has", r"adafactor of a weight that devices have parts of",
    r"has \d+ layers, fewer than \d+ stages", r"is of the type of experts in slots, but has none",
    r"has no form for training yet",
]  # fmt: skip


def layers_of(config):
    config = config.get("text_config", config)
    return config.get("num_hidden_layers") or config.get("n_layer") or config.get("num_layers")


class Checker:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder

    def prepare(self, name):
        """The module of the model: whether it encodes anything."""
        config, whole = f"{self.folder}/{name}.json", f"{self.folder}/{name}.mlir"
        with open(config, "w", encoding="utf-8") as file:
            json.dump(TRAINED[name], file)
        code, said = run([f"{self.tools}/autopar-translate", "--import-hf", config, "-o", whole])
        if code:
            raise SystemExit(f"{name}: {said}")

    def trained(self, name, flags, result, *more):
        step = ["--phase=train", f"--batch={BATCH}", "--prompt=6", "--nodes=8", "--runtime=ideal"]
        return run([f"{self.tools}/autopar-opt", *flags, *step, f"{self.folder}/{name}.mlir", "-o", result, *more])

    def check(self, case):
        """("passed" or "refused", "") or ("failed", why)."""
        name, plan = case
        flags = plan.replace("LAYERS", f"0-{layers_of(TRAINED[name]) - 1}")
        flags = flags.replace("REST", f"1-{layers_of(TRAINED[name]) - 1}").split()
        whole, split = (f"{self.folder}/{name}.{part}{PLANS.index(plan)}.mlir" for part in ("whole", "split"))
        where = f"{name} {' '.join(flags)}"
        code, said = self.trained(name, flags, split, "--estimate=json", f"--report-output={split}.json")
        if not code:
            code, said = self.trained(name, [flag for flag in flags if flag.startswith(OF_MODEL)], whole)
        if not code:
            checks = [f"--check={whole}", "--iterations=2", "--holdings", "--directional-derivative"]
            # So many layers of each stage, or of a single one, are others.
            checks += ["--outcome"] * any(re.search("recompute=.*:", flag) for flag in flags)
            code, said = run([f"{self.tools}/autopar-run", split, *checks])
        if code:
            known = "error:" in said and any(re.search(reason, said) for reason in REASONS)
            first = next((line for line in said.splitlines() if "error" in line), said[:200])
            return ("refused", "") if known else ("failed", f"{where}: {first[:300]}")
        with open(f"{split}.json", encoding="utf-8") as file:
            report = json.load(file)
        for path in [whole, split, f"{split}.json"]:
            os.remove(path)
        why = next(self.problems(said, flags, report), "")
        return ("failed", f"{where}: {why}") if why else ("passed", "")

    @staticmethod
    def problems(said, flags, report):
        """In what the estimate says other bytes of a stage: of its fullest device."""
        if "are those of the loss" not in said or "the same on" not in said:
            yield said[:200]
            return
        stages, schedule = report["memory"]["per_stage"], report["schedule"]
        devices = held(said)
        each = len(devices) // len(stages)
        # The places of pp, whose devices are neighbours or strides apart.
        groups = [devices[at * each : (at + 1) * each] for at in range(len(stages))]
        if any("--map" in flag for flag in flags):
            groups = [devices[at :: len(stages)] for at in range(len(stages))]
        folded = schedule["kind"] == "dual_pipe"
        for stage, (group, memory) in enumerate(zip(groups, stages)):
            weights, sent = (max(own[index] for own in group) for index in (0, 3))
            if weights != memory["weight_bytes"]:
                yield f"stage {stage} has weights of {weights} bytes, the estimate says {memory['weight_bytes']}"
            expected = 0
            for move in schedule["transfers"]:
                # There and back.
                places = [move["from"] % len(groups), move["to"] % len(groups)]
                if folded:
                    places += [len(groups) - 1 - place for place in places]
                expected += places.count(stage) * move["bytes"] * schedule["microbatches"] // (1 + folded)
            if sent != expected:
                yield f"stage {stage} sends {sent} bytes, the estimate says {expected}"
        copied = report["training"].get("copied_gradients", {}).get("bytes", 0)
        summed = max((int(text) for text in re.findall(r"summed (\d+)", said)), default=0)
        if summed != copied and not folded:
            yield f"stages sum gradients of {summed} bytes, the estimate says {copied}"


def main():
    options = drawn.parse(__doc__, None, QUICK)
    cases = list(itertools.product(TRAINED, PLANS))
    if options.count:
        cases = random.Random(options.seed).sample(cases, options.count)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(options.bin, folder)
        for name in dict.fromkeys(name for name, _ in cases):
            checker.prepare(name)
        said = "{passed} plans executed, {refused} refused with a reason"
        return drawn.examine(checker.check, cases, ["passed"], said, options.show)


if __name__ == "__main__":
    sys.exit(main())

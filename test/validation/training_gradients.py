#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes iterations of training of small models whole and split, on simulated
devices: gradients must be those of differences of the loss, and split modules
must compute what whole ones do, gradients and new weights included
(`autopar-run --check`).

The models are those of executed.py whose ops all have a backward; others must be
refused with a reason. Each by each form (what is made again, written out,
dropped), and by each plan. Of forms that make nothing again, the loss is
differentiated by two elements of every weight, one by one (`--gradients`). What
makes something again must have the same gradients as what does not, and that and
plans are differentiated by all elements at once, along a random direction
(`--directional-derivative`); with --elements one by one, too.
Ends with a line `N passed, N failed`.

usage: training_gradients.py [--bin DIR] [--quick] [--only NAME] [--elements]
                             [--show N]
"""

import argparse
import concurrent.futures
import json
import os
import sys
import tempfile

from executed import MODELS, run

QUICK_MODELS = ["llama", "gpt2", "deepseek_v3", "deepseek_v32", "deepseek_mtp"]
# Sequences of up to four replicas, in microbatches of one and of two.
STEP = ["--phase=train", "--batch=4", "--prompt=6"]
FORMS = [
    "", "--recompute=selective --unfused-attention", "--recompute=full", "--dropout=0.2 --unfused-attention",
    "--encoder-tokens=2", "--optimizer=muon",
    "--dropout=0.2 --recompute=full", "--micro-batch=2 --optimizer=sgd",
    "--recompute=attention_core,norms,mlp_activation", "--recompute=mlp,experts,shared_experts,mla_up",
    "--recompute=save_products", "--recompute=save_products/2 --dropout=0.2 --unfused-attention",
    "--recompute=full/2", "--recompute=full:1 --dropout=0.2", "--recompute=attention_core",
    "--recompute=norms,mlp,experts --unfused-attention --dropout=0.2", "--recompute=auto --runtime=megatron",
    "--mtp-layers=2", "--mtp-layers=1", "--mtp-layers=1 --micro-batch=2 --recompute=experts,mlp,mla_up",
    "--mtp-layers=2 --recompute=full",
]  # fmt: skip
PLANS = [
    "--shard-tp=2", "--shard-tp=2 --shard-sp", "--shard-dp=2", "--shard-dp=2 --shard-tp=2 --zero=1",
    "--shard-dp=2 --fsdp", "--shard-tp=4 --shard-sp", "--shard-tp=8", "--shard-dp=2 --zero=1 --micro-batch=2",
    "--shard-dp=2 --fsdp --shard-tp=2 --shard-sp", "--shard-cp=2", "--shard-tp=4 --shard-attention-tp=2",
    "--shard-tp=2 --recompute=full", "--shard-dp=2 --shard-tp=2 --dropout=0.2 --unfused-attention",
    "--shard-tp=4 --shard-sp --dropout=0.2", "--shard-ep=2 --shard-dp=2", "--shard-ep=2 --shard-tp=2",
    "--shard-cp=2 --cp-kind=all-to-all", "--shard-tp=2 --shard-sp --shard-cp=2", "--shard-tp=2 --encoder-tokens=2",
    "--shard-cp=2 --encoder-tokens=2", "--shard-cp=2 --cp-kind=ring", "--shard-cp=2 --cp-kind=ring --recompute=full",
    "--shard-tp=2 --shard-sp --shard-cp=2 --cp-kind=ring --fsdp", "--shard-cp=4 --shard-tp=2 --cp-kind=all-to-all",
    "--shard-cp=2 --cp-kind=all-to-all --recompute=full", "--shard-cp=2 --cp-kind=ring --encoder-tokens=2",
    "--shard-cp=2 --dropout=0.2 --unfused-attention", "--shard-cp=2 --cp-kind=all-to-all --unfused-attention",
    "--shard-tp=2 --shard-sp --recompute=save_products/2", "--shard-dp=2 --fsdp --recompute=full/2",
    "--shard-tp=4 --shard-sp --recompute=norms,mlp,experts", "--shard-ep=2 --shard-dp=2 --recompute=experts,mlp",
    "--shard-dp=2 --zero=2", "--shard-dp=2 --shard-tp=2 --zero=2 --shard-sp",
    "--shard-dp=4 --shard-fsdp=2", "--shard-dp=4 --shard-fsdp=2 --zero=2", "--shard-dp=4 --shard-fsdp=2 --zero=1",
    "--shard-dp=2 --shard-ep=2 --shard-tp=2 --zero=2", "--shard-dp=4 --shard-ep=2 --shard-fsdp=2",
    "--shard-dp=2 --shard-tp=2 --zero=1 --optimizer=muon", "--shard-dp=2 --fsdp --optimizer=muon",
    "--shard-dp=2 --zero=2 --optimizer=adamw-8bit --master-format=none", "--shard-dp=2 --optimizer=adafactor",
    "--shard-dp=2 --zero=2 --optimizer=sgd-without-momentum",
    "--shard-tp=2 --shard-sp --mtp-layers=1", "--shard-dp=2 --shard-ep=2 --zero=1 --mtp-layers=2",
    "--shard-cp=2 --mtp-layers=1", "--shard-dp=2 --fsdp --mtp-layers=1",
    "--shard-dp=2 --shard-tp=2 --shard-sp --zero=2 --recompute=full --mtp-layers=1",
    "--shard-tp=4 --shard-sp --optimizer=adafactor", "--shard-dp=2 --shard-tp=2 --zero=1 --optimizer=adafactor",
    "--shard-dp=2 --fsdp --shard-tp=2 --optimizer=adafactor", "--shard-dp=4 --shard-fsdp=2 --optimizer=adafactor",
    "--shard-dp=2 --shard-ep=2 --zero=2 --optimizer=adafactor", "--shard-cp=2 --zero=1 --optimizer=adafactor",
]  # fmt: skip
# Of a plan, what the whole module has too.
OF_MODEL = (
    "--recompute", "--dropout", "--unfused-attention", "--micro-batch", "--optimizer", "--master-format",
    "--encoder-tokens", "--mtp-layers",
)  # fmt: skip


class Cases:
    def __init__(self, tools, folder, elements):
        self.tools, self.folder, self.elements = tools, folder, elements

    def imported(self, name):
        config, module = f"{self.folder}/{name}.json", f"{self.folder}/{name}.mlir"
        with open(config, "w", encoding="utf-8") as file:
            json.dump(MODELS[name], file)
        return module, run([f"{self.tools}/autopar-translate", "--import-hf", config, "-o", module])

    def trained(self, module, flags, result):
        return run([f"{self.tools}/autopar-opt", *flags, *STEP, module, "-o", result])

    def differences(self, module, count):
        code, said = run([f"{self.tools}/autopar-run", module, f"--gradients={count}"])
        return not code and "are those of the loss" in said, said

    def same(self, module, whole, *flags):
        """Whether they compute the same, and gradients are derivatives along a direction."""
        code, said = run([f"{self.tools}/autopar-run", module, f"--check={whole}", *flags, "--directional-derivative"])
        if code or "the same on" not in said or "are those of the loss" not in said:
            return False, said
        return self.differences(module, 1) if self.elements else (True, said)

    def form(self, name, number):
        """Whether it was refused, whether gradients are derivatives, what was said."""
        flags = FORMS[number].split()
        own, plain = (f"{self.folder}/{name}.{part}{number}.mlir" for part in ("form", "plain"))
        for wanted, result in ((flags, own), ([flag for flag in flags if "--recompute" not in flag], plain)):
            code, said = self.trained(f"{self.folder}/{name}.mlir", wanted, result)
            if code:
                return "error:" in said, False, said
        if "--recompute" in FORMS[number]:
            return False, *self.same(own, plain, "--outcome")
        return False, *self.differences(own, 2)

    def plan(self, name, number):
        module = f"{self.folder}/{name}.mlir"
        whole, split = (f"{self.folder}/{name}.{part}{number}.mlir" for part in ("whole", "split"))
        flags = PLANS[number].split()
        own = [flag for flag in flags if flag.startswith(OF_MODEL)]
        for wanted, result in ((flags, split), (own, whole)):
            code, said = self.trained(module, wanted, result)
            if code:
                return "error:" in said, False, said
        return False, *self.same(split, whole, "--iterations=2")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--quick", action="store_true", help="some models, a third of the plans")
    parser.add_argument("--only", help="one model")
    parser.add_argument("--elements", action="store_true", help="every case by an element of each weight, too")
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args()
    names = [options.only] if options.only else QUICK_MODELS if options.quick else list(MODELS)
    step = 3 if options.quick else 1
    passed, failures, refused = 0, [], {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        cases = Cases(options.bin, folder, options.elements)
        tried = []
        for name in names:
            _, (code, said) = cases.imported(name)
            if code:
                failures.append((name, "import", said))
                continue
            for make, all_flags in ((cases.form, FORMS), (cases.plan, PLANS)):
                tried += [
                    (make, name, number, all_flags) for number in range(0, len(all_flags), step)
                    if "vision_config" in MODELS[name] or "--encoder-tokens" not in all_flags[number]
                ]  # fmt: skip
        results = pool.map(lambda case: case[0](case[1], case[2]), tried)
        for (_, name, number, words), (was_refused, right, said) in zip(tried, results):
            first = next((line for line in said.splitlines() if "error" in line), said[:200])
            if was_refused:
                refused.setdefault(name, set()).add(first.split("error: ", 1)[-1])
            elif right:
                passed += 1
            else:
                failures.append((name, words[number], first))
    for name, reasons in refused.items():
        print(f"refused: {name}: {'; '.join(sorted(reasons))}")
    for name, words, said in failures[: options.show]:
        print(f"FAIL {name} {words}: {said}")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

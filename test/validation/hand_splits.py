#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Splits a few weights and caches of small models at random, as a hand would
write it, lets `--autopar-propagate` and `--autopar-insert-collectives` do the
rest, executes the result on simulated devices and compares it with the unsplit
model. What is refused must be refused by name: an error of an op that a pass
wrote is an internal error, and fails.

Ends with a line `N passed, N failed`.

usage: hand_splits.py [--bin DIR] [--count N] [--seed N] [--quick] [--show N]
"""

import os
import random
import re
import sys
import tempfile

import drawn
from executed import Cases, run

MESH = "parallel.mesh(a = 2, b = 2)"
MODELS = ["llama", "qwen2", "qwen3", "mistral", "gemma2", "olmo2", "starcoder2", "gpt2", "falcon", "phi3", "lfm2",
          "mamba", "mamba2", "mixtral", "gpt_oss", "deepseek_v3", "qwen3_next"]  # fmt: skip
# A resident tensor and its type; names of layers, so that a split is in each.
RESIDENT = re.compile(
    r"^(\s*)(%\w+) = (transformer\.(?:weight|kv_cache|state)\b.*?) : (\S+)$", re.MULTILINE)  # fmt: skip


def shapes(text):
    """The types that a module names, by alias."""
    return dict(re.findall(r"^(!\w+) = ([\w!.]+<.*>)$", text, re.MULTILINE))


def split_type(tensor, rng):
    """`tensor` (or a handle) with one dimension split at random; nothing where none can be."""
    kind, _, inside = tensor[:-1].partition("<")
    shape, _, encoding = inside.partition(", #")
    *extents, element = shape.split("x")
    names = re.search(r"dims<\[(.*)\]>", encoding)
    dims = names.group(1).split(", ") if names else ["_"] * len(extents)
    if len(dims) != len(extents):
        return None
    chosen = rng.randrange(len(dims))
    axes = rng.choice(["a", "b", "a*b", "b*a"])
    rules = ["", "", "", " any", " pad 4", " cap"] if dims[chosen] == "_" else [""]
    devices = 4 if "*" in axes else 2
    rule = rng.choice(rules)
    if rule == "" and dims[chosen] == "_" and int(extents[chosen]) % devices:
        return None
    if rule == " cap" and int(extents[chosen]) % devices and devices % int(extents[chosen]):
        return None
    dims[chosen] += f" by {axes}{rule}"
    return f"{kind}<{shape}, #parallel.sharding<[{', '.join(dims)}]>>"


def write_splits(text, rng):
    """Up to three residents split by hand, each with a reshard behind it."""
    aliases = shapes(text)
    found = list(RESIDENT.finditer(text))
    said = []
    for match in sorted(rng.sample(found, min(len(found), rng.randint(1, 3))), key=lambda m: -m.start()):
        indent, name, op, plain = match.groups()
        split = split_type(aliases.get(plain, plain), rng)
        if not split:
            continue
        text = (text[: match.start()] + f"{indent}{name}__ = {op} : {split}\n"
                f"{indent}{name} = parallel.reshard {name}__ : {split} -> {plain}" + text[match.end() :])  # fmt: skip
        said.append(f"{op.split()[-1]} as {split}")
    text = re.sub(r"(  transformer\.workload\b.*\n)", rf"\1  {MESH}\n", text, count=1)
    return text, said


class Checker:
    def __init__(self, tools, folder, seed):
        self.tools, self.folder, self.seed = tools, folder, seed
        cases = Cases(tools, folder)
        self.modules = {name: cases.whole(name)[0] for name in MODELS}
        self.texts = {}
        for name, module in self.modules.items():
            with open(module, encoding="utf-8") as file:
                self.texts[name] = file.read()

    def check(self, number):
        """("passed" or "refused", "") or ("failed", why)."""
        rng = random.Random(f"{self.seed}/{number}")
        name = rng.choice(MODELS)
        text, said = write_splits(self.texts[name], rng)
        if not said:
            return "none", ""
        by_hand, split = f"{self.folder}/{number}.mlir", f"{self.folder}/{number}.split.mlir"
        with open(by_hand, "w", encoding="utf-8") as file:
            file.write(text)
        passes = ["--autopar-propagate", "--autopar-insert-collectives"]
        code, output = run([f"{self.tools}/autopar-opt", *passes, by_hand, "-o", split])
        if code:
            error = next((line for line in output.splitlines() if "error:" in line), output)
            refused = "error:" in error and "' op " not in error
            return ("refused", "") if refused else ("failed", f"{name}: {'; '.join(said)}: {error}")
        load = rng.choice(["5", "3,1", "4,2,1"])
        code, output = run([f"{self.tools}/autopar-run", split, f"--check={self.modules[name]}", "--batch=4",
                            f"--query={load}"])  # fmt: skip
        os.remove(split)
        if code or "the same on" not in output:
            return "failed", f"{name}: {'; '.join(said)}: {output.splitlines()[0] if output else code}"
        return "passed", ""


def main():
    options = drawn.parse(__doc__, count=3000, quick=200)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(options.bin, folder, options.seed)
        return drawn.examine(checker.check, range(options.count), ["passed"], "{refused} refused by name", options.show)


if __name__ == "__main__":
    sys.exit(main())

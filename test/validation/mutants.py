#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spoils the collectives and the types of split modules, one at a time, and
asks `autopar-run --check` for each: a collective dropped, doubled, over other
axes, of another dimension or another kind; a type whose split, rule or partial
sum is another. Each must be refused by name or noticed by its values: one that
computes the same would be a text with two meanings. A sum over the same axes in
another order is no mutant.

Ends with a line `N passed, N failed`.

usage: mutants.py [--bin DIR] [--count N] [--seed N] [--quick] [--show N]
"""

import os
import random
import re
import sys
import tempfile

import drawn
from executed import Cases, run

# What has one of each collective between them.
SPLITS = [
    ("llama", "--shard-tp=4 --shard-sp"), ("llama", "--shard-tp=2 --shard-cp=2"), ("llama", "--shard-tp=8"),
    ("qwen3", "--shard-dp=2 --fsdp --shard-tp=2"), ("qwen3", "--shard-tp=4 --shard-dcp=2"),
    ("qwen3", "--shard-cp=2 --cp-kind=all-to-all"), ("mixtral", "--shard-ep=2 --shard-tp=4 --shard-sp"),
    ("mixtral", "--shard-ep=4 --shard-dp=4"), ("deepseek_v32", "--shard-tp=2 --shard-sp"),
    ("deepseek_v3", "--shard-tp=4 --shard-attention-tp=2 --shard-ep=4"), ("minimax_m2", "--shard-tp=4"),
    ("mamba2", "--shard-tp=4"), ("qwen3_next", "--shard-tp=2 --shard-dp=2"), ("lfm2", "--shard-tp=2 --shard-cp=2"),
]  # fmt: skip
COLLECTIVE = re.compile(r"^( *)(%\w+) = parallel\.(\w+) (%\w+)(.*?) over \[([^]]*)\] : (\S+)(?: -> (\S+))?$", re.M)
TYPE = re.compile(r"^!\w+ = [\w!.]+<.*#parallel\.sharding<.*>$", re.M)


def renamed(text, begin, old, new):
    """`text` with `old` as `new` from `begin` to the end of its function."""
    end = text.find("\n  }\n", begin)
    return text[:begin] + re.sub(re.escape(old) + r"\b", new, text[begin:end]) + text[end:]


def collective_mutants(text, match, axes):
    indent, result, kind, operand, where, over, source, target = match.groups()
    target = target or source
    before, after = text[: match.start()], text[match.end() :]

    def replaced(kind=kind, where=where, over=over):
        arrow = "" if match.group(8) is None else f" -> {target}"
        return f"{before}{indent}{result} = parallel.{kind} {operand}{where} over [{over}] : {source}{arrow}{after}"

    yield "dropped", renamed(before + after[1:], match.start(), result, operand)
    first = match.group(0).replace(f"{result} =", f"{result}__ =", 1)
    twice = f"{indent}{result} = parallel.{kind} {result}__{where} over [{over}] : {target} -> {target}"
    yield "doubled", f"{before}{first}\n{twice}{after}"
    own = over.split(", ")
    for others in [[axis for axis in axes if axis not in own], own[1:], own + [a for a in axes if a not in own][:1]]:
        if others and others != own:
            yield "over other axes", replaced(over=", ".join(others))
    # A sum is the same in any order of its devices.
    if len(own) > 1 and kind != "all_reduce":
        yield "over reversed axes", replaced(over=", ".join(reversed(own)))
    for dim in re.findall(r"(?:dim|to) (\d)", where):
        yield "of another dimension", replaced(where=where.replace(dim, str((int(dim) + 1) % 3), 1))
    for other in ["all_reduce", "all_gather", "reduce_scatter", "all_slice", "ring", "permute"]:
        if other != kind:
            has_dim = " dim " in where and " to " not in where
            at = "" if other in ("all_reduce", "permute") else where if has_dim else " dim 0"
            yield "of another kind", replaced(kind=other, where=at)


def canonical(alias):
    """`alias` with the encoding that a type has which nothing splits."""
    if re.search(r" (by|partial|grouped) ", alias):
        return alias
    if not re.search(r"<\[.*[a-z].*\]>", alias):
        return re.sub(r", #parallel\.sharding<.*>>$", ">", alias)
    return alias.replace("#parallel.sharding", "#transformer.dims")


def type_mutants(text, match, axes):
    old = match.group(0)
    edits = [(r" partial \[[^]]*\]", ""), (r" by [\w*]+( cap| any| pad \d+)?(?=[,\]])", ""),
             (r" by (\w+)\*(\w+)", r" by \2*\1"), (r" cap(?=[,\]])", " any"), (r" pad (\d+)", " any"),
             (r" grouped (\{[^}]*\} of )?\[[^]]*\]", ""), (r" ring(?=[,\]])", ""), (r"\{[\w, ]+\} of ", ""),
             (r"\[8 by", "[16 by")]  # fmt: skip
    unused = [axis for axis in axes if not re.search(rf"\b{axis}\b", old)]
    edits += [(rf"\b{axis}\b", other) for axis in axes for other in unused]
    for pattern, new in edits:
        for at in re.finditer(pattern, old):
            spoiled = canonical(old[: at.start()] + at.expand(new) + old[at.end() :])
            if spoiled != old:
                yield "of another type", text[: match.start()] + spoiled + text[match.end() :]


def mutants(text):
    axes = re.findall(r"(\w+) = \d+", re.search(r"parallel\.mesh\((.*?)\)", text).group(1))
    for match in COLLECTIVE.finditer(text):
        for kind, mutant in collective_mutants(text, match, axes):
            yield kind, match.group(0).strip(), mutant
    for match in TYPE.finditer(text):
        for kind, mutant in type_mutants(text, match, axes):
            yield kind, match.group(0).strip(), mutant


class Mutants:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.cases = Cases(tools, folder)
        self.all = []
        for number, (name, flags) in enumerate(SPLITS):
            whole, said = self.cases.whole(name)
            split = f"{folder}/split.{number}.mlir"
            step = ["--phase=prefill", "--batch=4", "--prompt=6"]
            code, said = run([f"{tools}/autopar-opt", *flags.split(), *step, whole, "-o", split])
            if code:
                raise SystemExit(f"error: {name} {flags}: {said}")
            with open(split, encoding="utf-8") as file:
                text = file.read()
            self.all += [(f"{name} {flags}", whole, *mutant) for mutant in mutants(text)]

    def check(self, numbered):
        """("refused" or "noticed", "") or ("failed", why)."""
        number, (plan, whole, kind, line, text) = numbered
        module = f"{self.folder}/mutant.{number}.mlir"
        with open(module, "w", encoding="utf-8") as file:
            file.write(text)
        code, said = run([f"{self.tools}/autopar-run", module, f"--check={whole}", "--batch=4", "--query=5,3,1"])
        os.remove(module)
        if code == 1 and "error:" in said:
            return "noticed" if "differs" in said else "refused", ""
        outcome = "means the same" if code == 0 else f"exit code {code}: {said[:200]}"
        return "failed", f"{plan}: {kind}: {line}: {outcome}"


def main():
    options = drawn.parse(__doc__, count=None, quick=150)
    with tempfile.TemporaryDirectory() as folder:
        every = Mutants(options.bin, folder)
        count = min(len(every.all), options.count or len(every.all))
        chosen = random.Random(options.seed).sample(every.all, count)
        said = "{refused} refused, {noticed} noticed by their values"
        return drawn.examine(every.check, enumerate(chosen), ["refused", "noticed"], said, options.show)


if __name__ == "__main__":
    sys.exit(main())

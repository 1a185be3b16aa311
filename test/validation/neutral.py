#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws plans at random and writes them once more with flags that split
nothing: degrees of 1, an attention_tp that is tp, choices about them. Reports
and refusals must be the same, to the last digit.

Shares no code with autopar. Ends with a line `N passed, N failed`.

usage: neutral.py [--bin DIR] [--models DIR] [--plans N] [--seed N] [--quick]
                  [--show N]
"""

import json
import os
import sys

from plan_models import Model, Workload
from plan_rules import draw
from plans import MACHINE, Tally, draw_and_check, first_error, nodes_of

CHOSEN = ("llama-3.1-8b", "qwen2.5-7b", "gemma-2-27b", "mixtral-8x7b", "gpt-oss-20b", "deepseek-v3",
          "qwen3-next-80b-a3b", "lfm2-1.2b")  # fmt: skip


def in_full(plan):
    """`plan` with every flag that splits nothing, and the flags that write nothing else than a kind of it."""
    full = plan.copy()
    for name in ("tp", "cp", "dp"):
        setattr(full, name, plan.of(name))
    full.dcp = plan.of("dcp")
    full.attention_tp = plan.attention_tp or full.tp
    full.etp = plan.of("etp") if plan.ep else None
    full.kind = plan.kind or ("ring" if full.cp == 1 else None)
    full.sp = plan.sp or full.tp == 1
    replicas = full.dp * full.cp if not plan.ep else full.devices // (plan.ep * full.etp)
    full.fsdp = plan.fsdp or full.dp * full.cp == replicas == 1
    return full


def leaves(value, path=""):
    """All names and numbers of a report, by path."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from leaves(entry, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        yield f"{path}[]", len(value)
        for index, entry in enumerate(value):
            yield from leaves(entry, f"{path}[{index}]")
    else:
        yield path, value


class Checker:
    def __init__(self, tools, models, scratch, shown):
        self.tools = tools
        self.models = [Model(name, models, scratch, tools) for name in CHOSEN]
        self.tally = Tally(shown)
        self.refused = 0

    def report(self, model, plan, nodes, order):
        flags = [*plan.flags(), *order, MACHINE, f"--nodes={nodes}", "--estimate=json"]
        done = self.tools.run("autopar-opt", *flags, "-o", os.devnull, model.path)
        return done, f"{' '.join(flags)} {model.path}"

    def check(self, rng):
        model = rng.choice(self.models)
        plan = draw(rng, model, Workload)
        full, nodes = in_full(plan), nodes_of(plan)
        order = [name for name in ("dp", "cp", "tp") if getattr(full, name) > 1 or rng.random() < 0.5]
        rng.shuffle(order)
        # An ep of 1 keeps an axis, whose place is that of a degree of 1.
        mapped = rng.random() < 0.3 and order and plan.ep != 1
        short = [name for name in order if getattr(plan, name)]
        done, _ = self.report(model, plan, nodes, [f"--map={','.join(short)}"] if mapped and short else [])
        again, command = self.report(model, full, nodes, [f"--map={','.join(order)}"] if mapped else [])
        self.tally.add(list(self.differences(done, again)), command)

    def differences(self, done, again):
        if done.returncode or again.returncode:
            self.refused += 1
            if done.returncode != again.returncode or first_error(done.stderr) != first_error(again.stderr):
                yield "refusal", f"{first_error(done.stderr)!r} -> {first_error(again.stderr)!r}"
            return
        plain, full = (dict(leaves(json.loads(text.stdout))) for text in (done, again))
        for path in sorted(set(plain) | set(full)):
            if plain.get(path) != full.get(path):
                yield path.split("[")[0], f"{path}: {plain.get(path)} -> {full.get(path)}"
                return

    def summary(self):
        return f"{self.refused} plans were refused, both times for the same reason"


if __name__ == "__main__":
    sys.exit(draw_and_check(__doc__, 500, Checker))

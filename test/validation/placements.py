#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places the experts of plans drawn at random, with copies and loads drawn as
well, and compares what autopar says with the same plan without a placement,
and with loads of devices counted here from the tables in the IR.

Shares no code with autopar. Ends with a line `N passed, N failed`.

usage: placements.py [--bin DIR] [--models DIR] [--plans N] [--seed N] [--show N]
"""

import collections
import json
import os
import re
import struct
import sys

from plan_forms import Forms
from plan_models import MODELS, Model, Workload
from plan_rules import draw_legal
from plans import AS_STORED, MACHINE, Tally, differ, draw_and_check, first_error, nodes_of

# What a placement under even loads may add to a report or change in it.
ABOUT_PLACEMENT = ("placement", "assumptions", "warnings", "plan")
# Kernels were measured: those of some more rows are faster, by so much of a step.
MEASURED = 0.03
POLICIES = ("balanced", "balanced", "block", "round_robin")


def table(text, name, code):
    """The rows of the table `name` in the IR."""
    shape = re.search(rf"dense_resource<{name}> : tensor<(\d+)x(\d+)x", text)
    columns = int(shape.group(2))
    data = bytes.fromhex(re.search(rf'{name}: "0x([0-9A-F]+)"', text).group(1))[4:]
    values = struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)
    return [values[i : i + columns] for i in range(0, len(values), columns)]


def imbalance(slots, loads, ranks):
    """Hottest device / mean; copies share the tokens of their expert."""
    copies, width = collections.Counter(slots), len(slots) // ranks
    tokens = [sum(loads[e] / copies[e] for e in slots[rank * width : (rank + 1) * width]) for rank in range(ranks)]
    return max(tokens) * ranks / sum(tokens) if sum(tokens) else 1


def close(what, found, wanted, part=1e-9):
    return [] if abs(found - wanted) <= part * abs(wanted) else [(what, f"{found}, not {wanted}")]


class Checker:
    def __init__(self, tools, models, scratch, shown):
        self.tools, self.scratch = tools, scratch
        self.models = [Model(name, models, scratch, tools) for name in MODELS]
        self.models = [model for model in self.models if model.experts]
        self.tally = Tally(shown)
        self.copies = self.hot = 0

    def draw(self, rng):
        model = rng.choice(self.models)
        while True:
            plan = draw_legal(rng, model, Workload)
            # On a single device ep says nothing, unless it is what experts are placed on.
            if plan.ep and plan.devices > 1 and not plan.fsdp:
                return model, plan

    def estimate(self, model, flags, output=os.devnull):
        done = self.tools.run("autopar-opt", *flags, *AS_STORED[1:], "--estimate=json", "-o", output, model.path)
        return done, json.loads(done.stdout) if done.returncode == 0 else None

    def summary(self):
        return (f"{self.copies} plans with copies, {self.hot} whose hottest device is over the mean by 1 % or "
                "more")

    def check(self, rng):
        model, plan = self.draw(rng)
        more = rng.choice((0, 0, 1, 1, 2, 3))
        policy = rng.choice(POLICIES)
        flags = [*plan.flags(), MACHINE, f"--nodes={nodes_of(plan)}"]
        copies = [f"--redundant-experts={more * plan.ep}"] * (more > 0)
        even = [*flags, "--expert-load=even", f"--place-experts={policy}"]
        _, whole = self.estimate(model, flags)
        done, placed = self.estimate(model, even)
        problems = [("even loads refused", first_error(done.stderr))] if done.returncode else []
        if not problems:
            problems += self.check_even(whole, placed)
            layers = [layer["layer"] for layer in placed["placement"]["layers"]]
            even = [*flags, *copies, f"--expert-load={self.draw_load(rng, model, layers)}", f"--place-experts={policy}"]
            problems += self.check_hot(model, plan, more, whole, [*flags, *copies], even)
        self.tally.add(problems, f"{' '.join(even)} --estimate=json {model.path}")

    def draw_load(self, rng, model, layers):
        kind = rng.choice(("zipf", "log_normal", "tokens", "json", "csv"))
        if kind == "zipf":
            return f"zipf:{rng.uniform(0, 2):.2f},seed={rng.randrange(99)}"
        if kind == "log_normal":
            return f"log_normal:{rng.uniform(0, 0.9):.2f}"
        if kind == "tokens":
            return f"zipf:1.0,tokens={rng.choice((1, 100, 65536))}"
        rows = [[rng.choice((0, 1, rng.randrange(10000), rng.random())) for _ in range(model.experts)] for _ in layers]
        path = os.path.join(self.scratch, f"loads.{kind}")
        with open(path, "w", encoding="utf-8") as file:
            if kind == "json":
                json.dump({"schema": "autopar.load/1", "layers": dict(zip(map(str, layers), rows))}, file)
            else:
                lines = [f"{layer},{e},{value}" for layer, row in zip(layers, rows) for e, value in enumerate(row)]
                rng.shuffle(lines)
                file.write("layer,expert,tokens\n" + "\n".join(lines))
        return path

    def check_even(self, whole, placed):
        """Even loads without copies change nothing."""
        for key in sorted(set(whole) | set(placed)):
            if key not in ABOUT_PLACEMENT and whole.get(key) != placed.get(key):
                yield f"even loads change {key}", f"{whole.get(key)} -> {placed.get(key)}"[:300]
        if "placement" in whole or placed["placement"]["worst_imbalance"] != 1:
            yield "even loads are not even", f"{placed['placement']['worst_imbalance']}"

    def check_hot(self, model, plan, more, whole, cool_flags, hot_flags):
        output = os.path.join(self.scratch, "placed.mlir")
        done, cool = self.estimate(model, cool_flags)
        if done.returncode:
            yield "copies refused", first_error(done.stderr)
            return
        done, hot = self.estimate(model, hot_flags, output)
        if done.returncode:
            yield "loads refused", first_error(done.stderr)
            return
        self.copies += more > 0
        self.hot += hot["placement"]["mean_imbalance"] > 1.01
        for report in (cool, hot):
            yield from self.check_copies(model, plan, more, whole, report)
        before, after = cool["latency"]["step_time_us"], hot["latency"]["step_time_us"]
        if after < before * (1 - MEASURED):
            yield "faster with hot experts", f"{after} us < {before} us"
        with open(output, encoding="utf-8") as file:
            yield from self.check_tables(model, plan, more, hot["placement"], file.read())

    def check_copies(self, model, plan, more, whole, report):
        here = model.experts // plan.ep + more
        yield from differ("experts of a device", report["mesh"]["experts_per_device"], here)
        forms = Forms(model, plan)
        copied = -forms.weight_bytes()
        forms.experts_here = here
        copied += forms.weight_bytes()
        grown = report["memory"]["per_device"]["weight_bytes"] - whole["memory"]["per_device"]["weight_bytes"]
        yield from differ("bytes of copies", grown, copied)
        for key in ("total", "layers_linear", "attention", "recurrence", "logits"):
            yield from differ(f"flops.{key}", report["flops"][key], whole["flops"][key])
        yield from differ("model", report["model"], whole["model"])
        for key in ("kv_cache_bytes", "state_bytes"):
            yield from differ(key, report["memory"]["per_device"][key], whole["memory"]["per_device"][key])

    def check_tables(self, model, plan, more, placement, text):
        slots, loads = table(text, "expert_slots", "i"), table(text, "expert_loads", "d")
        found = []
        for layer, row, tokens in zip(placement["layers"], slots, loads):
            if len(row) != model.experts + more * plan.ep or set(row) != set(range(model.experts)):
                yield "slots", f"layer {layer['layer']}: {len(row)} slots of {len(set(row))} experts"
            found.append(imbalance(row, tokens, plan.ep))
            yield from close("imbalance of a layer", layer["imbalance"], found[-1])
            block = [slot % model.experts for slot in range(len(row))]
            yield from close("imbalance of block", layer["block_imbalance"], imbalance(block, tokens, plan.ep))
            if placement["policy"] == "balanced" and found[-1] > layer["block_imbalance"] * (1 + 1e-9):
                yield "balanced is worse than block", f"layer {layer['layer']}: {found[-1]} > {layer['block_imbalance']}"
        yield from close("mean imbalance", placement["mean_imbalance"], sum(found) / len(found))
        yield from close("worst imbalance", placement["worst_imbalance"], max(found))


if __name__ == "__main__":
    sys.exit(draw_and_check(__doc__, 200, Checker))

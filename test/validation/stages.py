#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws legal plans at random, lays their layers over pipeline stages, and
compares what autopar says with what the same plan without stages has, with all
splits of the layers, and with a schedule run here.

Shares no code with autopar. Ends with a line `N passed, N failed`.

usage: stages.py [--bin DIR] [--models DIR] [--plans N] [--seed N] [--show N]
"""

import json
import os
import sys

from plan_models import MODELS, Model, Workload
from plan_rules import draw_legal
from plans import MACHINE, WHOLE, Tally, differ, draw_and_check, first_error

IDEAL = "--runtime=ideal"


class Checker:
    def __init__(self, tools, models, scratch, shown):
        self.tools, self.scratch = tools, scratch
        self.models = [Model(name, models, scratch, tools) for name in MODELS]
        self.tally = Tally(shown)
        self.optimal = self.forms = 0

    def estimate(self, flags, path, output=os.devnull):
        return self.tools.run("autopar-opt", *flags, "--estimate=json", "-o", output, path)

    def summary(self):
        return f"{self.optimal} of {self.forms} splits proved optimal"

    def check(self, rng):
        model = rng.choice(self.models)
        plan = draw_legal(rng, model, Workload)
        if plan.devices > 64:
            return
        pp = rng.choice([p for p in (1, 2, 3, 4, 5, 8, 12, 16) if p <= model.layers])
        microbatches = rng.choice((1, 2, 3, 4, 8))
        whole = plan.workload
        batch = whole.batch * microbatches
        flags = [*plan.copy(workload=whole._replace(batch=batch)).flags(), MACHINE, WHOLE, IDEAL,
                 f"--nodes={-(-plan.devices * pp // 8)}"]  # fmt: skip
        staged = [*flags, f"--stage-pp={pp}", f"--microbatches={microbatches}"]
        problems = list(self.problems(model, plan, pp, microbatches, flags, staged))
        self.tally.add(problems, f"{' '.join(staged)} --estimate=json {model.path}")

    def problems(self, model, plan, pp, microbatches, flags, staged):
        output = os.path.join(self.scratch, "staged.mlir")
        done = self.estimate(staged, model.path, output)
        if done.returncode:
            yield f"legal stages refused, exit code {done.returncode}", first_error(done.stderr)
            return
        report = json.loads(done.stdout)
        again = self.estimate([flag for flag in flags if flag.startswith(("--hardware", "--nodes", "--runtime"))], output)
        if json.loads(again.stdout or "{}").get("schedule") != report["schedule"]:
            yield "its own output has another schedule", first_error(again.stderr)
        alone = [flag for flag in flags if not flag.startswith("--batch")] + [f"--batch={plan.workload.batch}"]
        one = json.loads(self.estimate(alone, model.path).stdout)
        all_at_once = json.loads(self.estimate(flags, model.path).stdout)
        yield from self.check_sums(model, plan, pp, microbatches, report, one, all_at_once)
        yield from self.check_schedule(plan, pp, microbatches, report)
        yield from self.check_transfers(model, plan, report)

    def check_sums(self, model, plan, pp, microbatches, report, one, all_at_once):
        """Stages have the parts of a microbatch's plan; caches those of all microbatches."""
        stages = report["memory"]["per_stage"]
        schedule = report["schedule"]
        if len(stages) != pp:
            yield "stages", f"{len(stages)}, not {pp}"
        extra = sum(stage["weight_bytes"] for stage in stages) - one["memory"]["per_device"]["weight_bytes"]
        # A table that embeds and scores lies on the first stage and on the last.
        tied = pp > 1 and not any("lm_head" in tensor.name for tensor in model.tensors)
        if extra and not (tied and 0 < extra <= one["memory"]["per_device"]["weight_bytes"] // 2):
            yield "weights of the stages", f"{extra:+} B"
        for key in ("kv_cache_bytes", "state_bytes"):
            yield from differ(f"{key} of the stages", sum(stage[key] for stage in stages),
                              microbatches * one["memory"]["per_device"][key])  # fmt: skip
        for key in ("total", "layers_linear", "attention", "recurrence", "logits"):
            yield from differ(f"flops.{key}", report["flops"][key], all_at_once["flops"][key])
        yield from differ("model", report["model"], all_at_once["model"])
        worst = max(stage["total_bytes"] for stage in stages)
        yield from differ("worst device", report["memory"]["per_device"]["total_bytes"], worst)
        ranges = [layers for stage in schedule["per_stage"] for layers in stage["layers"]]
        covered = [layer for first, last in ranges for layer in range(first, last + 1)]
        yield from differ("layers", covered, list(range(model.layers)))
        busy = sum(stage["time_us"] for stage in schedule["per_stage"])
        latency = one["latency"]["step_time_us"]
        # Where stages share nodes, groups may lie on two that lay on one.
        aligned = 8 % plan.devices == 0 or plan.devices % 8 == 0
        extra = busy - latency
        if tied and plan.fsdp and plan.of("dp") * plan.of("cp") > 1:
            # Which is gathered on both.
            gathers = [row for row in one["communication"]["collectives"] if row["kind"] == "all_gather"]
            extra = min((extra - row["time_us"] for row in gathers), key=abs, default=extra)
        if aligned and abs(extra) > 1e-6 * latency + 1e-3:
            yield "times of the stages", f"{busy} us, not {latency} us"

    def check_schedule(self, plan, pp, microbatches, report):
        """The time of a step, from the times of the stages and of transfers."""
        schedule, latency = report["schedule"], report["latency"]["step_time_us"]
        times = [stage["time_us"] for stage in schedule["per_stage"]]
        moves = [transfer["time_us"] for transfer in schedule["transfers"]]
        self.forms += 1
        self.optimal += schedule["optimal"]
        if plan.workload.phase == "decode":
            wanted = max(sum(times) + sum(moves), microbatches * max(times))
        else:
            free, done = [0.0] * pp, 0.0
            for _ in range(microbatches):
                arrives = 0.0
                for stage, time in enumerate(times):
                    free[stage] = max(free[stage], arrives) + time
                    arrives = free[stage] + (moves[stage] if stage < pp - 1 else 0)
                done = free[-1]
            wanted = done
        if abs(latency - wanted) > 1e-6 * wanted + 0.01:
            yield "time of a step", f"{latency} us, not {wanted} us"
        if schedule["heaviest_time_us"] != max(times):
            yield "heaviest stage", f"{schedule['heaviest_time_us']}, not {max(times)}"
        if schedule["gain_over_equal_counts"] < 0 and report["memory"]["per_device"]["fits"]:
            yield "worse than equal counts", f"{schedule['gain_over_equal_counts']}"

    def check_transfers(self, model, plan, report):
        """The hidden state of a microbatch, as a device has it between layers."""
        if model.exotic or plan.attention_tp or model.name == "gemma-2-27b":
            return
        sequences = -(-plan.workload.batch // plan.of("dp"))
        tokens = -(-plan.workload.query // plan.of("cp"))
        if plan.sp and plan.of("tp") > 1:
            tokens = -(-plan.workload.query // (plan.of("cp") * plan.of("tp")))
        wanted = sequences * tokens * model.hidden * 2
        decodes = plan.workload.phase == "decode"
        transfers = report["schedule"]["transfers"]
        for transfer in transfers[:-1] if decodes else transfers:
            yield from differ("bytes of a transfer", transfer["bytes"], wanted)


if __name__ == "__main__":
    sys.exit(draw_and_check(__doc__, 300, Checker))

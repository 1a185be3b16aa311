#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random plans of training, each estimated as it is and with one thing changed.

* its parts sum: bytes of each stage, time of an iteration, FLOPs;
* what is computed again, of parts, of some layers, of all: never more saved
  than without, never fewer FLOPs; of dense models, on the same stages, never
  less time, but for what more kernels hide of communication;
* what is chosen to fit does, wherever anything of the ladder does;
* twice the replicas, and sequences: never more states of optimizers on a device
  where these are split;
* a zero-bubble schedule: never slower than 1F1B;
* ZeRO, by stage and over more replicas: never more memory than without.

What is refused must say why. Ends with a line `N passed, N failed`.

usage: training_plans.py [--bin DIR] [--count N] [--seed N] [--quick] [--show N]
"""

import argparse
import concurrent.futures
import json
import os
import random
import sys
import tempfile

from plans import Tally, Tools

MODELS = (
    "llama-3.2-1b", "gpt2", "gemma-7b", "starcoder2-7b", "qwen2.5-7b", "olmo-2-32b", "mixtral-8x7b",
    "qwen3-30b-a3b", "gpt-oss-20b", "deepseek-v2-lite",
)  # fmt: skip
EXPERTS = {"mixtral-8x7b": 8, "qwen3-30b-a3b": 128, "gpt-oss-20b": 32, "deepseek-v2-lite": 64}
PARTS = ("weight", "kv_cache", "state", "activation", "runtime", "graph", "gradient", "optimizer", "saved", "allocator")
MICROSECOND = 1.0
# Bytes that an even split rounds up, stage by stage.
SLACK = 1 + 1e-9
# What kernels that run again may hide of communication beside them.
HIDDEN = 0.998


POLICIES = (
    "none", "selective", "norms", "mlp_activation", "norms,mlp", "attention_core,mlp_activation", "experts",
    "mlp,experts,shared_experts", "save_products", "save_products/2", "full", "full/2", "full:1", "full:3",
)  # fmt: skip


def draw(rng):
    """Flags by name."""
    plan = {"model": rng.choice(MODELS), "context": rng.choice((512, 1024)), "pp": rng.choice((1, 1, 2, 4))}
    plan["tp"], plan["dp"] = rng.choice((1, 2, 4)), rng.choice((1, 2, 4))
    plan["cp"] = rng.choice((1, 1, 1, 2))
    plan["ep"] = rng.choice((1, plan["dp"])) if plan["model"] in EXPERTS else 1
    plan["sp"] = plan["tp"] > 1 and rng.random() < 0.5
    plan["zero"] = rng.choice((0, 1, 2, 3)) if plan["dp"] > 1 else 0
    plan["fsdp"] = rng.choice((0, 0, 2)) if plan["zero"] and plan["dp"] > 2 else 0
    plan["optimizer"] = rng.choice(("adamw", "adamw", "adamw-8bit", "adafactor", "muon", "sgd"))
    plan["microbatches"] = rng.choice((2, 4, 8)) * plan["pp"]
    plan["recompute"] = rng.choice(POLICIES)
    plan["schedule"] = rng.choice(("one_f_one_b", "zero_bubble", "gpipe", "interleaved")) if plan["pp"] > 1 else None
    plan["runtime"] = rng.choice(("megatron", "nemo", "fsdp2"))
    # How much of what a smaller device would have to make again to fit.
    plan["capacity"], plan["squeeze"], plan["stages"] = None, rng.random(), None
    return plan


def flags(plan):
    sequences = plan["microbatches"] * plan["dp"]
    all_flags = ["--phase=train", f"--context={plan['context']}", f"--batch={sequences}", f"--zero={plan['zero']}"]
    all_flags += [f"--recompute={plan['recompute']}", f"--runtime={plan['runtime']}", "--micro-batch=1"]
    all_flags += [f"--optimizer={plan['optimizer']}"]
    all_flags += [f"--shard-{axis}={plan[axis]}" for axis in ("tp", "dp", "cp", "ep", "fsdp") if plan[axis] > 1]
    all_flags += ["--shard-sp"] if plan["sp"] else []
    all_flags += [f"--set=chips.h100-sxm.memory_usable={plan['capacity']}"] if plan["capacity"] else []
    if plan["pp"] > 1:
        all_flags += [f"--stage-pp={plan['pp']}", f"--schedule={plan['schedule']}"]
        all_flags += ["--interleave=2"] if plan["schedule"] == "interleaved" else []
        all_flags += [f"--stages={plan['stages']}"] if plan["stages"] else []
    devices = plan["tp"] * plan["dp"] * plan["cp"] * plan["pp"]
    return [*all_flags, "--hardware=h100-sxm-8", f"--nodes={-(-devices // 8)}", "--estimate=json", "-o", os.devnull]


class Estimates:
    def __init__(self, tools, scratch):
        self.tools, self.scratch = tools, scratch
        for name in MODELS:
            tools.check("autopar-translate", "--import-hf", name, "-o", self.model(name))

    def model(self, name):
        return os.path.join(self.scratch, f"{name}.mlir")

    def of(self, plan):
        """The report, or the error."""
        done = self.tools.run("autopar-opt", *flags(plan), self.model(plan["model"]))
        if done.returncode == 0:
            return json.loads(done.stdout), None
        return None, (done.returncode, done.stderr)


def check_sums(report):
    for stage, memory in enumerate(report["memory"]["per_stage"]):
        total = sum(memory[f"{part}_bytes"] for part in PARTS)
        if total != memory["total_bytes"]:
            yield "bytes of a stage", f"stage {stage}: {total} bytes, not {memory['total_bytes']}"
    training, step = report["training"], report["latency"]["step_time_us"]
    parts = sum(training[f"{part}_time_us"] for part in ("forward", "backward", "optimizer", "bubble", "straggler"))
    if abs(parts - step) > MICROSECOND:
        yield "time of an iteration", f"{parts} us, not {step}"
    flops = training["flops"]
    if flops["hardware"] != flops["forward"] + flops["backward"]:
        yield "FLOPs", f"{flops['forward']} + {flops['backward']} are not {flops['hardware']}"
    for row in training["exposure"]:
        if not 0 <= row["exposed_time_us"] <= row["time_us"] * SLACK:
            yield "exposure", f"{row}"


def most(report, part):
    return max(memory[f"{part}_bytes"] for memory in report["memory"]["per_stage"])


def all_of(report, part):
    return sum(memory[f"{part}_bytes"] for memory in report["memory"]["per_stage"])


def recomputes(a, b):
    if most(b, "saved") > most(a, "saved") * SLACK:
        yield "memory of recomputation", f"{most(b, 'saved')} bytes, and {most(a, 'saved')} without"
    if int(b["training"]["flops"]["hardware"]) < int(a["training"]["flops"]["hardware"]):
        yield "FLOPs of recomputation", "fewer"
    is_dense = not any(a["model"]["name"].startswith(name) for name in EXPERTS)
    if is_dense and b["latency"]["step_time_us"] < HIDDEN * a["latency"]["step_time_us"]:
        yield "time of recomputation", f"{b['latency']['step_time_us']} us, and {a['latency']['step_time_us']} without"


def replicates(a, b):
    if most(b, "optimizer") > most(a, "optimizer") * SLACK:
        yield "states of more replicas", f"{most(b, 'optimizer')} bytes, and {most(a, 'optimizer')} on half of them"


def fills(a, b):
    if b["latency"]["step_time_us"] > a["latency"]["step_time_us"] * SLACK + MICROSECOND:
        yield "zero bubble", f"{b['latency']['step_time_us']} us, and {a['latency']['step_time_us']} of 1F1B"


def splits(a, b):
    """Layers may lie otherwise. Where weights are cast as they are gathered, ZeRO 3 has the optimizer's copies
    among its weights: both are compared together."""
    for parts in (("optimizer",), ("gradient",), ("weight", "optimizer")):
        less, more = (sum(all_of(report, part) for part in parts) for report in (a, b))
        if more > less * SLACK:
            yield f"{' and '.join(parts)} of ZeRO", f"{more} bytes, and {less} where less is split"


def changes(plan, report):
    """(plan before, plan after, what must hold)."""
    if plan["recompute"] != "none":
        stages = report["plan"].get("pipeline", {}).get("stages")
        yield {**plan, "recompute": "none", "stages": stages}, {**plan, "stages": stages}, recomputes
    if plan["zero"] and plan["ep"] == 1 and not plan["fsdp"]:
        yield plan, {**plan, "dp": 2 * plan["dp"]}, replicates
    if plan["zero"]:
        yield {**plan, "zero": plan["zero"] - 1, "fsdp": plan["fsdp"] if plan["zero"] > 1 else 0}, plan, splits
    if plan["fsdp"]:
        yield plan, {**plan, "fsdp": 0}, splits
    if plan["schedule"] in ("one_f_one_b", "zero_bubble"):
        yield {**plan, "schedule": "one_f_one_b"}, {**plan, "schedule": "zero_bubble"}, fills


def fit(estimates, plan):
    """On a device that none does not fit, auto fits where any other does, and says what did not."""
    wide = {policy: estimates.of({**plan, "recompute": policy})[0] for policy in ("none", "full")}
    if not all(wide.values()):
        return
    none, full = (report["memory"]["per_device"]["total_bytes"] for report in wide.values())
    tight = {**plan, "capacity": int(full + (none - full) * plan["squeeze"])}
    chosen, error = estimates.of({**tight, "recompute": "auto"})
    if not chosen:
        yield "auto", f"refused: {error[1][:200]}"
        return
    fits = chosen["memory"]["per_device"]["fits"]
    # Where it fits, whether others do does not matter, but for none.
    others = {policy: estimates.of({**tight, "recompute": policy})[0] for policy in (("none",) if fits else POLICIES)}
    fitting = [policy for policy, report in others.items() if report and report["memory"]["per_device"]["fits"]]
    if fitting and not fits:
        yield "auto", f"does not fit, and {fitting} do"
    if "none" in fitting and chosen["training"]["recompute"] != "none":
        yield "auto", f"{chosen['training']['recompute']}, and none fits"
    for one in chosen["training"]["tried"]:
        if one["missing_bytes"] <= 0 or one["recompute"] == chosen["training"]["recompute"] and (fits or fitting):
            yield "auto", f"tried {one}"


def check(estimates, plan):
    report, error = estimates.of(plan)
    if error:
        code, text = error
        said = code == 1 and "error: " in text and len(text) < 2000
        return [] if said else [("refusal", f"exit code {code}: {text[:300]}")]
    problems = list(check_sums(report))
    for before, after, holds in changes(plan, report):
        a, b = (report if one == plan else estimates.of(one)[0] for one in (before, after))
        if a and b:
            problems += holds(a, b)
    if plan["squeeze"] < 1 / 4:
        problems += fit(estimates, {**plan, "squeeze": 4 * plan["squeeze"]})
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--show", type=int, default=3)
    options = parser.parse_args()
    rng, tally = random.Random(options.seed), Tally(options.show)
    plans = [draw(rng) for _ in range(40 if options.quick else options.count)]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        estimates = Estimates(Tools(options.bin), scratch)
        for plan, problems in zip(plans, pool.map(lambda plan: check(estimates, plan), plans)):
            tally.add(problems, " ".join([*flags(plan), plan["model"]]))
    tally.print()
    print(f"{tally.passed} passed, {tally.failed} failed")
    return tally.failed > 0


if __name__ == "__main__":
    sys.exit(main())

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws commands of autopar-opt at random: plans (some illegal), pipelines,
placements of experts, deployments of two modules. A command is a model's name
and a list of flags; the same seed draws the same commands."""

from plan_models import Workload
from plan_rules import draw, draw_illegal, draw_legal

# Devices of a node; the first is the one that most commands name.
MACHINES = {"h100-sxm-8": 8, "h200-sxm-8": 8, "b200-sxm-8": 8, "gb200-nvl72": 72, "mi300x-8": 8, "h20-8": 8, "l40s-8": 8,
            "tpu-v5p-4x4x4": 64}  # fmt: skip
SCHEDULES = ("gpipe", "one_f_one_b", "interleaved", "zero_bubble", "dual_pipe", "inference")


def machine(rng, devices):
    """A machine, with nodes enough for most; one in 30 has a node too few."""
    name = rng.choice((next(iter(MACHINES)), rng.choice(tuple(MACHINES))))
    nodes = -(-devices // MACHINES[name])
    return [f"--hardware={name}", f"--nodes={max(1, nodes - (rng.random() < 1 / 30))}"]


def choices(rng, model, plan):
    """What a plan may have beside its degrees."""
    flags = []
    if rng.random() < 0.25:
        flags.append(f"--kv-dtype={rng.choice(('fp8', 'fp8', 'fp8_e5m2', 'bf16', 'fp32'))}")
    if rng.random() < 0.08:
        flags.append(f"--dtype={rng.choice(('fp16', 'fp8', 'fp32'))}")
    if rng.random() < 0.2:
        flags.append("--runtime=ideal")
    if rng.random() < 0.05:
        flags.append(f"--memory-utilization={rng.choice((0.5, 0.8, 0.95))}")
    axes = [axis for axis in ("dp", "cp", "tp") if getattr(plan, axis)]
    if len(axes) > 1 and rng.random() < 0.1:
        rng.shuffle(axes)
        flags.append(f"--map={','.join(axes)}")
    if model.encoder and rng.random() < 0.5:
        flags.append(f"--cross-tokens={rng.choice((0, 17, 512))}")
        flags += [f"--encoder-tokens={rng.choice((17, 512))}"] * (plan.workload.phase == "prefill")
    return flags


def draw_plan(rng, models):
    model, kind = rng.choice(models), rng.random()
    if kind < 0.12:
        plan, _ = draw_illegal(rng, model, Workload)
    else:
        plan = (draw if kind < 0.2 else draw_legal)(rng, model, Workload)
    return model.name, [*plan.flags(), *choices(rng, model, plan), *machine(rng, plan.devices)]


def stages(rng, model, plan, pp):
    flags = [f"--stage-pp={pp}"]
    kind = rng.choice(SCHEDULES) if plan.workload.phase == "prefill" and rng.random() < 0.6 else None
    # One in 20 runs backwards in a decode step, which none does.
    kind = rng.choice(SCHEDULES) if rng.random() < 0.05 else kind
    virtual = rng.choice((2, 2, 3)) if kind == "interleaved" else 1
    if rng.random() < 0.1 and pp * virtual <= model.layers:
        cuts = [0, *sorted(rng.sample(range(1, model.layers), pp * virtual - 1)), model.layers]
        flags.append(f"--stages={','.join(f'{first}-{end - 1}' for first, end in zip(cuts, cuts[1:]))}")
    flags += [f"--schedule={kind}"] * bool(kind)
    return flags + [f"--interleave={virtual}"] * (virtual > 1 or rng.random() < 0.1)


def draw_staged(rng, models):
    model = rng.choice(models)
    plan = draw_small(rng, model)
    pp, microbatches = rng.choice((1, 2, 3, 4, 5, 8, 12, 16)), rng.choice((1, 2, 3, 4, 8))
    plan.workload = plan.workload._replace(batch=plan.workload.batch * microbatches)
    flags = [*plan.flags(), *choices(rng, model, plan), *stages(rng, model, plan, pp), f"--microbatches={microbatches}"]
    return model.name, [*flags, *machine(rng, plan.devices * pp)]


def draw_placed(rng, models):
    model = rng.choice([model for model in models if model.experts])
    plan = draw_small(rng, model)
    while not plan.ep:
        plan = draw_small(rng, model)
    load = rng.choice((f"zipf:{rng.uniform(0, 2):.2f},seed={rng.randrange(99)}", f"log_normal:{rng.uniform(0, 0.9):.2f}",
                       f"zipf:1.0,tokens={rng.choice((1, 100, 65536))}", "even"))  # fmt: skip
    flags = [*plan.flags(), *choices(rng, model, plan), f"--expert-load={load}"]
    flags += [f"--place-experts={rng.choice(('balanced', 'block', 'round_robin'))}"] * (rng.random() < 0.7)
    flags += [f"--redundant-experts={rng.choice((1, 2, 3)) * plan.ep}"] * (rng.random() < 0.5)
    flags += ["--expert-groups-in-node"] * (rng.random() < 0.05)
    pp = rng.choice((1, 1, 1, 2, 4))
    flags += stages(rng, model, plan, pp) if pp > 1 else []
    return model.name, [*flags, *machine(rng, plan.devices * pp)]


def draw_deployed(rng, models):
    model = rng.choice(models)
    flags, devices, length = ["--autopar-clone-module=names=prefill,decode link=true"], 0, rng.choice((768, 2048, 6144))
    other = rng.random() < 0.4  # the module that decodes has a machine of its own
    for phase in ("prefill", "decode"):
        plan = draw_small(rng, model)
        while plan.workload.phase != phase:
            plan = draw_small(rng, model)
        # One in five decodes more tokens than a prefill hands over.
        if rng.random() < 0.8:
            plan.workload = plan.workload._replace(query=length if phase == "prefill" else 1, context=length)
        pp = rng.choice((1, 1, 1, 2))
        options = plan.flags()
        if pp > 1:  # stages are balanced by times, so on a machine
            options += [*stages(rng, model, plan, pp), f"--nodes={-(-plan.devices * pp // 8)}"]
        passes = f"autopar-plan{{{' '.join(map(option, options))}}}"
        if phase == "decode" and other:
            passes += f",autopar-bind-target{{{' '.join(map(option, machine(rng, plan.devices * pp)))}}}"
        else:
            devices += plan.devices * pp
        flags.append(f"--autopar-run-on-module=module={phase} pipeline=builtin.module({passes})")
    return model.name, [*flags, *(["--runtime=ideal"] * (rng.random() < 0.2)), f"--nodes={-(-devices // 8)}"]


def draw_small(rng, model):
    while True:
        plan = draw_legal(rng, model, Workload)
        if plan.devices <= 64:
            return plan


def option(flag):
    """A flag of the command line as an option of a pass."""
    text = flag.removeprefix("--")
    return text if "=" in text else f"{text}=true"


CASES = {"plans": (2000, draw_plan), "staged": (300, draw_staged), "placed": (200, draw_placed),
         "deployed": (100, draw_deployed)}  # fmt: skip

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No work is done twice: draws plans of inference and training for small models
and compares the FLOPs of the split cost program, summed over all devices, with
those of one device.

* The products of each op are, whole, those of the unsplit program: nothing is
  computed by two kernels that one had.
* A kernel is split over every axis of the mesh, or `REASONS` has why its devices
  along that axis compute the same. Each reason names ops and axes, and allows
  exactly the copies along those axes.
* An uneven split counts what its rule gives the largest part, and no more.

Ends with a line `N passed, N failed`.

usage: conserved_flops.py [--bin DIR] [--count N] [--seed N] [--quick] [--show N]
"""

import collections
import json
import math
import os
import random
import re
import sys
import tempfile

import drawn
import random_plans
from executed import MODELS, run

TRAINING = ["--recompute=selective", "--recompute=full", "--recompute=mlp,experts", "--zero=1", "--zero=2",
            "--optimizer=sgd", "--unfused-attention", "--micro-batch=1"]  # fmt: skip
STEPS = {
    "prefill": ["--phase=prefill", "--prompt=24"],
    "decode": ["--phase=decode", "--context=40"],
    "train": ["--phase=train", "--prompt=24"],
}

Kernel = collections.namedtuple("Kernel", "name op count factor dims pairs shared")
Split = collections.namedtuple("Split", "extent axes")


def parse(text):
    """The dimensions of "[batch by dp any, 128 by tp pad 64, 64]"."""
    dims = []
    for entry in filter(None, text.strip("[]").split(", ")):
        extent, axes = re.match(r"(\S+)(?: by (\S+))?", entry).groups()
        dims.append(Split(extent, axes.split("*") if axes else []))
    return dims


def extents(text):
    return [split.extent for split in parse(text)]


def value(extent, symbols):
    return math.prod(int(part) if part.isdigit() else symbols[part] for part in extent.split("*"))


# Ops that go through the tokens of a sequence one after the other: each needs
# what the token before has left.
SEQUENTIAL = {f"{op}{way}" for op in ("short_conv", "state_space", "gated_delta_rule", "linear_attention")
              for way in ("", "_backward")}  # fmt: skip
# Weights that no head, width or expert has a part of: tensor parallelism leaves
# them whole, so that its devices multiply the same tokens with them.
SHARED = re.compile(r"(q_a_proj|kv_a_proj_with_mqa|gate|router|indexer\..*|projector\..*)\.(weight|bias)$")


UNFUSED = {"attention_probabilities", "attend", "attend_backward", "attention_probabilities_backward"}


def trains(plan):
    return "--phase=train" in plan


# Why devices along an axis, of a degree of the plan, compute the same.
PROJECTOR = re.compile(r"model/((linear(_1)?|fc[12]|proj|[02]|(vision|embedding)_projection)_out|linear|output)$")
# What makes patches of pictures and frames of sound, before the layers of a tower.
PATCHES = re.compile(r"model/(patch_embedding_out|input|convolved)$|\w+_stage/(linear|fc[12]_out)$")
# Products between the hidden states and the latent space of experts.
LATENT_EXPERTS = re.compile(r"latent_moe_decoder/(routed_expert_up|linear)$|.*_decoder(_backward)?/(pre|post)_expert$")
# Products in the place of attention and of networks, of Nemotron-NAS.
REPLACED = re.compile(r"linear_\d+_decoder(_backward/|/linear(_attn_out|_mlp_out)?$)")
REASONS = [
    (lambda kernel, degree, plan: kernel.op == "logits" and degree == "cp" and not trains(plan),
     "a sequence has one last token, of which cp has no parts"),
    (lambda kernel, degree, plan: kernel.op in SEQUENTIAL and degree == "cp",
     "tokens of a recurrence follow one another"),
    (lambda kernel, degree, plan: kernel.shared and degree == "tp" and "--shard-sp" not in plan,
     "a weight that all heads, widths or experts share"),
    (lambda kernel, degree, plan: kernel.op in ("router", "indexer", "block_indexer") and degree == "tp" and "--shard-sp" not in plan,
     "a router or an indexer chooses for all devices"),
    (lambda kernel, degree, plan: degree == "tp" and kernel.op == "linear" and "--shard-dcp=2" in plan,
     "keys of new tokens are made where any part of the context is"),
    (lambda kernel, degree, plan: degree == "tp" and kernel.op in SEQUENTIAL and "--shard-dcp=2" in plan,
     "recurrences have heads for the part of tp that dcp leaves"),
    (lambda kernel, degree, plan: degree == "cp" and "--unfused-attention" in plan and kernel.op in UNFUSED,
     "attention that writes its probabilities has them of all tokens"),
    (lambda kernel, degree, plan: kernel.op == "latent_attention" and degree == "cp",
     "latents go round or are gathered, and each device expands those that it sees"),
    (lambda kernel, degree, plan: kernel.op == "latent_attention" and degree == "tp" and "--shard-dcp=2" in plan,
     "latents of a part of the context are expanded for the heads of all parts"),
    (lambda kernel, degree, plan: kernel.op in ("product_gradient", "linear_backward") and degree == "tp" and "--shard-sp" not in plan
     and re.search("moe|delta|full_plain_decoder", kernel.name),
     "gradients of a router, which chooses for all devices, of gates that all heads share, and of products around experts"),
    (lambda kernel, degree, plan: kernel.op == "linear" and degree == "tp" and "--shard-sp" not in plan
     and re.search("delta|full_plain_decoder/linear$", kernel.name),
     "narrow gates that all heads share"),
    (lambda kernel, degree, plan: kernel.op == "linear" and degree == "tp" and re.search(r"sparse_\w+_decoder/linear$", kernel.name),
     "index keys are one head, which all devices keep"),
    (lambda kernel, degree, plan: kernel.op == "hyper_pre" and degree == "tp",
     "streams are mixed over whole hidden states"),
    (lambda kernel, degree, plan: kernel.op == "linear" and LATENT_EXPERTS.match(kernel.name) and degree == "tp",
     "products around experts of a latent space are of all experts"),
    # What follows is work that is done twice, which nothing mends yet.
    (lambda kernel, degree, plan: kernel.op == "linear" and PROJECTOR.match(kernel.name) and degree in ("tp", "cp"),
     "the projector of images is whole"),
    (lambda kernel, degree, plan: PATCHES.match(kernel.name) and degree in ("tp", "cp"),
     "patches and frames are embedded whole"),
    (lambda kernel, degree, plan: kernel.name == "model/per_layer_model_projection_out" and degree == "tp",
     "the embeddings that each layer adds are made whole"),
    (lambda kernel, degree, plan: REPLACED.match(kernel.name) and degree == "tp",
     "a product in the place of attention or a network is whole"),
    (lambda kernel, degree, plan: kernel.op == "product_gradient" and degree == "cp" and kernel.name.startswith("mamba"),
     "gradients behind a recurrence have all tokens"),
    (lambda kernel, degree, plan: kernel.op == "experts" and degree == "tp" and trains(plan),
     "experts of training that tp does not split, as their width does not divide"),
    (lambda kernel, degree, plan: kernel.op in ("linear", "linear_backward") and degree == "cp" and "--unfused-attention" in plan,
     "what follows attention that writes its probabilities has all tokens"),
    (lambda kernel, degree, plan: kernel.op in ("linear", "linear_backward") and degree == "cp" and "--shard-ep=4" in plan
     and kernel.name.startswith(("mamba_", "attention_moe_decoder_backward")),
     "tokens beside a recurrence that ep and sp split are not sliced again"),
]  # fmt: skip


class Program:
    """What a cost program says of products."""

    def __init__(self, path, tools):
        code, self.error = run([f"{tools}/autopar-opt", "--autopar-print-cost-program", path, "-o", os.devnull])
        self.kernels, self.axes = [], []
        if code:
            return
        program = json.loads(self.error)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.sizes = self.read_pairs(text, r"parallel\.mesh\(([^)]*)\)", " = ")
        workload = self.read_pairs(text, r"transformer\.workload\(([^)]*)\)", " = ")
        self.symbols = {"encoder_tokens": 0, "cross_tokens": 0, **workload}
        shared = [extents(resident["shape"]) for resident in program["residents"] if SHARED.search(resident["name"])]
        self.kernels = [self.read(kernel, shared) for kernel in program["kernels"] if kernel.get("flop_factor")]

    @staticmethod
    def read_pairs(text, pattern, between):
        found = re.search(pattern, text)
        items = (item.split(between) for item in found.group(1).split(", ")) if found else []
        return {name: int(size) for name, size in items if size.isdigit()}

    @staticmethod
    def read(kernel, shared):
        pairs = kernel.get("pairs") or {}
        dims = [parse(kernel[part]) for part in ("rows", "columns", "contraction") if part in kernel]
        seen = [parse(f"[{pairs[part]}]")[0] for part in ("query", "context") if part in pairs]
        weights = [extents(move["shape"]) for move in kernel["traffic"] if move["role"] == "weight"]
        if kernel["op"] == "product_gradient":
            weights = [extents(kernel["rows"]) + extents(kernel["columns"])]
        return Kernel(kernel["name"].split("#")[0], kernel["op"], kernel["count"], kernel["flop_factor"],
                      sum(dims, []), seen, any(weight in shared for weight in weights))  # fmt: skip

    def flops(self, kernel):
        """Of the whole kernel; pairs as all queries with all keys."""
        return kernel.count * kernel.factor * math.prod(
            value(split.extent, self.symbols) for split in kernel.dims + kernel.pairs
        )

    def by_op(self):
        sums = collections.Counter()
        for kernel in self.kernels:
            sums[kernel.op] += self.flops(kernel)
        return sums


def copies(program, kernel):
    """The axes along which devices compute the same."""
    used = {axis for split in kernel.dims + kernel.pairs for axis in split.axes}
    return [axis for axis, size in program.sizes.items() if size > 1 and axis not in used and axis != "pp"]


def explain(kernel, axis, plan):
    """Why devices along `axis` compute the same, or None."""
    degree = re.match(r"(dp|cp|tp)[io]?$", axis)
    return degree and next((why for holds, why in REASONS if holds(kernel, degree.group(1), plan)), None)


def flags(rng, phase, config):
    plan = random_plans.flags(rng)
    if not any("expert" in field for field in config):
        plan = [flag for flag in plan if not flag.startswith(("--shard-ep", "--shard-etp", "--dispatch"))]
    if phase == "train":
        plan = [flag for flag in plan if "dcp" not in flag and "attention-tp" not in flag]
        plan += rng.sample(TRAINING, rng.randrange(3))
        plan = [flag for flag in plan if flag != "--zero=2" or "--fsdp" not in plan]
        if any(flag.startswith("--shard-cp") for flag in plan):
            plan = [flag for flag in plan if "--cp-kind" not in flag]
            plan += rng.choice([[], ["--cp-kind=ring"], ["--cp-kind=all-to-all"], ["--cp-kind=all-gather"]])
    return plan + (["--stage-pp=2"] if rng.random() < 0.15 else [])


class Checker:
    def __init__(self, tools, folder, seed):
        self.tools, self.folder, self.seed = tools, folder, seed
        self.reasons = collections.Counter()

    def check(self, number):
        """("passed" or "refused", "") or ("failed", why)."""
        rng = random.Random(f"{self.seed}/{number}")
        name, phase = rng.choice(list(MODELS)), rng.choice(["prefill", "decode", "train", "train"])
        config = random_plans.resized(MODELS[name], rng)
        plan = flags(rng, phase, config)
        base = f"{self.folder}/{number}"
        with open(f"{base}.json", "w", encoding="utf-8") as file:
            json.dump(config, file)
        step = [*STEPS[phase], f"--batch={rng.choice([4, 8, 16])}"]
        outcome = self.outcome(base, plan, step)
        for suffix in (".json", ".mlir", ".whole.mlir", ".split.mlir"):
            if os.path.exists(base + suffix):
                os.remove(base + suffix)
        kind, why = outcome
        return kind, why and f"{name} {' '.join([*plan, *step])}: {why}"

    def outcome(self, base, plan, step):
        # What has a cost of its own whatever is split.
        kept = [flag for flag in plan if flag.startswith(("--recompute", "--optimizer", "--unfused", "--micro"))]
        for command in [
            [f"{self.tools}/autopar-translate", "--import-hf", f"{base}.json", "-o", f"{base}.mlir"],
            [f"{self.tools}/autopar-opt", *step, *kept, f"{base}.mlir", "-o", f"{base}.whole.mlir"],
            [f"{self.tools}/autopar-opt", *step, *plan, f"{base}.mlir", "-o", f"{base}.split.mlir"],
        ]:
            code, said = run(command)
            if code:
                return ("refused", "") if code == 1 and "error:" in said else ("failed", said)
        whole, split = (Program(f"{base}.{kind}.mlir", self.tools) for kind in ("whole", "split"))
        if not whole.kernels or not split.kernels:
            return "failed", whole.error + split.error
        problem = self.problem(whole, split, [*plan, *step])
        return ("failed", problem) if problem else ("passed", "")

    def problem(self, whole, split, plan):
        once = whole.by_op()
        for op, flops in split.by_op().items():
            if flops > once[op]:
                return f"{op}: {flops} FLOPs of all kernels, {once[op]} unsplit"
        for kernel in split.kernels:
            for axis in copies(split, kernel):
                why = explain(kernel, axis, plan)
                if not why:
                    return f"{kernel.name} ({kernel.op}) is computed by all {split.sizes[axis]} devices of {axis}"
                self.reasons[why] += 1
        return None


def main():
    options = drawn.parse(__doc__, count=2000, quick=150)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(options.bin, folder, options.seed)
        code = drawn.examine(checker.check, range(options.count), ["passed"], "{refused} refused with a reason",
                             options.show)  # fmt: skip
    return code


if __name__ == "__main__":
    sys.exit(main())

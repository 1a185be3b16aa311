# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which plans are legal, written from the documents and by brute force over
divisors; and plans drawn at random, legal and illegal."""

import math
from random import Random

FLAGS = ("tp", "cp", "dp", "ep", "etp", "dcp", "attention_tp")


class Plan:
    """Degrees by flag (None: not given), choices, and a workload."""

    def __init__(self, **given):
        for name in FLAGS:
            setattr(self, name, given.get(name))
        self.kind = given.get("kind")
        # Routed tokens go to each node once; to their experts in fp8.
        self.by_node, self.fp8 = given.get("by_node", False), given.get("fp8", False)
        self.sp, self.fsdp = given.get("sp", False), given.get("fsdp", False)
        self.workload = given.get("workload")

    def copy(self, **changes):
        return Plan(**{**vars(self), **changes})

    def of(self, name):
        return getattr(self, name) or 1

    def without_neutral(self):
        """The plan without axes of one device, which say nothing."""
        plan = self.copy()
        for name in ("tp", "cp", "dp", "dcp"):
            if getattr(plan, name) == 1:
                setattr(plan, name, None)
        if plan.attention_tp == self.of("tp"):
            plan.attention_tp = None
        plan.sp = plan.sp and plan.tp is not None
        plan.kind = plan.kind if plan.cp else None
        plan.fsdp = plan.fsdp and not (plan.dp is plan.cp is plan.ep is None)
        return plan

    @property
    def devices(self):
        return self.of("tp") * self.of("cp") * self.of("dp")

    @property
    def attention(self):
        return self.attention_tp or self.of("tp")

    @property
    def keys(self):
        return max(1, self.attention // self.of("dcp"))

    @property
    def rest(self):
        """Parts of tp over which attention is data-parallel."""
        return self.of("tp") // self.attention

    @property
    def ulysses(self):
        return self.of("cp") if self.kind == "all-to-all" else 1

    @property
    def ring(self):
        return self.of("cp") // self.ulysses

    @property
    def expert_tp(self):
        return self.of("etp") if self.ep else self.of("tp")

    def flags(self):
        result = [f"--shard-{name.replace('_', '-')}={getattr(self, name)}"
                  for name in FLAGS if getattr(self, name) is not None]  # fmt: skip
        # autopar would fill tp.
        result += ["--shard-etp=1"] * (self.ep is not None and self.etp is None)
        if self.kind:
            result.append(f"--cp-kind={self.kind}")
        result += ["--shard-sp"] * self.sp + ["--fsdp"] * self.fsdp
        result += ["--dispatch-by-node"] * self.by_node + ["--dispatch-dtype=fp8"] * self.fp8
        if self.workload:
            w = self.workload
            result += [f"--phase={w.phase}", f"--batch={w.batch}"]
            result.append(f"--prompt={w.query}" if w.phase == "prefill" else f"--context={w.context}")
        return result


def divides(a, b):
    return b % a == 0


def either(a, b):
    return divides(a, b) or divides(b, a)


def broken_rules(model, plan):
    """The rules that `plan` breaks, each with the flags that could mend it."""
    broken = []
    tp, cp, dp = plan.of("tp"), plan.of("cp"), plan.of("dp")
    if plan.etp and not plan.ep:
        broken.append("etp needs ep")
    if (plan.dcp or plan.attention_tp) and not plan.tp:
        broken.append("a part of tp needs tp")
    if (plan.by_node or plan.fp8) and not plan.ep:
        broken.append("a way to experts needs ep")
    if plan.fsdp and not plan.dp and not plan.cp and not plan.ep:
        broken.append("fsdp needs dp or cp")
    if plan.kind and not plan.cp:
        broken.append("a kind needs cp")
    if plan.ring > 1 and plan.of("dcp") > 1:
        broken.append("a ring or dcp")  # both would split the cache by tokens
    if plan.sp and not plan.tp:
        broken.append("sp needs tp")
    if plan.ep and not model.experts:
        broken.append("ep needs experts")
    # tp*cp*dp = etp*ep*edp, dcp inside attention_tp inside tp: the borders of
    # all groups, counted from the innermost device, must be a chain of divisors.
    if plan.dcp and not divides(plan.dcp, plan.attention):
        broken.append("dcp divides attention_tp")
    if plan.attention_tp and not divides(plan.attention_tp, tp):
        broken.append("attention_tp divides tp")
    borders = {tp, tp * cp, plan.devices}
    if plan.ep:
        borders |= {plan.of("etp"), plan.of("etp") * plan.ep}
        if not divides(plan.of("etp") * plan.ep, plan.devices):
            broken.append("etp*ep divides the devices")
    # Parts of tp meet the borders of experts only where those lie inside tp.
    borders = sorted(borders | {p for p in (plan.attention_tp, plan.dcp) if p})
    if not broken and not all(divides(a, b) for a, b in zip(borders, borders[1:])):
        broken.append("borders")
    return broken + broken_divisions(model, plan)


def broken_divisions(model, plan):
    broken = []
    heads = plan.attention * plan.ulysses
    if not all(divides(heads, count) for count in [model.heads] + model.other_heads):
        broken.append("heads")
    elif not model.latent and not (
        either(plan.keys, model.kv_heads) and either(plan.keys * plan.ulysses, model.kv_heads)
    ):
        broken.append("key-value heads")
    if not all(divides(plan.of("tp"), width) for width in model.widths):
        broken.append("widths")
    if model.experts:
        if plan.ep and not divides(plan.ep, model.experts):
            broken.append("experts")
        if not divides(plan.expert_tp, model.expert_width):
            broken.append("expert widths")
    return broken


def divisors(value):
    return [d for d in range(1, value + 1) if value % d == 0]


SIZES = {
    "tp": (1, 2, 2, 4, 4, 8, 8, 16, 3, 6, 7, 12, 14),
    "cp": (1, 2, 2, 4, 8, 3),
    "dp": (1, 2, 4, 8, 16, 3, 6),
}


def draw(random, model, workload_type):
    """Any plan, legal or not, of a shape that may be legal."""
    given = {name: random.choice(SIZES[name]) for name, share in (("tp", 0.75), ("cp", 0.35), ("dp", 0.6))
             if random.random() < share}  # fmt: skip
    plan = Plan(**given)
    if model.experts and random.random() < 0.6:
        plan.ep = random.choice(divisors(math.gcd(plan.devices, model.experts)))
        if random.random() < 0.35:
            plan.etp = random.choice(divisors(plan.devices // plan.ep))
    if plan.tp and random.random() < 0.2:
        plan.attention_tp = random.choice(divisors(plan.tp))
    if plan.tp and random.random() < 0.2:
        plan.dcp = random.choice(divisors(plan.attention))
    if plan.cp and random.random() < 0.5:
        plan.kind = random.choice(("ring", "all-to-all", "all-to-all"))
    plan.sp = bool(plan.tp) and random.random() < 0.35
    plan.fsdp = bool(plan.dp or plan.cp) and random.random() < 0.2
    decode = random.random() < 0.5
    # Mostly such that all divides, for that has closed forms.
    batch = random.choice((plan.of("dp") * plan.rest, 1)) * random.choice((1, 2, 3, 8, 16))
    tokens = random.choice((100, 4096, 12288, 32768) if decode else (17, 768, 2048, 6144, 12288))
    plan.workload = workload_type("decode" if decode else "prefill", batch, 1 if decode else tokens, tokens)
    if plan.ep:
        way = Random(" ".join(plan.flags()))
        plan.by_node, plan.fp8 = way.random() < 0.5, way.random() < 0.25
    return plan


def draw_legal(random, model, workload_type):
    while True:
        plan = draw(random, model, workload_type)
        if not broken_rules(model, plan):
            return plan


def draw_illegal(random, model, workload_type):
    """A legal plan with one flag changed such that it breaks a rule, and that
    flag."""
    while True:
        plan = draw_legal(random, model, workload_type)
        name = random.choice(FLAGS + ("kind", "fsdp", "sp"))
        if name == "kind":
            plan = plan.copy(kind="ring")
        elif name in ("fsdp", "sp"):
            plan = plan.copy(**{name: True})
        else:
            plan = plan.copy(**{name: random.choice((2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 48, 64, 100))})
        if len(broken_rules(model, plan)) == 1:
            return plan, name

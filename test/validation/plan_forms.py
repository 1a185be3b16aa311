# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Closed forms: bytes, FLOPs and collectives of a plan, from the config, the
tensors of the checkpoint and the degrees alone."""

import collections
import itertools
import math

from plan_models import ceil_div

BLOCK = 16  # tokens of a KV block
BF16, F32, INT32 = 2, 4, 4
FP8_BLOCK = 128  # values that share a scale
VOCABULARY_MULTIPLE = 64


def ceil_to(value, multiple):
    return ceil_div(value, multiple) * multiple


class Forms:
    """What `plan` does to `model`, on the device that has the most."""

    def __init__(self, model, plan):
        self.model, self.plan, w = model, plan, plan.workload
        self.tp, self.cp, self.dp = plan.of("tp"), plan.of("cp"), plan.of("dp")
        # Sequences outside and inside attention; tokens of each.
        self.batch = ceil_div(w.batch, self.dp)
        self.attention_batch = ceil_div(w.batch, self.dp * plan.rest)
        self.query = ceil_div(w.query, self.cp)
        self.padded = ceil_to(ceil_to(model.vocabulary, VOCABULARY_MULTIPLE), self.tp) if plan.tp else model.vocabulary
        self.experts_here = ceil_div(model.experts, plan.of("ep")) if model.experts else 0

    def even(self):
        """Whether batch and tokens divide, so that all devices have the same."""
        w, plan = self.plan.workload, self.plan
        tokens = self.cp * (self.tp if plan.sp else 1)
        alone = w.query == 1 and not plan.sp and plan.ulysses == 1  # one device has the token
        return (w.batch % (self.dp * plan.rest) == 0
                and (alone or w.query % (2 * tokens if self.cp > 1 else tokens) == 0)
                and not (plan.sp and plan.of("dcp") > 1)
                # Which device has the one token is not followed to the experts.
                and not (w.query == 1 and plan.ep and self.cp > 1)
                and not (self.model.latent and plan.ring > 1)  # each expands all keys
                and w.context % (BLOCK * plan.ring * plan.of("dcp")) == 0)  # fmt: skip

    # -- Weights ---------------------------------------------------------------

    def share(self, tensor):
        """(dimension, extent of it on a device), or None where it is whole."""
        plan, model, kind, dim = self.plan, self.model, tensor.kind, tensor.dim
        if dim is None or kind == "whole":
            return None
        size = tensor.shape[dim]
        if kind == "keys":
            heads = plan.keys
            return dim, size * max(1, model.kv_heads // heads) // model.kv_heads
        if kind == "vocabulary":
            return dim, self.padded // self.tp
        by = {"heads": plan.attention, "latent": plan.keys * plan.ulysses, "linear": plan.attention,
              "width": self.tp, "expert": plan.expert_tp, "experts": plan.expert_tp}[kind]  # fmt: skip
        if tensor.name.endswith("sinks"):
            by = plan.keys * plan.ulysses  # only attention itself reads it
        return dim, ceil_div(size, by)

    def local(self, tensor):
        """Shape on a device, and how many there are."""
        shape, count = list(tensor.shape), tensor.count
        if share := self.share(tensor):
            shape[share[0]] = share[1]
        if tensor.kind == "expert":
            count = count // self.model.experts * self.experts_here
        # A bias behind a product that is summed over etp is added to tokens of all experts.
        summed = tensor.name.endswith("down_proj_bias") and self.plan.expert_tp > 1
        if tensor.kind == "experts" and not summed:
            shape[0] = self.experts_here
        return shape, count

    def copies(self, tensor):
        """Devices that hold the same part of a tensor, of those that fsdp splits
        it over."""
        plan = self.plan
        if plan.ep and tensor.kind in ("expert", "experts"):
            return plan.devices // (plan.ep * plan.of("etp"))
        return self.dp * self.cp

    def weight_bytes(self, of=lambda tensor: 1):
        """Bytes on a device, each tensor's divided by `of`."""
        total = 0
        for tensor in self.model.tensors:
            shape, count = self.local(tensor)
            total += math.prod(shape) * tensor.width * count / of(tensor)
        return round(total)

    def gathered_bytes(self):
        """What fsdp gathers in a step: every weight that has copies, once."""
        none = math.inf
        return self.weight_bytes(lambda tensor: 1 if self.copies(tensor) > 1 else none)

    # -- Caches ----------------------------------------------------------------

    def local_kv_heads(self):
        return max(1, self.model.kv_heads // (self.plan.keys * self.plan.ulysses))

    def kv_bytes(self):
        model, w = self.model, self.plan.workload
        token = (model.latent + model.rotary if model.latent else self.local_kv_heads() * 2 * model.head_dim) * BF16
        total = 0
        for layer in range(model.layers):
            seen = min(w.context, model.window(layer) or w.context)
            total += ceil_to(ceil_div(seen, self.plan.ring * self.plan.of("dcp")), BLOCK) * token
        return total * self.attention_batch

    # -- FLOPs -----------------------------------------------------------------

    def busiest_rows(self, mean, ranks):
        """Of the ranks that share experts, the one that chance gives most: docs/physics.md."""
        if ranks == 1:
            return mean
        k, own, groups = self.model.top_k, self.model.experts / ranks, self.model.expert_groups
        group, kept = self.model.experts / groups[0], groups[1]
        others = min(own, group) - 1
        if groups[0] > 1:
            others += max(own - group, 0) * (kept - 1) / (groups[0] - 1)
        spread = (1 - k / ranks + others * (k - 1) / max(1, group * kept - 1)) * ranks / (ranks - 1)
        octaves = math.log2(ranks)
        deviate = octaves * math.sqrt(0.411 / (1 + 0.285 * octaves))
        rows = mean * (1 + 2 / 3 * deviate * math.sqrt(max(spread, 0) / mean)) ** 1.5 - min(octaves / 18, 1 / 6)
        rows = max(rows, mean, min(mean * ranks, 1))
        return math.floor(min(rows, mean * ranks / k * min(k, own)) + 0.5)


    def flops(self, whole):
        """FLOPs of a device; `whole` is the report of the unsharded model."""
        model, plan, w = self.model, self.plan, self.plan.workload
        attention_rows = self.attention_batch * self.query
        rows = {
            "heads": attention_rows, "keys": attention_rows, "width": self.batch * self.query,
            "whole": ceil_div(attention_rows, plan.attention if plan.sp else 1),
        }  # fmt: skip
        # Routed rows over the devices of all copies of all experts; copies inside
        # tp have the same tokens, unless sp splits them.
        routed = w.batch * w.query * model.top_k * plan.expert_tp / plan.devices
        if not plan.ep:
            routed = self.batch * self.query * model.top_k
        elif not plan.sp:
            routed *= max(1, plan.attention // (plan.ep * plan.of("etp")))
        if plan.ep:
            routed = self.busiest_rows(routed, plan.ep)
        total = 0
        for tensor in model.tensors:
            if tensor.kind == "experts":
                continue  # below
            shape, count = self.local(tensor)
            if len(shape) != 2 or tensor.name.endswith(("bias", "_scale_inv")):
                continue
            if tensor.kind == "expert":
                layers = tensor.count // model.experts
                total += 2 * routed * math.prod(shape) * layers
            elif tensor.kind in rows:
                total += 2 * rows[tensor.kind] * math.prod(shape) * count
        if any(tensor.kind == "experts" for tensor in model.tensors):
            matrices = 3 * model.hidden * model.expert_width // plan.expert_tp
            total += 2 * routed * matrices * model.layers
        ops = {row["name"]: row["flops"] for row in whole["breakdown"]["by_op"]}
        core = ops.get("attention", 0) + ops.get("latent_attention", 0)
        mine = self.query / w.query if plan.ring > 1 else 1 / plan.ulysses
        total += core * mine * self.attention_batch / (w.batch * plan.attention)
        return total + 2 * self.batch * self.padded // self.tp * model.hidden

    # -- Collectives -----------------------------------------------------------

    def has_collectives(self):
        """Whether `collectives` knows this mix."""
        plan, model = self.plan, self.model
        if plan.rest > 1 and (plan.sp or plan.of("dcp") > 1 or plan.of("cp") > 1 or plan.ep):
            return False
        if plan.of("dcp") > 1 and (plan.sp or plan.of("cp") > 1 or model.latent):
            return False
        if plan.ep:
            # Experts that take part of tp only, or tp and a part of it again.
            if plan.of("etp") > 1 and (plan.sp or self.tp % plan.of("etp")):
                return False
            if plan.of("ep") * plan.of("etp") < self.tp:
                return False
        if plan.ulysses > 1 and (model.latent or model.kv_heads < plan.ulysses * plan.attention):
            return False
        return True

    def collectives(self):
        """{(kind, devices of the group, bytes): count}, as reports have it."""
        self.found = collections.Counter()
        self.outside()
        for layer in range(self.model.layers):
            self.attention_layer(layer)
            self.feed_forward(layer)
        return self.found

    def add(self, kind, group, size, count=1):
        if group > 1 and size:
            self.found[kind, group, size] += count

    @property
    def hidden_bytes(self):
        """The hidden states of the tokens of a replica of the dense layers."""
        return self.batch * self.query * self.model.hidden * BF16

    def reduce(self, size, group=None):
        """A sum over tp: an all_reduce, or under sp the first half of it."""
        self.add("reduce_scatter" if self.plan.sp else "all_reduce", group or self.tp, size)

    def outside(self):
        model, plan = self.model, self.plan
        row = self.batch * model.hidden * BF16
        if plan.rest > 1:
            ids = self.batch * self.query * INT32
            self.add("all_gather", plan.rest, ids)
            self.add("reduce_scatter", plan.rest, self.hidden_bytes)
            self.add("all_reduce", plan.attention, self.hidden_bytes // plan.rest)
            self.add("all_gather", plan.rest, row)
            self.found["logits"] = 1  # the way back of the logits is the planner's
            return
        self.reduce(self.hidden_bytes)
        self.add("all_reduce", self.cp * (self.tp if plan.sp else 1), row)
        if plan.attention_tp:
            self.found["logits"] = 1
        else:
            self.add("all_gather", self.tp, self.batch * self.padded * BF16)

    def attention_layer(self, layer):
        model, plan = self.model, self.plan
        tokens = self.attention_batch * self.query
        heads = model.heads // plan.attention
        if plan.sp:
            self.gather_for_attention()
        if plan.ring > 1:
            width = (model.latent + model.rotary if model.latent
                     else self.local_kv_heads() * 2 * model.head_dim)  # fmt: skip
            # Before each of a device's two blocks of a prompt is a window.
            blocks = 2 if self.query > 1 else 1
            seen = plan.workload.context
            if window := model.window(layer):
                seen = min(seen, blocks * window)
            seen = ceil_to(seen, plan.ring)
            self.add("ring", plan.ring, self.attention_batch * seen * width * BF16)
        if plan.ulysses > 1:
            keys = model.kv_heads // plan.keys
            for count, each in ((2, heads), (2, keys)):  # q and the way back; k, v
                self.add("all_to_all", plan.ulysses, tokens * each * model.head_dim * BF16, count)
        if plan.of("dcp") > 1:
            gathered = heads * plan.dcp
            self.add("all_gather", plan.dcp, tokens * gathered * model.head_dim * BF16)
            self.add("all_gather", plan.dcp, tokens * gathered * plan.dcp * F32)
            self.add("reduce_scatter", plan.dcp, tokens * gathered * model.head_dim * BF16)
        self.reduce(self.hidden_bytes // plan.rest, plan.attention)

    def gather_for_attention(self):
        """Tokens come together before weights that are split over tp. What
        every device has whole (latent projections) comes before."""
        model, tokens = self.model, self.attention_batch * self.query
        if not model.latent:
            return self.add("all_gather", self.tp, self.hidden_bytes)
        self.add("all_gather", self.tp, tokens * (model.first("q_lora_rank") or model.hidden) * BF16)
        self.add("all_gather", self.tp, tokens * model.latent * BF16)
        return self.add("all_gather", self.tp, tokens * model.rotary * BF16)

    def feed_forward(self, layer):
        model, plan = self.model, self.plan
        routed = model.experts and layer >= model.dense_layers
        if plan.rest > 1:
            self.add("all_gather", plan.rest, self.hidden_bytes)
            self.add("reduce_scatter", plan.rest, self.hidden_bytes)
            self.add("all_reduce", plan.attention, self.hidden_bytes // plan.rest)
            return
        exchanged = routed and plan.ep and plan.ep * plan.of("etp") > 1
        if exchanged:
            # Without sp tp does not split tokens: its devices take their share
            # of the routed rows, but for those that split the same expert.
            rows = self.batch * self.query * model.top_k * plan.of("etp") // self.tp
            values = rows * model.hidden
            sent = values + ceil_div(values, FP8_BLOCK) * F32 if plan.fp8 else values * BF16
            for size in (sent, values * BF16):
                self.add("all_to_all", self.expert_group, size)
        if not exchanged or not plan.sp or model.shared_width:
            if plan.sp:
                self.add("all_gather", self.tp, self.hidden_bytes)
            if plan.sp and routed and not exchanged:  # and how they are routed
                self.add("all_gather", self.tp, self.batch * self.query * model.top_k * BF16)
            self.reduce(self.hidden_bytes)

    # -- Tiers -----------------------------------------------------------------

    @property
    def expert_group(self):
        """Devices that exchange routed rows: those with other tokens."""
        plan = self.plan
        return plan.ep * plan.of("etp") // (1 if plan.sp else self.tp)

    def expert_members(self, node):
        """Of them on one node of `node` devices, which are neighbours at a
        distance; None where nodes do not cut the group evenly."""
        stride = self.plan.of("etp") if self.plan.sp else self.tp
        if stride % node == 0:
            return 1
        inside = node // stride
        return inside if node % stride == 0 and self.expert_group % inside == 0 else None

    def tier_bytes(self, size, node):
        """(inside a node, across nodes): what a device sends of `size` bytes of
        routed rows, and to how many nodes a token goes where it goes to each
        once. Expectations over all choices of groups, then of experts."""
        inside, group = self.expert_members(node), self.expert_group
        if not self.plan.by_node:
            return size * (inside - 1) / group, size * (group - inside) / group, None
        rows = self.model.top_k * group / self.plan.ep
        nodes = group // inside * self.reached(inside)
        return (size / rows * group * self.reached(1) * (inside - 1) / inside,
                size / rows * nodes * (1 - inside / group), nodes)  # fmt: skip

    def reached(self, members):
        """The share of tokens with an expert on one of the first `members`
        devices of the group."""
        model, ranks = self.model, self.plan.ep
        groups, kept = model.first("n_group") or 1, model.first("topk_group") or 1
        size, each = model.experts // groups, model.experts // ranks
        distance = ranks // self.expert_group
        held = {rank * distance * each + i for rank in range(members) for i in range(each)}
        missed, count = 0, 0
        for some in itertools.combinations(range(groups), min(kept, groups)):
            here = sum(expert // size in some for expert in held)
            missed += math.comb(len(some) * size - here, model.top_k) / math.comb(len(some) * size, model.top_k)
            count += 1
        return 1 - missed / count

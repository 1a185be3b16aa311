#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the FLOPs of a forward and its backward with those that torch's
FlopCounterMode counts of `transformers` models through autograd, as
record_torch_flops.py has recorded them. No tolerance: products with weights,
routed experts and attention are each equal, forward and backward, or differ by
what is named here, to the last FLOP:

* torch counts the full square of queries and keys, autopar the pairs that are
  seen (causal, windows, chunks);
* an attention that writes its probabilities has a backward of four products
  (torch's "eager", --unfused-attention), one kernel has five, since it makes the
  scores again (torch's "sdpa", the default);
* with --unfused-attention, attention with caps of scores, sinks or chunks stays
  one kernel;
* `transformers` computes all experts of Llama 4 for each token.

Each count of either side is changed by a multiply-add, too: that must be
noticed. Ends with a line `N passed, N failed`.

usage: torch_flops.py [--bin DIR] [--show]
"""

import argparse
import collections
import concurrent.futures
import copy
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SECTIONS = ("forward", "backward")
FORMS = {"written out": ["--unfused-attention"], "one kernel": []}
# Products with keys' and with values' width of each pair.
PRODUCTS = {
    ("written out", "forward"): (1, 1), ("written out", "backward"): (2, 2),
    ("one kernel", "forward"): (1, 1), ("one kernel", "backward"): (3, 2),
}  # fmt: skip
STAYS_ONE_KERNEL = {"gemma-2-27b": "caps", "gpt-oss-20b": "sinks", "granite_swa": "sinks"}
# How often `transformers` computes what routed experts compute: 16 experts, of
# which the router selects one.
EXPERTS_COMPUTED = {"llama-4-scout": 16}
WITH_WEIGHTS, BATCHED = {"mm", "addmm"}, {"bmm", "baddbmm"}
FUSED = {
    "forward": "_scaled_dot_product_flash_attention_for_cpu",
    "backward": "_scaled_dot_product_flash_attention_for_cpu_backward",
}
CLASS_OF_OP = {
    "linear": "weights", "logits": "weights", "router": "weights", "linear_backward": "weights",
    "logits_backward": "weights", "product_gradient": "weights", "experts": "experts", "experts_backward": "experts",
    "experts_gradient": "experts", "attention": "attention", "attention_backward": "attention",
    "attention_probabilities": "attention", "attend": "attention", "attention_probabilities_backward": "attention",
    "attend_backward": "attention",
}  # fmt: skip
CLASSES = ("weights", "experts", "attention")


def pairs_of(layers, tokens):
    """Query by query."""
    if not layers["causal"]:
        return tokens * tokens
    seen = 0
    for query in range(tokens):
        first = 0
        if "window" in layers:
            first = max(0, query + 1 - layers["window"])
        if "chunk" in layers:
            first = query - query % layers["chunk"]
        seen += query + 1 - first
    return seen


class Record:
    """What torch has counted of a model in one of its implementations of attention."""

    def __init__(self, fields, implementation):
        self.name, self.batch, self.tokens = fields["name"], fields["batch"], fields["tokens"]
        self.config, self.layers = fields["config"], fields["attentions"]
        self.implementation, self.flops = implementation, fields["flops"][implementation]
        self.pairs = [pairs_of(layers, self.tokens) for layers in self.layers]

    def form(self):
        """Where keys and values differ in width, torch writes out what it is asked to fuse."""
        return "one kernel" if FUSED["forward"] in self.flops["forward"] else "written out"

    def attention(self, section, pairs, forms):
        """FLOPs of these pairs of each kind of layer."""
        total = 0
        for layers, seen, form in zip(self.layers, pairs, forms):
            of_keys, of_values = PRODUCTS[form, section]
            width = of_keys * layers["key"] + of_values * layers["value"]
            total += 2 * self.batch * layers["layers"] * layers["heads"] * seen * width
        return total

    def squares(self, section):
        """As torch counts."""
        kinds = len(self.layers)
        return self.attention(section, [self.tokens**2] * kinds, [self.form()] * kinds)

    def ours(self, section, form):
        """As autopar should; what is written out is a square there, too."""
        forms = [
            "one kernel" if self.name in STAYS_ONE_KERNEL or "chunk" in layers else form for layers in self.layers
        ]
        pairs = [self.tokens**2 if own == "written out" else seen for own, seen in zip(forms, self.pairs)]
        return self.attention(section, pairs, forms)

    def classes(self, section):
        """What torch has counted; products without weights are those of experts and of written attention."""
        flops = self.flops[section]
        of = lambda names: sum(count for name, count in flops.items() if name in names)
        attention = of({FUSED[section]}) if self.form() == "one kernel" else self.squares(section)
        batched = of(BATCHED) - (0 if self.form() == "one kernel" else attention)
        return {"weights": of(WITH_WEIGHTS), "experts": batched, "attention": attention}

    def named(self, section, form, counted):
        """What torch counts more of each class, by its reason."""
        times = EXPERTS_COMPUTED.get(self.name, 1)
        return {
            "weights": 0, "experts": (times - 1) * counted["experts"],
            "attention": self.squares(section) - self.ours(section, form),
        }  # fmt: skip


def differences(record, form, report, kernels):
    """What is not as it should be, in words."""
    wrong, all_classes = [], collections.Counter()

    def same(what, found, wanted):
        if found != wanted:
            wrong.append(f"{record.name} {record.implementation}, {form}, {what}: {found}, expected {wanted}")

    for section in SECTIONS:
        torch, ours = record.classes(section), kernels[section]
        known = WITH_WEIGHTS | BATCHED | {FUSED[section]}
        same(f"operators of the {section} that have no class", sorted(set(record.flops[section]) - known), [])
        same(f"ops of the {section} that have no class", sorted(set(ours) - set(CLASSES)), [])
        same(f"{section}, torch's attention", torch["attention"], record.squares(section))
        named = record.named(section, form, ours)
        for kind in CLASSES:
            same(f"{section}, {kind}", ours[kind], torch[kind] - named[kind])
        total = sum(record.flops[section].values()) - sum(named.values())
        same(f"{section}, all", report["training"]["flops"][section], total)
        all_classes.update(ours)
    flops = report["flops"]
    same("linear products and logits of the report", flops["layers_linear"] + flops["logits"],
         all_classes["weights"] + all_classes["experts"])  # fmt: skip
    same("attention of the report", flops["attention"], all_classes["attention"])
    if record.form() == form == "one kernel":
        square = sum(record.flops[section][FUSED[section]] for section in SECTIONS)
        same("full square of the report", flops["attention_full_square"], square)
    return wrong


def planted(record, form, report, kernels):
    """Counts that are changed by a multiply-add and not missed, in words."""
    missed = []
    for section in SECTIONS:
        for kind in kernels[section]:
            spoiled = copy.deepcopy(kernels)
            spoiled[section][kind] += 2
            if not differences(record, form, report, spoiled):
                missed.append(f"{record.name} {record.implementation}, {form}: 2 more of {section}, {kind}")
        for operator in record.flops[section]:
            spoiled = copy.copy(record)
            spoiled.flops = copy.deepcopy(record.flops)
            spoiled.flops[section][operator] += 2
            if not differences(spoiled, form, report, kernels):
                missed.append(f"{record.name} {record.implementation}, {form}: 2 more of {section}, {operator}")
    return missed


def estimate(tools, scratch, record, form):
    """The report, and FLOPs of its kernels by section and class."""
    with open(os.path.join(ROOT, record.config), encoding="utf-8") as file:
        config = json.load(file)
    path = os.path.join(scratch, f"{record.name}-{record.implementation}-{form.replace(' ', '-')}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config.get("config", config), file)
    report = json.loads(subprocess.run(
        [os.path.join(tools, "autopar"), "estimate", path, "--phase=train", f"--batch={record.batch}",
         f"--context={record.tokens}", *FORMS[form], "--explain", "--json"],
        check=True, capture_output=True, text=True,
    ).stdout)  # fmt: skip
    kernels = {section: collections.Counter() for section in SECTIONS}
    for kernel in report["breakdown"]["by_kernel"]:
        if kernel["flops"]:
            section = "backward" if kernel["layer"].endswith("_backward") else "forward"
            kernels[section][CLASS_OF_OP.get(kernel["op"], kernel["op"])] += kernel["flops"]
    return report, kernels


def describe(record, form, kernels):
    lines = []
    for section in SECTIONS:
        torch = sum(record.flops[section].values())
        named = {kind: more for kind, more in record.named(section, form, kernels[section]).items() if more}
        said = ", ".join(f"{more:,} of {kind}" for kind, more in named.items())
        lines.append(f"{record.name}, torch {record.implementation}, {form}, {section}: {torch:,} "
                     + (f"less {said}" if named else "equal"))  # fmt: skip
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--show", action="store_true", help="print each comparison")
    options = parser.parse_args()
    with open(os.path.join(HERE, "torch_flops.json"), encoding="utf-8") as file:
        recorded = json.load(file)["records"]
    cases = [
        (Record(fields, implementation), form) for fields in recorded for implementation in fields["flops"]
        for form in FORMS
    ]  # fmt: skip
    passed, failures = 0, []

    def check(case):
        record, form = case
        try:
            report, kernels = estimate(options.bin, scratch, record, form)
        except subprocess.CalledProcessError as error:
            return [f"{record.name}: {error.stderr.strip()[:300]}"], ""
        wrong = differences(record, form, report, kernels)
        return wrong or planted(record, form, report, kernels), describe(record, form, kernels)

    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for wrong, said in pool.map(check, cases):
            passed += not wrong
            failures += wrong[:1]
            for line in wrong:
                print(f"FAIL {line}")
            if options.show:
                print(said)
    print(f"{len({record.name for record, _ in cases})} models")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

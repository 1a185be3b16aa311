#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports every config of a folder and compares what autopar says about it with
params.json beside that folder and with the checkpoint indexes in it.

Prints a line PASS, FAIL or SKIP per model and check, with the rule that
explains a difference in brackets. Ends with a line `N passed, N failed`. Knows
no model by name.

usage: zoo.py [--bin DIR] [--configs DIR] [--only TEXT]
"""

import argparse
import collections
import json
import math
import os
import re
import subprocess
import sys
import tempfile

# Names of what a checkpoint may hold besides weights, and of its parts.
BUFFER = re.compile(r"\.(inv_freq|attn\.bias|masked_bias)$")
VISION = re.compile(r"(^|\.)(vision|visual|vision_\w+|multi_modal_projector|mm_projector)\.")
HEAD = re.compile(r"(^|\.)(lm_head|embed_out|output_layer)\.weight$")

Tensor = collections.namedtuple("Tensor", "shape type bytes")


class Tools:
    def __init__(self, folder, scratch):
        self.folder, self.scratch = folder, scratch

    def run(self, tool, *arguments):
        done = subprocess.run(
            [os.path.join(self.folder, tool), *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()[:400]}")
        return done.stdout

    def tensors(self, config):
        listed = {}
        for line in self.run("autopar-translate", "--import-hf", config, "--list-tensors").splitlines():
            name, shape, dtype, size = line.split("\t")
            if name in listed:
                raise RuntimeError(f"{name} is listed twice")
            listed[name] = Tensor(json.loads(shape), dtype, int(size))
        return listed

    def report(self, config):
        module = os.path.join(self.scratch, "model.mlir")
        self.run("autopar-translate", "--import-hf", config, "-o", module)
        return json.loads(self.run("autopar-opt", "--estimate=json", "-o", os.devnull, module))["model"]


class Config:
    """The few facts of a config that explain differences."""

    def __init__(self, path):
        whole = load(path)
        text = whole.get("text_config") or whole.get("language_config") or whole
        self.flat = {**whole, **text}

    def first(self, *keys):
        return next((self.flat[key] for key in keys if isinstance(self.flat.get(key), int)), None)

    def layers(self):
        return self.first("num_hidden_layers", "num_layers", "n_layer", "n_layers")

    def head_dim(self):
        hidden = self.first("hidden_size", "n_embd", "n_embed", "d_model") or 0
        heads = self.first("num_attention_heads", "n_head", "n_heads") or 1
        return self.first("head_dim", "kv_channels") or hidden // heads

    def half_turns(self):
        """Elements that a buffer of rotation frequencies may have."""
        return (self.head_dim() // 2, self.head_dim() // 4)


def load(path):
    with open(path, encoding="utf-8") as file:
        # One index of the collection is followed by the start of another.
        return json.JSONDecoder().raw_decode(file.read().lstrip())[0]


def elements(tensor):
    return math.prod(tensor.shape)


class Model:
    """One config: what autopar says, and what is known."""

    def __init__(self, tools, folder, known):
        path = os.path.join(folder, "config.json")
        self.known, self.config = known, Config(path)
        self.listed, self.report = tools.tensors(path), tools.report(path)
        self.parameters = self.report["parameters"]
        self.stored_only = self.report.get("stored_only_parameters", 0)
        self.bytes = sum(tensor.bytes for tensor in self.listed.values())
        self.indexes = [
            (name, load(os.path.join(folder, name)).get("weight_map") or {})
            for name in sorted(os.listdir(folder))
            if name.endswith(".index.json")
        ]

    # -- Parts of the checkpoint ----------------------------------------------

    def sum(self, matches, count=elements):
        return sum(count(tensor) for name, tensor in self.listed.items() if matches(name, tensor))

    def vision(self):
        return self.sum(lambda name, _: VISION.search(name))

    def wide(self):
        """Elements of float32 tensors beside narrower ones."""
        narrow = any(tensor.type != "F32" for tensor in self.listed.values())
        return self.sum(lambda _, tensor: tensor.type == "F32") if narrow else 0

    def is_prediction(self, name):
        layer = re.search(r"\blayers\.(\d+)\.", name)
        return bool(re.search(r"(^|\.)mtp", name)) or (
            layer is not None and int(layer.group(1)) >= (self.config.layers() or 0)
        )

    def table(self):
        """The table of embeddings, which a tied head would be a copy of."""
        rows = self.config.first("padded_vocab_size", "vocab_size")
        tables = [t for t in self.listed.values() if len(t.shape) == 2 and t.shape[0] == rows]
        return max(tables, key=elements, default=Tensor([0], "BF16", 0))

    def is_tied(self):
        return not any(HEAD.search(name) for name in self.listed)

    def index_names(self, evidence):
        for name, names in self.indexes:
            if names and evidence.get("source", "").endswith("/" + name):
                return set(names)
        return None


# -- Comparisons: each returns what explains the known value, or None ---------


def explain_total(model):
    wanted, found = model.known["total_params"], model.parameters
    if found == wanted:
        return "exact"
    if not model.known["vision_modelled"] and found - model.vision() == wanted:
        return "exact [without vision, which params.json leaves out]"
    return None


def explain_active(model):
    found, known = model.report["active_parameters"], model.known
    vision = known["total_params"] - known["text_params"]
    for name in ("active_params", "active_params_no_embed"):
        for extra, rule in ((0, ""), (vision, " with vision"), (model.vision(), " with vision")):
            if found == known[name] + extra:
                return f"{name}{rule}"
    return None


def explain_bytes(model, evidence):
    """How the listed bytes become `value`: by buffers, a second head, biases of
    zeros that GPTQ tools wrote, a type that is not the config's."""
    value, names = evidence["value"], model.index_names(evidence)
    parts = [("", 0)]
    if names is None or any(BUFFER.search(name) for name in names):
        count = sum(bool(BUFFER.search(name)) for name in names) if names else model.config.layers() or 0
        for size in model.config.half_turns():
            parts += [(f"{count} buffers of {size} x {width} B", count * size * width) for width in (2, 4)]
    if model.is_tied() and (names is None or any(HEAD.search(name) for name in names)):
        head = model.table().bytes
        parts += [(f"{what}, a copied head".lstrip(", "), size + head) for what, size in parts]
    zeros = model.sum(lambda name, _: name.endswith(".qweight"), lambda tensor: tensor.shape[-1] * 2)
    if zeros:
        parts.append(("zero biases", zeros))
    scales = ((1, ""), (2, "twice as wide as the config's type"), (0.5, "half as wide as the config's type"))
    for scale, wrong in scales:
        for what, size in parts:
            if model.bytes * scale + size == value:
                rule = ", ".join(filter(None, (what, wrong)))
                return f"exact [{rule}]" if rule else "exact"
    return None


def header(model):
    """The length of a safetensors header of the listed tensors, within digits of
    its offsets."""
    place, entries = 0, {}
    for name, tensor in model.listed.items():
        entries[name] = {"dtype": tensor.type, "shape": tensor.shape, "data_offsets": [place, place + tensor.bytes]}
        place += tensor.bytes
    return 8 + len(json.dumps(entries, separators=(",", ":")))


def explain_file(model, evidence):
    """How the listed bytes become the size of a file: with its header."""
    extra, size = evidence["value"] - model.bytes, header(model)
    if abs(extra - size) < 0.03 * size:
        return f"exact [a header of {extra} B, about {size} B by its entries]"
    return explain_bytes(model, evidence)


def explain_elements(model, evidence):
    """How the model's elements become `value`: with what is only stored, a
    second head, buffers; without tensors that the counter leaves out."""
    value = evidence["value"]
    listed = sum(elements(tensor) for tensor in model.listed.values())
    counts = {"": model.parameters, "what is only stored": model.parameters + model.stored_only,
              "all tensors": listed, "vision left out": model.parameters - model.vision()}  # fmt: skip
    for name, count in list(counts.items()):
        counts[f"{name} without float32".lstrip()] = count - model.wide()
    extras = {"": 0}
    if model.is_tied():
        extras["a copied head"] = elements(model.table())
    for size in model.config.half_turns():
        extras[f"buffers of {size}"] = size * (model.config.layers() or 0)
    for name, count in counts.items():
        for extra, more in extras.items():
            if count + more == value:
                rule = ", ".join(filter(None, (name, extra)))
                return f"exact [{rule}]" if rule else "exact"
    return None


def rounds_to(count, billions):
    """Whether `count` is written as `billions`, rounded or cut off."""
    text = repr(billions)
    unit = 10 ** (9 - (len(text.split(".")[1]) if "." in text and not text.endswith(".0") else 0))
    wanted = round(billions * 1e9 / unit)
    return wanted in ((count + unit // 2) // unit, count // unit)


def explain_published(model, evidence):
    known, total, active = model.known, evidence.get("total"), evidence.get("active")
    table = known["active_params"] - known["active_params_no_embed"]
    count = model.report["active_parameters"]
    actives = {"": count, "without embedding": count - table, "without embedding and head": count - 2 * table}
    said = []
    if total is not None:
        if not rounds_to(model.parameters, total):
            return None
        said.append(f"total {total}")
    if active is not None:
        rules = [name for name, n in actives.items() if rounds_to(n, active)]
        text = {f"{name} without vision".lstrip(): n - model.vision() for name, n in actives.items()}
        rules += [name for name, n in text.items() if rounds_to(n, active)]
        if not rules:
            return None
        said.append(f"active {active}" + (f" [{rules[0]}]" if rules[0] else ""))
    return ", ".join(said)


def explain_main_bytes(model, evidence):
    main = model.sum(lambda name, _: not model.is_prediction(name), lambda tensor: tensor.bytes)
    return "exact" if main == evidence["value"] else None


def explain_names(model, names):
    ours, theirs = set(model.listed), set(names)
    missing, unknown = theirs - ours, ours - theirs
    rules = []
    buffers = {name for name in missing if BUFFER.search(name)}
    heads = {name for name in missing - buffers if HEAD.search(name) and model.is_tied()}
    if buffers:
        rules.append(f"{len(buffers)} buffers")
    if heads:
        rules.append("a copied head")
    missing -= buffers | heads
    if missing or unknown:
        return None, f"not listed: {show(missing)}; not in the index: {show(unknown)}"
    return f"{len(theirs)} names" + (f" [{', '.join(rules)}]" if rules else ""), ""


def explain_count(model, evidence):
    wanted, found = evidence["tensors"], len(model.listed)
    extras = {"": 0, "a buffer": 1, "a buffer a layer": model.config.layers() or 0}
    if model.is_tied():
        extras["a copied head"] = 1
    rule = next((name for name, n in extras.items() if found + n == wanted), None)
    return None if rule is None else f"{wanted} tensors" + (f" [{rule}]" if rule else "")


def show(names):
    return f"{len(names)} {', '.join(sorted(names)[:3])}" if names else "none"


EXPLAIN = {
    "index_total_size_bytes": (explain_bytes, lambda m: m.bytes),
    "bytes": (explain_file, lambda m: m.bytes),
    "hub_total_elems": (explain_elements, lambda m: m.parameters),
    "index_total_parameters": (explain_elements, lambda m: m.parameters),
    "published_rounded_B": (explain_published, lambda m: (m.parameters, m.report["active_parameters"])),
    "main_model_bytes_bf16": (explain_main_bytes, lambda m: m.bytes),
}


class Tally:
    def __init__(self):
        self.counts = collections.Counter()

    def line(self, verdict, model, check, text):
        self.counts[verdict] += 1
        print(f"{verdict} {model} {check}: {text}", flush=True)

    def check(self, model, check, explanation, problem):
        passed = explanation is not None
        self.line("PASS" if passed else "FAIL", model, check, explanation if passed else problem)


def check_model(tally, name, model):
    known = model.known
    tally.check(name, "total", explain_total(model), f"{model.parameters}, not {known['total_params']}")
    active, stored = model.report["active_parameters"], model.report["checkpoint_bytes"]
    wanted = f"{known['active_params']} or {known['active_params_no_embed']}"
    tally.check(name, "active", explain_active(model), f"{active}, not {wanted}")
    same = "exact" if stored == model.bytes else None
    tally.check(name, "listed bytes", same, f"checkpoint_bytes {stored}, listed {model.bytes}")
    for evidence in known.get("evidence", []):
        kind = evidence["kind"]
        if kind not in EXPLAIN:
            tally.line("SKIP", name, kind, "not a known kind of evidence")
            continue
        if "unresolved" in evidence["source"]:
            tally.line("SKIP", name, kind, evidence["source"])
            continue
        explain, found = EXPLAIN[kind]
        wanted = evidence.get("value", (evidence.get("total"), evidence.get("active")))
        tally.check(name, kind, explain(model, evidence), f"{found(model)}, not {wanted}")
        if "tensors" in evidence and model.index_names(evidence) is None:
            problem = f"{len(model.listed)}, not {evidence['tensors']}"
            tally.check(name, "tensors", explain_count(model, evidence), problem)
    for index, names in model.indexes:
        if not names:
            tally.line("SKIP", name, index, "has no weight_map")
            continue
        explanation, problem = explain_names(model, names)
        tally.check(name, index, explanation, problem)


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=os.path.join(root, "build", "bin"), help="folder of the tools")
    parser.add_argument("--configs", default=os.path.join(root, "..", "shared", "data", "configs"),
                        help="folder of <model>/config.json, beside params.json")  # fmt: skip
    parser.add_argument("--only", default="", help="check only models whose name has this text")
    options = parser.parse_args()
    truth = os.path.join(options.configs, "..", "params.json")
    if not os.path.isdir(options.configs) or not os.path.exists(truth):
        print("skipped")
        return 0
    known = load(truth)["models"]
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        tools = Tools(options.bin, scratch)
        for name in sorted(os.listdir(options.configs)):
            folder = os.path.join(options.configs, name)
            if options.only not in name or not os.path.exists(os.path.join(folder, "config.json")):
                continue
            if name not in known:
                tally.line("SKIP", name, "total", "not in params.json")
                continue
            try:
                model = Model(tools, folder, known[name])
            except (RuntimeError, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
                tally.line("FAIL", name, "import", " ".join(str(error).split()))
                continue
            check_model(tally, name, model)
    print(f"{tally.counts['PASS']} passed, {tally.counts['FAIL']} failed")
    return 1 if tally.counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())

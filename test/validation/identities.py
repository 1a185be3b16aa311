#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes what a config.json alone fixes - parameters, bytes, FLOPs and
collectives under tensor parallelism - and compares it with autopar's reports.

Shares no code with autopar. Exact integers throughout. Ends with a line
`N passed, N failed`.

usage: identities.py [--bin DIR] [--models DIR] [--configs DIR] [--verbose]

Without --bin only the script's own figures are checked, against the known ones
of Llama-3.3-70B and, with --configs, against params.json beside that folder.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "mixtral", "qwen3_moe")
DEGREES = (1, 2, 4, 8)
BLOCK = 16  # tokens of a KV block
VOCABULARY_MULTIPLE = 64
BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}
BF16 = 2  # activations, KV cache and logits

Workload = namedtuple("Workload", "phase batch query context")
WORKLOADS = (
    Workload("prefill", 1, 2048, 2048),
    Workload("decode", 4, 1, 2048),
)
# Where there is a window, also one that it cuts.
LONG_WORKLOADS = (
    Workload("prefill", 2, 6001, 6001),
    Workload("decode", 3, 1, 9999),
)

# split: the dimension that tp divides, None (every device has all of it),
# "kv" (divides dimension 0 by whole KV heads) or "vocabulary".
Tensor = namedtuple("Tensor", "name shape split expert", defaults=(None, False))


def ceil_to(value, multiple):
    return -(-value // multiple) * multiple


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


class Model:
    """A config.json of one of FAMILIES."""

    def __init__(self, config):
        self.type = config["model_type"]
        assert self.type in FAMILIES, self.type
        self.config = config
        self.hidden = config["hidden_size"]
        self.layers = config["num_hidden_layers"]
        self.heads = config["num_attention_heads"]
        self.kv_heads = config.get("num_key_value_heads") or self.heads
        self.head_dim = config.get("head_dim") or self.hidden // self.heads
        self.vocabulary = config["vocab_size"]
        self.tied = config.get("tie_word_embeddings", False)
        self.element = BYTES[config["torch_dtype"]]
        self.experts = config.get(
            {"mixtral": "num_local_experts", "qwen3_moe": "num_experts"}.get(self.type), 0
        )
        self.top_k = config["num_experts_per_tok"] if self.experts else 0
        self.list = self.tensors()

    # -- The checkpoint ------------------------------------------------------

    def is_sparse(self, layer):
        if self.type == "mixtral":
            return True
        if self.type != "qwen3_moe":
            return False
        step = self.config.get("decoder_sparse_step", 1)
        return (
            layer not in self.config.get("mlp_only_layers", [])
            and (layer + 1) % step == 0
        )

    def attention_biases(self):
        """Whether (q, k, v) and o have a bias."""
        if self.type == "qwen2":
            return True, False
        if self.type in ("llama", "qwen3", "qwen3_moe"):
            both = self.config.get("attention_bias", False)
            return both, both
        return False, False

    def tensors(self):
        h, d = self.hidden, self.head_dim
        result = [Tensor("model.embed_tokens.weight", (self.vocabulary, h), "vocabulary")]
        qkv_bias, o_bias = self.attention_biases()
        for layer in range(self.layers):
            prefix = f"model.layers.{layer}."

            def add(name, shape, split=None, expert=False):
                result.append(Tensor(prefix + name, shape, split, expert))

            add("input_layernorm.weight", (h,))
            for letter, heads in (("q", self.heads), ("k", self.kv_heads), ("v", self.kv_heads)):
                split = 0 if letter == "q" else "kv"
                add(f"self_attn.{letter}_proj.weight", (heads * d, h), split)
                if qkv_bias:
                    add(f"self_attn.{letter}_proj.bias", (heads * d,), split)
            if self.type.startswith("qwen3"):
                add("self_attn.q_norm.weight", (d,))
                add("self_attn.k_norm.weight", (d,))
            add("self_attn.o_proj.weight", (h, self.heads * d), 1)
            if o_bias:  # added once, after the reduction
                add("self_attn.o_proj.bias", (h,))
            add("post_attention_layernorm.weight", (h,))

            if not self.is_sparse(layer):
                inner = self.config["intermediate_size"]
                for name, shape, split, bias in (
                    ("gate", (inner, h), 0, 0),
                    ("up", (inner, h), 0, 0),
                    ("down", (h, inner), 1, None),
                ):
                    add(f"mlp.{name}_proj.weight", shape, split)
                    if self.config.get("mlp_bias", False):
                        add(f"mlp.{name}_proj.bias", shape[:1], bias)
                continue
            mixtral = self.type == "mixtral"
            inner = self.config["intermediate_size" if mixtral else "moe_intermediate_size"]
            block = "block_sparse_moe" if mixtral else "mlp"
            gate, up, down = ("w1", "w3", "w2") if mixtral else ("gate_proj", "up_proj", "down_proj")
            add(f"{block}.gate.weight", (self.experts, h))
            for expert in range(self.experts):
                stem = f"{block}.experts.{expert}."
                add(f"{stem}{gate}.weight", (inner, h), 0, True)
                add(f"{stem}{up}.weight", (inner, h), 0, True)
                add(f"{stem}{down}.weight", (h, inner), 1, True)
        result.append(Tensor("model.norm.weight", (h,)))
        if not self.tied:
            result.append(Tensor("lm_head.weight", (self.vocabulary, h), "vocabulary"))
        return result

    def parameters(self):
        return sum(product(t.shape) for t in self.list)

    def active_parameters(self):
        routed = sum(product(t.shape) for t in self.list if t.expert)
        idle = routed * (self.experts - self.top_k)
        assert not idle or idle % self.experts == 0
        return self.parameters() - (idle // self.experts if idle else 0)

    # -- Tensor parallelism --------------------------------------------------

    def padded_vocabulary(self, tp):
        return ceil_to(ceil_to(self.vocabulary, VOCABULARY_MULTIPLE), tp)

    def local_kv_heads(self, tp):
        larger, smaller = max(self.kv_heads, tp), min(self.kv_heads, tp)
        assert larger % smaller == 0
        return max(1, self.kv_heads // tp)

    def local_elements(self, tensor, tp):
        size = product(tensor.shape)
        if tensor.split is None:
            return size
        if tensor.split == "vocabulary":
            return size // self.vocabulary * (self.padded_vocabulary(tp) // tp)
        if tensor.split == "kv":
            return size // self.kv_heads * self.local_kv_heads(tp)
        assert tensor.shape[tensor.split] % tp == 0, tensor
        return size // tp

    def weight_bytes(self, tp):
        return sum(self.local_elements(t, tp) for t in self.list) * self.element

    def window(self, layer):
        """The sliding window of a layer, 0 for none."""
        window = self.config.get("sliding_window")
        if self.type in ("mistral", "mixtral"):
            if self.type == "mistral" and "sliding_window" not in self.config:
                return 4096
            return window or 0
        if not self.config.get("use_sliding_window", False):
            return 0
        return window if layer >= self.config.get("max_window_layers", 28) else 0

    def has_window(self):
        return any(self.window(layer) for layer in range(self.layers))

    def kv_cache_bytes(self, tp, workload):
        total = 0
        for layer in range(self.layers):
            window = self.window(layer) or workload.context
            tokens = ceil_to(min(workload.context, window), BLOCK)
            total += tokens * 2 * self.local_kv_heads(tp) * self.head_dim * BF16
        return total * workload.batch

    def kv_bytes_per_token(self):
        return self.layers * 2 * self.kv_heads * self.head_dim * BF16

    # -- FLOPs ---------------------------------------------------------------

    def layers_linear(self, workload):
        """2 * tokens * inputs * outputs of every matrix in the layers; a token
        passes through top_k experts."""
        weights = 0
        routed = 0
        for t in self.list:
            if len(t.shape) == 2 and t.name.startswith("model.layers."):
                if t.expert:
                    routed += product(t.shape)
                else:
                    weights += product(t.shape)
        if routed:
            weights += routed // self.experts * self.top_k
        return 2 * workload.batch * workload.query * weights

    def attention(self, workload):
        """4 * head_dim * heads per (query, key) pair. A query sees the cache up
        to itself, and of that the last `window`."""
        pairs = 0
        first = workload.context - workload.query + 1
        for layer in range(self.layers):
            window = self.window(layer)
            if not window or window >= workload.context:
                # The sum of first..context.
                pairs += (first + workload.context) * workload.query // 2
            else:
                pairs += sum(min(p, window) for p in range(first, workload.context + 1))
        return 4 * workload.batch * self.heads * self.head_dim * pairs

    def attention_full_square(self, workload):
        pairs = self.layers * workload.query * workload.context
        return 4 * workload.batch * self.heads * self.head_dim * pairs

    def logits(self, workload):
        return 2 * workload.batch * self.hidden * self.vocabulary

    # -- The report ----------------------------------------------------------

    def expected(self, tp, workload):
        """Report paths and values."""
        linear, attention = self.layers_linear(workload), self.attention(workload)
        logits = self.logits(workload)
        tokens = workload.batch * workload.query
        result = {
            "model.parameters": self.parameters(),
            "model.active_parameters": self.active_parameters(),
            "model.checkpoint_bytes": self.parameters() * self.element,
            "mesh.tp": tp,
            "workload.phase": workload.phase,
            "workload.batch": workload.batch,
            "workload.query_length": workload.query,
            "workload.context_length": workload.context,
            "memory.per_device.weight_bytes": self.weight_bytes(tp),
            "memory.per_device.kv_cache_bytes": self.kv_cache_bytes(tp, workload),
            "memory.kv_bytes_per_token": self.kv_bytes_per_token(),
            "flops.total": linear + attention + logits,
            "flops.layers_linear": linear,
            "flops.attention": attention,
            "flops.logits": logits,
            "all_reduce": {tokens * self.hidden * BF16: 2 * self.layers + 1} if tp > 1 else {},
            "all_gather": {workload.batch * self.padded_vocabulary(tp) * BF16: 1} if tp > 1 else {},
            "other collectives": {},
        }
        if not self.has_window() or self.windows_beyond(workload.context):
            result["flops.attention_full_square"] = self.attention_full_square(workload)
        if workload.phase == "decode" and not self.experts and not self.has_window():
            # All weights but the embedding table, of which a token reads a row;
            # the cache as far as it is filled.
            read = self.weight_bytes(tp)
            if not self.tied:
                read -= self.hidden * self.padded_vocabulary(tp) // tp * self.element
            read += (
                self.layers * workload.batch * workload.context
                * 2 * self.local_kv_heads(tp) * self.head_dim * BF16
            )  # fmt: skip
            result["latency.bounds.weights_and_kv_read_bytes"] = read
        return result

    def windows_beyond(self, context):
        return all(w == 0 or w >= context for w in map(self.window, range(self.layers)))


def look_up(report, path):
    if path in ("all_reduce", "all_gather", "other collectives"):
        counts = {}
        for row in report["communication"]["collectives"]:
            kind = row["kind"] if row["kind"] in ("all_reduce", "all_gather") else "other collectives"
            if kind == path:
                counts[row["bytes"]] = counts.get(row["bytes"], 0) + row["count"]
        return counts
    value = report
    for key in path.split("."):
        value = value[key]
    return value


# -- Checks -------------------------------------------------------------------


class Tally:
    def __init__(self, verbose):
        self.passed = self.failed = self.skipped = 0
        self.verbose = verbose

    def check(self, what, expected, found):
        # 1 and 1.0 are different: counts are integers.
        if expected == found and type(expected) is type(found):
            self.passed += 1
            if self.verbose:
                print(f"ok    {what} = {found}")
            return True
        self.failed += 1
        print(f"WRONG {what}: expected {expected}, found {found}")
        return False


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def is_covered(config):
    return config.get("model_type") in FAMILIES and "quantization_config" not in config


def self_check(tally, models):
    """The figures of Llama-3.3-70B that are known from elsewhere."""
    model = Model(load(os.path.join(models, "llama-3.3-70b", "config.json")))
    prefill = Workload("prefill", 1, 2048, 2048)
    report = model.expected(8, prefill)
    for path, value in {
        "model.parameters": 70_553_706_496,
        "model.checkpoint_bytes": 141_107_412_992,
        "memory.per_device.weight_bytes": 17_640_734_720,
        "memory.kv_bytes_per_token": 327_680,
        "memory.per_device.kv_cache_bytes": 83_886_080,
        "flops.layers_linear": 280_375_465_082_880,
        "flops.attention": 5_500_242_493_440,
        "flops.attention_full_square": 10_995_116_277_760,
        "all_reduce": {33_554_432: 161},
    }.items():
        assert report[path] == value, (path, report[path], value)
        tally.check(f"self-check {path}", value, report[path])
    decode = model.expected(8, Workload("decode", 1, 1, 2048))
    read = decode["latency.bounds.weights_and_kv_read_bytes"]
    assert read == 17_378_066_432 + 83_886_080, read
    tally.check("self-check weights_and_kv_read_bytes", 17_461_952_512, read)


class Tools:
    def __init__(self, folder, scratch):
        self.folder, self.scratch = folder, scratch

    def run(self, tool, *arguments):
        done = subprocess.run(
            [os.path.join(self.folder, tool), *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(
                f"{tool} {' '.join(arguments)}: exit code {done.returncode}: {done.stderr.strip()}"
            )
        return done.stdout

    def import_hf(self, name, path):
        module = os.path.join(self.scratch, name + ".mlir")
        self.run("autopar-translate", "--import-hf", path, "-o", module)
        return module

    def estimate(self, module, tp, workload):
        arguments = [
            f"--shard-tp={tp}", "--prefill-chunk=none", "--estimate=json", "--hardware=h100-sxm-8",
            f"--phase={workload.phase}", f"--batch={workload.batch}",
            f"--context={workload.context}", module,
        ]  # fmt: skip
        if workload.phase == "prefill":
            arguments[-2] = f"--prompt={workload.query}"
        return json.loads(self.run("autopar-opt", *arguments))

    def list_tensors(self, path):
        """{name: (shape, bytes)}; a name that appears twice is an error."""
        result = {}
        for line in self.run("autopar-translate", "--import-hf", path, "--list-tensors").splitlines():
            name, shape, _, size = line.split("\t")
            if name in result:
                raise RuntimeError(f"--list-tensors prints {name} twice")
            result[name] = (tuple(map(int, re.findall(r"\d+", shape))), int(size))
        return result


def check_tensors(tally, tools, name, path, model):
    expected = {t.name: (t.shape, product(t.shape) * model.element) for t in model.list}
    found = tools.list_tensors(path)
    differing = [n for n in expected.keys() | found.keys() if expected.get(n) != found.get(n)]
    tally.check(f"{name} --list-tensors: names that differ", [], sorted(differing)[:5])


def check_model(tally, tools, name, path):
    model = Model(load(path))
    check_tensors(tally, tools, name, path, model)
    module = tools.import_hf(name, path)
    workloads = WORKLOADS + (LONG_WORKLOADS if model.has_window() else ())
    for tp in (d for d in DEGREES if model.heads % d == 0):
        for workload in workloads:
            report = tools.estimate(module, tp, workload)
            wrong = tally.failed
            for what, value in model.expected(tp, workload).items():
                label = f"{name} tp={tp} {workload.phase} {workload.query}/{workload.context}: {what}"
                try:
                    tally.check(label, value, look_up(report, what))
                except (KeyError, TypeError) as missing:
                    tally.check(label, value, f"no such key ({missing})")
            print_row(name, model, tp, workload, "ok" if tally.failed == wrong else "WRONG")


HEADER = "%-16s %2s %-7s %5s %17s %15s %14s %20s %18s  %s"
ROW = "%-16s %2d %-7s %5d %17s %15s %14s %20s %18s  %s"


def print_header():
    print(HEADER % ("model", "tp", "phase", "query", "parameters", "weight B/device",
                    "KV B/device", "linear FLOPs", "attention FLOPs", ""))  # fmt: skip


def print_row(name, model, tp, workload, verdict):
    report = model.expected(tp, workload)
    print(ROW % (name, tp, workload.phase, workload.query, *(
        f"{report[key]:,}" for key in (
            "model.parameters", "memory.per_device.weight_bytes",
            "memory.per_device.kv_cache_bytes", "flops.layers_linear",
            "flops.attention")), verdict))  # fmt: skip


def check_configs(tally, tools, folder):
    """Every supported, un-quantised config of `folder` against params.json."""
    known = load(os.path.join(folder, "..", "params.json"))["models"]
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name, "config.json")
        if name not in known or not os.path.exists(path):
            continue
        config = load(path)
        separate = any(
            os.path.exists(os.path.join(folder, name, file))
            for file in ("hf_quant_config.json", "quantize_config.json")
        )
        if separate or not is_covered(config):
            continue
        model = Model(config)
        tally.check(f"{name}: parameters", known[name]["total_params"], model.parameters())
        tally.check(f"{name}: active", known[name]["active_params"], model.active_parameters())
        if tools:
            try:
                check_tensors(tally, tools, name, path, model)
                report = tools.estimate(tools.import_hf(name, path), 1, WORKLOADS[1])
                for what, value in (
                    ("model.parameters", known[name]["total_params"]),
                    ("model.active_parameters", known[name]["active_params"]),
                    ("model.checkpoint_bytes", model.parameters() * model.element),
                ):
                    tally.check(f"{name}: autopar's {what}", value, look_up(report, what))
            except RuntimeError as error:
                tally.check(f"{name}: autopar", "a report", str(error))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--bin", help="folder of autopar-opt and autopar-translate")
    parser.add_argument("--models", default=os.path.join(here, "..", "..", "models"))
    parser.add_argument("--configs", help="folder of <model>/config.json, beside params.json")
    parser.add_argument("--verbose", action="store_true", help="print what is right, too")
    options = parser.parse_args()

    tally = Tally(options.verbose)
    self_check(tally, options.models)
    with tempfile.TemporaryDirectory() as scratch:
        tools = Tools(options.bin, scratch) if options.bin else None
        print_header()
        for name in sorted(os.listdir(options.models)):
            path = os.path.join(options.models, name, "config.json")
            if not os.path.exists(path) or not is_covered(load(path)):
                continue
            if not tools:
                print_row(name, Model(load(path)), 8, WORKLOADS[0], "")
                continue
            try:
                check_model(tally, tools, name, path)
            except (RuntimeError, OSError, ValueError) as error:
                tally.check(f"{name}", "a report", str(error))
        if options.configs:
            check_configs(tally, tools, options.configs)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())

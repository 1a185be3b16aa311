#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes of quantised checkpoints: a small model under the settings of each method, counted here by hand, to the byte;
and files of GGUF against their published sizes.

Ends with a line `N passed, N failed`.

usage: format_bytes.py [--bin DIR]
"""

import argparse
import json
import os
import re
import sys
import tempfile

from plans import Tools

LAYERS, HIDDEN, INNER, VOCABULARY = 4, 1024, 4096, 32000
CONFIG = {
    "model_type": "llama", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": 8,
    "num_key_value_heads": 2, "intermediate_size": INNER, "vocab_size": VOCABULARY, "torch_dtype": "bfloat16",
}  # fmt: skip
# Outputs and inputs of the products of a layer.
PRODUCTS = {
    "q": (HIDDEN, HIDDEN), "k": (256, HIDDEN), "v": (256, HIDDEN), "o": (HIDDEN, HIDDEN),
    "gate": (INNER, HIDDEN), "up": (INNER, HIDDEN), "down": (HIDDEN, INNER),
}  # fmt: skip
TABLE = VOCABULARY * HIDDEN * 2  # embeddings, or the head
PLAIN = 2 * TABLE + (2 * LAYERS + 1) * HIDDEN * 2  # tables and norms


def model(bytes_of):
    """Tables and norms in 16 bits, and the products as `bytes_of(layer, name, outputs, inputs)` says."""
    return PLAIN + sum(bytes_of(layer, name, o, i) for layer in range(LAYERS) for name, (o, i) in PRODUCTS.items())


def gptq(o, i, bits=4, group=128, zero_bias=False):
    """qweight, qzeros, scales of 16 bits, g_idx; a bias of zeros in old files."""
    return o * i * bits // 8 + i // group * (o * bits // 8) + i // group * o * 2 + i * 4 + (o * 2 if zero_bias else 0)


def pairs(o, i, group, overhead):
    """4 bits a value, `overhead` bytes a group."""
    return o * i // 2 + o * i // group * overhead


def torchao(kind, **data):
    return {"quant_method": "torchao", "quant_type": {"default": {"_type": kind, "_version": 1, "_data": data}}}


INT4 = {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": 128}}
FQN = torchao("FqnToConfig", fqn_to_config={
    "_default": INT4, "model.layers.0.self_attn.q_proj": {"_type": "Int8WeightOnlyConfig", "_data": {}},
    "model.layers.1.self_attn.q_proj": None})  # fmt: skip
FP4 = {"dtype": "fp4", "qscheme": "per_group", "group_size": 32}
FP8 = {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}

METHODS = {
    "gptq, dynamic +:": (
        {"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": {"+:.*down_proj": {"bits": 8, "group_size": 64}}},
        model(lambda l, n, o, i: gptq(o, i, 8, 64, True) if n == "down" else gptq(o, i, 4, 128, True))),
    "gptq, dynamic -:": (
        {"quant_method": "gptq", "bits": 4, "group_size": 128, "checkpoint_format": "gptq", "dynamic": {"-:.*down_proj": {}}},
        model(lambda l, n, o, i: o * i * 2 if n == "down" else gptq(o, i))),
    "auto-round, extra_config": (
        {"quant_method": "auto-round", "bits": 4, "group_size": 128, "packing_format": "auto_round:auto_gptq",
         "extra_config": {"model.layers.0.mlp.down_proj": {"bits": 8}, ".*o_proj": {"bits": 16}}},
        model(lambda l, n, o, i: o * i * 2 if n == "o" else gptq(o, i, 8 if n == "down" and l == 0 else 4))),
    "auto-round, awq": (
        {"quant_method": "intel/auto-round", "bits": 4, "group_size": 128, "packing_format": "auto_round:auto_awq"},
        model(lambda l, n, o, i: gptq(o, i) - i * 4)),
    "torchao, a word": (
        {"quant_method": "torchao", "quant_type": "int4_weight_only", "quant_type_kwargs": {"group_size": 64}},
        model(lambda l, n, o, i: pairs(o, i, 64, 4))),
    "torchao, int4": (torchao("Int4WeightOnlyConfig", group_size=128), model(lambda l, n, o, i: pairs(o, i, 128, 4))),
    "torchao, int8": (torchao("Int8WeightOnlyConfig"), model(lambda l, n, o, i: o * i + 2 * o)),
    "torchao, fp8 by rows": (
        torchao("Float8DynamicActivationFloat8WeightConfig", granularity=[{"_type": "PerRow"}] * 2),
        model(lambda l, n, o, i: o * i + 4 * o)),
    "torchao, fp8 by tensors": (torchao("Float8DynamicActivationFloat8WeightConfig"), model(lambda l, n, o, i: o * i + 4)),
    "torchao, by modules": (
        FQN, model(lambda l, n, o, i: (o * i + 2 * o, o * i * 2)[l] if n == "q" and l < 2 else pairs(o, i, 128, 4))),
    "quark, mxfp4 and fp8": (
        {"quant_method": "quark", "global_quant_config": {"weight": FP4, "input_tensors": {"dtype": "fp4", "is_dynamic": True}},
         "layer_quant_config": {"*k_proj": {"weight": FP8, "input_tensors": {"dtype": "fp8_e4m3", "is_dynamic": False}}},
         "exclude": ["lm_head"]},
        model(lambda l, n, o, i: o * i + 4 + 4 if n == "k" else pairs(o, i, 32, 1))),
    "hqq": (
        {"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64}}, "skip_modules": ["lm_head"]},
        model(lambda l, n, o, i: pairs(o, i, 64, 4))),
    "mlx": (
        {"group_size": 64, "bits": 4, "model.layers.0.mlp.down_proj": {"group_size": 64, "bits": 8}, "lm_head": False},
        model(lambda l, n, o, i: pairs(o, i, 64, 4) + (o * i // 2 if n == "down" and l == 0 else 0))
        - TABLE + pairs(VOCABULARY, HIDDEN, 64, 4)),
    "bitnet": ({"quant_method": "bitnet", "quantization_mode": "offline"}, model(lambda l, n, o, i: o * i // 4 + 2)),
    "mxfp8": ({"quant_method": "mxfp8", "modules_to_not_convert": ["lm_head"]}, model(lambda l, n, o, i: o * i + o * i // 32)),
    "nvfp4": ({"quant_method": "nvfp4", "ignore": ["lm_head"]}, model(lambda l, n, o, i: pairs(o, i, 16, 1) + 8)),
    "eetq": ({"quant_method": "eetq"}, model(lambda l, n, o, i: o * i + 2 * o)),
    "modelopt, W4A8_AWQ": (
        {"quant_method": "modelopt", "quant_algo": "W4A8_AWQ", "group_size": 128, "exclude_modules": ["lm_head"]},
        model(lambda l, n, o, i: pairs(o, i, 128, 4) + 2 * i + 8)),
    "modelopt, mixed": (
        {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {
            "model.layers.0.mlp.down_proj": {"quant_algo": "FP8"},
            "model.layers.1.mlp.down_proj": {"quant_algo": "W4A8_AWQ", "group_size": 128}}},
        model(lambda l, n, o, i: (o * i + 8, pairs(o, i, 128, 4) + 2 * i + 8)[l] if n == "down" and l < 2 else o * i * 2)),
}  # fmt: skip

# GB of files, from the tables of their makers (bartowski/Meta-Llama-3.1-70B-Instruct-GGUF, whose dimensions are those of
# 3.3; bartowski/Meta-Llama-3.1-8B-Instruct-GGUF). A file has some 8 MB of vocabulary beside its tensors.
GGUF_GIGABYTES = {
    ("llama-3.3-70b", "q8_0"): 74.98, ("llama-3.3-70b", "q6_k"): 57.89, ("llama-3.3-70b", "q5_k_m"): 49.95,
    ("llama-3.3-70b", "q5_k_s"): 48.66, ("llama-3.3-70b", "q4_k_m"): 42.52, ("llama-3.3-70b", "Q4-K-S"): 40.35,
    ("llama-3.3-70b", "iq4_xs"): 37.90, ("llama-3.3-70b", "q3_k_l"): 37.14, ("llama-3.3-70b", "q3_k_m"): 34.27,
    ("llama-3.3-70b", "iq3_m"): 31.94, ("llama-3.3-70b", "q3_k_s"): 30.91, ("llama-3.1-8b", "q4_k_m"): 4.92,
    ("llama-3.1-8b", "q2_k"): 3.18,
}  # fmt: skip
GGUF_TOLERANCE = 0.003  # sizes have two decimals, and vocabularies are 8 MB of 3 to 75 GB


def checkpoint_bytes(tools, name):
    text = tools.check("autopar", "models", "show", name)
    return int(re.search(r"checkpoint bytes\s+([\d,]+)", text).group(1).replace(",", ""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    tools = Tools(parser.parse_args().bin)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (settings, expected) in METHODS.items():
            path = os.path.join(folder, "config.json")
            key = "quantization" if name == "mlx" else "quantization_config"
            with open(path, "w") as file:
                json.dump({**CONFIG, key: settings}, file)
            found = checkpoint_bytes(tools, path)
            if found != expected:
                failed += 1
                print(f"  FAIL {name}: {found:,} B, by hand {expected:,} B")
    for (model_name, form), gigabytes in GGUF_GIGABYTES.items():
        found = checkpoint_bytes(tools, f"{model_name}:{form}") / 1e9
        if abs(found / gigabytes - 1) > GGUF_TOLERANCE:
            failed += 1
            print(f"  FAIL {model_name}:{form}: {found:.2f} GB, published {gigabytes} GB")
    print(f"{len(METHODS) + len(GGUF_GIGABYTES) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`--weight-format` against checkpoints that are published in that format: the
tensors of the one config, quantised by us, are those of the other, by name,
shape and type; or the modules that differ are the ones that the table names.

Ends with a line `N passed, N failed`, and `skipped` where there are no configs.

usage: weight_formats.py [--bin DIR] [--configs DIR] [--show N]
"""

import argparse
import collections
import os
import re
import sys

from plans import Tools

# The plain config, the format, the published config, and the modules that differ: those that its makers left plain, or
# that they scale in another way (of GLM-5 and DeepSeek, the layer that predicts further tokens). A config that is published quantised only is made plain and quantised again.
ATTENTION = r"self_attn\.(q|k|v|o)_proj"
PAIRS = [
    ("Qwen--Qwen3-235B-A22B", "nvfp4", "nvidia--Qwen3-235B-A22B-NVFP4", None),
    ("nvidia--NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", "nvfp4", "nvidia--NVIDIA-Nemotron-3-Ultra-550B-A55B-NVFP4", None),
    ("nvidia--NVIDIA-Nemotron-3-Super-120B-A12B-FP8", "fp8", "nvidia--NVIDIA-Nemotron-3-Super-120B-A12B-FP8", None),
    ("zai-org--GLM-5.2", "fp8-block", "zai-org--GLM-5.2-FP8", None),
    ("MiniMaxAI--MiniMax-M2.5", "fp8-block", "MiniMaxAI--MiniMax-M2.5", None),
    ("deepseek-ai--DeepSeek-R1", "fp8-block", "deepseek-ai--DeepSeek-R1", None),
    ("deepseek-ai--DeepSeek-V3.2", "fp8-block", "deepseek-ai--DeepSeek-V3.2", None),
    ("moonshotai--Kimi-K2-Instruct", "fp8-block", "moonshotai--Kimi-K2-Instruct", None),
    ("XiaomiMiMo--MiMo-V2-Flash", "fp8-block", "XiaomiMiMo--MiMo-V2-Flash", None),
    ("Qwen--Qwen3-32B-FP8", "fp8-block", "Qwen--Qwen3-32B-FP8", None),
    ("Qwen--Qwen3-32B-FP8", "fp8", "Qwen--Qwen3-32B-FP8-Static-PerTensor", None),
    ("openai--gpt-oss-120b", "mxfp4", "openai--gpt-oss-120b", None),
    ("zai-org--GLM-5", "nvfp4", "nvidia--GLM-5-NVFP4", r"layers\.78\."),
    ("deepseek-ai--DeepSeek-R1", "nvfp4", "nvidia--DeepSeek-V3.1-NVFP4", r"layers\.61\.|self_attn\.o_proj"),
    ("MiniMaxAI--MiniMax-M2.5", "nvfp4", "nvidia--MiniMax-M2.5-NVFP4", ATTENTION),
    ("Qwen--Qwen3.5-122B-A10B", "nvfp4", "nvidia--Qwen3.5-122B-A10B-NVFP4",
     rf"linear_attn|shared_expert|{ATTENTION}|mtp\."),
    ("Qwen--Qwen3.5-397B-A17B", "nvfp4", "nvidia--Qwen3.5-397B-A17B-NVFP4",
     rf"linear_attn|shared_expert|{ATTENTION}|mtp\."),
    ("meta-llama--Llama-4-Scout-17B-16E-Instruct", "fp8", "RedHatAI--Llama-4-Scout-17B-16E-Instruct-FP8-dynamic",
     rf"{ATTENTION}|(weight|input)_scale$|vision_model|multi_modal_projector"),
    ("mistralai--Devstral-2-123B-Instruct-2512", "fp8", "mistralai--Devstral-2-123B-Instruct-2512", r"scale(_inv)?$"),
]  # fmt: skip


def tensors(tools, *arguments):
    rows = (line.split("\t") for line in tools.check("autopar-translate", "--list-tensors", "--import-hf", *arguments).splitlines())
    return {name: (shape, dtype, int(size)) for name, shape, dtype, size in rows}


def kind(name):
    """A tensor's name without the numbers of its layer and expert."""
    return re.sub(r"\.\d+(?=\.|$)", ".N", name)


def compare(tools, configs, pair, show):
    plain, form, published, known = pair
    own = tensors(tools, os.path.join(configs, plain), f"--weight-format={form}")
    theirs = tensors(tools, os.path.join(configs, published))
    differ = [name for name in {**own, **theirs} if own.get(name) != theirs.get(name)]
    bytes_of = lambda all: sum(size for _, _, size in all.values())
    print(f"  {published}: {len(own)} tensors, {bytes_of(own):,} B as {form}, {bytes_of(theirs):,} B published, "
          f"{len(differ)} tensors differ")  # fmt: skip
    wrong = collections.Counter(kind(name) for name in differ if not known or not re.search(known, name))
    for name, count in wrong.most_common(show):
        print(f"    FAIL {name} x {count}")
    return not wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--configs")
    parser.add_argument("--show", type=int, default=20)
    args = parser.parse_args()
    if not args.configs:
        print(f"0 passed, 0 failed, {len(PAIRS)} skipped")
        return 0
    passed = sum(compare(Tools(args.bin), args.configs, pair, args.show) for pair in PAIRS)
    print(f"{passed} passed, {len(PAIRS) - passed} failed")
    return passed != len(PAIRS)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts with torch's FlopCounterMode what `transformers` computes in a forward
and its backward by autograd: torch_flops.json beside this file, which
torch_flops.py compares with what autopar counts.

The models are bundled ones, in full size, and the small ones of test/anchors:
tensors are fake ones of torch, which have shapes and no elements. Attention is
"eager" (four products in a backward) and, where the model has it, "sdpa" (a
kernel whose backward makes the scores again). Routed experts are "batched_mm",
since the counter has no formula for grouped products. Nothing is dropped.
Needs what test/anchors/requirements.txt lists, from a package index; no other
test does.

usage: record_torch_flops.py
"""

import collections
import json
import os
import platform

import torch
import transformers
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Sequences and tokens; where there are windows or chunks, more than one.
BUNDLED = {
    "gpt2": (3, 1000), "bert-base": (4, 500), "llama-3.1-8b": (2, 2048), "qwen2.5-7b": (1, 2000),
    "qwen3-8b": (2, 1024), "gemma-7b": (2, 1024), "gemma-2-27b": (1, 8192), "gemma-3-27b": (2, 3000),
    "phi-4": (1, 4096), "mistral-7b-v0.1": (1, 8192), "olmo-2-32b": (1, 4096), "starcoder2-7b": (2, 5000),
    "command-r-plus": (1, 1024), "command-a": (1, 9000), "falcon-180b": (1, 2048), "mixtral-8x7b": (2, 1024),
    "qwen3-30b-a3b": (2, 1024), "glm-4.5": (1, 1024), "minimax-m2": (1, 1024), "gpt-oss-20b": (2, 1000),
    "deepseek-v2-lite": (2, 1024), "deepseek-v3": (1, 512), "llama-4-scout": (1, 20000),
}  # fmt: skip
ANCHORS = [
    "aria_text", "axk1", "cohere2_moe", "dots1", "ernie4_5", "ernie4_5_moe", "exaone4", "exaone_moe", "glm4",
    "gpt_neox", "gptj", "granite", "granite_swa", "granitemoe", "helium", "hy_v3", "hyperclovax", "mellum", "mpt",
    "olmoe", "opt", "qwen2_moe",
]  # fmt: skip
SMALL = (3, 24)


def cases():
    """Name, file, config, sequences and tokens."""
    for name, sizes in BUNDLED.items():
        path = f"models/{name}/config.json"
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            yield name, path, json.load(file), sizes
    for name in ANCHORS:
        path = f"test/anchors/{name}.json"
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            yield name, path, json.load(file)["config"], SMALL


def language_model(fields):
    """Its class and config; of what also sees, without the part that does. Formats of checkpoints count for nothing."""
    fields = {key: value for key, value in fields.items() if key != "quantization_config"}
    made = getattr(transformers, fields["architectures"][0])
    config = made.config_class.from_dict(fields)
    if config.get_text_config() is not config:
        config = config.get_text_config()
        made = transformers.MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    config.use_cache = False
    config._experts_implementation = "batched_mm"
    return made, config


def attentions(config, causal):
    """Layers that attend alike: their number, heads, elements of a key and of a value, and which keys are seen."""
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    kinds = kinds or ["sliding_attention" if window else "full_attention"] * config.num_hidden_layers
    heads = config.num_attention_heads
    key = value = getattr(config, "head_dim", None) or config.hidden_size // heads
    if hasattr(config, "qk_nope_head_dim"):
        key, value = config.qk_nope_head_dim + config.qk_rope_head_dim, config.v_head_dim
    limits = {
        "full_attention": {}, "sliding_attention": {"window": window},
        "chunked_attention": {"chunk": getattr(config, "attention_chunk_size", None)},
    }  # fmt: skip
    return [
        {"layers": layers, "heads": heads, "key": key, "value": value, "causal": causal, **limits[kind]}
        for kind, layers in collections.Counter(kinds).items()
    ]


def by_operator(counter):
    flops = counter.get_flop_counts()["Global"]
    return collections.Counter({str(operator).removeprefix("aten."): count for operator, count in flops.items()})


def count(made, config, batch, tokens):
    """FLOPs of the forward and of the backward, by operator."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        model = made(config).eval()
        words = torch.zeros(batch, tokens, dtype=torch.long)
        with FlopCounterMode(display=False) as counter:
            loss = model(input_ids=words, labels=words).loss
            forward = by_operator(counter)
            loss.backward()
            return {"forward": forward, "backward": by_operator(counter) - forward}


def record(name, source, fields, batch, tokens):
    flops = {}
    for implementation in ("eager", "sdpa"):
        made, config = language_model(fields)
        if implementation == "sdpa" and not made._supports_sdpa:
            continue
        config._attn_implementation = implementation
        flops[implementation] = count(made, config, batch, tokens)
    causal = not made.__name__.endswith("ForMaskedLM")
    return {"name": name, "config": source, "batch": batch, "tokens": tokens,
            "attentions": attentions(config, causal), "flops": flops}  # fmt: skip


def main():
    versions = {"python": platform.python_version(), "torch": torch.__version__.split("+")[0],
                "transformers": transformers.__version__}  # fmt: skip
    head = {"made_by": "python3 test/validation/record_torch_flops.py", "made_with": versions}
    records = [json.dumps(record(name, source, fields, *sizes)) for name, source, fields, sizes in cases()]
    with open(os.path.join(HERE, "torch_flops.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(head)[:-1] + ', "records": [\n' + ",\n".join(records) + "\n]}\n")


if __name__ == "__main__":
    main()

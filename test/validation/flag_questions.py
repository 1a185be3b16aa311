# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Questions that users ask of `autopar`, one of each kind, for tests that go
over all flags. A question is a model and its flags. Models that are not bundled
have the sizes of Qwen2.5-VL-7B (a text model behind an encoder of images) and of
whisper-large-v3 (a decoder whose layers attend to encoded audio)."""

import json
import os
import shutil

INPUTS = os.path.join(os.path.dirname(__file__), "..", "tools", "autopar", "Inputs")

QUESTIONS = {
    "dense prefill": "llama-3.1-8b --shard-tp=2 --prompt=4096 --batch=4",
    "dense decode": "llama-3.3-70b --phase=decode --batch=32 --context=4096 --shard-tp=8 --nodes=2",
    "moe decode": "qwen3-30b-a3b --phase=decode --batch=64 --context=4096 --shard-dp=8 --shard-tp=2 --shard-ep=16 "
                  "--nodes=4",
    "mla decode": "deepseek-v3 --hardware=h200-sxm-8 --nodes=8 --phase=decode --batch=64 --context=8192 "
                  "--shard-dp=16 --shard-ep=16",
    "service by rate": "llama-3.1-8b --rate=2 --prompt=2000 --output-tokens=200",
    "service by concurrency": "qwen3-32b --shard-tp=4 --concurrency=16 --prompt=lognormal:2000,0.4 --output-tokens=200",
    "training with fsdp2": "llama-3.1-8b --phase=train --runtime=fsdp2 --batch=16 --context=4096 --nodes=4 "
                           "--shard-dp=8 --fsdp",
    "training with megatron": "llama-3.3-70b --phase=train --runtime=megatron --nodes=16 --batch=32 --context=4096 "
                              "--shard-tp=4 --stage-pp=4 --shard-dp=4",
    "training of experts": "glm-4.5 --phase=train --runtime=megatron --nodes=8 --batch=32 --context=4096 "
                           "--shard-dp=16 --shard-ep=8",
    "images": "vision.json --shard-tp=2 --batch=2 --prompt=2048 --encoder-tokens=8192",
    "speech": "speech.json --batch=4 --prompt=128 --encoder-tokens=1500 --cross-tokens=1500",
    "hybrid decode": "qwen3-next-80b-a3b --phase=decode --batch=16 --context=8192 --shard-tp=8 --nodes=2",
    "images served": "vision.json --concurrency=4 --prompt=lognormal:2718,0.4 --output-tokens=128 --encoder-tokens=8192",
    "speech served": "speech.json --rate=5 --prompt=8 --output-tokens=100 --encoder-tokens=1500",
    "drafts served": "glm-4.5 --hardware=h200-sxm-8 --nodes=2 --shard-tp=8 --concurrency=4 --prompt=2000 "
                     "--output-tokens=300 --acceptance=0.8",
}  # fmt: skip

# Tables that flags name.
REQUESTS = "arrival,input,output\n" + "".join(f"{i * 0.3:.1f},{900 + 50 * (i % 7)},{80 + i % 5}\n" for i in range(60))


def trace(first, last):
    """Experts that tokens were routed to together, eight in each of the layers."""
    lines = ({"layer": layer, "experts": sorted({(7 * i + 5 * k) % 128 for k in range(8)}), "tokens": 1 + i % 3}
             for layer in range(first, last + 1) for i in range(20))  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines)


def calibration(chip):
    """A calibration that halves the memory bandwidth of a chip, as a file of
    `autopar calibrate` has it."""
    figure = {"path": f"chips.{chip}.memory_bandwidth", "value": 2e12, "before": 4e12}
    return json.dumps({"schema": "autopar.calibration/1", "parameters": [figure]})


# Of layers 0 to 47 of Qwen3-30B-A3B, 3 to 60 of DeepSeek-V3, 3 to 91 of GLM-4.5.
TABLES = {
    "requests.csv": REQUESTS,
    "serve.sh": "vllm serve llama-3.1-8b --gpu-memory-utilization=0.7\n",
    "h100.json": calibration("h100-sxm"),
    "h200.json": calibration("h200-sxm"),
    "trace.jsonl": trace(0, 47),
    "trace-deepseek.jsonl": trace(3, 60),
    "trace-glm.jsonl": trace(3, 91),
}


def write_inputs(folder):
    """Writes the models that are not bundled, the tables, and a folder for
    plans."""
    os.mkdir(os.path.join(folder, "plans"))
    for name in ("vision.json", "speech.json"):
        shutil.copy(os.path.join(INPUTS, name), folder)
    for name, text in TABLES.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


def is_service(question):
    return "--output-tokens" in QUESTIONS[question]

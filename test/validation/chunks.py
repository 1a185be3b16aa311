#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A prefill in chunks is its steps, one after the other: time, FLOPs, bytes on
links and launches are those of the steps, each asked for alone with the context
that it has, and added up here. Memory is that of the fullest step beside the
caches of all prompts.

The steps are cut here, by rules of this file. Ends with a line
`N passed, N failed`.

usage: chunks.py [--bin DIR]
"""

import argparse
import json
import math
import sys

from plans import Tools

# Model, flags, sequences, prompt, context, chunk, replicas.
CASES = [
    ("llama-3.3-70b", "--shard-tp=4", 3, 131072, 131072, 8192, 1),
    ("llama-3.3-70b", "--shard-tp=8 --shard-sp", 2, 20000, 20000, 8192, 1),
    ("llama-3.1-8b", "", 1, 8192, 8192, 8192, 1),
    ("llama-3.1-8b", "", 1, 8193, 8193, 8192, 1),
    ("llama-3.1-8b", "", 7, 3000, 3000, 8192, 1),
    ("llama-3.1-8b", "", 2, 5000, 9000, 2048, 1),
    ("llama-3.1-8b", "--shard-dp=4", 6, 10000, 10000, 4096, 4),
    ("llama-3.1-8b", "--shard-tp=2 --shard-cp=2", 1, 32768, 32768, 8192, 1),
    ("llama-3.1-8b", "--runtime=ideal", 2, 16384, 16384, 4096, 1),
    ("llama-3.1-8b", "--runtime=trtllm", 2, 16384, 16384, 4096, 1),
    ("llama-3.1-8b", "--runtime=sglang", 2, 16384, 16384, 4096, 1),
    ("deepseek-v3", "--hardware=h200-sxm-8 --shard-tp=8", 2, 32768, 32768, 8192, 1),
    ("deepseek-v3", "--hardware=h200-sxm-8 --shard-dp=8 --shard-ep=8", 12, 12288, 12288, 8192, 8),
    ("deepseek-v3.2", "--hardware=h200-sxm-8 --shard-tp=8", 1, 32768, 32768, 8192, 1),
    ("gemma-3-27b", "--shard-tp=2", 2, 100_000, 100_000, 8192, 1),
    ("gpt-oss-120b", "--shard-tp=4", 1, 65536, 65536, 8192, 1),
    ("mixtral-8x7b", "--shard-tp=4 --shard-ep=4", 5, 6000, 6000, 2048, 1),
    ("qwen3-235b-a22b", "--nodes=2 --shard-tp=16 --shard-attention-tp=4", 4, 20000, 20000, 8192, 4),
    ("qwen3-next-80b-a3b", "--shard-tp=4", 1, 30000, 30000, 8192, 1),
    ("lfm2-1.2b", "", 3, 30000, 30000, 8192, 1),
]  # fmt: skip
SUMS = [("latency", name) for name in ("step_time_us", "compute_time_us", "memory_time_us", "communication_time_us",
        "overhead_time_us", "host_time_us", "kernel_launches")]  # fmt: skip
SUMS += [("flops", name) for name in ("total", "per_device", "layers_linear", "attention", "recurrence", "logits")]
SUMS += [("communication", "bytes_per_device")]


def steps(batch, prompt, context, chunk, replicas):
    """(times, sequences, new tokens, context) of each step."""
    together = max(1, chunk // prompt) * replicas
    turns = [(batch // together, together)] * (batch >= together) + [(1, batch % together)] * (batch % together > 0)
    for times, sequences in turns:
        done = 0
        while done < prompt:
            new = min(chunk, prompt - done)
            done += new
            yield times, sequences, new, context - prompt + done


def ask(tools, model, flags, batch, prompt, context, chunk):
    return json.loads(tools.check("autopar", "estimate", model, *flags.split(), "--phase=prefill", f"--batch={batch}",
                                  f"--prompt={prompt}", f"--context={context}", f"--prefill-chunk={chunk}", "--json"))  # fmt: skip


def compare(tools, case):
    model, flags, batch, prompt, context, chunk, replicas = case
    whole = ask(tools, model, flags, batch, prompt, context, chunk)
    sums, peak = dict.fromkeys(SUMS, 0), 0
    for times, sequences, new, seen in steps(batch, prompt, context, chunk, replicas):
        step = ask(tools, model, flags, sequences, new, seen, "none")
        for section, name in SUMS:
            sums[section, name] += times * step[section][name]
        peak = max(peak, step["memory"]["per_device"]["activation_bytes"])
    wrong = [f"{section}.{name}: {whole[section][name]}, the steps make {value}" for (section, name), value in sums.items()
             if not math.isclose(whole[section][name], value, rel_tol=1e-9, abs_tol=1e-6)]  # fmt: skip
    device = whole["memory"]["per_device"]
    if device["activation_bytes"] != peak:
        wrong.append(f"activation_bytes: {device['activation_bytes']}, the fullest step has {peak}")
    kept = ask(tools, model, flags, batch, 1, context, "none")["memory"]["per_device"]
    for name in ("weight_bytes", "kv_cache_bytes", "state_bytes"):
        if device[name] != kept[name]:
            wrong.append(f"{name}: {device[name]}, beside one token {kept[name]}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    args = parser.parse_args()
    tools, failed = Tools(args.bin), 0
    for case in CASES:
        wrong = compare(tools, case)
        failed += bool(wrong)
        if wrong:
            print("  FAIL", *case)
            print(*(f"    {line}" for line in wrong), sep="\n")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

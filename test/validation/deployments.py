#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published deployments against the search: the plan that people run is within
10 % of the best plan of its devices, or a note says why it is not. A note that
is not needed any more fails, too. Numbers are of the model alone: what a
deployment weighs besides (simplicity, several models, failures) is in notes.

Ends with a line `N passed, N failed`.

usage: deployments.py [--bin DIR] [--verbose]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

SPACE = "--space=cp=1,fsdp=off"
DEEPSEEK = "DeepSeek-V3 technical report, arXiv:2412.19437"
LLAMA = "The Llama 3 herd of models, arXiv:2407.21783"
RECIPES = "vLLM recipes (docs.vllm.ai/projects/recipes)"
SGLANG = "SGLang documentation, DeepSeek V3 usage (docs.sglang.io): 8 x H200, or 2 x 8 x H100"
VLLM = "vLLM documentation, parallelism and scaling"
# Source, autopar's arguments, the published plan, and why the best is over 10 %
# better where it is; "unfit" where the source says that it does not fit.
DEPLOYMENTS = [
    (VLLM + ": tensor parallelism over the devices of a node",
     "llama-3.3-70b --context=4096 --goal=latency", "tp8", ""),
    (VLLM + ": a model that fits one device needs no others",
     "llama-3.1-8b --devices=1 --context=4096", "tp1", ""),
    ("gpt-oss model card, arXiv:2508.10925: on one 80 GB device",
     "gpt-oss-120b --devices=1 --context=8192", "tp1", ""),
    (LLAMA + ", section 6.1: bf16 on two nodes, tensor parallelism inside, stages between",
     "llama-3.1-405b --devices=16 --context=4096", "pp2,tp8", ""),
    (LLAMA + ", section 6.2: fp8 on one node",
     "llama-3.1-405b:fp8 --devices=8 --context=4096", "tp8", ""),
    (LLAMA + ", section 6.1: bf16 does not fit one node",
     "llama-3.1-405b --devices=8 --context=4096", "tp8", "unfit"),
    (RECIPES + ", DeepSeek-V3: tensor and expert parallelism for low load",
     "deepseek-r1 --hardware=h200-sxm-8 --devices=8 --context=8192 --goal=latency", "tp8,ep8",
     "the 8 experts of a token lie on 4 devices, 3 or 4 on the busiest, which reads those; tp reads an eighth of each"),
    (RECIPES + ", DeepSeek-V3: data and expert parallelism for high load",
     "deepseek-r1 --hardware=h200-sxm-8 --devices=8 --context=8192", "dp8,ep8",
     "attention and caches over pairs of devices (tp 2, dcp 2) leave room for 528 sequences, not 368"),
    (SGLANG, "deepseek-v3 --hardware=h200-sxm-8 --devices=8 --context=4096 --goal=latency", "tp8", ""),
    (SGLANG, "deepseek-v3 --hardware=h100-sxm-8 --devices=8 --context=4096", "tp8", "unfit"),
    (SGLANG, "deepseek-v3 --hardware=h100-sxm-8 --devices=16 --context=4096 --goal=latency", "tp16",
     "all-reduces between nodes cost more than handing on between two stages"),
    (RECIPES + ", Kimi-K2: 16 devices, stages between nodes",
     "kimi-k2 --hardware=h200-sxm-8 --devices=16 --context=4096 --goal=latency", "pp2,tp8", ""),
    (RECIPES + ", Kimi-K2: 16 devices, data and expert parallelism",
     "kimi-k2 --hardware=h200-sxm-8 --devices=16 --context=4096", "dp16,ep16",
     ""),
    (DEEPSEEK + ", section 3.4.2: decode with wide expert parallelism, data-parallel attention",
     "deepseek-v3 --hardware=h200-sxm-8 --devices=64 --context=4096 --sla=tpot:50ms --space=pp=1,cp=1,fsdp=off", "dp64,ep64",
     "batches double: with a row sent for each expert, 64 devices take 2,048 sequences within 50 ms, and groups of 16 take 4,096"),
]  # fmt: skip
CLOSE = 1.10


def ask(binary, arguments, plan, cache):
    words = arguments.split()
    if not any(word.startswith("--space") for word in words):
        words.append(SPACE)
    done = subprocess.run([os.path.join(binary, "autopar"), "search", *words, f"--why={plan}", "--json"], capture_output=True, text=True,
                          env={**os.environ, "AUTOPAR_CACHE": cache})  # fmt: skip
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def behind(answer):
    """How many times better the best plan is."""
    best, why = answer["frontier"][answer["best"]], answer["why"]
    if answer["goal"] == "latency":
        return why["step_time_us"] / best["step_time_us"]
    return best["tokens_per_s"] / why["tokens_per_s"]


def judge(answer, note):
    """None, or what is wrong; and what was found."""
    if isinstance(answer, str):
        return answer, ""
    found = answer["why"]["answer"]
    if note == "unfit" or found not in ("best", "beaten"):
        return None if found == note else f"the plan is {found}", found
    ratio = behind(answer)
    text = f"{answer['frontier'][answer['best']]['label']} is {ratio:.2f}x as good"
    if ratio > CLOSE and not note:
        return f"{text}, and no note says why", text
    if ratio <= CLOSE and note:
        return f"{text}: the note is not needed", text
    return None, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as cache:
        for source, arguments, plan, note in DEPLOYMENTS:
            wrong, found = judge(ask(options.bin, arguments, plan, cache), note)
            failed += wrong is not None
            if wrong or options.verbose:
                print(f"{arguments}, {plan}: {wrong or found}")
    print(f"{len(DEPLOYMENTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

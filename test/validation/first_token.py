#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time to the first token of one request at a time, as published, against what
autopar predicts of it.

Points are those that were found of engines, machines and models that autopar has,
but for what needs more than 0.6 of the dense peak (a cache of prefixes answered:
Qwen2.5-72B at 2,048 and 3,072 tokens, Qwen2.5-7B on RTX 4090 from 1,024 on). None
is part of a fit but the last two. The median of the errors has a bar, and each
point a limit, beyond which a part of the law is missing.

Ends with a line `N passed, N failed`.

usage: first_token.py [--bin DIR]
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

BAR, LIMIT = 0.2, 1.0
ISSUES = "github.com/tenstorrent/tt-inference-server/issues/"
QWEN = ("qwen2.5-72b", "--hardware=h100-sxm-8 --runtime=vllm@2025-04 --shard-tp=2 --memory-utilization=0.98", ISSUES + "143")
CONSUMER = ("qwen2.5-7b", "--hardware=rtx-4090-8 --runtime=vllm@2025-03", ISSUES + "125")
R1 = ("deepseek-r1:awq-4", "--hardware=h100-sxm-8 --runtime=vllm@2025-07 --shard-tp=8", ISSUES + "356")
NIM = ("llama-3.3-70b:fp8", "--hardware=h100-sxm-8 --runtime=trtllm@2025-04 --shard-tp=2",
       "docs.nvidia.com/nim/benchmarking/llm/1.0.0/performance, version 1.8.0")  # fmt: skip
# Deployment, tokens of prompt and answer, milliseconds.
POINTS = [
    (QWEN, 128, 128, 41.1),
    (QWEN, 1024, 128, 129.2),
    (QWEN, 4096, 128, 505.1),
    (QWEN, 8192, 128, 1063.8),
    (CONSUMER, 128, 128, 30.8),
    (R1, 128, 128, 47.3),
    (R1, 1024, 128, 105.3),
    (R1, 8192, 128, 242.0),
    (NIM, 500, 2000, 47.77),
    (NIM, 5000, 500, 406.77),
]
# Launched with --stream-interval 10, which the rules of `autopar validate` know of
# a dashboard's rows: DeepSeek-R1 on B200, SGLang 0.5.12, 2026-05, prompts and
# answers of 0.8 to 1 of 8,192 and 1,024 tokens.
DASHBOARD = [("fp8", 314.2815, 7.394634), ("fp4", 220.0441, 6.035897)]
COLUMNS = ("id,silicon_data_source,backend,backend_version,model_path,system,precision,mode,isl,osl,batch_size,"
           "tp_size,pp_size,attention_dp_size,moe_tp_size,moe_ep_size,silicon_ttft_ms,silicon_tpot_ms").split(",")  # fmt: skip


def estimated(tool, point):
    (model, flags, source), prompt, answer, measured = point
    command = [tool, "estimate", model, *flags.split(), "--concurrency=1", f"--prompt={prompt}",
               f"--output-tokens={answer}", "--json"]  # fmt: skip
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    ttft = json.loads(done.stdout)["serving"]["ttft_us"]["mean"] / 1e3
    return f"{model} at {prompt} ({source})", ttft, measured


def validated(tool, folder):
    table, output = os.path.join(folder, "rows.csv"), os.path.join(folder, "predicted.csv")
    with open(table, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for precision, ttft, tpot in DASHBOARD:
            source = "dashboard; silicon_concurrency=1; measured=2026-05-01T00:00:00.000Z"
            rows.writerow([precision, source, "sglang", "0.5.12", "deepseek-ai/DeepSeek-R1", "b200_sxm", precision,
                           "agg", 8192, 1024, 1, 8, 1, 1, 8, 1, ttft, tpot])  # fmt: skip
    subprocess.run([tool, "validate", table, f"--predictions={output}"], check=True, capture_output=True)
    with open(output, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield f"deepseek-r1 {row['id']} on B200", float(row["predicted_ttft_ms"]), float(row["measured_ttft_ms"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    tool = os.path.join(parser.parse_args().bin, "autopar")
    with tempfile.TemporaryDirectory() as folder:
        found = [estimated(tool, point) for point in POINTS] + list(validated(tool, folder))
    failed = 0
    for name, predicted, measured in found:
        error = predicted / measured - 1
        is_wrong = abs(error) > LIMIT
        failed += is_wrong
        print(f"{'WRONG: ' if is_wrong else ''}{predicted:.1f} ms, measured {measured:.1f} ({error:+.1%}): {name}")
    errors = sorted(abs(predicted / measured - 1) for _, predicted, measured in found)
    median = (errors[(len(errors) - 1) // 2] + errors[len(errors) // 2]) / 2
    print(f"median error {median:.1%} of {len(errors)}, bar {BAR:.0%}")
    failed += median > BAR
    print(f"{len(found) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

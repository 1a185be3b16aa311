#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sequences that a report says to fit are those that do: a decode step of
as many fits, and one of a sequence more does not. Whatever the batch that was
asked for, the number is the same.

Plans are drawn from golden_cases.py, with runtimes of all kinds; then those of
a table, with the numbers that they must have. Refused plans do not count.

Ends with a line `N passed, N failed`.

usage: capacity.py [--bin DIR] [--models DIR] [--count N] [--seed N] [--quick]
"""

import argparse
import concurrent.futures
import json
import os
import random
import sys
import tempfile

from golden_cases import CASES
from plan_models import MODELS, Model
from plans import Tools

OF_STEP = ("--phase", "--batch", "--prompt", "--context", "--runtime", "--encoder-tokens")
# autopar's arguments, and what fits.
KNOWN = [
    ("deepseek-v3 --hardware=h200-sxm-8 --shard-tp=8 --context=8192", 86),
    ("deepseek-v3 --hardware=h200-sxm-8 --shard-dp=8 --shard-ep=8 --context=8192", 464),
]  # fmt: skip


def report(tools, path, flags, batch):
    done = tools.run("autopar-opt", *flags, f"--batch={batch}", "--estimate=json", "-o", os.devnull, path)
    return json.loads(done.stdout) if done.returncode == 0 else None


def fits(tools, path, flags, batch):
    answer = report(tools, path, flags, batch)
    return answer["memory"]["per_device"]["fits"] if answer else None


def compare(tools, path, flags):
    """None, what differs, or "" where nothing can be said."""
    first = report(tools, path, flags, 1)
    if not first or first["memory"]["kv_bytes_per_token"] + first["memory"]["state_bytes_per_sequence"] == 0:
        return ""
    held = first["capacity"]["sequences"]
    if held == 0:
        return None if not first["memory"]["per_device"]["fits"] else "one sequence fits, and the capacity is 0"
    if held * first["workload"]["context_length"] > 1 << 40:
        return ""
    other = report(tools, path, flags, max(1, held // 3))
    if other["capacity"]["sequences"] != held:
        return f"{held} sequences beside one, {other['capacity']['sequences']} beside {held // 3}"
    if not fits(tools, path, flags, held):
        return f"{held} sequences are said to fit, and do not"
    if fits(tools, path, flags, held + 1):
        return f"{held} sequences are said to fit, and {held + 1} do"
    return None


def draw(rng, models):
    name, flags = CASES["plans"][1](rng, models)
    flags = [flag for flag in flags if not flag.startswith(OF_STEP)]
    runtime = rng.choice(("vllm", "vllm", "sglang", "trtllm", "ideal"))
    return name, [*flags, "--phase=decode", f"--context={rng.choice((500, 4096, 32768, 100_000))}", f"--runtime={runtime}"]


def known(tools, command, expected):
    done = tools.run("autopar", "estimate", *command.split(), "--phase=decode", "--json")
    held = json.loads(done.stdout)["capacity"]["sequences"] if done.returncode == 0 else done.stderr
    return None if held == expected else f"{held}, expected {expected}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--models", default="models")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    tools, rng = Tools(args.bin), random.Random(args.seed)
    passed = failed = silent = 0
    with tempfile.TemporaryDirectory() as scratch:
        models = [Model(name, args.models, os.path.join(scratch, ""), tools) for name in MODELS]
        paths = {model.name: model.path for model in models}
        cases = [draw(rng, models) for _ in range(50 if args.quick else args.count)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda case: compare(tools, paths[case[0]], case[1]), cases))
    answers = [(" ".join([*flags, name]), wrong) for (name, flags), wrong in zip(cases, found)]
    answers += [(command, known(tools, command, expected)) for command, expected in KNOWN]
    for command, wrong in answers:
        if wrong:
            failed += 1
            print(f"  FAIL {command}\n    {wrong}")
        else:
            passed += wrong is None
            silent += wrong == ""
    print(f"  {silent} plans are refused or keep nothing")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

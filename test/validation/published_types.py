#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports configs of new model types and published configs, and compares the
tensors that autopar lists with the recorded ones: names and shapes by their
digest, numbers of parameters where there are no names.

../shared/data/types has the configs (JSON lines): `names` are the SHA-256 of
each layout that a checkpoint may have, `totals` the numbers of elements, and
`total_rounded` a published number with three digits. A verdict for each:

  exact      the tensors, or the number of parameters, are the recorded ones
  refused    autopar says why it does not import the config
  unchecked  imports, and nothing is recorded to compare it with
  WRONG      imports, and differs; or neither imports nor says why

A WRONG one fails, and so does a group with fewer exact ones than `LEAST`. Ends
with a line `N passed, N failed`, with `N skipped` where the data is absent.

usage: published_types.py [--bin DIR] [--data DIR] [--list] [TEXT ...]
"""

import argparse
import collections
import concurrent.futures
import gzip
import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data" / "types"

# How many are exact, by file: a change that loses one is seen.
LEAST = {"new_types": 28, "real": 11}

# Half of the last of three digits, relative to the smallest number with three.
ROUNDING = 0.005


def run(tools, tool, arguments, config):
    command = [f"{tools}/{tool}", *arguments]
    return subprocess.run(command, input=json.dumps(config), capture_output=True, text=True, timeout=300)


def listed(text):
    """The digest of a list of tensors, and how many elements they have."""
    tensors = sorted((name, json.loads(shape)) for name, shape, *_ in (line.split("\t") for line in text.splitlines()))
    lines = "\n".join(f"{name}:{'x'.join(map(str, shape))}" for name, shape in tensors)
    return hashlib.sha256(lines.encode()).hexdigest(), sum(math.prod(shape) for _, shape in tensors)


def parameters(tools, config):
    """With and without what a step does not run; of quantized models, whose
    tensors hold several in one element, too."""
    done = run(tools, "autopar", ["models", "show", "-", "--json"], config)
    if done.returncode:
        return []
    counts = json.loads(done.stdout)
    return [counts["parameters"], counts["parameters"] + counts["stored_only_parameters"]]


def judge(tools, row):
    """The verdict for a row, and why."""
    config = row["config"]
    done = run(tools, "autopar-translate", ["--import-hf", "-", "--list-tensors"], config)
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if "error: " in line), "")
        if done.returncode == 1 and said:
            return "refused", said.split("error: ", 1)[1]
        return "WRONG", f"exit code {done.returncode}: {done.stderr[:200]}"
    if "quantization_config" not in config and row.get("names"):
        digest, elements = listed(done.stdout)
        if digest in row["names"]:
            return "exact", ""
        return "WRONG", f"{elements} elements, recorded {row['totals']}" + (
            "; names or shapes differ" if elements in row["totals"] else "")
    counts = parameters(tools, config)
    if row.get("totals"):
        return ("exact", "") if set(counts) & set(row["totals"]) else (
            "WRONG", f"{counts} parameters, recorded {row['totals']}")
    if rounded := row.get("total_rounded"):
        near = any(abs(count - rounded) <= ROUNDING * rounded for count in counts)
        return ("exact", "") if near else ("WRONG", f"{counts} parameters, published {rounded:.3g}")
    return "unchecked", f"{counts} parameters"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    parser.add_argument("--list", action="store_true", help="print a line for each config")
    parser.add_argument("only", nargs="*", metavar="TEXT", help="only configs whose id has one of these")
    options = parser.parse_args()
    files = sorted(options.data.glob("*.jsonl.gz"))
    if not files:
        print(f"skipped: {options.data} is not there\n0 passed, 0 failed, 1 skipped")
        return 0
    passed = failed = 0
    for file in files:
        group = file.name.removesuffix(".jsonl.gz")
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        if options.only:
            rows = [row for row in rows if any(text in row["id"] for text in options.only)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            verdicts = list(pool.map(lambda row: judge(options.bin, row), rows))
        counts = collections.Counter(verdict for verdict, _ in verdicts)
        for row, (verdict, why) in zip(rows, verdicts):
            if verdict == "WRONG" or options.list:
                print(f"{verdict} {row['id']}: {why}"[:300])
        print(f"{group}: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in sorted(counts)))
        failed += counts["WRONG"]
        passed += len(rows) - counts["WRONG"]
        if counts["exact"] < LEAST.get(group, 0) and not options.only:
            print(f"FAIL {group}: fewer exact than {LEAST[group]}")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

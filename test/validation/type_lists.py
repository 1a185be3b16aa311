#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the tensors that autopar lists for each model type of `transformers`
with the recorded ones: names and shapes by their digest, their number and
elements. What is recorded as refused must be refused, or be exact. Of default
configs, the parameters of a step and those that are stored only are together
the elements of all tensors.

test/types/expected.jsonl has a line per type and class: the default config, and
random ones as changes of it. scripts/check_types writes it. Ends with a line
`N passed, N failed`.

usage: type_lists.py [--bin DIR] [--quick] [TYPE ...]
"""

import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

EXPECTED = pathlib.Path(__file__).resolve().parent.parent / "types" / "expected.jsonl"


def patched(base, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), value)
    return result


def summary(listing):
    tensors = sorted((name, json.loads(shape)) for name, shape, *_ in (line.split("\t") for line in listing))
    text = "".join(f"{name} {shape}\n" for name, shape in tensors)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return {"tensors": len(tensors), "elements": sum(math.prod(shape) for _, shape in tensors), "digest": digest}


def uncounted(tools, path, elements):
    """What `autopar models show` counts, where that is not all elements."""
    done = subprocess.run([f"{tools}/autopar", "models", "show", path, "--json"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)  # fmt: skip
    if done.returncode:
        return done.stderr.strip()[:300] or f"exit code {done.returncode}"
    counts = json.loads(done.stdout)
    found = counts["parameters"] + counts["stored_only_parameters"]
    return "" if found == elements else f"{found} parameters with those stored only, not {elements}"


def problem(tools, config, expected, is_default):
    """Why a config is not as expected; empty where it is."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(config, file)
        file.flush()
        command = [f"{tools}/autopar-translate", "--import-hf", file.name, "--list-tensors"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        found = summary(done.stdout.splitlines())
        left_out = uncounted(tools, file.name, found["elements"]) if is_default and not done.returncode else ""
    if done.returncode:
        refused = done.returncode == 1 and "error: " in done.stderr
        if refused and expected["verdict"] == "refused":
            return ""
        return done.stderr.strip()[:300] or f"exit code {done.returncode}"
    wrong = [f"{key} {found[key]}, not {expected[key]}" for key in found if found[key] != expected[key]]
    wrong += [left_out] if left_out else []
    return "; ".join(wrong)


def check(tools, line, quick):
    record, base, problems = json.loads(line), None, []
    for number, variant in enumerate(record["variants"][: 1 if quick else None]):
        config = patched(base, variant["changes"]) if base else variant["config"]
        base = base or config
        problems.append((number, problem(tools, config, variant, number == 0)))
    return record, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--quick", action="store_true", help="only default configs")
    parser.add_argument("types", nargs="*", help="only these")
    options = parser.parse_args()
    lines = EXPECTED.read_text(encoding="utf-8").splitlines()
    if options.types:
        lines = [line for line in lines if json.loads(line)["type"] in options.types]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for record, problems in pool.map(lambda line: check(options.bin, line, options.quick), lines):
            for number, text in problems:
                passed, failed = passed + (not text), failed + bool(text)
                if text:
                    print(f"FAIL {record['type']} {record['class']} {number}: {text}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what autopar-run computes with what `transformers` computed from the
same weights and tokens: the logits of a prefill and of decodes, recorded in
test/anchors by record.py.

A step passes where no logit differs by more than 1e-4 of the largest one.
Ends with a line `N passed, N failed`.

usage: anchors.py [--bin DIR] [--only NAME]
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

RECORDS = pathlib.Path(__file__).resolve().parent.parent / "anchors"
TOLERANCE = 1e-4


class Refused(Exception):
    """A tool's own word."""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise Refused(done.stderr.strip() or f"exit code {done.returncode}")
    return done.stdout


def execute(tools, record, folder):
    """The logits of each step."""
    config, module = f"{folder}/config.json", f"{folder}/model.mlir"
    with open(config, "w", encoding="utf-8") as file:
        json.dump(record["config"], file)
    run([f"{tools}/autopar-translate", "--import-hf", config, "-o", module])
    steps = ",".join(map(str, record["steps"]))
    printed = run([f"{tools}/autopar-run", module, f"--batch={record['batch']}", f"--query={steps}"])
    return [[float(x) for x in line.split("] ")[1].split()] for line in printed.splitlines()]


def difference(computed, recorded):
    """The largest one, relative to the largest logit."""
    if len(computed) != len(recorded) or any(map(math.isnan, computed)):
        return float("inf")
    return max(abs(a - b) for a, b in zip(computed, recorded)) / max(map(abs, recorded))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--only", help="one model")
    options = parser.parse_args()
    passed = failed = 0
    for path in sorted(RECORDS.glob(f"{options.only or '*'}.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            try:
                steps = execute(options.bin, record, folder)
            except Refused as refused:
                print(f"FAIL {path.stem}: {refused}")
                failed += len(record["steps"])
                continue
        steps += [[]] * (len(record["steps"]) - len(steps))
        differences = [difference(a, b) for a, b in zip(steps, record["logits"])]
        right = sum(found <= TOLERANCE for found in differences)
        passed, failed = passed + right, failed + len(differences) - right
        verdict = "PASS" if right == len(differences) else "FAIL"
        print(f"{verdict} {path.stem}: {' '.join(f'{found:.1e}' for found in differences)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

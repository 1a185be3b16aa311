#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Of rings, what attention does not hide is waited for: of T for the rings of a
step and A for its attention, both read off the report, max(0, T - A (n-1)/n) over
n devices (Ring Attention, arXiv:2310.01889, section 3). Prompts are short and
long, so that both cases are met.

Ends with a line `N passed, N failed`.

usage: rings.py [--bin DIR]
"""

import argparse
import itertools
import json
import sys

from executed import run

CLOSE = 1e-6  # picoseconds of each call, in thousands of microseconds


def times(report):
    """Of a step: rings, other collectives, attention."""
    calls = report["communication"]["collectives"]
    rings = sum(call["count"] * call["time_us"] for call in calls if call["kind"] == "ring")
    others = sum(call["count"] * call["time_us"] for call in calls if call["kind"] != "ring")
    attention = sum(row["time_us"] for row in report["breakdown"]["by_op"] if row["name"] == "attention")
    return rings, others, attention


def check_step(options, devices, prompt):
    code, said = run([f"{options.bin}/autopar", "estimate", "llama-3.1-8b", f"--shard-cp={devices}",
                      "--hardware=h100-sxm-8", "--phase=prefill", f"--prompt={prompt}", "--batch=1",
                      "--prefill-chunk=none", "--json"])  # fmt: skip
    if code:
        return False, said
    report = json.loads(said)
    rings, others, attention = times(report)
    exposed = max(0, rings - attention * (devices - 1) / devices)
    found = report["latency"]["communication_time_us"]
    is_close = abs(found - others - exposed) <= CLOSE * rings
    return exposed > 0, None if is_close else f"waits {found} us, not {others + exposed} us"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin")
    options = parser.parse_args()
    problems, exposed = [], 0
    cases = list(itertools.product((2, 4, 8), (512, 4096, 16384, 65536)))
    for devices, prompt in cases:
        is_exposed, problem = check_step(options, devices, prompt)
        exposed += is_exposed
        if problem:
            problems.append(f"cp {devices}, {prompt} tokens: {problem}")
    if exposed in (0, len(cases)):
        problems.append(f"{exposed} of {len(cases)} steps wait for rings: draw others")
    for problem in problems:
        print(f"FAIL {problem}")
    print(f"{len(cases) - len(problems)} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

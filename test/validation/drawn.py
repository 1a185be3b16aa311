# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the validations whose cases are drawn at random have in common: their
flags, the pool that they run in, and the lines that they end with."""

import argparse
import collections
import concurrent.futures
import os


def parse(doc, count, quick):
    """The flags; `count` is as many cases as there shall be, None for all."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--count", type=int, default=count, help=f"so many cases (default: {count or 'all'})")
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--quick", action="store_true", help=f"{quick} of them")
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args()
    if options.quick:
        options.count = quick
    return options


def examine(check, cases, right, said, show):
    """Asks `check` for each case: its outcome, and why where that is "failed".
    Outcomes in `right` pass; `said` has counts of outcomes. Returns the exit
    code."""
    tally, failures = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for outcome, why in pool.map(check, cases):
            tally[outcome] += 1
            if outcome == "failed":
                failures.append(why)
    for why in failures[:show]:
        print(f"FAIL {why}")
    passed = sum(tally[outcome] for outcome in right)
    print(said.format_map(collections.defaultdict(int, tally)))
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0

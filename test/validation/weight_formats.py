#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`--weight-format` against checkpoints that are published in that format: the
tensors of the one config, quantised by us, are those of the other, by name,
shape and type; or the modules that differ are the ones that the table names.

Ends with a line `N passed, N failed`, and `skipped` where there are no configs.

usage: weight_formats.py [--bin DIR] [--configs DIR] [--show N]
"""

import argparse
import collections
import os
import re
import sys

from plans import Tools

# The plain config, the format, the published config, and what differs.
PAIRS = []


def tensors(tools, *arguments):
    rows = (line.split("\t") for line in tools.check("autopar-translate", "--list-tensors", "--import-hf", *arguments).splitlines())
    return {name: (shape, dtype, int(size)) for name, shape, dtype, size in rows}


def kind(name):
    """A tensor's name without the numbers of its layer and expert."""
    return re.sub(r"\.\d+(?=\.|$)", ".N", name)


def compare(tools, configs, pair, show):
    plain, form, published, known = pair
    own = tensors(tools, os.path.join(configs, plain), f"--weight-format={form}")
    theirs = tensors(tools, os.path.join(configs, published))
    differ = collections.Counter(kind(name) for name in {**own, **theirs} if own.get(name) != theirs.get(name))
    bytes_of = lambda all: sum(size for _, _, size in all.values())
    print(f"  {published}: {len(own)} tensors, {bytes_of(own):,} B as {form}, {bytes_of(theirs):,} B published")
    wrong = [(name, count) for name, count in differ.items() if not known or not re.search(known, name)]
    for name, count in sorted(wrong)[:show]:
        print(f"    FAIL {name} x {count}")
    return not wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--configs")
    parser.add_argument("--show", type=int, default=20)
    args = parser.parse_args()
    if not args.configs:
        print(f"0 passed, 0 failed, {len(PAIRS)} skipped")
        return 0
    passed = sum(compare(Tools(args.bin), args.configs, pair, args.show) for pair in PAIRS)
    print(f"{passed} passed, {len(PAIRS) - passed} failed")
    return passed != len(PAIRS)


if __name__ == "__main__":
    sys.exit(main())

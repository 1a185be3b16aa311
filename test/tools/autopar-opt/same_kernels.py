# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what the kernels of two cost programs compute and move, whatever
they are called and whichever are launched together.

usage: same_kernels.py A.json B.json
"""

import json
import sys


def kernels(path):
    with open(path, encoding="utf-8") as file:
        program = json.load(file)
    for kernel in program["kernels"]:
        for traffic in kernel["traffic"]:
            # A number of the program, not of the kernel.
            traffic.pop("value", None)
        yield {key: value for key, value in kernel.items() if key not in ("name", "fusion_group")}


def main():
    pairs = list(zip(kernels(sys.argv[1]), kernels(sys.argv[2]), strict=True))
    different = [a for a, b in pairs if a != b]
    print(f"{len(pairs)} kernels, {len(different)} differ", *different)


if __name__ == "__main__":
    main()

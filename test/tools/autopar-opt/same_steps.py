# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what a step launches, takes and holds in two reports.

usage: same_steps.py A.json B.json
"""

import json
import math
import sys

FIELDS = [
    ("latency", "kernel_launches"),
    ("latency", "step_time_us"),
    ("latency", "memory_time_us"),
    ("latency", "overhead_time_us"),
    ("latency", "bounds", "weights_and_kv_read_bytes"),
    ("memory", "per_device", "activation_bytes"),
]


def field(path, names):
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    for name in names:
        value = value[name]
    return value


def main():
    same = True
    for names in FIELDS:
        a, b = (field(path, names) for path in sys.argv[1:3])
        # Times are sums in another order.
        if not math.isclose(a, b, rel_tol=1e-9):
            same = False
            print(".".join(names), a, b)
    if same:
        print("the same")


if __name__ == "__main__":
    main()

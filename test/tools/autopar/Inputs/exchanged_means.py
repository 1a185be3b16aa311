# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what a report (standard input) says of the means that an update exchanges.

usage: exchanged_means.py 'BYTES:COUNT ..'

Each all_reduce of the optimizer that is not of gradients has one of the sizes, as
many have it as is given, a device sends 2 (n-1)/n of it, and all their time is
exposed.
"""

import collections
import json
import sys

report = json.load(sys.stdin)
wanted = {int(size): int(count) for size, count in (pair.split(":") for pair in sys.argv[1].split())}
sums = [
    record for record in report["communication"]["collectives"]
    if record["section"] == "optimizer" and record["purpose"] == "activations"
]  # fmt: skip
found = collections.Counter()
for record in sums:
    assert record["kind"] == "all_reduce", record
    size, devices = record["bytes"], record["group_size"]
    assert record["wire_bytes_per_device"] == -(-2 * (devices - 1) * size // devices), record
    found[size] += record["count"]
assert found == wanted, (found, wanted)
rows = [row for row in report["training"]["exposure"] if (row["section"], row["purpose"]) == ("optimizer", "activations")]
time = sum(record["count"] * record["time_us"] for record in sums)
assert abs(sum(row["time_us"] for row in rows) - time) <= 1e-6 * time, (rows, time)
assert all(row["exposed_time_us"] == row["time_us"] for row in rows), rows
assert not any("Adafactor" in limit for limit in report["training"]["not_modelled"])

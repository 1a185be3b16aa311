# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: sweep_cells.py TABLE MODEL FLAG..., compares each row of a sweep's CSV
with the JSON of `autopar estimate MODEL FLAG...` at its values, digit by
digit."""

import csv
import json
import subprocess
import sys

PATHS = {
    "devices": "mesh/devices",
    "step_time_us": "latency/step_time_us",
    "tokens_per_s": "throughput/tokens_per_s",
    "total_bytes": "memory/per_device/total_bytes",
    "budget_bytes": "memory/per_device/budget_bytes",
    "fits": "memory/per_device/fits",
    "bound": "latency/bound",
    "sequences": "capacity/sequences",
    "usd_per_million_tokens": "cost/usd_per_million_tokens",
    "joules_per_token": "cost/joules_per_token",
}


def flag_of(name, value):
    return f"--set={name}={value}" if "." in name else f"--{name}={value}"


def cell_of(report, path):
    for part in path.split("/"):
        report = report[part]
    return {True: "true", False: "false", None: ""}.get(report, report)


with open(sys.argv[1]) as file:
    rows = list(csv.DictReader(file))
axes = list(rows[0])[: list(rows[0]).index("plan")]
compared = 0
for row in rows:
    given = [flag_of(name, row[name]) for name in axes]
    # "tp 8" is the mesh of a plan that flags say; "tp4,dp2" are words of one.
    plan = [] if " " in row["plan"] else ["--plan=" + row["plan"]]
    command = ["autopar", "estimate", *sys.argv[2:], *plan, *given, "--json"]
    if "devices" in axes:
        command = [word for word in command if not word.startswith("--devices=")]
        command += ["--batch=" + row["batch"], "--nodes=" + row["nodes"]]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if row["refusal"]:
        assert done.returncode, command
        continue
    report = json.loads(done.stdout, parse_float=str, parse_int=str)
    for name, path in PATHS.items():
        if name not in axes:
            assert row[name] == cell_of(report, path), (command, name, row[name])
            compared += 1
print(compared, "cells are equal")

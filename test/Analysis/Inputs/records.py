# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints kernels and collectives of an autopar.program/1, a line each."""

import json
import sys

SHOWN = ("compute", "key_heads", "fusion_group", "epilogue_of", "of_inputs", "type")

program = json.load(sys.stdin)
for record in program["kernels"] + program["collectives"]:
    fields = [f"{key}={record[key]}" for key in SHOWN if key in record]
    print(record["name"], record.get("op", record["kind"]), *fields)

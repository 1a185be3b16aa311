"""Checks lines of simulated requests, and the timeline of them."""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import math
import sys

lines, trace, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
requests = [json.loads(line) for line in open(lines)]
if len(requests) != count:
    sys.exit(f"{len(requests)} requests, expected {count}")
for number, request in enumerate(requests):
    end = request["arrival_us"] + request["ttft_us"] + \
        (request["output_tokens"] - 1) * request["tpot_us"]
    if request["request"] != number or not math.isclose(end, request["end_us"], rel_tol=1e-9):
        sys.exit(f"request {number}: {request}")
events = json.load(open(trace))["traceEvents"]
if len(events) != 4 * count:
    sys.exit(f"{len(events)} events, expected {4 * count}")
for begin, end in zip(events[::2], events[1::2]):
    if (begin["ph"], end["ph"]) != ("b", "e") or begin["ts"] > end["ts"] or begin["id"] != end["id"]:
        sys.exit(f"{begin} {end}")

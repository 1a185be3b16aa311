"""Checks what the numbers of a service have to do with each other."""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import math
import sys

report = json.load(open(sys.argv[1]))
serving, output = report["serving"], 300


def check(name, value, wanted):
    if not math.isclose(value, wanted, rel_tol=1e-9):
        sys.exit(f"{name}: {value}, expected {wanted}")


check("requests served", serving["requests_per_s"], 4)
check("tokens", serving["output_tokens_per_s"], 4 * output)
check("request", serving["request_us"]["mean"],
      serving["ttft_us"]["mean"] + (output - 1) * serving["tpot_us"]["mean"])
check("goodput", serving["goodput_per_s"], 4 * serving["share_within_limits"])
# Little's law, for those that decode.
decoding = 4 * (output - 1) * serving["tpot_us"]["mean"] / 1e6
check("batch", report["workload"]["batch"], round(decoding))
price = report["cost"]["usd_per_device_hour"] * 8 / 3600
check("price", serving["usd_per_million_output_tokens"], price / (4 * output) * 1e6)
curve = serving["load_curve"]
asked = curve["points"][curve["asked"]]
for key in ("ttft_us", "tpot_us", "request_us", "output_tokens_per_s"):
    if asked[key] != serving[key]:
        sys.exit(f"{key} of the curve differs")
# More load is slower, and serves more.
for less, more in zip(curve["points"], curve["points"][1:]):
    for key in ("ttft_us", "tpot_us", "request_us"):
        if more[key]["mean"] < less[key]["mean"]:
            sys.exit(f"{key} falls with the load")
    if more["output_tokens_per_s"] <= less["output_tokens_per_s"]:
        sys.exit("throughput falls with the load")
for key in ("ttft_us", "tpot_us", "request_us"):
    times = serving[key]
    if not times["p50"] <= times["p90"] <= times["p95"] <= times["p99"]:
        sys.exit(f"percentiles of {key}")

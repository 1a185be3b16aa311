"""Checks the dropped share of a report by its own derivation, and against loads by Zipf's law."""

import json
import sys

report = json.load(sys.stdin)
skew = float(sys.argv[1])
experts = 8
capacity = report["training"]["expert_capacity"]
loads = [rank**-skew for rank in range(1, experts + 1)]
mean = sum(loads) / experts
dropped = 1 - sum(min(load, capacity["factor"] * mean) for load in loads) / sum(loads)
assert abs(capacity["dropped_share"] - dropped) < 1e-9, (capacity, dropped)
derivation = report["derivations"]["training.expert_capacity.dropped_share"]
shares = [float(value) for value in derivation["inputs"].values()]
assert len(shares) == 32 and abs(sum(shares) / len(shares) - dropped) < 1e-6, derivation

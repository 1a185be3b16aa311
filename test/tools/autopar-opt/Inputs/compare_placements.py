"""Compares reports of one plan under two loads of experts.

usage: compare_placements.py even|hotter A.json B.json

even: all counts are equal. hotter: B is slower than A, and computes as much.
"""

import json
import sys

mode, a, b = sys.argv[1], *(json.load(open(path)) for path in sys.argv[2:])
assert a["flops"]["total"] == b["flops"]["total"]
assert a["model"] == b["model"]
if mode == "even":
    assert "placement" not in a and b["placement"]["worst_imbalance"] == 1
    for key in a:
        if key not in ("plan", "assumptions", "warnings"):
            assert a[key] == b[key], key
else:
    for key in ("step_time_us", "communication_time_us"):
        assert a["latency"][key] < b["latency"][key], key
    assert a["flops"]["per_device"] < b["flops"]["per_device"]

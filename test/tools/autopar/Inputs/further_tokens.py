"""Compares iterations without and with a layer that predicts a further token."""

import json
import sys

without, with_one = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
table = 129280 * 7168
stored = without["model"]["stored_only_parameters"]
grown = with_one["model"]["parameters"] - without["model"]["parameters"]
assert grown == stored - 2 * table == 11_610_068_224, (grown, stored)
assert with_one["flops"]["logits"] == 2 * without["flops"]["logits"] > 0
weights = [sum(stage["weight_bytes"] for stage in report["memory"]["per_stage"]) for report in (without, with_one)]
# A copy of the embedding, in 16 bits, and a part of the layer on each device.
assert weights[1] - weights[0] > 2 * table, weights

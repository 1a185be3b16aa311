"""Writes the system IN to OUT without measured all-reduces on its first tier,
whose devices can send all they have to each other at once.

usage: one_shot.py IN OUT"""

import json
import sys

with open(sys.argv[1]) as file:
    system = json.load(file)
tier = system["tiers"][0]
del tier["collectives"]["all_reduce"]
tier["algorithms"] = [
    {
        "name": "one-shot",
        "collective": "all_reduce",
        "sent": "to_each",
        "hops": "one",
        "source": {"kind": "recalled", "reference": "a test"},
    }
]
with open(sys.argv[2], "w") as file:
    json.dump(system, file)

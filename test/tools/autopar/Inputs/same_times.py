# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same_times.py FOUND.csv PREDICTED.csv: whether the first row of a search for
requests has the times of the first prediction of `validate`, in milliseconds."""

import csv
import sys

found, predicted = (next(csv.DictReader(open(path))) for path in sys.argv[1:])
for one, other in (("ttft_us", "predicted_ttft_ms"), ("tpot_us", "predicted_tpot_ms")):
    if float(found[one]) / 1000 != float(predicted[other]):
        sys.exit(f"{one} {found[one]}, {other} {predicted[other]}")
print("the same")

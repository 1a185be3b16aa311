# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: errors.py FILE COLUMN RUNTIME MEDIAN P90, exits with 1 where a runtime is further off.

FILE has the predictions of `autopar validate`, of which rows of RUNTIME count that no rule
excludes; MEDIAN and P90 of |predicted / measured - 1| are percent.
"""

import csv
import statistics
import sys

path, column, runtime = sys.argv[1:4]
most = [float(limit) / 100 for limit in sys.argv[4:6]]
with open(path, newline="") as file:
    rows = [row for row in csv.DictReader(file) if row["training_runtime"] == runtime
            and not row["excluded_reason"] and row[f"predicted_{column}"] and row[f"measured_{column}"]]
errors = sorted(abs(float(row[f"predicted_{column}"]) / float(row[f"measured_{column}"]) - 1) for row in rows)
found = [statistics.median(errors), errors[int(0.9 * len(errors))]]
if any(error > limit for error, limit in zip(found, most)):
    sys.exit(f"{runtime}, {column}, {len(errors)} rows: median and p90 are {found}, at most {most}")

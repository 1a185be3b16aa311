"""Checks that the steady state is near the simulation, in the mean: the times to
the first token and from token to token, as parts of the simulated ones."""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import sys

serving = json.load(open(sys.argv[1]))["serving"]
for key, limit in (("ttft_us", float(sys.argv[2])), ("tpot_us", float(sys.argv[3]))):
    if serving[key]["mean"] is None and serving["simulation"][key]["mean"] is None:
        continue
    error = serving[key]["mean"] / serving["simulation"][key]["mean"] - 1
    if abs(error) > limit:
        sys.exit(f"{key}: {error:+.1%}, expected at most {limit:.0%}")

"""Checks that the step of the report is the one that decodes in the steady
state of a closed loop of whole sequences."""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import sys

report = json.load(open(sys.argv[1]))
step, decode = report["latency"]["step_time_us"], report["serving"]["decode_step_us"]
if abs(step / decode - 1) > 1e-9:
    sys.exit(f"the step takes {step} us, decoding {decode} us")

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: same_as_search.py PREFIX MODEL [--stages] FLAG...

The module that `autopar-opt --search` writes is estimated, without a flag, at
the step time that `autopar search` says of its best plan, and on the same
axes. With --stages, that plan has some."""

import json
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


prefix, model, *flags = sys.argv[1:]
staged = "--stages" in flags
flags = [flag for flag in flags if flag != "--stages"]
source, best = prefix + ".source.mlir", prefix + ".searched.mlir"
run("autopar-translate", "--import-hf", model, "-o", source)
run("autopar-opt", "--search", *flags, "-o", best, source)
report = json.loads(run("autopar-opt", "--estimate=json", best))
found = json.loads(run("autopar", "search", model, *flags, "--json"))
point = found["frontier"][found["best"]]
said = point["step_time_us"], point["tokens_per_s"], point["plan"]["axes"]
estimated = report["latency"]["step_time_us"], report["throughput"]["tokens_per_s"], report["plan"]["axes"]
if said != estimated or not report["memory"]["per_device"]["fits"]:
    sys.exit(f"search {said}, estimate {estimated}")
if staged != any(axis["name"] == "pp" and axis["size"] > 1 for axis in report["plan"]["axes"]):
    sys.exit(f"stages: {report['plan']['axes']}")

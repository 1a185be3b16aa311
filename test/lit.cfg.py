# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import shlex
import shutil

import lit.formats

config.name = "autopar"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "validation", "docs", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.autopar_test_build

shared = os.path.join(os.path.dirname(config.autopar_source), "shared")
if os.path.isdir(os.path.join(shared, "data")):
    config.available_features.add("shared-data")
if os.path.isfile(os.path.join(shared, "data/measured/ops/nccl.csv")):
    config.available_features.add("measured-kernels")
if shutil.which("openssl"):
    config.available_features.add("openssl")

# lit replaces in order: %shared before %s.
for name, path in [
    ("%models", os.path.join(config.autopar_source, "models")),
    ("%hardware", os.path.join(config.autopar_source, "hardware")),
    ("%runtimes", os.path.join(config.autopar_source, "runtimes")),
    ("%dialects", os.path.join(config.autopar_source, "dialects")),
    ("%scripts", os.path.join(config.autopar_source, "scripts")),
    ("%shared", shared),
    ("%python", config.python),
]:
    config.substitutions.append((name, shlex.quote(path)))
# autopar-opt, whose output went around in three forms.
round_trip = os.path.join(config.test_source_root, "round_trip.py")
config.substitutions.append(
    ("%roundtrip", f"{shlex.quote(config.python)} {shlex.quote(round_trip)}")
)

# lit's own substitutions do not quote paths.
if " " in config.test_source_root + config.test_exec_root:
    for name in ("s", "S", "t"):
        config.substitutions.append((f"%{name}(?![a-zA-Z])", f"'%{{{name}:real}}'"))

# The tools are found by name, ours first.
config.environment["PATH"] = os.pathsep.join(
    [config.autopar_bin, config.llvm_bin, os.environ.get("PATH", "")]
)
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input-filter=error"
# Tests see the data of this tree, not of an installation.
config.environment["AUTOPAR_DATA"] = config.autopar_source
# And never the network: test/Hub has a server of its own.
config.environment["HF_HUB_OFFLINE"] = "1"

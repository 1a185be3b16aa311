# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os

import lit.formats

config.name = "autopar-unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_source_root = config.test_exec_root = config.autopar_unit_build
config.environment["AUTOPAR_DATA"] = config.autopar_source
os.makedirs(config.test_exec_root, exist_ok=True)

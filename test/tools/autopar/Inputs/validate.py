# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: validate.py SCHEMA FILE..., exits with 1 where a file is not valid."""

import json
import sys

import jsonschema

with open(sys.argv[1]) as file:
    validator = jsonschema.Draft202012Validator(json.load(file))
bad = 0
for path in sys.argv[2:]:
    with open(path) as file:
        for error in validator.iter_errors(json.load(file)):
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
            bad = 1
sys.exit(bad)

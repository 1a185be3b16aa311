# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: validate.py SCHEMA FILE..., exits with 1 where a file is not valid."""

import glob
import json
import os
import sys

import jsonschema

# Schemas name each other by their $id; those beside the one asked for are known.
schemas = [json.load(open(path))
           for path in glob.glob(os.path.join(os.path.dirname(sys.argv[1]), "*.json"))]
with open(sys.argv[1]) as file:
    schema = json.load(file)
resolver = jsonschema.RefResolver.from_schema(
    schema, store={one["$id"]: one for one in schemas})
validator = jsonschema.Draft202012Validator(schema, resolver=resolver)
bad = 0
for path in sys.argv[2:]:
    with open(path) as file:
        for error in validator.iter_errors(json.load(file)):
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
            bad = 1
sys.exit(bad)

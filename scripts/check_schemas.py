#!/usr/bin/env python3
"""Validates the files of hardware/, runtimes/ and models/formats/, and the
tables of names, against their JSON Schemas; and that those of what tools write
(lib/*/schema) are schemas, each with the name that its $id says.

Needs python3-jsonschema (Debian) or jsonschema (PyPI). Exit code 1 and one
line per violation, with file and JSON pointer.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "calibration"))
import hardware_files as files

try:
    import jsonschema
except ImportError:
    sys.exit("error: this needs jsonschema: apt install python3-jsonschema, "
             "or pip install jsonschema")

KINDS = {
    "hardware/schema/chip.schema.json": "hardware/chips/*.json",
    "hardware/schema/system.schema.json": "hardware/systems/*.json",
    "hardware/schema/node.schema.json": "hardware/examples/*.json",
    "hardware/schema/names.schema.json": "*/names.json",
    "hardware/schema/spreads.schema.json": "hardware/spreads.json",
    "runtimes/schema/runtime.schema.json": "runtimes/*.json",
    "runtimes/schema/recipes.schema.json": "runtimes/recipes/*.json",
    "runtimes/schema/launch_table.schema.json": "runtimes/launch/*.json",
    "runtimes/schema/log_forms.schema.json": "runtimes/logs/*.json",
    "runtimes/schema/measurement_forms.schema.json": "runtimes/measurements/*.json",
    "runtimes/schema/calibration_parameters.schema.json": "runtimes/calibration/*.json",
    "runtimes/schema/manifest_forms.schema.json": "runtimes/manifests/*.json",
    "models/formats/schema/format.schema.json": "models/formats/*.json",
}


def sourceless(value, pointer=""):
    """Figures and curves of a library file that say not where they are from:
    one source of a whole file is for files of users."""
    if not isinstance(value, (dict, list)):
        return
    curve = isinstance(value, dict) and ("exponent" in value or "time_us" in value)
    if (curve or (isinstance(value, dict) and "unit" in value)) and "source" not in value:
        yield pointer
    if not curve:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inside in items:
            yield from sourceless(inside, f"{pointer}/{key}")


def errors_of(path, validator):
    value = files.read(path)
    for error in validator.iter_errors(value):
        pointer = "".join(f"/{part}" for part in error.absolute_path)
        yield f"{pointer}: {error.message}"
    named = isinstance(value, dict) and path.name not in ("names.json", "spreads.json", "forms.json")
    named = named and path.parent.name != "examples"
    yield from (f"{at}: no source" for at in sourceless(value) if named)
    if named and value.get("name") != path.stem:
        yield f"/name: expected the name of the file, {path.stem}"
    text = path.read_text(encoding="utf-8")
    if text != files.layout(value) + "\n":
        yield ": the layout is not that of scripts/calibration/hardware_files.py"


def errors_of_schema(path):
    schema = files.read(path)
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        yield f"/{'/'.join(map(str, error.absolute_path))}: {error.message}"
        return
    name, version = schema["title"].removeprefix("autopar.").split("/")
    wanted = f"https://autopar.dev/schema/{name}-{version}.json"
    if schema["$id"] != wanted or path.name != f"{name}.schema.json":
        yield f"/$id: expected {wanted} in {name}.schema.json"
    if schema["properties"]["schema"]["const"] != schema["title"]:
        yield "/properties/schema/const: expected the title"


def main():
    checked = failures = 0
    for path in sorted(files.ROOT.glob("lib/*/schema/*.schema.json")):
        checked += 1
        for error in errors_of_schema(path):
            failures += 1
            print(f"{path.relative_to(files.ROOT)}: {error}")
    for schema, pattern in KINDS.items():
        schema = files.read(files.ROOT / schema)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for path in sorted(files.ROOT.glob(pattern)):
            checked += 1
            for error in errors_of(path, validator):
                failures += 1
                print(f"{path.relative_to(files.ROOT)}: {error}")
    print(f"{checked} files checked, {failures} violations")
    return 1 if failures or not checked else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says what becomes of types that autopar refuses: of the configs that oracle.py
found for a type, the default one is drafted with `autopar models new`. A draft
that is another family under a new name is tried on all configs of the type;
--write makes a file of one line of it where all are exact.

Prints a line for each type: its alias, or what a draft has of it, the nearest
families, and what models/not_built.json says that it lacks. Ends with a line of
counts.

usage: aliases.py FOLDER [--bin DIR] [--families DIR] [--write] [TYPE ...]
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "tools" / "autopar-translate" / "Inputs"))

import checkpoint  # noqa: E402

# What the draft of an alias has, and no other one.
ALIAS = {"base", "source", "architectures", "draft"}


def run(command, environment=None, text=""):
    return subprocess.run(command, env=environment, input=text, capture_output=True, text=True, timeout=300)


def tensors(tools, config, environment=None):
    """Names and shapes; nothing where autopar refuses the config."""
    done = run([f"{tools}/autopar-translate", "--import-hf", "-", "--list-tensors"], environment, json.dumps(config))
    if done.returncode:
        return None
    split = (line.split("\t") for line in done.stdout.splitlines())
    return {(name, shape.replace(" ", "")) for name, shape, *_ in split}


def is_exact(tools, variant, environment):
    found = tensors(tools, variant["config"], environment)
    layouts = ({(name, json.dumps(shape).replace(" ", "")) for name, shape in layout} for layout in variant["layouts"])
    return found is not None and found in layouts


def draft(tools, record, variant, folder):
    """The draft of a type, and what was said of it."""
    config, weights, output = (folder / name for name in ("config.json", "model.safetensors", "draft.json"))
    config.write_text(json.dumps(variant["config"]), encoding="utf-8")
    layout = ((name, shape, "BF16", 2 * math.prod(shape)) for name, shape in variant["layouts"][0])
    checkpoint.safetensors(weights, layout)
    done = run([f"{tools}/autopar", "models", "new", record["type"], "--config", str(config),
                "--weights", str(weights), "-o", str(output)])  # fmt: skip
    if done.returncode:
        return None, done.stderr.strip().splitlines()[0]
    family = json.loads(output.read_text(encoding="utf-8"))
    near = [guess for guess in family["draft"]["guesses"] if guess.startswith("nearest families: ")]
    return family, "; ".join([family["draft"]["summary"], *near])


def examine(tools, record):
    """(type, base of the alias or None, what is said of it)."""
    built = [variant for variant in record["variants"] if "error" not in variant]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        family, said = draft(tools, record, built[0], folder)
        if family is None or not set(family) <= ALIAS:
            return record["type"], None, said
        one_line = {"base": family["base"], "source": f"{record['class']} of transformers", "architectures": [record["class"]]}
        (folder / "families").mkdir()
        (folder / "families" / f"{record['type']}.json").write_text(json.dumps(one_line), encoding="utf-8")
        environment = dict(os.environ, AUTOPAR_FAMILIES=str(folder / "families"))
        if all(is_exact(tools, variant, environment) for variant in built):
            return record["type"], family["base"], said
        return record["type"], None, f"the default config as {family['base']}, others not; {said}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--families", type=pathlib.Path, default=ROOT / "models" / "families")
    parser.add_argument("--write", action="store_true", help="make files of aliases")
    parser.add_argument("types", nargs="*")
    options = parser.parse_args()
    missing = json.loads((options.families.parent / "not_built.json").read_text(encoding="utf-8"))["types"]
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(options.folder.glob("*/*.json"))]
    records = [record for record in records if not options.types or record["type"] in options.types]
    unbuilt = [record for record in records if all("error" in variant for variant in record["variants"])]
    refused = []
    for record in records:
        first = next((variant for variant in record["variants"] if "error" not in variant), None)
        if first and tensors(options.bin, first["config"]) is None:
            refused.append(record)
    aliases = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for record, (kind, base, said) in zip(refused, pool.map(lambda one: examine(options.bin, one), refused)):
            if not base:
                why = f"; it has {missing[kind]}" if kind in missing else ""
                print(f"left: {kind} {record['class']}: {said}{why}", flush=True)
                continue
            aliases += 1
            print(f"alias: {kind} {record['class']}: {base}", flush=True)
            if options.write:
                text = {"base": base, "source": f"the class {record['class']} of transformers", "architectures": [record["class"]]}
                (options.families / f"{kind}.json").write_text(json.dumps(text, indent=2) + "\n", encoding="utf-8")
    for record in unbuilt:
        print(f"unknown: {record['type']} {record['class']}: the class is not built: {record['variants'][0]['error']}")
    print(f"{len(records)} types, {len(refused)} refused: {aliases} aliases, {len(refused) - aliases} left; {len(unbuilt)} unknown")


if __name__ == "__main__":
    main()

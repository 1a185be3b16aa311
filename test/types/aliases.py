#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds families that describe a type without a family: imports the configs
that oracle.py found for the type under each family's name, and compares the
tensors. Such a type is a file of one line on top of the other.

Prints, for each type that autopar refuses: families with which all configs are
exact, then those nearest to the default config by common tensors.

usage: aliases.py FOLDER [--bin DIR] [--families DIR] [TYPE ...]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def architectures(families, name):
    description = json.loads((families / f"{name}.json").read_text(encoding="utf-8"))
    if "architectures" in description:
        return description["architectures"] or []
    return architectures(families, description["base"]) if "base" in description else []


def tensors(tools, config):
    """Names and shapes; nothing where autopar refuses the config."""
    command = [f"{tools}/autopar-translate", "--import-hf", "-", "--list-tensors"]
    done = subprocess.run(command, input=json.dumps(config), capture_output=True, text=True, timeout=300)
    if done.returncode:
        return None
    split = (line.split("\t") for line in done.stdout.splitlines())
    return {(name, shape.replace(" ", "")) for name, shape, *_ in split}


def likeness(found, layouts):
    """The largest share of tensors that two lists have in common."""
    return max(len(found & layout) / len(found | layout) for layout in layouts)


def try_family(tools, record, name, classes):
    """How like each config's tensors are under this family, until one differs."""
    shares = []
    for variant in record["variants"]:
        if "error" in variant:
            continue
        layouts = [{(name, json.dumps(shape).replace(" ", "")) for name, shape in layout} for layout in variant["layouts"]]
        found = tensors(tools, dict(variant["config"], model_type=name, architectures=classes[:1]))
        shares.append(likeness(found, layouts) if found else 0)
        if shares[-1] < 1:
            break
    return name, shares


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--families", type=pathlib.Path, default=ROOT / "models" / "families")
    parser.add_argument("types", nargs="*")
    options = parser.parse_args()
    names = sorted(path.stem for path in options.families.glob("*.json"))
    classes = {name: architectures(options.families, name) for name in names}
    for path in sorted(options.folder.glob("*/*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        built = [variant for variant in record["variants"] if "error" not in variant]
        if (options.types and record["type"] not in options.types) or not built:
            continue
        if tensors(options.bin, built[0]["config"]) is not None:
            continue
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            tried = list(pool.map(lambda name: try_family(options.bin, record, name, classes[name]), names))
        exact = [name for name, shares in tried if shares and min(shares) == 1 and len(shares) == len(built)]
        near = sorted(((shares[0], name) for name, shares in tried if shares and 0 < shares[0]), reverse=True)[:3]
        print(f"{record['type']} {record['class']}: exact {exact or 'none'}; near "
              + ", ".join(f"{name} {share:.0%}" for share, name in near), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()

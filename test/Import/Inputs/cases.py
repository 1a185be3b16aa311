# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports variants of small configs and compares what comes of each.

A case changes one of the bases: "set" gives keys values (nested with dots),
"remove" takes them away. Then the import either fails with "error" in its
message, or has "parameters" in all, or lists "tensors" (names, and what is
said of them; null: none of this name).

usage: cases.py CASES
"""

import copy
import json
import os
import subprocess
import sys
import tempfile


def holder(config, path):
    *outer, last = path.split(".")
    for key in outer:
        config = config.setdefault(key, {})
    return config, last


def variant(bases, case):
    config = copy.deepcopy(bases[case["base"]])
    for path, value in case.get("set", {}).items():
        inner, key = holder(config, path)
        inner[key] = value
    for path in case.get("remove", []):
        inner, key = holder(config, path)
        del inner[key]
    return config


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def listed(path):
    lines = run("autopar-translate", "--import-hf", path, "--list-tensors").stdout.splitlines()
    return dict(line.split("\t", 1) for line in lines)


def problem(case, path):
    shown = run("autopar", "models", "show", path, "--json")
    if "error" in case:
        if shown.returncode == 1 and case["error"] in shown.stderr:
            return None
        return f"expected the error {case['error']!r}, found {shown.returncode}: {shown.stderr}"
    if shown.returncode:
        return shown.stderr
    count = json.loads(shown.stdout)["parameters"]
    if case.get("parameters", count) != count:
        return f"expected {case['parameters']} parameters, found {count}"
    tensors = listed(path) if "tensors" in case else {}
    for name, text in case.get("tensors", {}).items():
        found = tensors.get(name)
        if (found and found.replace("\t", " ")) != text:
            return f"{name}: expected {text}, found {found}"
    return None


def main():
    with open(sys.argv[1]) as file:
        data = json.load(file)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config.json")
        for case in data["cases"]:
            with open(path, "w") as file:
                json.dump(variant(data["bases"], case), file)
            found = problem(case, path)
            if found:
                print(json.dumps(case), "\n ", found)
            failed += bool(found)
    print(len(data["cases"]) - failed, "passed,", failed, "failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes each key of real configs away, and gives it values of other types.

An import that fails must name the key. One that goes on must either not depend
on the key, or say which default it took; a value of another type must never be
taken for one of the right type.

usage: fields.py [--bin DIR] [--models DIR] [--configs DIR]
"""

import argparse
import copy
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What no key of a model's size or kind may be.
WRONG = {"an object in a list": [{"autopar": []}], "a strange text": "\u2603"}
# Keys whose absence is no default: a model without them has none of it.
ABSENT_IS_NONE = {"rope_scaling", "rope_parameters", "quantization_config", "weight_block_size", "activation_scheme",
                  "ignore", "quant_algo", "num_nextn_predict_layers", "mtp_num_hidden_layers", "n_group", "topk_group",
                  "sliding_window", "kv_cache_scheme", "kv_cache_quant_algo",
                  "expert_dtype"}  # fmt: skip

# Keys without which a config is read by another spelling: by its class, or as a
# flat one. What is wrong with it then is at other keys.
SPELLED_OTHERWISE = {"model_type", "text_config"}


class Importer:
    def __init__(self, folder):
        self.tool = os.path.join(folder, "autopar-translate")

    def run(self, config):
        """The exit code, the IR without its list of defaults, and what was said."""
        run = subprocess.run([self.tool, "--import-hf", "-"], input=json.dumps(config), text=True, timeout=60,
                             errors="replace", capture_output=True, env=os.environ | {"HF_HUB_OFFLINE": "1"})  # fmt: skip
        lines = run.stdout.split("\n")
        defaults = [line for line in lines if "transformer.defaults" in line]
        body = [line for line in lines if not line.startswith("module")]
        return run.returncode, body, run.stderr + "".join(defaults)


def places(config):
    """Every key of the config and of the objects in it, as a path."""
    for key, value in config.items():
        yield (key,)
        if isinstance(value, dict) and key.endswith("_config"):
            yield from ((key,) + rest for rest in places(value))


def changed(config, path, value=None):
    copied = copy.deepcopy(config)
    holder = copied
    for key in path[:-1]:
        holder = holder[key]
    if value is None:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return copied


def problem(importer, config, original, path, value):
    code, body, said = importer.run(changed(config, path, value))
    if code not in (0, 1):
        return f"exit code {code}"
    if code == 1:
        if value is None and path[-1] in SPELLED_OTHERWISE:
            return None
        located = path[-1] in said or (len(path) > 1 and "/" + path[-2] in said)
        return None if located else "an error that does not name it: " + said.split("\n")[0]
    if body == original:
        return None
    if value is not None:
        return "was taken for a value of the right type"
    if path[-1] in ABSENT_IS_NONE:
        return None
    # A default is named by the newer name of the key.
    return None if path[-1].removeprefix("torch_") in said else "another model without a word"


def check(importer, name, path):
    with open(path) as file:
        config = json.loads(file.read().replace("Infinity", "1e9"))
    code, original, said = importer.run(config)
    if code:
        yield f"{name}: cannot be imported: {said}"
        return
    for place in places(config):
        for what, value in {"nothing": None, **WRONG}.items():
            found = problem(importer, config, original, place, value)
            yield f"{name}: {'.'.join(place)} as {what}: {found}" if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--models", default=os.path.join(ROOT, "models"))
    parser.add_argument("--configs")
    options = parser.parse_args()
    importer, passed, failed = Importer(options.bin), 0, 0
    seen = set()
    for folder in filter(None, (options.configs, options.models)):
        for path in sorted(glob.glob(os.path.join(folder, "*", "config.json"))):
            with open(path) as file:
                kind = json.loads(file.read().replace("Infinity", "1e9")).get("model_type", path)
            if kind in seen:
                continue
            seen.add(kind)
            for line in check(importer, os.path.basename(os.path.dirname(path)), path):
                if line:
                    print("FAIL", line, flush=True)
                failed, passed = failed + bool(line), passed + (not line)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the tables of runtimes/launch against recorded flags of engines and
trainers: a flag or key that a table says version V has is one that V has.

../shared/data/launch/flags has what the sources of recorded versions define.
Names of one letter, short forms and flags of other commands are not in there.
Ends with a line `N passed, N failed, N skipped`.

usage: launch_tables.py [--data DIR]
"""

import argparse
import csv
import json
import pathlib
import re
import sys

import launches


def numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)]


def vllm_flags(data):
    """Version and its flags, of vLLM's table."""
    with open(data / "flags" / "vllm_flags_by_version.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for column in rows[0]:
        if column != "flag":
            yield column.removesuffix(".0"), {row["flag"] for row in rows if row[column] == "1"}


# Flags of 0.5.16 and 0.5.23 that are registered apart from the fields
# (sglang/srt/server_args.py, add_cli_args), deprecated ones among them.
SGLANG_APART = {"--config", "--reasoning-parser", "--tool-call-parser", "--sampling-backend", "--kv-canary-real-data",
                "--disable-cuda-graph", "--enable-dp-attention", "--monokernel-backend", "--enable-flashinfer-allreduce-fusion"}


def sglang_flags(data):
    for path in sorted((data / "flags").glob("sglang_*_fields.csv")):
        version = path.stem.removeprefix("sglang_").removesuffix("_fields").replace("_", ".")
        with open(path, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        flags = set()
        for row in rows:
            named = row.get("flags", row.get("aliases") or "").replace("(deprecated)", "").split()
            flags |= set(named)
            if "group" in row or numbers(version) >= [0, 5, 16]:
                flags.add("--" + row["field"].replace("_", "-"))
        yield version, flags | (SGLANG_APART if numbers(version) >= [0, 5, 16] else set())


# Flags that Megatron-LM makes from a field by another name, as its functional
# tests use them; the records have the fields.
MEGATRON_RENAMED = {"--disable-bias-linear", "--norm-epsilon", "--apply-layernorm-1p", "--disable-gloo-process-groups",
                    "--no-ckpt-fully-parallel-save"}


def megatron_flags(data):
    """A field with `arg_names` has those, and one that is on a flag --no-."""
    with open(data / "flags" / "megatron_lm_arguments.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    flags = {flag for row in rows for flag in [row["flag"], *row["aliases"].split()]} | MEGATRON_RENAMED
    for row in rows:
        flags |= set(re.findall(r"'(--[\w-]+)'", row["default"]))
        if row["default"] == "True":
            flags.add("--no-" + row["flag"].removeprefix("--"))
    yield None, flags


# Keys of DeepSpeed's activation_checkpointing, which has a file of its own
# (deepspeed/runtime/activation_checkpointing/config.py).
DEEPSPEED_APART = {"partition_activations", "cpu_checkpointing", "number_checkpoints"}


def deepspeed_keys(data):
    with open(data / "flags" / "deepspeed_config_keys.csv", encoding="utf-8") as file:
        yield None, {name for row in csv.DictReader(file) for name in (row["key"], row["alias"]) if name} | DEEPSPEED_APART


def maxtext_keys(data):
    """base_config names the file that a file of settings begins with."""
    with open(data / "flags" / "maxtext_base_keys.csv", encoding="utf-8") as file:
        yield None, {row["key"] for row in csv.DictReader(file)} | {"base_config"}


def accelerate_keys(data):
    """The file has the names of flags, and the kind of launch."""
    with open(data / "flags" / "accelerate_keys.csv", encoding="utf-8") as file:
        names = {name for row in csv.DictReader(file) for name in row["name"].split()}
    yield None, names | {name.lstrip("-") for name in names} | {"distributed_type"}


# Of each table: the recorded names of each version (None: of all), and which
# names of the table they are of.
RECORDED = {"vllm": (vllm_flags, "flags"), "sglang": (sglang_flags, "flags"), "megatron": (megatron_flags, "flags"),
            "deepspeed": (deepspeed_keys, "keys"), "maxtext": (maxtext_keys, "keys"), "accelerate": (accelerate_keys, "keys")}


def has(entry, version):
    """Whether an entry is of a version; of all where it has none."""
    since, until = (numbers(entry[key]) if key in entry else None for key in ("since", "until"))
    return version is None or ((since is None or numbers(version) >= since) and (until is None or numbers(version) <= until))


def names_of(table, kind):
    """Entries with a name, since and until, of what a table knows."""
    for setting in table["settings"].values():
        for name in setting.get(kind, []) + (setting.get("negations", []) if kind == "flags" else []):
            yield {"name": name} if isinstance(name, str) else name
    for name, entry in table["flags"].items():
        if name.startswith("-") == (kind == "flags"):
            yield {"name": name, **entry}


def is_recorded(name, flags, kind):
    if kind == "keys":
        return name.split(".")[-1] in flags
    name = name.split(".")[0]
    return name in flags or not name.startswith("--")


def check_flags(data, counts):
    for name, (recorded, kind) in RECORDED.items():
        path = launches.ROOT / "runtimes" / "launch" / f"{name}.json"
        if not path.exists():
            continue
        table = json.loads(path.read_text(encoding="utf-8"))
        for version, flags in recorded(data):
            wrong = sorted({entry["name"] for entry in names_of(table, kind) if "command" not in entry and
                            has(entry, version) and not is_recorded(entry["name"], flags, kind)})
            counts.check(not wrong, f"{name} {version or ''}: not among the recorded {kind}: {', '.join(wrong)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, default=launches.DATA)
    options = parser.parse_args()
    counts = launches.Counts()
    if not (options.data / "flags").exists():
        print(f"skipped: {options.data / 'flags'} is not there\n0 passed, 0 failed, 1 skipped")
        return 0
    check_flags(options.data, counts)
    print(f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped")
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())

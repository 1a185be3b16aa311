#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads public launches of trainers with `autopar read`: command lines and files
of settings (YAML, JSON, TOML) of nine trainers.

../shared/data/launch has them, and readings that were made by hand. Checks:

  forms      every record is read or refused with a reason; of files of
             settings, 95 % are read
  readings   settings are those of the readings made by hand; null there is a
             default of the trainer, or of a recipe that is not in the record

Ends with a line `N passed, N failed, N skipped`.

usage: trainer_launches.py [--bin DIR] [--data DIR] [--quick] [TEXT ...]
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import launches

# The least share of files of settings that are read.
LEAST_READ = 0.95

SUFFIXES = {"command": ".sh", "yaml": ".yaml", "json": ".json", "toml": ".toml"}

# Settings that a member of a reading made by hand is spread over.
PARTS = {
    "recompute": {"kind": "recompute", "method": "recompute_method", "layers": "recompute_layers", "modules": "recompute_modules",
                  "policy": "recompute", "option": "recompute_option"},
    "lora": {"rank": "lora_rank", "alpha": "lora_alpha", "targets": "lora_targets", "quantized_base": "lora_quantized"},
    "fsdp": {"version": "fsdp_version", "strategy": "strategy", "reshard": "reshard"},
    "offload": {"optimizer": "offload_optimizer", "param": "offload_parameters"},
    "precision": {"bf16": "bf16", "fp16": "fp16"},
    "dp": {"replicate": "dp_replicate", "ici_data": "ici_data", "dcn_data": "dcn_data"}}


def read(tools, record, arguments=()):
    """The reading; an error's text; None and None after a crash."""
    form = launches.FORMS[len(record["id"]) % len(launches.FORMS)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / ("launch" + SUFFIXES[record["kind"]])
        path.write_text(launches.text_of(record, form), encoding="utf-8")
        done = subprocess.run([f"{tools}/autopar", "read", str(path), "--json", *arguments], capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return launches.json.loads(done.stdout), None
    if done.returncode == 1 and "error: " in done.stderr:
        return None, done.stderr.split("error: ", 1)[1].splitlines()[0]
    return None, None


def check_forms(tools, records, counts):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda record: read(tools, record), records))
    files = known = 0
    for record, (reading, error) in zip(records, results):
        counts.check(reading or error, f"{record['id']}: crashes")
        if record["kind"] != "command":
            files += 1
            known += bool(reading)
            if error:
                print(f"{record['id']}: {error}"[:300])
    print(f"{known} of {files} files of settings are read")
    if files:
        counts.check(known >= LEAST_READ * files, f"fewer than {LEAST_READ:.0%} of the files of settings")


def same(wanted, found):
    """A list may be written as text, and what is off may be absent."""
    if isinstance(wanted, str) and isinstance(found, list):
        wanted = re.findall(r"[\w/-]+", wanted)
    if isinstance(wanted, list) and isinstance(found, str):
        found = re.findall(r"[\w/-]+", found)
    return wanted == found or (wanted in (None, False, "none") and found in (None, False))


def value(settings, name, wanted):
    """A setting; a default counts where the reading made by hand has a value."""
    setting = settings.get(name)
    if not setting or ("default" in setting["from"] and wanted is None):
        return None
    return setting["value"]


def differences(wanted, settings):
    for name, expected in wanted.items():
        if name in ("id", "framework", "model", "note", "microbatches"):
            continue
        if name == "optimizer" and isinstance(expected, str):
            expected = expected.replace("adamw (by default)", "adamw_torch")
        parts = PARTS.get(name) if isinstance(expected, dict) else None
        pairs = [(parts[part], one) for part, one in expected.items()] if parts else [(name, expected)]
        for setting, one in pairs:
            found = value(settings, setting, one)
            if setting == "lora_targets" and found and value(settings, "lora_mlp", True):
                found = [*found, "mlp"]
            if not same(one, found):
                yield f"{name}: {setting} {one}, read {found}"


def check_readings(tools, records, readings, counts):
    by_id = {record["id"]: record for record in records}

    def judge(wanted):
        moe = "false" if wanted["ep"] is None else "true"
        return wanted, *read(tools, by_id[wanted["id"]], [f"--moe={moe}"])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for wanted, reading, error in pool.map(judge, readings):
            found = list(differences(wanted, reading["settings"])) if reading else [error or "crashes"]
            counts.check(not found, f"{wanted['id']}: {'; '.join(found)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--data", type=pathlib.Path, default=launches.DATA)
    parser.add_argument("--quick", action="store_true", help="read every fifth record")
    parser.add_argument("only", nargs="*", metavar="TEXT", help="only records whose id has one of these")
    options = parser.parse_args()
    if not (options.data / "training.jsonl").exists() or not launches.can_read(options.bin):
        print("skipped: the data is absent, or this autopar reads no launches\n0 passed, 0 failed, 1 skipped")
        return 0
    counts = launches.Counts()
    records = launches.lines_of(options.data / "training.jsonl")
    chosen = [record for record in records if not options.only or any(text in record["id"] for text in options.only)]
    check_forms(options.bin, chosen[:: 5 if options.quick else 1], counts)
    ids = {record["id"] for record in chosen}
    wanted = [reading for reading in launches.lines_of(options.data / "expected_training.jsonl") if reading["id"] in ids]
    check_readings(options.bin, records, wanted, counts)
    print(f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped")
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes families away, and compares the draft that autopar makes of such a
model's config and of the header of its checkpoint with the family itself.

Of the types of test/types/expected.jsonl whose default config is exact, every
n-th is drawn, 40 of them, whatever they are; but for Llama, on top of which all
drafts are. The config gets a type and a class
that nobody knows; the checkpoint is a header with the tensors that the family
lists, and a hole. The family is hidden, and so is every other that builds on
it. Asked of each draft:

  - that it imports, and its checkpoint has as many bytes as the family's;
  - that products have as many FLOPs as the family's, within 2 % for 80 % of
    drafts, and that every other names products that it does not count, or what
    it does not know.

Ends with a line `N passed, N failed`.

usage: drafts.py [--bin DIR] [--quick] [--all] [--list] [TYPE ...]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

EXPECTED = pathlib.Path(__file__).resolve().parent.parent / "types" / "expected.jsonl"

DRAWN, QUICK = 40, 8

# The bars of drafts: how far FLOPs may be off, and for which share of them.
NEAR, SHARE = 0.02, 0.8

# What a draft says of products that it does not count, or counts too often.
SAID = ("no FLOPs of", "all are counted")


def run(command, environment=None):
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)


def types():
    """(type, default config), each type once, of those that are exact."""
    found = {}
    for line in EXPECTED.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        first = record["variants"][0] if record["variants"] else {}
        if first.get("verdict") == "exact" and record["type"] != "llama":
            found.setdefault(record["type"], first["config"])
    return sorted(found.items())


def write_header(path, listing):
    """A checkpoint with the tensors of `--list-tensors`, and no data."""
    entries, offset = {}, 0
    for line in listing:
        name, shape, dtype, size = line.split("\t")
        entries[name] = {"dtype": dtype, "shape": json.loads(shape), "data_offsets": [offset, offset + int(size)]}
        offset += int(size)
    header = json.dumps(entries).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + offset)


def data_without(source, folder, hidden):
    """A copy of the data, by links, in which families are missing."""
    families = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (source / "models" / "families").glob("*.json")}

    def builds_on(name):
        while name is not None and name != hidden:
            name = families[name].get("base")
        return name == hidden

    (folder / "models" / "families").mkdir(parents=True)
    for path in source.iterdir():
        if path.name != "models":
            os.symlink(path, folder / path.name)
    for path in (source / "models").iterdir():
        if path.name != "families":
            os.symlink(path, folder / "models" / path.name)
    for name in families:
        if not builds_on(name):
            os.symlink(source / "models" / "families" / f"{name}.json", folder / "models" / "families" / f"{name}.json")


def linear(*reports):
    """FLOPs of products of a step of each; of a prefill where one has no cache
    and so no decode."""
    for phase in ("decode", "prefill"):
        found = [[step[phase]["linear"] for step in report["flops"] if step[phase]] for report in reports]
        if all(found):
            return [steps[0] for steps in found]
    return [0 for _ in reports]


def draft(tools, kind, config):
    """What is wrong with the draft of a type, how far its FLOPs are off, and
    what it says."""
    source = pathlib.Path(tools).resolve().parent / "share" / "autopar"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "config.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        own = run([f"{tools}/autopar", "models", "show", str(path), "--json"])
        listed = run([f"{tools}/autopar-translate", "--import-hf", str(path), "--list-tensors"])
        if own.returncode or listed.returncode:
            return f"the family does not import it: {own.stderr[:200]}", 0, ""
        write_header(folder / "model.safetensors", listed.stdout.splitlines())
        unknown = dict(config, model_type="unknown_model", architectures=["UnknownForCausalLM"])
        path.write_text(json.dumps(unknown), encoding="utf-8")
        data_without(source, folder / "data", kind)
        environment = dict(os.environ, AUTOPAR_DATA=str(folder / "data"), AUTOPAR_FAMILIES=str(folder / "none"))
        done = run([f"{tools}/autopar", "models", "show", str(folder), "--json"], environment)
        if done.returncode:
            return done.stderr.strip()[-300:], 0, ""
        own, found = json.loads(own.stdout), json.loads(done.stdout)
    if found["checkpoint_bytes"] != own["checkpoint_bytes"]:
        return f"{found['checkpoint_bytes']} bytes, not {own['checkpoint_bytes']}", 0, done.stderr
    if "is a draft from tensors" not in done.stderr:
        return "does not say that it is a draft", 0, done.stderr
    expected, flops = linear(own, found)
    return "", (flops / expected - 1 if expected else 0), done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} of them")
    parser.add_argument("--all", action="store_true", help="all types")
    parser.add_argument("--list", action="store_true", help="print a line for each")
    parser.add_argument("types", nargs="*", help="only these")
    options = parser.parse_args()
    chosen = types()
    if options.types:
        chosen = [(kind, config) for kind, config in chosen if kind in options.types]
    elif not options.all:
        count = QUICK if options.quick else DRAWN
        chosen = [chosen[i * len(chosen) // count] for i in range(count)]
    passed = failed = near = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (kind, _), (wrong, off, said) in zip(chosen, pool.map(lambda one: draft(options.bin, *one), chosen)):
            near += not wrong and abs(off) <= NEAR
            if not wrong and abs(off) > NEAR and not any(text in said for text in SAID):
                wrong = f"products are {off:+.1%} off, and the draft does not say of which"
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong or options.list:
                print(f"{'FAIL ' * bool(wrong)}{kind}: {wrong or f'{off:+.2%}'}" + f"; {said.strip()}"[:400] * options.list)
    share = near / len(chosen) if chosen else 0
    print(f"{near} of {len(chosen)} drafts have the FLOPs of products within {NEAR:.0%}")
    if share < SHARE and not options.types:
        print(f"FAIL: {share:.0%} of drafts, not {SHARE:.0%}")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

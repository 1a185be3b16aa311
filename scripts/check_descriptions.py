#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the dialects say what an interpreter needs to know.

Every op has constraints and an example. The text beside the example names each
of its attributes, by its name or by the word that is written before it. An op
that computes has formulas (indented lines, or `y = ..`) in which each operand
and the result occur. Every case of an enumeration and every rule of a split is
said somewhere. The records come from llvm-tblgen.

usage: check_descriptions.py --tblgen PATH --include DIR [--self-test] [ROOT]
"""

import argparse
import copy
import json
import os
import re
import subprocess
import sys

DIALECTS = ("transformer/TransformerOps.td", "training/TrainingOps.td", "parallel/ParallelOps.td")
# Names of results in formulas; `z` where an operand is called `y`, and of
# gradients `dx` and the like.
RESULT = r"\b(y|z|results?|d[a-z]|d_[a-z]+)(_d)?\b"


def read(root, tblgen, include):
    """Records of all dialects, by name."""
    records = {}
    for path in DIALECTS:
        done = subprocess.run(
            [tblgen, "--dump-json", f"-I{root}/dialects", f"-I{include}", f"{root}/dialects/{path}"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = json.loads(done.stdout)
        for name in found["!instanceof"]["Op"] + found["!instanceof"]["AttrDef"]:
            records[name] = found[name]
        for name in found["!instanceof"].get("EnumInfo", []):
            cases = [found[case["def"]]["str"] for case in found[name].get("enumerants", [])]
            if str(found[name].get("cppNamespace", "")).startswith("::autopar"):
                records[name] = {**found[name], "cases": cases}
        for name in found["!instanceof"]["Op"]:
            for kind, _ in found[name]["arguments"]["args"]:
                kind["attribute"] = "Attr" in found[kind["def"]]["!superclasses"]
    return records


def prose(description):
    """A description without its fenced blocks."""
    return re.sub(r"```.*?```", "", description, flags=re.DOTALL)


def formulas(description):
    lines = prose(description).splitlines()
    base = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    indented = [line for line in lines if line.startswith(" " * (base + 4))]
    return "\n".join(indented + re.findall(r"`[^`]* = [^`]*`", prose(description)))


def says(text, word):
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", text) is not None


def words_of(record, name):
    """What a reader may know an argument by."""
    syntax = record.get("assemblyFormat") or ""
    before = re.findall(rf"`(\w+)`\s*(?:`[(=]`\s*)?(?:custom<\w+>\()?\${name}\b", syntax)
    return {name, name.removesuffix("_length"), *before}


def check_op(record):
    description, arguments = record["description"], record["arguments"]["args"]
    text = prose(description)
    if not text.strip():
        yield "has no description"
        return
    for part in ("**Constraints:**", "example"):
        if part.lower() not in text.lower():
            yield f"has no {part.strip('*:').lower()}"
    lines = formulas(description)
    # What comes behind `of` gives its layout alone.
    syntax = record.get("assemblyFormat") or ""
    operands = [name for kind, name in arguments if not kind["attribute"] and f"`of` ${name} " not in syntax]
    results = record["results"]["args"]
    for name in (name for kind, name in arguments if kind["attribute"]):
        if name != "sym_name" and not any(says(text, word) for word in words_of(record, name)):
            yield f"does not say what its attribute '{name}' means"
    if not operands or not results:
        return
    if "=" not in lines or not re.search(RESULT, lines):
        yield "has no formula of its result"
    for name in operands:
        if not re.search(rf"\b{name}(_[a-z])?\b", lines):
            yield f"has no formula with its operand '{name}'"


def split_rules(root):
    with open(f"{root}/include/autopar/Program/Dim.h", encoding="utf-8") as file:
        body = re.search(r"enum class SplitRule[^{]*\{(.*?)\}", file.read(), re.DOTALL)[1]
    return re.findall(r"^\s*(\w+),", body, re.MULTILINE)


def check(records, rules):
    everything = ""
    for name, record in sorted(records.items()):
        everything += prose(record.get("description") or "")
        if "opName" in record:
            for wrong in check_op(record):
                yield f"{name}: {wrong}"
        elif record.get("mnemonic") and not (record["description"] or "").strip():
            yield f"{name}: has no description"
    for name, record in sorted(records.items()):
        for case in record.get("cases", []):
            if not says(everything, case):
                yield f"{name}: nobody says what '{case}' is"
    for rule in rules:
        if not re.search(rf"\| `{rule}\b", records["PAR_DimAttr"]["description"]):
            yield f"PAR_DimAttr: has no row for the rule '{rule}'"


def self_test(records, rules):
    """Each planted gap must be found, and nothing else."""
    plants = [
        ("TF_RopeOp", r"`width`", "", "does not say what its attribute 'width' means"),
        ("TF_AttentionOp", r"sinks\[a\]", "0", "has no formula with its operand 'sinks'"),
        ("TF_AddOp", r"    y\[i\.\.\] = .*", "    text", "has no formula of its result"),
        ("TF_LinearOp", r"\*\*Constraints:\*\*", "", "has no constraints"),
        ("PAR_RingOp", r"(?s).*", "", "has no description"),
        ("PAR_DimAttr", r"\| `ring`", "| `ringed`", "has no row for the rule 'ring'"),
        ("TF_ActivationOp", r"hardswish", "", "TF_FunctionAttr: nobody says what 'hardswish' is"),
    ]
    for name, pattern, replacement, expected in plants:
        planted = copy.deepcopy(records)
        text, count = re.subn(pattern, replacement, planted[name]["description"], count=1 if pattern[0] == "(" else 0)
        planted[name]["description"] = text
        found = list(check(planted, rules))
        if not count or not any(expected in line for line in found):
            yield f"planted in {name}, not found: {expected} (found {found})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tblgen", required=True)
    parser.add_argument("--include", required=True, help="folder of MLIR's headers")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("root", nargs="?", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    options = parser.parse_args()
    records, rules = read(options.root, options.tblgen, options.include), split_rules(options.root)
    wrong = list((self_test if options.self_test else check)(records, rules))
    print("\n".join(wrong) or ("all planted gaps are found" if options.self_test else f"{len(records)} records, no gap"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

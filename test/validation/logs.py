#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the numbers of public logs by the forms of runtimes/logs, with a reader
of the forms of its own (Python's `re`), and checks what the forms say of them.

../shared/data/launch/logs has logs of engines and trainers, and the numbers in
them. Checks:

  numbers    each recorded number that a log prints is found, with its value
  forms      patterns are ones that RE2 takes, too; those with `each` have named
             groups, others one; units are given for all
  report     each JSON pointer is in a report of `autopar estimate`

Ends with a line `N passed, N failed, N skipped`.

usage: logs.py [--bin DIR] [--data DIR]
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

import launches

DATA = launches.DATA / "logs"

FORMS = {"megatron-lm": "megatron", "megatron-bridge": "megatron"}

# Recorded numbers that no line prints: they are from the launch, the machine or
# a table, or they say which lines to look at.
NOT_PRINTED = {"graph_gib_not_in_log", "pure_decode_points", "settled", "preemption_risk", "step0_is_compilation", "step1_is_dispatch_only"}

# Reports that have the pointers of servers and of trainers.
REPORTS = [["--phase=decode", "--batch=16", "--context=2048", "--runtime=vllm"],
           ["--phase=train", "--batch=16", "--context=2048", "--shard-dp=8", "--zero=1", "--runtime=megatron"]]


def number(text):
    text = text.replace(",", "")
    return float(text) if "." in text else int(text)


def value_of(form, match):
    if "value" in form:
        return form["value"]
    if form["units"] == "text":
        return match.group(1)
    if form["units"] == "counts":
        return [int(part) for part in match.group(1).split(",") if part.strip()]
    return number(match.group(1))


def evaluate(formula, names):
    return eval(formula, {"__builtins__": {}}, names)  # The formulas of our own data are expressions.


def single(form, lines):
    """The last line of the first pattern that occurs."""
    for pattern in form["patterns"]:
        matches = [match for match in (re.search(pattern, line) for line in lines) if match]
        if matches:
            return value_of(form, matches[-1])
    return None


def of_lines(form, lines, others):
    """All lines of a form, each with whether it stands for steady work."""
    rows, before = [], None
    for line in lines:
        match = next((found for pattern in form["patterns"] if (found := re.search(pattern, line))), None)
        if match:
            row = {name: number(text) for name, text in match.groupdict().items() if text is not None}
            names = dict.fromkeys(match.groupdict()) | row | {"follows_itself": before is form}
            steady = bool(evaluate(form.get("settled", "True"), names))
            for name, formula in form.get("derived", {}).items():
                derived = evaluate(formula, names) if steady or "settled" not in form else None
                if derived is not None:
                    row[name] = derived
            rows.append((row, steady))
            before = form
        elif any(re.search(pattern, line) for other in others for pattern in other["patterns"]):
            before = None
    return rows


def read(forms, text):
    lines = text.splitlines()
    found = {}
    repeated = [form for form in forms["numbers"] if form.get("each")]
    for form in forms["numbers"]:
        found[form["name"]] = of_lines(form, lines, repeated) if form.get("each") else single(form, lines)
    names = {name: value for name, value in found.items()}
    for name, formula in forms.get("derived", {}).items():
        names[name] = found[name] = evaluate(formula, names)
    return found


def near(wanted, found):
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool) and isinstance(found, (int, float)):
        return abs(wanted - found) <= 5e-4 * abs(wanted)
    return wanted == found


def compare(name, wanted, found, text):
    """How a recorded number differs from what was found."""
    series = [rows for rows in found.values() if isinstance(rows, list) and rows and isinstance(rows[0], tuple)]
    steady = [row for rows in series for row, settled in rows if settled]
    if isinstance(wanted, dict):
        for key, value in wanted.items():
            if not near(value, found.get(f"{name}.{key}")):
                yield f"{name}.{key} {value}, found {found.get(f'{name}.{key}')}"
    elif isinstance(wanted, list) and wanted and isinstance(wanted[0], dict):
        rows = [row for row, _ in found.get(name) or []]
        if len(rows) != len(wanted):
            yield f"{name}: {len(wanted)} lines, found {len(rows)}"
        for i, (one, row) in enumerate(zip(wanted, rows)):
            yield from (f"{name}[{i}].{key} {value}, found {row.get(key)}" for key, value in one.items() if not near(value, row.get(key)))
    elif name.startswith("step_ms"):
        steps = [row["step_ms"] for row in steady if "step_ms" in row]
        if len(steps) != len(wanted) or not all(map(near, wanted, steps)):
            yield f"{name} {wanted}, found {steps}"
    elif name.startswith(("settled_", "median_")):
        key = {"median_ms": "ms"}.get(name, name.removeprefix("settled_"))
        values = [row[key] for row in steady if key in row]
        if not values or not near(wanted, statistics.median(values)):
            yield f"{name} {wanted}, found {values}"
    else:
        value = found.get(name)
        if value is None:
            value = next((row[name] for row in steady if name in row), None)
        is_absent = value is None and isinstance(wanted, (int, float)) and not re.search(rf"(?<![\d.]){re.escape(f'{wanted:g}')}", text.replace(",", ""))
        if not is_absent and not near(wanted, value):
            yield f"{name} {wanted}, found {value}"


def check_numbers(data, forms, counts):
    expected = json.loads((data / "expected.json").read_text(encoding="utf-8"))
    for name, log in expected.items():
        text = (data / name).read_text(encoding="utf-8")
        found = read(forms[FORMS.get(log["engine"], log["engine"])], text)
        for key, wanted in log["expected"].items():
            if key not in NOT_PRINTED:
                differences = list(compare(key, wanted, found, text))
                counts.check(not differences, f"{name}: {'; '.join(differences)}")


def check_form(name, form, counts):
    where = f"{name}: {form['name']}"
    for pattern in form["patterns"]:
        groups = re.compile(pattern)
        counts.check(not re.search(r"\(\?[=!<]|\\[1-9]", pattern.replace("(?P<", "")), f"{where}: RE2 has no lookaround: {pattern}")
        if form.get("each"):
            named = set(groups.groupindex) | set(form.get("derived", {}))
            counts.check(groups.groups == len(groups.groupindex) and named == set(form["units"]), f"{where}: groups {sorted(named)}, units {sorted(form['units'])}")
        else:
            counts.check(groups.groups == (0 if "value" in form else 1), f"{where}: {groups.groups} groups in {pattern}")


def has(report, pointer):
    for part in pointer.removeprefix("-").removeprefix("/").split("/"):
        if not isinstance(report, dict) or part not in report:
            return False
        report = report[part]
    return True


def check_report(tools, forms, counts):
    reports = [json.loads(subprocess.run([f"{tools}/autopar", "estimate", "llama-3.1-8b", *arguments, "--hardware=h100-sxm-8", "--json"],
                                         capture_output=True, text=True, check=True, timeout=60).stdout) for arguments in REPORTS]
    for name, table in forms.items():
        for form in table["numbers"]:
            pointers = form.get("predicted", []) + [pointer for one in form.get("predictions", {}).values() for pointer in one["pointers"]]
            for pointer in pointers:
                counts.check(any(has(report, pointer) for report in reports), f"{name}: {form['name']}: no report has {pointer}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    options = parser.parse_args()
    forms = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((launches.ROOT / "runtimes" / "logs").glob("*.json"))}
    counts = launches.Counts()
    for name, table in forms.items():
        for form in table["numbers"]:
            check_form(name, form, counts)
        table_path = launches.ROOT / "runtimes" / "launch" / f"{table['table']}.json"
        counts.check(table_path.exists(), f"{name}: no launch table {table['table']}")
    check_report(options.bin, forms, counts)
    if (options.data / "expected.json").exists():
        check_numbers(options.data, forms, counts)
    else:
        print(f"skipped: {options.data} is not there")
        counts.skipped += 1
    print(f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped")
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())

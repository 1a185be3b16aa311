#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every flag of estimate, search, sweep and compare changes something, or is
refused.

The flags are those that `--help` prints: one without a row in flag_rows.py
fails. Each is given a value other than its default beside each of the questions
of flag_questions.py. Then a figure of the JSON report changes (what only repeats
the question does not count: the plan, the step, the machine), or, of flags that
choose a text or write a file, that text or file is there; or the command ends
with code 1 and an error that names the flag and says what would work. Each flag
has an effect on one question at least. The few flags that promise to change
nothing (SAME) keep that.

Ends with a line `N passed, N failed`.

usage: flag_effects.py [--bin DIR] [--quick] [--command NAME] [--flag NAME] [--show]
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

from flag_questions import write_inputs
from flag_rows import COMMANDS, ECHOES, FILE, NUMBERS, SAME, STATED, TEXT


def figures(report):
    """A report without what repeats the question."""
    if isinstance(report, dict):
        return {key: figures(value) for key, value in report.items() if key not in ECHOES}
    return [figures(one) for one in report] if isinstance(report, list) else report


class Tool:
    """A command, each run of which has a folder of its own with the inputs."""

    def __init__(self, binary, command, folder):
        self.binary, self.command, self.folder = binary, command, folder
        self.known = {}

    def run(self, words):
        where = tempfile.mkdtemp(dir=self.folder)
        write_inputs(where)
        command = [self.binary, self.command, *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=where, timeout=600)
        if done.returncode not in (0, 1):
            done.stderr += f"ended with {done.returncode}, no code of autopar's"
        return done, where

    def base(self, words):
        """The answer to a question without the flag, which many flags share."""
        key = tuple(words)
        if key not in self.known:
            self.known[key] = self.run(words)
        return self.known[key]

    def flags(self):
        return sorted(set(re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", self.run(["--help"])[0].stdout, re.M)))


def is_refusal(done, name, row):
    """Whether an error names the flag and says what would work."""
    words = {name, name.replace("-", "_"), name.removeprefix("shard-"), *row.names}
    named = any(re.search(rf"\b{re.escape(word)}\b", done.stderr) for word in words)
    # Tables fold the notes of their rows into parentheses.
    works = re.search(r"note: |expected|leave out|\(leave it out\)|give |: add |that works?\b|would do|ends with|"
                      r"no effect on a table: give|\(say |\bneeds --", done.stderr)  # fmt: skip
    return done.returncode == 1 and "error: " in done.stderr and named and works is not None


def is_written(path):
    if os.path.isdir(path):
        return len(os.listdir(path)) > 0
    return os.path.isfile(path) and os.path.getsize(path) > 0


def content(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def has_plan_that_fits(report):
    """Of a search, or of any row of a sweep."""
    if "best" in report:
        return report["best"] is not None
    return any(row["result"] and row["result"]["fits"] for row in report["rows"])


def compare(row, given, before, after, folders):
    """"effect", or what is wrong."""
    if row.seen == FILE:
        name = row.file or given[0].split("=")[1]
        if not is_written(os.path.join(folders[1], name)):
            return "wrote no file"
        if row.file and content(folders[0], name) == content(folders[1], name):
            return "changed nothing in the file"
        return "effect"
    if row.seen in (TEXT, STATED):
        return "effect" if after.stdout != before.stdout else "no byte changed"
    if row.seen == SAME:
        return "effect" if after.stdout == before.stdout else "changed what it promises to keep"
    try:
        reports = [json.loads(one.stdout) for one in (before, after)]
    except json.JSONDecodeError:
        return f"no JSON: {after.stdout[:80]!r}"
    if figures(reports[0]) != figures(reports[1]):
        return "effect"
    idle = row.ranks and not has_plan_that_fits(reports[0]) or row.verifies and not reports[0]["proof"]["excluded"]
    return "skipped" if idle else "no figure changed"


def without(words, names):
    return [word for word in words if word.split("=")[0] not in names]


def outcome_of(tool, name, row, question, words, beside):
    """What the flag does to the answer of one command."""
    given = row.flag(name, question)
    form = ["--json"] if row.seen in (NUMBERS, STATED, SAME) and name not in ("json", "format") else []
    drops = row.drops if beside or not row.beside else ()
    before_words = [*(without(words, drops) if beside else words), *beside, *form]
    before, before_folder = tool.base(before_words)
    if before.returncode not in (0, 1):
        return f"the question {before.stderr.strip()}"
    if before.returncode:
        return "skipped" if beside else f"the question is refused: {before.stderr.strip()}"
    dropped = {word.split("=")[0] for word in given} | set(drops)
    after, folder = tool.run(without(before_words, dropped) + given)
    if after.returncode:
        return "refused" if is_refusal(after, name, row) else f"refused without its name or a way: {after.stderr.strip()}"
    return compare(row, given, before, after, (before_folder, folder))


def examine(case):
    """The outcome of a flag beside a question: "effect", "refused", "skipped"
    where what the flag needs is refused beside the question or what it works on
    (plans that fit, plans that bounds exclude) is not there, or what is wrong.
    Where no column of a table shows it, as the row says, another command does."""
    tool, name, row, question, words, beside = case
    outcome = outcome_of(*case)
    if outcome != "no figure changed" or question not in row.unseen:
        return outcome
    shown = Tool(tool.binary, row.shown, tool.folder)
    if row.shown == "estimate":
        outcome = outcome_of(shown, name, row, question, [word.split("|")[0] for word in words], beside)
    else:
        command = COMMANDS[row.shown]
        outcome = outcome_of(shown, name, command.rows[name], question, command.questions[question], [])
    return "effect elsewhere" if outcome == "effect" else f"no figure changed, nor by {row.shown}: {outcome}"


def cases_of(tool, command, options):
    """Cases, and failures of flags without a row."""
    cases, failures, index = [], [], 0
    for name in tool.flags():
        if options.flag not in (None, name):
            continue
        row = command.rows.get(name)
        if row is None:
            failures.append(f"{tool.command} --{name}: has no row in flag_rows.py")
            continue
        for question, words in command.questions.items():
            index += 1
            if options.quick and index % command.quick:
                continue
            for beside in ([], *row.beside):
                cases.append((tool, name, row, question, words, beside))
    return cases, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--quick", action="store_true", help="some of the questions for each flag")
    parser.add_argument("--command")
    parser.add_argument("--flag")
    parser.add_argument("--show", action="store_true", help="print all outcomes")
    options = parser.parse_args()
    binary = os.path.abspath(os.path.join(options.bin, "autopar"))
    failures, passed = [], 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, command in COMMANDS.items():
            if options.command not in (None, name):
                continue
            cases, missing = cases_of(Tool(binary, name, folder), command, options)
            failures += missing
            effective = set()
            for case, outcome in zip(cases, pool.map(examine, cases)):
                label = " ".join([name, f"--{case[1]}", *(["beside", *case[5]] if case[5] else []), f"({case[3]})"])
                if options.show:
                    print(label, outcome)
                if outcome == "effect":
                    effective.add(case[1])
                if outcome in ("effect", "effect elsewhere", "refused", "skipped"):
                    passed += outcome != "skipped"
                else:
                    failures.append(f"{label}: {outcome}")
            if not options.quick:
                failures += [f"{name} --{flag}: has no effect on any question"
                             for flag in sorted({case[1] for case in cases if not case[2].elsewhere} - effective)]  # fmt: skip
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{passed} passed, {len(failures)} failed")
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main())

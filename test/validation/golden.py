#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands of golden/*.jsonl.xz and compares what comes out with what
came out when they were frozen: refusals by exit code and text, reports by all
that they hold.

A line of the frozen files is a command: the model's name, the flags, and either
the exit code and the error, or hashes and numbers of the report. A hash is that
of a section of it: of its integers, booleans, names, and the number of entries
of its lists. In assumptions and warnings each number counts as any other, since
some are rounded times. A number is that of all floats under one path, each times
its place in the lists (1, 2, ...); they may differ by 1e-6 of their value, and
by a picosecond for each call of a kernel or a collective.

With --against nothing frozen is read: commands are drawn and the reports of two
builds compared, key by key and text by text.

Ends with a line `N passed, N failed`; differences are printed by path.

usage: golden.py [--bin DIR] [--models DIR] [--quick] [--show N]
                 [--freeze | --against DIR] [--seed N] [--only KIND]
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import lzma
import os
import random
import re
import sys
import tempfile

from golden_cases import CASES
from neutral import leaves
from plan_models import MODELS, Model
from plans import Tally, Tools

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
TEXTS = ("assumptions", "warnings")
PART = 1e-6
PICOSECOND_US = 1e-6


class Runner:
    """Runs commands with the tools of one folder."""

    def __init__(self, folder, models, scratch):
        self.tools, self.scratch = Tools(folder), os.path.join(scratch, "")
        os.makedirs(scratch, exist_ok=True)
        self.models = [Model(name, models, self.scratch, self.tools) for name in MODELS]
        self.paths = {model.name: model.path for model in self.models}

    def run(self, name, flags):
        """The report, or the exit code and the error."""
        done = self.tools.run("autopar-opt", *flags, "--estimate=json", "-o", os.devnull, self.paths[name])
        if done.returncode:
            return [done.returncode, done.stderr.replace(self.scratch, "")]
        return json.loads(done.stdout)


def section_of(path):
    """The key of a report that a path is under, without the module of a deployment."""
    return re.split(r"[.\[]", re.sub(r"^modules\[\d+\]\.report\.", "", path))[0]


def without_numbers(text):
    return re.sub(r"\d[\d,]*(\.\d+)?(e[+-]?\d+)?( [num]?s\b| [KMGT]i?B\b| B\b)?", "#", text)


def digest(report):
    """Hashes by section and sums of floats by path."""
    hashes, sums = collections.defaultdict(hashlib.sha256), collections.Counter()
    places = collections.Counter()
    for path, value in leaves(report):
        section = section_of(path)
        if isinstance(value, float):
            path = re.sub(r"\[\d+\]", "[]", path)
            places[path] += 1
            sums[path] += places[path] * value
            continue
        text = without_numbers(value) if section in TEXTS and isinstance(value, str) else value
        hashes[section].update(f"{path}={text}\n".encode())
    # Twelve bits of a hash: what differs, differs in more than one report.
    return ({section: value.hexdigest()[:3] for section, value in hashes.items()},
            {path: float(f"{value:.9g}") for path, value in sums.items()})  # fmt: skip


def roundings_of(report):
    """What rounding each launch and call of all microbatches may add to a time, which share of the (shortest) step that
    is, and how many rows lists have at most."""
    numbers = dict(leaves(report))
    counts = sum(value for path, value in numbers.items() if re.search(r"by_op\[\d+\]\.count$", path))
    steps = max((value for path, value in numbers.items() if path.endswith("schedule.microbatches")), default=1)
    rows = max(value for path, value in numbers.items() if path.endswith("[]"))
    time = PICOSECOND_US * counts * steps
    return time, time / min(value for path, value in numbers.items() if path.endswith("latency.step_time_us")), rows


def close(path, found, wanted, time, share):
    slack = share * abs(wanted) if path.endswith("tokens_per_s") else time
    return abs(found - wanted) <= PART * max(abs(found), abs(wanted)) + slack


def refusal_problems(found, wanted):
    """Differences where at least one of both is a refusal."""
    texts = [f"exit code {value[0]}, {value[1].strip()[:300]}" if isinstance(value, list) else "a report" for value in (found, wanted)]
    if found != wanted or isinstance(found, dict):
        yield "refusal", f"{texts[0]}\n    not: {texts[1]}"


def frozen_problems(found, wanted):
    """What differs between a result and the frozen columns of one."""
    if isinstance(found, list) or isinstance(wanted[0], int):
        yield from refusal_problems(found, wanted if isinstance(wanted[0], int) else {})
        return
    hashes, sums = digest(found)
    time, share, rows = roundings_of(found)
    for section in sorted(set(hashes) | set(wanted[0])):
        if hashes.get(section) != wanted[0].get(section):
            yield section, f"something in {section}: {hashes.get(section)}, not {wanted[0].get(section)}"
    for path in sorted(set(sums) | set(wanted[1])):
        if path not in sums or path not in wanted[1]:
            yield path, f"{path}: {sums.get(path)}, not {wanted[1].get(path)}"
        elif not close(path, sums[path], wanted[1][path], time * rows, share):
            yield path, f"{path}: {sums[path]}, not {wanted[1][path]}: {sums[path] / (wanted[1][path] or 1):.9f}x"


def report_problems(found, wanted):
    """What differs between two results, key by key."""
    if isinstance(found, list) or isinstance(wanted, list):
        yield from refusal_problems(found, wanted)
        return
    time, share, _ = roundings_of(found)
    found, wanted = dict(leaves(found)), dict(leaves(wanted))
    for path in [*found, *(path for path in wanted if path not in found)]:
        one, other = found.get(path, "nothing"), wanted.get(path, "nothing")
        floats = isinstance(one, float) and isinstance(other, float)
        same = close(path, one, other, time, share) if floats else one == other
        if not same:
            ratio = f": {one / other:.9f}x" if not isinstance(one, (str, bool)) and not isinstance(other, str) and other else ""
            yield re.sub(r"\[\d+\]", "[]", path), f"{path}: {one!r}, not {other!r}{ratio}"


def drawn(seed, only, step, models):
    """Commands by kind: every `step`th of those of the seed."""
    for kind, (count, draw) in CASES.items():
        rng = random.Random(f"{seed} {kind}")
        commands = [draw(rng, models) for _ in range(count)]
        if kind == only or not only:
            yield kind, commands[::step]


def read_golden(kind):
    with lzma.open(os.path.join(GOLDEN, f"{kind}.jsonl.xz"), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_golden(kind, lines):
    os.makedirs(GOLDEN, exist_ok=True)
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    with open(os.path.join(GOLDEN, f"{kind}.jsonl.xz"), "wb") as file:
        file.write(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def run_all(pool, runner, commands):
    return pool.map(lambda command: runner.run(command[0], command[1]), commands)


def freeze(pool, runner, options):
    for kind, commands in drawn(options.seed, options.only, 1, runner.models):
        results = list(run_all(pool, runner, commands))
        write_golden(kind, [[*command, *(result if isinstance(result, list) else digest(result))]
                            for command, result in zip(commands, results)])  # fmt: skip
        refused = sum(isinstance(result, list) for result in results)
        print(f"{kind}: {len(results)} commands, {refused} of them refused")


def compare(pool, runner, options, scratch):
    tally, step = Tally(options.show), 10 if options.quick else 1
    if options.against:
        other = Runner(options.against, options.models, os.path.join(scratch, "other"))
        for _, commands in drawn(options.seed, options.only, step, runner.models):
            for command, found, wanted in zip(commands, run_all(pool, runner, commands), run_all(pool, other, commands)):
                tally.add(list(report_problems(found, wanted)), text_of(command))
    else:
        for kind in [options.only] if options.only else CASES:
            lines = read_golden(kind)[::step]
            for line, found in zip(lines, run_all(pool, runner, lines)):
                tally.add(list(frozen_problems(found, line[2:])), text_of(line))
    tally.print()
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


def text_of(command):
    flags = [f"'{flag}'" if " " in flag else flag for flag in command[1]]
    return f"{' '.join(flags)} --estimate=json {command[0]}"


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", default=os.path.join(root, "build", "bin"), help="folder of the tools")
    parser.add_argument("--models", default=os.path.join(root, "models"), help="folder of the bundled models")
    parser.add_argument("--quick", action="store_true", help="a tenth of the commands")
    parser.add_argument("--show", type=int, default=3, help="differences to print of each path")
    parser.add_argument("--seed", type=int, default=20261122, help="of commands that are drawn")
    parser.add_argument("--only", choices=CASES, help="commands of one kind")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--freeze", action="store_true", help="write the frozen files anew")
    mode.add_argument("--against", metavar="DIR", help="folder of the tools to compare with")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runner = Runner(options.bin, options.models, os.path.join(scratch, "one"))
        if options.freeze:
            return freeze(pool, runner, options)
        return compare(pool, runner, options, scratch)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recalculates spreadsheets of estimates and compares them with reports.

The reader below shares no code with what writes them: it takes the cells out of
the file's XML and evaluates their formulas, as a spreadsheet program would. Of
each case:

* every number of the sheet Summary is that of the report, to 1e-9 where halves
  of a picosecond are rounded to even numbers, as in reports, and to 1e-7 where
  they are rounded up, as by spreadsheet programs;
* every formula gives what the file says that it gives;
* launches, calls and the host add up to the step;
* with another bandwidth of memory, of links, other batches in the sheet, it is
  the report of an estimate with these;
* formulas stay within what Excel takes.

Ends with a line `N passed, N failed`.

usage: spreadsheet.py --bin DIR [--quick] [--keep DIR]
"""

import argparse
import concurrent.futures
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree as xml
import zipfile

NAMESPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
TOKEN = re.compile(
    r"\s*(?:(\d+\.?\d*(?:E[+-]?\d+)?)|((?:[A-Za-z]+!)?\$[A-Z]+\$\d+(?::\$[A-Z]+\$\d+)?)"
    r"|([A-Za-z_][A-Za-z_0-9.]*)|([-+*/>=(),]))"
)
MAX_LENGTH, MAX_NESTING = 8192, 64


def column(letters):
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def round_half_away(value):
    return math.copysign(math.floor(abs(value) + 0.5), value)


# What rounds halves, and how near to reports that is.
ROUNDINGS = ((round, 1e-9), (round_half_away, 1e-7))


FUNCTIONS = {
    "INT": math.floor,
    "POWER": lambda a, b: a**b,
    "SQRT": math.sqrt,
    "LOG": lambda a, base: math.log2(a) if base == 2 else math.log(a, base),
    "EXP": math.exp,
    "LN": math.log,
    "MOD": lambda a, b: a - b * math.floor(a / b),
}


class Formula:
    """Recursive descent over comparison, sum, product, sign and atom; each rule
    returns a function of a book."""

    def __init__(self, text, sheet):
        self.tokens, self.sheet, self.at, at = [], sheet, 0, 0
        self.depth = self.nesting = 0
        while at < len(text):
            match = TOKEN.match(text, at)
            assert match, f"no token: {text[at:]}"
            self.tokens.append((match.lastindex, match[match.lastindex]))
            at = match.end()
        self.function = self.comparison()
        assert self.at == len(self.tokens), f"text behind the formula: {text}"

    def peek(self):
        return self.tokens[self.at][1] if self.at < len(self.tokens) else None

    def take(self, wanted=None):
        kind, text = self.tokens[self.at]
        assert wanted is None or text == wanted, f"expected {wanted}, found {text}"
        self.at += 1
        return kind, text

    def chain(self, operators, operand):
        left = operand()
        while self.peek() in operators:
            sign, apply = self.peek(), operators[self.peek()]
            self.take(sign)
            left = (lambda a, b, apply: lambda book: apply(a(book), b(book)))(left, operand(), apply)
        return left

    def comparison(self):
        return self.chain({">": lambda a, b: a > b, "=": lambda a, b: a == b}, self.sum)

    def sum(self):
        return self.chain({"+": lambda a, b: a + b, "-": lambda a, b: a - b}, self.product)

    def product(self):
        return self.chain({"*": lambda a, b: a * b, "/": lambda a, b: a / b}, self.sign)

    def sign(self):
        if self.peek() == "-":
            self.take()
            operand = self.sign()
            return lambda book: -operand(book)
        return self.atom()

    def atom(self):
        kind, text = self.take()
        if kind == 1:
            return lambda book: float(text)
        if kind == 2:
            return self.reference(text)
        if text == "(":
            inside = self.inner(self.comparison)
            self.take(")")
            return inside
        if self.peek() != "(":
            return lambda book: book.named(text)
        self.take("(")
        arguments = [self.inner(self.comparison)]
        while self.peek() == ",":
            self.take()
            arguments.append(self.inner(self.comparison))
        self.take(")")
        return self.call(text, arguments)

    def inner(self, rule):
        self.depth += 1
        self.nesting = max(self.nesting, self.depth)
        result = rule()
        self.depth -= 1
        return result

    def reference(self, text):
        sheet, _, cells = text.rpartition("!")
        sheet = sheet or self.sheet
        corners = [(int(row), column(letters)) for letters, row in re.findall(r"\$([A-Z]+)\$(\d+)", cells)]
        if len(corners) == 1:
            return lambda book: book.value(sheet, corners[0])
        (top, left), (bottom, right) = corners
        area = [[(row, col) for col in range(left, right + 1)] for row in range(top, bottom + 1)]
        return lambda book: (sheet, area)

    def call(self, name, arguments):
        if name == "IF":
            condition, yes, no = arguments
            return lambda book: yes(book) if condition(book) else no(book)
        if name in ("MIN", "MAX"):
            least = min if name == "MIN" else max
            return lambda book: least(v for a in arguments for v in book.all_of(a(book)))
        if name == "INDEX":
            area, *at = arguments

            def index(book):
                sheet, cells = area(book)
                row, col = [int(one(book)) for one in at] + [1] * (2 - len(at))
                assert row > 0 and col > 0
                return book.value(sheet, cells[row - 1][col - 1])

            return index
        if name == "ROUND":
            value, digits = arguments

            def rounded(book):
                assert digits(book) == 0
                return float(book.round(value(book)))

            return rounded
        function = FUNCTIONS[name]
        return lambda book: float(function(*(one(book) for one in arguments)))


class Book:
    def __init__(self, path):
        self.numbers, self.formulas, self.texts, self.cached = {}, {}, {}, {}
        with zipfile.ZipFile(path) as archive:
            read = lambda name: xml.fromstring(archive.read(name))
            strings = ["".join(item.itertext()) for item in read("xl/sharedStrings.xml")]
            workbook = read("xl/workbook.xml")
            self.names = {one.get("name"): one.text for one in workbook.iter(NAMESPACE + "definedName")}
            for i, sheet in enumerate(workbook.iter(NAMESPACE + "sheet")):
                for cell in read(f"xl/worksheets/sheet{i + 1}.xml").iter(NAMESPACE + "c"):
                    self.add(sheet.get("name"), cell, strings)
        self.values, self.round = {}, round

    def rounded_by(self, function):
        self.values, self.round = {}, function
        return self

    def add(self, sheet, cell, strings):
        letters, row = re.fullmatch(r"([A-Z]+)(\d+)", cell.get("r")).groups()
        key = (sheet, (int(row), column(letters)))
        formula, value = cell.find(NAMESPACE + "f"), cell.find(NAMESPACE + "v")
        if formula is not None:
            self.formulas[key] = Formula(formula.text, sheet)
            self.formulas[key].text = formula.text
            self.cached[key] = float(value.text)
        elif cell.get("t") == "s":
            self.texts[key] = strings[int(value.text)]
        elif value is not None:
            self.numbers[key] = float(value.text)

    def place(self, name):
        sheet, letters, row = re.fullmatch(r"(\w+)!\$([A-Z]+)\$(\d+)", self.names[name]).groups()
        return sheet, (int(row), column(letters))

    def named(self, name):
        return self.value(*self.place(name))

    def set(self, name, value):
        self.numbers[self.place(name)] = value
        self.values = {}

    def value(self, sheet, at):
        key = (sheet, at)
        if key in self.numbers:
            return self.numbers[key]
        if key not in self.values:
            assert key in self.formulas, f"no number in {key}"
            self.values[key] = self.formulas[key].function(self)
        return self.values[key]

    def all_of(self, value):
        if not isinstance(value, tuple):
            return [value]
        sheet, cells = value
        return [self.value(sheet, at) for row in cells for at in row]

    def column_of(self, sheet, number):
        return {key[1][0]: self.value(*key) for key in self.formulas if key[0] == sheet and key[1][1] == number}


def close(a, b, tolerance=1e-9):
    return a == b or abs(a - b) <= tolerance * max(abs(a), abs(b))


def at_pointer(report, pointer):
    for part in pointer.strip("/").split("/"):
        report = report[part]
    return float(report)


def differences(book, report, tolerance=1e-9):
    count = 0
    for (sheet, (row, col)), text in sorted(book.texts.items()):
        if sheet != "Summary" or col != 1 or not text.startswith("/"):
            continue
        count += 1
        mine, own = book.value("Summary", (row, 2)), at_pointer(report, text)
        if not close(mine, own, tolerance):
            yield f"{text}: {mine!r} in the spreadsheet, {own!r} in the report"
    if count < 40:
        yield f"only {count} numbers compared"


def inner_differences(book):
    for key, formula in book.formulas.items():
        if not close(book.value(*key), book.cached[key]):
            yield f"{key}: gives {book.value(*key)!r}, the file says {book.cached[key]!r}"
        if len(formula.text) >= MAX_LENGTH or formula.nesting > MAX_NESTING:
            yield f"{key}: {len(formula.text)} characters, nested {formula.nesting}"
    step = at_row(book, "/latency/step_time_us")
    host = at_row(book, "/latency/host_time_us")
    calls = sum(book.column_of("Communication", 9).values())
    parts = sum(book.column_of("Time", 8).values()) + calls + host
    if not close(parts, step):
        yield f"launches, calls and the host take {parts!r} us, the step {step!r} us"


def at_row(book, pointer):
    row = next(at[0] for (sheet, at), text in book.texts.items() if sheet == "Summary" and text == pointer)
    return book.value("Summary", (row, 2))


# Flags, then what is changed in the sheet: the cell, its new value over the old
# one, and the flag that says the same.
BANDWIDTH = ("memory_bandwidth_bytes_per_s", 1.25, "--set=chips.*.memory_bandwidth={}")
LINKS = ("scale_up_bandwidth_bytes_per_s", 0.5, "--set=systems.*.tiers.scale_up.bandwidth={}")
CASES = [
    ("llama-3.3-70b --shard-tp=8 --phase=decode --batch=8 --context=4096",
     [BANDWIDTH, LINKS, ("workload_batch", 4, "--batch={}"), ("workload_context_tokens", 3, "--context={}")]),
    ("deepseek-v3 --shard-tp=8 --shard-sp --shard-dp=8 --shard-ep=64 --nodes=8 --batch=8", [BANDWIDTH]),
    ("nemotron-3-nano-30b-a3b --shard-tp=2 --phase=decode --batch=16 --context=8192",
     [BANDWIDTH, ("workload_batch", 2, "--batch={}")]),
    ("gemma-3-27b --shard-tp=4 --phase=prefill --batch=1 --prompt=4000", [BANDWIDTH]),
    ("deepseek-v3 --shard-dp=32 --shard-ep=32 --nodes=4 --hardware=h200-sxm-8 --phase=decode --batch=4096"
     " --context=4096 --expert-load=zipf:1.0 --redundant-experts=32 --dispatch-by-node --dispatch-dtype=fp8", [BANDWIDTH]),
    ("qwen3-next-80b-a3b --shard-tp=4 --phase=decode --batch=32 --context=32k --runtime=sglang", [BANDWIDTH]),
    ("gpt-oss-120b --hardware=mi300x-8 --shard-tp=2 --phase=decode --batch=64 --context=8192", [BANDWIDTH]),
    ("llama-4-scout --shard-tp=8 --phase=prefill --batch=2 --prompt=1000 --runtime=ideal", [BANDWIDTH]),
]
QUICK = 4
# Of every bundled model.
ALL = ["--shard-tp=8 --phase=decode --batch=16 --context=4000", "--shard-tp=4 --phase=prefill --batch=2 --prompt=700"]


class Checks:
    def __init__(self, arguments, folder):
        self.tool = os.path.join(arguments.bin, "autopar")
        self.folder, self.passed, self.failed = folder, 0, 0

    def run(self, flags, *more):
        done = subprocess.run([self.tool, "estimate", *flags.split(), *more], capture_output=True, text=True)
        assert done.returncode == 0, f"{flags}: {done.stderr}"
        return done.stdout

    def models(self):
        done = subprocess.run([self.tool, "models", "list"], capture_output=True, text=True, check=True)
        return [line.split()[0] for line in done.stdout.splitlines()[1:] if line.strip()]

    def is_legal(self, flags):
        """Whether there is a report: heads divide, positions are there."""
        done = subprocess.run([self.tool, "estimate", *flags.split(), "--json"], capture_output=True)
        return done.returncode == 0

    def report(self, flags, *more):
        return json.loads(self.run(flags, "--json", *more))

    def count(self, name, wrong):
        wrong = list(wrong)
        self.passed += not wrong
        self.failed += bool(wrong)
        if wrong:
            print(f"FAIL: {name}")
            for line in wrong[:20]:
                print(f"  {line}")

    def check(self, number, flags, changes):
        path = os.path.join(self.folder, f"{number}.xlsx")
        self.run(flags, "--format=xlsx", f"--report-output={path}")
        book = Book(path)
        self.count(f"{flags}: as it is", [*self.all_differences(book, self.report(flags)), *inner_differences(book)])
        for name, factor, flag in changes:
            before = book.named(name)
            value = before * factor
            text = str(int(value)) if value == int(value) else repr(value)
            book.set(name, value)
            self.count(f"{flags}: {name} {text}", self.all_differences(book, self.report(flags, flag.format(text))))
            book.set(name, before)

    @staticmethod
    def all_differences(book, report):
        for function, tolerance in reversed(ROUNDINGS):
            yield from differences(book.rounded_by(function), report, tolerance)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", help="folder for the spreadsheets")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(arguments, arguments.keep or folder)
        cases = CASES[:QUICK]
        if not arguments.quick:
            all_models = [f"{model} {flags}" for model in checks.models() for flags in ALL]
            cases = CASES + [(flags, [BANDWIDTH]) for flags in all_models if checks.is_legal(flags)]
        for i, (flags, changes) in enumerate(cases):
            checks.check(i, flags, changes)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


# Formulas follow each other through many cells.
sys.setrecursionlimit(200_000)
threading.stack_size(256 << 20)
with concurrent.futures.ThreadPoolExecutor(1) as executor:
    sys.exit(executor.submit(main).result())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs autopar-opt with the arguments given and prints what it prints, which
was printed, parsed and printed again in three forms: our assembly, generic, and
bytecode. A second time with a discardable attribute on each op. All forms must
say the same after the passes, and not only after parsing.

The input is a file; one in several parts (--split-input-file) goes part by
part.

--covers=OPS.td names a dialect, of which the inputs (several then, with `// -----`
or without) must have every op, type and attribute.

usage: round_trip.py FILE [FLAG...]
       round_trip.py --covers=OPS.td... FILE...
"""

import json
import os
import re
import subprocess
import sys
import tempfile

# What changes how a module is printed, and not the module.
PRINTING = ("--mlir-print-local-scope", "--mlir-print-debuginfo")
SEPARATOR = "// -----\n"
MARK = "test.mark = 7 : i64"
# An op in the generic form begins so; one with regions ends with `({`.
OP = re.compile(r'^ *(?:%[^=]* = )?"([a-z_]+\.[a-z_.]+)"\(')
PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


class Failed(Exception):
    pass


def opt(*arguments, text=True):
    done = subprocess.run(["autopar-opt", *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        raise Failed(f"autopar-opt {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr.decode()}")
    sys.stderr.write(done.stderr.decode())
    return done.stdout.decode() if text else done.stdout


def same(what, found, wanted):
    if found == wanted:
        return
    lines = zip(found.splitlines() + [""], wanted.splitlines() + [""])
    a, b = next(((a, b) for a, b in lines if a != b), ("", ""))
    raise Failed(f"{what} is another module:\n  {a}\ninstead of\n  {b}")


class Forms:
    """A module as three files, and what they print as."""

    def __init__(self, folder, source, flags, shown=()):
        self.paths = [os.path.join(folder, name) for name in ("pretty.mlir", "generic.mlir", "bytecode.mlirbc")]
        self.shown = shown
        self.pretty = opt(*flags, *shown, source)
        self.generic = opt(*flags, "--mlir-print-op-generic", source)
        # An op that is printed in the pretty form by default has its own names.
        for path, text in zip(self.paths, (self.pretty.encode(), self.generic.encode(),
                                           opt(*flags, "--emit-bytecode", source, text=False))):  # fmt: skip
            with open(path, "wb") as file:
                file.write(text)

    def check(self):
        for path in self.paths:
            name, trust = os.path.basename(path), ["--trust-bytecode"] * path.endswith("bc")
            same(f"{name}, printed", opt(*trust, *self.shown, path), self.pretty)
            same(f"{name}, printed in the generic form", opt(*trust, "--mlir-print-op-generic", path), self.generic)


def after(line, start):
    """The index behind the bracket that `line[start]` opens."""
    depth, i, quoted = 0, start, False
    while i < len(line):
        c = line[i]
        if quoted:
            i += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in PAIRS:
            depth += 1
        elif c in PAIRS.values() and line[i - 1 : i + 1] != "->":
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    raise Failed(f"brackets do not close: {line}")


def mark_line(line):
    """The end of an op, in the generic form, with one attribute more."""
    op = OP.match(line)
    if op and not line.endswith("({"):
        at = after(line, op.end() - 1)
        if line[at:].startswith(" <{"):
            at = after(line, at + 1)
    elif re.match(r" *\}\)", line):
        at = line.index("})") + 2
    else:
        return line
    if line[at:].startswith(" {"):
        return f"{line[: at + 2]}{MARK}, {line[at + 2 :]}"
    return f"{line[:at]} {{{MARK}}}{line[at:]}"


def round_trip(folder, source, flags, shown=()):
    """The pretty and the generic form of what `flags` make of `source`."""
    forms = Forms(folder, source, flags, shown)
    forms.check()
    marked = os.path.join(folder, "marked.mlir")
    with open(marked, "w", encoding="utf-8") as file:
        file.write("\n".join(map(mark_line, forms.generic.split("\n"))))
    ops = sum(bool(OP.match(line)) for line in forms.generic.splitlines())
    again = Forms(folder, marked, [], shown)
    for name, text in (("generic", again.generic), ("our", again.pretty)):
        if text.count(MARK.removesuffix(" : i64")) != ops:
            raise Failed(f"of {ops} attributes the {name} form has {text.count(MARK)}")
    again.check()
    return forms.pretty, forms.generic


def parts_of(path, flags):
    """Files of the parts of `path`, and the flags that are left."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if "--split-input-file" not in flags:
        return [text], flags
    parts = re.split(r"(?m)^// -----.*\n", text)
    return parts, [flag for flag in flags if flag != "--split-input-file"]


def run_file(folder, path, flags):
    shown = [flag for flag in flags if flag in PRINTING]
    parts, flags = parts_of(path, [flag for flag in flags if flag not in PRINTING])
    if len(parts) == 1:
        return [round_trip(folder, path, flags, shown)]
    results = []
    for part in parts:
        source = os.path.join(folder, "part.mlir")
        with open(source, "w", encoding="utf-8") as file:
            file.write(part)
        results.append(round_trip(folder, source, flags, shown))
    return results


# -- Coverage ------------------------------------------------------------------


def definitions(td):
    """How each op, type and attribute of a dialect is seen in the generic form."""
    folder = os.path.dirname(os.path.abspath(td))
    installed = subprocess.run(["llvm-config", "--includedir"], capture_output=True, check=True, text=True).stdout.strip()
    command = ["llvm-tblgen", "--dump-json", f"-I{os.path.dirname(folder)}", f"-I{installed}", td]
    records = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    dialect = os.path.basename(folder)
    for name in records["!instanceof"]["Op"]:
        if records[records[name]["opDialect"]["def"]]["name"] == dialect:
            yield f'"{dialect}.{records[name]["opName"]}"('
    for kind, sigil in (("AttrDef", "#"), ("TypeDef", "!")):
        for name in records["!instanceof"].get(kind, []):
            record = records[name]
            # One without a mnemonic is a part of another.
            if record["mnemonic"] and records[record["dialect"]["def"]]["name"] == dialect:
                yield f'{sigil}{dialect}.{record["mnemonic"]}<'


def check_coverage(arguments):
    """Every definition is in a file that goes around."""
    wanted, text = set(), ""
    with tempfile.TemporaryDirectory() as folder:
        for argument in arguments:
            if argument.startswith("--covers="):
                wanted.update(definitions(argument.removeprefix("--covers=")))
                continue
            with open(argument, encoding="utf-8") as file:
                split = ["--split-input-file"] * any(line.startswith("// -----") for line in file)
            text += "".join(generic for _, generic in run_file(folder, argument, split))
    missing = sorted(one for one in wanted if one not in text)
    if missing or not wanted:
        raise Failed(f"of {len(wanted)} definitions these go around in no file: {' '.join(missing)}")
    print(f"{len(wanted)} definitions go around")


def main(arguments):
    try:
        if any(argument.startswith("--covers=") for argument in arguments):
            check_coverage(arguments)
            return 0
        path = next(argument for argument in arguments if not argument.startswith("-"))
        with tempfile.TemporaryDirectory() as folder:
            results = run_file(folder, path, [argument for argument in arguments if argument != path])
        sys.stdout.write(SEPARATOR.join(pretty for pretty, _ in results))
        return 0
    except Failed as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives the verifiers of all ops what no pass would write, and much of it.

Each op of the examples in the dialects' definitions is tried

  outside    directly in a module, outside of the function that it asks for,
  in itself  with its own result as an operand of its type, and
             `training.accumulate` of what comes of it,

which is accepted or refused with an error, without a crash and in a few seconds.
Ops that look others up are tried in texts of N and of 4 N of them, where the
processor's time must not grow by more than 9: four of a linear verifier, 16 of a
quadratic one. Ends with a line `N passed, N failed`.

usage: verifiers.py [--bin DIR] [--quick] [--count N] [--only NAME]
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = re.compile(r"```mlir\n(.*?)```", re.DOTALL)
# An op without regions in the generic form.
OP = re.compile(r'^ *(?:(%\S+) = )?"((?:transformer|parallel)\.\w+)"\(([^)]*)\)(.*?) : \(([^()]*)\) -> (.*)$')
SECONDS = 20
MOST_GROWTH = 9


def split_types(text):
    """The types of a list, which have commas of their own in brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "<([{") - (char in ">)]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def opt(tools, text, *flags):
    """Exit code (negative: a signal; None: too long), errors, processor seconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        before = os.times()
        try:
            done = subprocess.run([f"{tools}/autopar-opt", *flags, file.name], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=SECONDS)  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, f"no end after {SECONDS} s", 0.0, ""
        after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return done.returncode, done.stderr, spent, done.stdout


def examples(tools):
    """One generic line of each op, by its name: result, operands, rest, types."""
    found = {}
    for folder, _, names in sorted(os.walk(f"{ROOT}/dialects")):
        for name in sorted(name for name in names if name.endswith(".td")):
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                texts = EXAMPLE.findall(file.read())
            for text in texts:
                code, _, _, printed = opt(tools, text, "--mlir-print-op-generic", "--mlir-print-local-scope")
                for line in printed.splitlines() if code == 0 else ():
                    match = OP.match(line)
                    if match and match[2] not in found:
                        result, op, operands, rest, types, results = match.groups()
                        results = split_types(results.strip("()") if results.startswith("(") else results)
                        found[op] = (result, split_types(operands), rest, split_types(types), results)
    return found


def written(op, example, operands):
    result, _, rest, types, results = example
    left = f"{result} = " if result else ""
    return f'{left}"{op}"({", ".join(operands)}){rest} : ({", ".join(types)}) -> ({", ".join(results)})'


def given(types):
    """Values of these types that come from nowhere."""
    lines = [f'%given{i} = "builtin.unrealized_conversion_cast"() : () -> {kind}' for i, kind in enumerate(types)]
    return lines, [f"%given{i}" for i in range(len(types))]


def outside(op, example):
    lines, operands = given(example[3])
    return "\n".join([*lines, written(op, example, operands)])


def in_itself(op, example):
    """Null where no operand has the type of the result."""
    result, _, _, types, results = example
    if len(results) != 1 or results[0] not in types:
        return None
    lines, operands = given(types)
    operands[types.index(results[0])] = result.split(":")[0]
    sums = (
        f'"training.accumulate"({result}, {result}) : ({results[0]}, {results[0]}) -> ()'
        if results[0].startswith("tensor")
        else ""
    )
    body = "\n".join([*lines, written(op, example, operands), sums])
    return f"func.func private @f() {{\n{body}\nreturn\n}}"


def many(make):
    """A text of `count` things, each made of its number."""
    return lambda count: "\n".join(make(i) for i in range(count))


def in_function(make, before=""):
    inside = many(make)
    return lambda count: f"func.func private @f() {{\n{before}\n{inside(count)}\nreturn\n}}"


WEIGHT = '%w = transformer.weight "w" : tensor<4xbf16>'


def parts(count):
    """One function, and `count` parts of it that each read one of its values."""
    saves = "\n".join(f'training.save %w "s{i}" : tensor<4xbf16>' for i in range(count))
    reads = "\n".join(
        f"func.func private @p{i}() attributes {{training.part_of = @f}} {{\n"
        f'%s = training.saved "s{i}" : tensor<4xbf16>\nreturn\n}}' for i in range(count)
    )  # fmt: skip
    return f"func.func private @f() {{\n{WEIGHT}\n{saves}\nreturn\n}}\n{reads}"


def stored(count):
    functions = "\n".join(f"func.func private @p{i}() {{\nreturn\n}}\ntransformer.stored @p{i}" for i in range(count))
    return f"{functions}\nfunc.func @f() {{\nreturn\n}}"


def accumulated(count):
    """Sums of what many ops, one behind the other, have made of a weight."""
    chain = "\n".join(f'%w{i + 1} = transformer.scale %w{i} by(1.0) : tensor<4xbf16>' for i in range(count))
    sums = "\n".join(
        f"training.accumulate %g of %w{i % 8} : tensor<4xf32>, tensor<4xbf16>" for i in range(count)
    )
    first = WEIGHT.replace("%w =", "%w0 =")
    return f"func.func private @f(%g: tensor<4xf32>) {{\n{first}\n{chain}\n{sums}\nreturn\n}}"


def refused(count):
    """Sums of the end of a long chain: refused, but not after the square of its length."""
    return accumulated(count).replace("of %w0 ", f"of %w{count} ")


def linked(count):
    """Two modules, and many links between them."""
    module = ('module @m{} {{\ntransformer.workload(phase = decode, batch = 1, query = 1, context = 1)\n'
              'parallel.mesh(tp = 1)\nfunc.func @f() {{\nreturn\n}}\n}}')  # fmt: skip
    links = "\n".join("parallel.link @m0 to @m1" for _ in range(count))
    return f"{module.format(0)}\n{module.format(1)}\n{links}"


GROWING = {
    "save": in_function(lambda i: f'training.save %w "s{i}" : tensor<4xbf16>', WEIGHT),
    "save, beside weights first": lambda n: "func.func private @f() {\n" + "\n".join(
        [f'%w{i} = transformer.weight "w{i}" : tensor<4xbf16>' for i in range(n)] +
        [f'training.save %w{i} "s{i}" : tensor<4xbf16>' for i in range(n)]) + "\nreturn\n}",
    "save, in loops": in_function(
        lambda i: f'transformer.repeat 2 {{\ntraining.save %w "s{i}" : tensor<4xbf16>\ntransformer.yield\n}}', WEIGHT),
    "saved": lambda n: in_function(lambda i: f'training.save %w "s{i}" : tensor<4xbf16>', WEIGHT)(n) +
        "\nfunc.func private @b() attributes {training.part_of = @f} {\n" +
        "\n".join(f'%s{i} = training.saved "s{i}" : tensor<4xbf16>' for i in range(n)) + "\nreturn\n}",
    "saved, each in a part": parts,
    "stored": stored,
    "weight": in_function(lambda i: f'%w{i} = transformer.weight "w{i % 7}" : tensor<4xbf16>'),
    "weight, each in a function": many(
        lambda i: f'func.func private @f{i}() {{\n%w = transformer.weight "w" : tensor<4xbf16>\nreturn\n}}'),
    "accumulate": accumulated,
    "accumulate, a long chain": refused,
    "link": linked,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--quick", action="store_true", help="shorter texts")
    parser.add_argument("--count", type=int, default=8000, help="ops of the shorter text of the two")
    parser.add_argument("--only", help="one op, or one text")
    options = parser.parse_args()
    count = options.count // 4 if options.quick else options.count
    passed, failures = 0, []

    def tell(what, fault):
        nonlocal passed
        passed += not fault
        if fault:
            failures.append(f"FAIL {what}: {fault}")

    known = examples(options.bin)
    if len(known) < 60:
        failures.append(f"FAIL examples: {len(known)} ops have one, expected 60 or more")
    for op, example in sorted(known.items()):
        for what, text in (("outside", outside(op, example)), ("in itself", in_itself(op, example))):
            if not text or options.only not in (None, op):
                continue
            code, said, _, _ = opt(options.bin, text)
            right = code in (0, 1) and (code == 0 or "error: " in said) and "LLVM ERROR" not in said
            tell(f"{op} {what}", None if right else said.strip()[-300:] or f"exit code {code}")
    for what, text in GROWING.items():
        if options.only not in (None, what):
            continue
        # The least of two: others may use the processor's caches.
        short, long = (
            min(opt(options.bin, text(n), "-o", os.devnull)[2] for _ in range(2)) for n in (count, 4 * count)
        )
        code, said, _, _ = opt(options.bin, text(4), "-o", os.devnull)
        crashed = code not in (0, 1)
        grown = long / max(short, 0.01)
        tell(f"many: {what}", f"{short:.2f} s of {count}, {long:.2f} s of {4 * count}: {grown:.1f} times as long"
             if crashed or not long or grown > MOST_GROWTH else None)  # fmt: skip
    print("\n".join(failures))
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

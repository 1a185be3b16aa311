"""Reading and writing the JSON files of hardware/ in one fixed layout."""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import pathlib
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 100


def layout(value, indent=0, used=0):
    """JSON text where anything that fits on its line stays on it."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value:
        return flat
    if len(flat) + indent + used < WIDTH and indent > 0:
        return flat
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        parts = []
        for key, member in value.items():
            name = json.dumps(key) + ": "
            parts.append(pad + name + layout(member, indent + 2, len(name)))
        return "{\n" + ",\n".join(parts) + "\n" + " " * indent + "}"
    if all(isinstance(member, (int, float)) for member in value):
        return "[\n" + fill(value, pad) + "\n" + " " * indent + "]"
    parts = [pad + layout(member, indent + 2) for member in value]
    return "[\n" + ",\n".join(parts) + "\n" + " " * indent + "]"


def fill(numbers, pad):
    """Numbers as a paragraph."""
    lines, line = [], pad
    for i, number in enumerate(numbers):
        word = json.dumps(number) + ("," if i + 1 < len(numbers) else "")
        if len(line) + len(word) + 1 > WIDTH:
            lines.append(line.rstrip())
            line = pad
        line += word + " "
    return "\n".join(lines + [line.rstrip()])


def lines(numbers):
    """Whole numbers as lines of text: tables, which readers read fast so."""
    return textwrap.wrap(" ".join(map(str, numbers)), 80)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write(path, value):
    temporary = f"{path}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(layout(value) + "\n")
    os.replace(temporary, path)


def rounded(value, digits=3):
    """`value` to significant digits, as an integer where it is one."""
    number = float(f"{value:.{digits}g}")
    return int(number) if number == int(number) else number


def check(folder, made):
    """1 where a file of `folder` is not the one of `made`, which it prints."""
    different = [name for name, value in made.items()
                 if read(folder / f"{name}.json") != value]
    for name in different:
        print(f"differs: {folder.name}/{name}.json")
    return 1 if different else 0

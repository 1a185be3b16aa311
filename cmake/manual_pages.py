#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes manual pages from what tools print as help: one for each tool, and one
for each of its commands, as in autopar-models-show.1.

usage: manual_pages.py --version V --output DIR TOOL...
"""

import argparse
import os
import re
import subprocess

TERM = re.compile(r"^  ?  ?(\S.*?)(?:  +-? ?| +- )(\S.*)$")


def help_of(words):
    # So wide that no line is broken.
    environment = os.environ | {"COLUMNS": "100000"}
    done = subprocess.run([*words, "--help"], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=True)  # fmt: skip
    return done.stdout.splitlines()


def commands_in(lines):
    """The words under the heading Commands."""
    if "Commands:" not in lines:
        return []
    found = []
    for line in lines[lines.index("Commands:") + 1 :]:
        if not line.strip():
            break
        if match := re.match(r"  (\w\S*)", line):
            found.append(match[1])
    return found


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def body(lines):
    """The lines of help as roff, from headings, terms, examples and text."""
    verbatim = under_heading = False
    for i, line in enumerate(lines):
        following = lines[i + 1] if i + 1 < len(lines) else ""
        heading = re.match(r"^(\w[^:]*):\s*(.*)$", line)
        command = verbatim and line.startswith("  ") or re.match(r"^ *(autopar\S*|source) ", line)
        term = None if command else TERM.match(line)
        long_term = not command and re.match(r"^  \S", line) and re.match(r"^ {12}", following)
        meaning = not command and re.match(r"^ {12}", line)
        example = line.startswith("  ") and not term and not long_term and not meaning
        is_heading = heading and (not heading[2] or heading[1].isupper())
        if under_heading and not is_heading and (command or re.match(r"^\S", line)):
            yield ".SH NOTES"
        under_heading = is_heading or under_heading and not (command or re.match(r"^\S", line))
        if example != verbatim and line.strip():
            yield ".EX" if example else ".EE"
            verbatim = example
        if is_heading:
            yield f'.SH "{escape(heading[1].upper())}"'
            if heading[2]:
                yield escape(heading[2])
        elif term and not verbatim:
            yield f".TP\n.B {escape(term[1].strip())}\n{escape(term[2].strip())}"
        elif long_term and not verbatim:
            yield f".TP\n.B {escape(line.strip())}"
        elif line.strip():
            yield escape(line if verbatim else line.strip())
        elif not verbatim:
            yield ".PP"
    if verbatim:
        yield ".EE"


def page(words, lines, version):
    name = "-".join(words)
    summary = lines[0].removeprefix("OVERVIEW: ").rstrip(".") or name
    rest = lines[1:]
    while rest and not rest[0].strip():
        rest = rest[1:]
    usage = next((line for line in rest if line.lower().startswith("usage: ")), None)
    roff = [f'.TH "{escape(name.upper())}" 1 "" "autopar {version}"', ".SH NAME"]
    roff.append(f"{escape(name)} \\- {escape(summary)}")
    if usage:
        roff += [".SH SYNOPSIS", ".B " + escape(usage[len("usage: ") :])]
        rest.remove(usage)
    roff.append(".SH DESCRIPTION")
    return "\n".join(roff + list(body(rest))) + "\n"


def write_pages(tool, words, version, output):
    lines = help_of([tool, *words[1:]])
    with open(os.path.join(output, "-".join(words) + ".1"), "w", encoding="utf-8") as file:
        file.write(page(words, lines, version))
    for command in commands_in(lines):
        write_pages(tool, [*words, command], version, output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("tools", nargs="+", metavar="TOOL")
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    for tool in options.tools:
        write_pages(tool, [os.path.basename(tool)], options.version, options.output)


if __name__ == "__main__":
    main()

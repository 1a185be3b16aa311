#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that what the documents show is so.

* ```mlir: autopar-opt must parse and verify it.
* ```sh, ```console: lines that begin with `$ ` run from the root of the
  project, in order, with the tools on PATH, and must exit with 0. Where output
  follows, it must be what the command prints; a line `...` stands for any
  number of lines. A line that ends in a backslash goes on in the next. What
  installs, builds or tests is not run: its script must be there.

* ```json: a value, or members of one, must parse.
* Links in Markdown lead to files, and to headings of them.
* `lib/Cost/Run.h`, a path from the root, is there; `lib/Cost/Run.h:pairsOf`
  has that word, too. So in docs/, CONTRIBUTING.md and each Rationale.
* docs/architecture.md has the table of layers of scripts/check_includes.py, and
  names each pass.

The documents: README.md, CONTRIBUTING.md, the Markdown of docs/ and dialects/, that of
hardware/, runtimes/ and models/, and the descriptions in the TableGen files of
dialects/. Ends with a line `N passed, N failed`.

usage: check_docs.py --bin DIR [FILE...]
"""

import argparse
import glob
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

NOT_RUN = re.compile(r"(^|[\s/])(apt|apt-get|sudo|git|cmake|ninja|docker|scripts/\w+|fuzz/run|\.ci/run)(\s|$)")
FENCE = re.compile(r"^([ \t]*)```(\w*)[^\n`]*\n(.*?)^\1```[ \t]*$", re.MULTILINE | re.DOTALL)


def blocks(path):
    """(line, language, text) of each fenced block, without its indentation."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for match in FENCE.finditer(text):
        indent, language, body = match.groups()
        lines = [line.removeprefix(indent) for line in body.splitlines()]
        yield text.count("\n", 0, match.start()) + 1, language, "\n".join(lines) + "\n"


def check_mlir(text, root, environment, folder):
    done = subprocess.run(
        ["autopar-opt", "-", "-o", os.devnull], input=text, cwd=root, env=environment,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    return done.stderr.strip() or f"exit code {done.returncode}" if done.returncode else ""


def matches(shown, real):
    """Whether the lines of `shown`, with `...` for any lines, make `real`."""
    if not shown:
        return not real
    if shown[0].strip() == "...":
        return any(matches(shown[1:], real[i:]) for i in range(len(real) + 1))
    return bool(real) and shown[0].rstrip() == real[0].rstrip() and matches(shown[1:], real[1:])


def first_difference(shown, real):
    for i, line in enumerate(shown):
        if line.strip() == "...":
            break
        if i >= len(real) or line.rstrip() != real[i].rstrip():
            return f"  shown:   {line}\n  printed: {real[i] if i < len(real) else '(nothing)'}"
    return "  (after a line `...`)\n  printed:\n" + "\n".join("    " + line for line in real[:60])


def commands(text):
    """(command, lines of output) in a console block."""
    result, lines = [], text.splitlines()
    while lines:
        line = lines.pop(0)
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\") and lines:
                command = command[:-1] + lines.pop(0).removeprefix("> ")
            result.append((command, []))
        elif result:
            result[-1][1].append(line)
    return result


def check_console(text, root, environment, folder):
    for command, shown in commands(text):
        command = re.sub(r"\s+#.*$", "", command)
        if NOT_RUN.search(command):
            for word in shlex.split(command):
                if word.startswith(("scripts/", "./scripts/", ".ci/")) and not os.path.exists(
                    os.path.join(root, word)
                ):
                    return f"$ {command}\n  there is no {word}"
            continue
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
        )  # fmt: skip
        if done.returncode:
            return f"$ {command}\n  exit code {done.returncode}: {done.stdout.strip()[:2000]}"
        while shown and not shown[-1].strip():
            shown.pop()
        real = done.stdout.rstrip().splitlines()
        if shown and not matches(shown, real):
            return f"$ {command}\n{first_difference(shown, real)}"
    return ""


def check_json(text, root, environment, folder):
    try:
        json.loads("{" + text + "}" if text.startswith('"') else text)
    except ValueError as error:
        return str(error)
    return ""


CHECKS = {"mlir": check_mlir, "sh": check_console, "console": check_console, "json": check_json}

LINK = re.compile(r"\]\(([^)\s]+)\)")
TOP = "bench|cmake|dialects|docs|fuzz|hardware|include|lib|models|runtimes|scripts|test|tools"
PATH = re.compile(rf"`((?:{TOP})/[\w./+-]*)(?::(\w+))?`")


def prose_of(text):
    """The text with nothing in its fenced blocks, line by line."""
    return FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)


def anchors_of(path):
    """The fragments that lead to headings, as GitHub makes them."""
    with open(path, encoding="utf-8") as file:
        titles = re.findall(r"^#+ +(.*?) *$", prose_of(file.read()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def wrong_links(path, text):
    """(line, what is wrong) of each link that leads nowhere."""
    for match in LINK.finditer(text):
        target, _, fragment = match[1].partition("#")
        if "://" in target:
            continue
        full = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        line = text.count("\n", 0, match.start()) + 1
        if not os.path.exists(full):
            yield line, f"there is no {match[1]}"
        elif fragment and full.endswith(".md") and fragment not in anchors_of(full):
            yield line, f"{target or 'it'} has no heading #{fragment}"


def wrong_paths(root, text):
    """(line, what is wrong) of each path of the tree that is not there."""
    for match in PATH.finditer(text):
        name, word = match.groups()
        full, line = os.path.join(root, name), text.count("\n", 0, match.start()) + 1
        if not os.path.exists(full) or word and not os.path.isfile(full):
            yield line, f"there is no {name}"
        elif word:
            with open(full, encoding="utf-8") as file:
                if not re.search(rf"\b{word}\b", file.read()):
                    yield line, f"{name} has no {word}"


def wrong_architecture(root, text):
    """What docs/architecture.md says of layers and passes and is not so."""
    script = os.path.join(root, "scripts", "check_includes.py")
    spec = importlib.util.spec_from_file_location("check_includes", script)
    includes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(includes)
    shown = {}
    for match in re.finditer(r"^\| `([\w/]+)` \|([^|]*)\|", text, re.MULTILINE):
        if match[1] in includes.LAYERS:
            shown[match[1]] = re.findall(r"`([\w/]+)`", match[2])
    for layer, below in includes.LAYERS.items():
        if shown.get(layer) != below:
            yield f"layer {layer}: shown on {shown.get(layer)}, enforced on {below}"
    passes = set()
    for path in glob.glob(f"{root}/include/autopar/**/Passes.td", recursive=True):
        with open(path, encoding="utf-8") as file:
            passes |= set(re.findall(r'^def \w+\s*:\s*\w+<"(autopar-[\w-]+)"', file.read(), re.MULTILINE))
    if not passes:
        yield "no pass is defined"
    for name in sorted(passes - set(re.findall(r"`(autopar-[\w-]+)`", text))):
        yield f"the pass {name} is not named"


def check_prose(path, root):
    """What is wrong with the text of a Markdown file, a line each."""
    with open(path, encoding="utf-8") as file:
        text = prose_of(file.read())
    name = os.path.relpath(path, root)
    wrong = [f"{name}:{line}: {what}" for line, what in wrong_links(path, text)]
    if name.startswith(("docs/", "CONTRIBUTING")) or name.endswith("/Rationale.md"):
        wrong += [f"{name}:{line}: {what}" for line, what in wrong_paths(root, text)]
    if name == "docs/architecture.md":
        wrong += wrong_architecture(root, text)
    return "\n  ".join(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="folder of the tools")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    tools = os.path.abspath(options.bin)
    environment = os.environ | {"PATH": tools + os.pathsep + os.environ["PATH"], "AUTOPAR_DATA": root}
    environment.pop("COLUMNS", None)
    files = options.files or [
        os.path.join(root, name)
        for name in ("README.md", "CONTRIBUTING.md", "hardware/README.md", "runtimes/README.md", "models/README.md",
                     "models/families/README.md")
    ] + sorted(glob.glob(f"{root}/docs/**/*.md", recursive=True)) + sorted(
        path for end in ("md", "td") for path in glob.glob(f"{root}/dialects/**/*.{end}", recursive=True)
    )  # fmt: skip
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        # Commands run in a copy of the root, made of links, so that what they
        # write stays out of the tree.
        for name in os.listdir(root):
            if name not in (".git", "build"):
                os.symlink(os.path.join(root, name), os.path.join(folder, name))
        os.makedirs(os.path.join(folder, "build"))
        os.symlink(tools, os.path.join(folder, "build", "bin"))
        for path in files:
            if not os.path.exists(path):
                print(f"FAIL: {path}: there is no such document")
                failed += 1
                continue
            if path.endswith(".md"):
                wrong = check_prose(os.path.abspath(path), root)
                where = os.path.relpath(path, root)
                print(f"FAIL: {where}: prose\n  {wrong}" if wrong else f"PASS: {where}: prose")
                passed, failed = passed + (not wrong), failed + bool(wrong)
            for line, language, text in blocks(path):
                check = CHECKS.get(language)
                if not check:
                    continue
                where = f"{os.path.relpath(path, root)}:{line}"
                try:
                    wrong = check(text, root, environment, folder)
                except (OSError, subprocess.TimeoutExpired) as error:
                    wrong = str(error)
                print(f"FAIL: {where}: {language}\n  {wrong}" if wrong else f"PASS: {where}: {language}")
                passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that each layer of lib has a namespace of its own, and that no name of
a type has two definitions.

A file of a layer defines things in the namespace of that layer alone; those of
the layers that all others speak in, ROOTS, are `autopar` itself. Blocks of other
namespaces may declare types, and what lookup finds by an argument's type
(operators, hash_value). Types in anonymous namespaces may share a name.

usage: check_names.py [--self-test] [ROOT]
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

ROOTS = {"Support", "Interfaces", "Dialect", "InitAll.cpp", "InitAll.h"}
# `import` is a word of the language; a graph is one of modules; functions have
# the verbs that these layers are named by.
SPELLED = {"Import": "importer", "ModuleGraph": "graph", "Evaluate": "evaluation", "Calibrate": "calibration", "Explain": "explanation",
           "Advise": "advice", "Estimate": "estimation", "Write": "writing"}  # fmt: skip
DIALECTS = {"transformer", "training", "parallel"}
ANONYMOUS = "(anonymous)"


def layer_of(path):
    parts = path.split("/")
    return parts[2] if parts[0] == "include" else parts[1] if parts[0] == "lib" else None


def namespace_of(layer):
    return "autopar" if layer in ROOTS else "autopar::" + SPELLED.get(layer, layer.lower())


def without_comments(text):
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def definitions(text):
    """Namespaces and types, (namespace, line number, name) of each definition;
    a namespace that is opened has no name."""
    stack, depth = [], 0
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        opened = re.match(r"\s*(?:inline )?namespace\s*([\w:]*)\s*\{", line)
        if opened:
            stack.append((opened[1] or ANONYMOUS, depth))
            yield "::".join(name for name, _ in stack), number, None
        named = re.match(r"(?:class|struct|enum class|enum) (\w+)(?: final)?(?: : [^;{]*)?\s*(\{|$)", line)
        if named:
            yield "::".join(name for name, _ in stack), number, named[1]
        depth += line.count("{") - line.count("}")
        while stack and depth <= stack[-1][1]:
            stack.pop()


def is_allowed(namespace, layer):
    own = namespace_of(layer)
    if ANONYMOUS in namespace or not namespace.startswith("autopar"):
        return True
    if namespace == own or namespace.startswith(own + "::") and own != "autopar":
        return True
    parts = namespace.split("::")
    return own == "autopar" and (len(parts) == 1 or parts[1] in DIALECTS | {"limits", "detail", "units"})


def check(root, files):
    errors, found = [], collections.defaultdict(set)
    for path in files:
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        layer = layer_of(path)
        for namespace, number, name in definitions(text):
            if ANONYMOUS not in namespace and name:
                found[namespace, name].add(path)
            if layer and name and not is_allowed(namespace, layer):
                errors.append(f"{path}:{number}: {name} is defined in {namespace}, expected {namespace_of(layer)}")
    for (namespace, name), where in sorted(found.items()):
        if len(where) > 1:
            errors.append(f"{sorted(where)[0]}: {namespace}::{name} is defined in {', '.join(sorted(where)[1:])}, too")
    return errors


def self_test():
    """Plants violations in a tree and expects to find each, and no other."""
    files = {
        "lib/Cost/A.h": "namespace autopar::cost {\nstruct Cell {\n};\nclass Other;\n}\nnamespace autopar::plan {\nstruct Plan;\n}\n",
        "lib/Cost/B.cpp": "namespace {\nstruct Cell {\n};\n} // namespace\nnamespace autopar::cost::detail {\nstruct D {};\n}\n",
        "lib/Plan/C.h": "namespace autopar::plan {\nstruct Cell {\n};\n}\n",
        "lib/Support/D.h": "namespace autopar {\nstruct Error {\n};\n}\n",
        "lib/Import/E.h": "namespace autopar::importer {\nstruct Error {\n};\n}\n",
        "lib/Plan/F.h": "namespace autopar {\nstruct Stray {\n};\n}\n",
        "lib/Cost/G.h": "namespace autopar::plan {\nenum class Strange : int {\n};\n}\n",
        "include/autopar/Plan/H.h": "namespace autopar::plan {\nstruct Twice {\n};\n}\n",
        "lib/Plan/I.cpp": "namespace autopar::plan {\nstruct Twice {\n};\n}\n",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        errors = check(root, list(files))
    found = [error.split(":")[0] for error in errors]
    expected = ["lib/Plan/F.h", "lib/Cost/G.h", "include/autopar/Plan/H.h"]
    if found != expected:
        print(f"self-test: expected {expected}\nself-test: found    {errors}")
        return 1
    print(f"self-test: all {len(expected)} planted violations found")
    return 0


def main(arguments):
    if "--self-test" in arguments:
        return self_test()
    root = arguments[0] if arguments else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    listed = subprocess.run(["git", "-C", root, "ls-files", "lib", "include", "tools"], capture_output=True, text=True,
                            check=True)  # fmt: skip
    errors = check(root, [path for path in listed.stdout.split() if path.endswith((".h", ".cpp"))])
    for error in errors:
        print("error:", error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that nothing points up: #include and TableGen include directives
against the layer table below; and the limits of the house that a script can
see: file lengths, no empty header, a test for every pass.

usage: check_includes.py [--self-test] [ROOT]
"""

import os
import re
import sys
import tempfile

# Layer -> the layers that it stands on. It may include those, what they stand
# on, and itself. `Dialect/X` is a layer of two path components.
LAYERS = {
    # Without MLIR.
    "Support": [],
    "Program": ["Placement"],
    "Plan": ["Program", "Schedule"],
    "Reshard": ["Program"],
    "Placement": ["Support"],
    "Schedule": ["Support"],
    "Hardware": ["Program"],
    "Model": ["Hub"],
    "Launch": ["Model", "Plan"],
    "Calibrate": ["Launch"],
    "Checkpoint": ["Support"],
    "Hub": ["Program"],
    "Runtime": ["Hardware"],
    "Cost": ["Program", "Schedule", "Hardware", "Runtime"],
    "Report": ["Serving", "Plan"],
    "Evaluate": ["Report"],
    "Explain": ["Evaluate"],
    "Advise": ["Evaluate"],
    "Estimate": ["Explain", "Advise"],
    "Write": ["Report", "Page"],
    "Search": ["Estimate", "Write"],
    "Sweep": ["Estimate", "Write"],
    "Spreadsheet": ["Evaluate"],
    "Serving": ["Cost"],
    "Page": ["Support"],
    "Validation": ["Page", "Program"],
    # With MLIR.
    "Interfaces": ["Program"],
    "Dialect/Transformer": ["Interfaces"],
    "Dialect/Training": ["Dialect/Transformer", "Dialect/Parallel"],
    "Dialect/Parallel": ["Interfaces", "Schedule"],
    "Import": ["Model", "Checkpoint", "Dialect/Transformer"],
    "Analysis": ["Program", "Dialect/Training", "Dialect/Parallel"],
    "ModuleGraph": ["Analysis"],
    "Transforms": ["Analysis", "Estimate", "Write", "Import", "Reshard", "Spreadsheet"],
    "Pipelines": ["Transforms", "Import", "Search"],
    "Interpreter": ["Analysis"],
    "InitAll": ["Pipelines"],
    "Session": ["InitAll", "Calibrate", "Validation", "Checkpoint", "Sweep"],
    "Server": ["Session"],
    "Bundle": ["Session"],
    "tools": ["Server", "Bundle", "Interpreter", "Launch", "ModuleGraph"],
}
WITHOUT_MLIR = {
    "Support", "Program", "Plan", "Reshard", "Placement", "Schedule", "Hardware", "Report", "Evaluate", "Explain",
    "Advise", "Estimate", "Write", "Model", "Launch", "Calibrate", "Hub", "Checkpoint",
    "Runtime", "Cost", "Search", "Sweep", "Spreadsheet", "Serving", "Page", "Validation",
}  # fmt: skip
# Layers that see nothing but these, whatever those stand on. Placements have
# a writer of their own.
ONLY = {"Write": {"Write", "Report", "Page", "Support", "Placement"}}
# Layers that write no text: what they may not include beside upper layers.
WITHOUT_TEXT = {"Cost": ("autopar/Support/Text.h", "sstream", "iostream", "cstdio")}
# Folders of dialects/ are layers too.
DIALECTS = {
    "interfaces": "Interfaces",
    "transformer": "Dialect/Transformer",
    "training": "Dialect/Training",
    "parallel": "Dialect/Parallel",
}

MAX_LINES = 600
MAX_HEADER_LINES = 120
INCLUDE = re.compile(r'^\s*#?\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def below(layer):
    """What `layer` may include, itself too."""
    found, todo = set(), [layer]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += LAYERS[one]
    return found


def name_of(parts):
    """The layer that path components below autopar/ or lib/ name."""
    if parts[0] == "Dialect" and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0].split(".")[0]  # InitAll.h, InitAll.cpp


def layer_of_file(path):
    parts = path.split("/")
    if parts[0] == "tools":
        return "tools"
    if parts[0] == "dialects":
        return DIALECTS.get(parts[1], parts[1])
    return name_of(parts[2:] if parts[0] == "include" else parts[1:])


def layer_of_include(target):
    """The layer of an include, "mlir", or None for what is nobody's business."""
    parts = target.split("/")
    if parts[0] == "autopar" and len(parts) > 1:
        return name_of(parts[1:])
    if parts[0] in DIALECTS and target.endswith(".td"):
        return DIALECTS[parts[0]]
    if parts[0] in ("mlir", "llvm", "mlir-c", "llvm-c"):
        return "mlir"
    return None


def check_file(path, text):
    layer = layer_of_file(path)
    if layer not in LAYERS:
        yield f"{path}:1: '{layer}' is not in the layer table of scripts/check_includes.py"
        return
    allowed = ONLY.get(layer) or below(layer)
    for match in INCLUDE.finditer(text):
        target = layer_of_include(match[1])
        if match[1] in WITHOUT_TEXT.get(layer, ()):
            line = text.count("\n", 0, match.start(1)) + 1
            yield f"{path}:{line}: {layer} computes numbers and writes no text, but includes {match[1]}"
        if target is None or target in allowed:
            continue
        line = text.count("\n", 0, match.start(1)) + 1
        if target != "mlir":
            yield f"{path}:{line}: {layer} must not include {match[1]}"
        elif layer in WITHOUT_MLIR:
            yield f"{path}:{line}: {layer} is free of MLIR and LLVM, but includes {match[1]}"


def stem(name):
    """ShardTensor -> shard-tensor"""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def check(root):
    """Lists (errors, warnings) of the tree at `root`."""
    errors, warnings = [], []
    for top in ("include", "lib", "tools", "dialects", "test/unit"):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if not name.endswith((".h", ".cpp", ".td")):
                    continue
                full = os.path.join(folder, name)
                path = os.path.relpath(full, root).replace(os.sep, "/")
                with open(full, encoding="utf-8") as file:
                    text = file.read()
                lines = text.count("\n")
                if lines > MAX_LINES:
                    errors.append(f"{path}:{lines}: longer than {MAX_LINES} lines")
                if top == "test/unit":
                    continue
                errors += check_file(path, text)
                code = re.sub(r"//.*|/\*.*?\*/|^\s*#.*", "", text, flags=re.M)
                if name.endswith(".h") and not code.strip():
                    # A header may consist of includes, not of nothing.
                    if not INCLUDE.search(text):
                        errors.append(f"{path}:1: declares nothing")
                if name.endswith(".h") and lines > MAX_HEADER_LINES:
                    warnings.append(
                        f"{path}:{lines}: header longer than {MAX_HEADER_LINES} lines"
                    )
                if path.startswith("lib/Transforms/") and "GEN_PASS_DEF_" in text:
                    phase = os.path.dirname(path).removeprefix("lib/")
                    test = f"test/{phase}/{stem(name.split('.')[0])}.mlir"
                    if not os.path.exists(os.path.join(root, test)):
                        errors.append(f"{path}:1: the pass has no test {test}")
    return errors, warnings


def self_test():
    """Plants violations in a tree and expects to find each, and no other."""
    good = {
        "include/autopar/Support/Json.h": "int x;\n",
        "include/autopar/InitAll.h": '#include "autopar/Pipelines/Pipelines.h"\n',
        "lib/Cost/Evaluate.cpp": '#include "autopar/Support/Json.h"\n',
        "lib/Transforms/Split/Helper.cpp": '#include "mlir/IR/Operation.h"\n',
        "lib/Transforms/Split/ShardTensor.cpp": "#define GEN_PASS_DEF_SHARDTENSOR\n"
        '#include "autopar/Transforms/Passes.h.inc"\n#include "autopar/Cost/E.h"\n',
        "test/Transforms/Split/shard-tensor.mlir": "",
        "dialects/parallel/ParallelOps.td": 'include "interfaces/Interfaces.td"\n'
        'include "mlir/IR/OpBase.td"\n',
        "tools/autopar-opt/main.cpp": '#include "autopar/InitAll.h"\n',
    }
    bad = {
        "lib/Support/A.cpp": '#include "autopar/Cost/Evaluate.h"\n',
        "lib/Hardware/B.cpp": '// x\n#include "autopar/Plan/Plan.h"\n',
        "lib/Cost/C.cpp": "#include <llvm/ADT/StringRef.h>\n",
        "lib/Cost/M.cpp": '#include "autopar/Report/Report.h"\n',
        "lib/Cost/N.cpp": '#include "autopar/Support/Text.h"\n',
        "lib/Write/O.cpp": '#include "autopar/Serving/QueueModel.h"\n',
        "lib/Model/D.cpp": '#  include "mlir/IR/Value.h"\n',
        "lib/Dialect/Transformer/IR/E.cpp": '#include "autopar/Dialect/Parallel/IR/P.h"\n',
        "lib/Dialect/Parallel/IR/F.cpp": '#include "autopar/Hardware/Hardware.h"\n',
        "dialects/transformer/G.td": 'include "parallel/ParallelOps.td"\n',
        "dialects/transformer/O.td": 'include "training/TrainingOps.td"\n',
        "lib/Analysis/H.cpp": '#include "autopar/Transforms/Passes.h.inc"\n',
        "lib/Elsewhere/I.cpp": "int i;\n",
        "lib/Plan/J.cpp": "\n" * 601,
        "include/autopar/Plan/K.h": "// nothing\n",
        "lib/Transforms/InsertFooBar.cpp": "#define GEN_PASS_DEF_INSERTFOOBAR\n",
        "lib/Import/L.cpp": '#include "autopar/InitAll.h"\n',
    }
    with tempfile.TemporaryDirectory() as root:
        for path, text in (good | bad).items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        errors, _ = check(root)
    found = sorted(error.split(":")[0] for error in errors)
    if found != sorted(bad):
        print(f"self-test: expected {sorted(bad)}\nself-test: found    {found}")
        return 1
    assert stem("ShardTensor") == "shard-tensor"
    print(f"self-test: all {len(bad)} planted violations found")
    return 0


def main(arguments):
    if "--self-test" in arguments:
        return self_test()
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    errors, warnings = check(arguments[0] if arguments else here)
    for warning in warnings:
        print("warning:", warning)
    for error in errors:
        print("error:", error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

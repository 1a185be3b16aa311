#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the tensors that autopar lists with those that oracle.py found, and
prints a line per type and class: a verdict for the default config and for each
random one, then what is the first difference.

  exact    the same names and shapes; a checkpoint may hold what `transformers`
           ignores besides (parts for training, buffers)
  split    exact, but splitting over tp=2 or pricing that fails
  refused  autopar says why it does not import this
  WRONG    autopar imports it, and it differs
  -        `transformers` cannot build it

usage: compare.py FOLDER [--bin DIR] [--tp] [--record DIR] [--lists] [TYPE ...]
"""

import argparse
import collections
import concurrent.futures
import glob
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile

# What says nothing about tensors is not kept in records.
IRRELEVANT = re.compile(
    r"dropout|dropconnect|initializer|_token_id$|_token_ids$|id2label|label2id|use_cache"
    r"|problem_type|task_specific|^prefix$|output_(attentions|hidden_states)|return_dict|chunk_size_feed|_coef$"
    r"|^init_std$|_loss_|jitter|layerdrop|^is_encoder_decoder$|pretraining_tp|_token_index$|_drop(_rate)?$"
)
Verdict = collections.namedtuple("Verdict", "word reason found", defaults=("", None))


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if done.returncode:
        # A refusal is a located error; anything else is a fault of autopar.
        text = done.stderr.strip()
        first = text.splitlines()[0] if text else f"exit code {done.returncode}"
        if done.returncode != 1 or "error: " not in first:
            raise AssertionError(f"{os.path.basename(command[0])} broke: {first[:200]}")
        raise RuntimeError(first.split("error: ", 1)[1])
    return done.stdout


def list_tensors(tools, config):
    listed = {}
    for line in run(f"{tools}/autopar-translate", "--import-hf", config, "--list-tensors").splitlines():
        name, shape, *_ = line.split("\t")
        listed[name] = json.loads(shape)
    return listed


def digest(tensors):
    """Of [name, shape] pairs, in the order of names."""
    lines = "".join(f"{name} {shape}\n" for name, shape in sorted(map(list, tensors)))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def summary(tensors):
    elements = sum(math.prod(shape) for _, shape in tensors)
    return {"tensors": len(tensors), "elements": elements, "digest": digest(tensors)}


def difference(found, wanted, ignored, layers):
    """The first way in which `found` is not `wanted`; empty where it is."""
    extra = [name for name in found if name not in wanted and not is_prediction(name, layers)
             and not any(re.search(p, name) for p in ignored)]  # fmt: skip
    missing = [name for name in wanted if name not in found]
    shapes = [name for name in wanted if name in found and found[name] != wanted[name]]
    parts = []
    if shapes:
        name = shapes[0]
        parts.append(f"{len(shapes)} shapes ({name} {found[name]}, not {wanted[name]})")
    if missing:
        parts.append(f"{len(missing)} missing ({missing[0]} {wanted[missing[0]]})")
    if extra:
        parts.append(f"{len(extra)} too many ({extra[0]} {found[extra[0]]})")
    return "; ".join(parts)


def layers_of(config):
    keys = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")
    text = config.get("text_config") or {}
    return next((c[key] for c in (text, config) for key in keys if isinstance(c.get(key), int)), None)


def is_prediction(name, layers):
    """Of layers for multi-token prediction, behind the others."""
    layer = re.search(r"\blayers\.(\d+)\.", name)
    return bool(re.search(r"(^|\.)mtp", name)) or bool(layer and layers and int(layer.group(1)) >= layers)


def judge(tools, config, layouts, ignored, split):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/config.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        try:
            found = list_tensors(tools, path)
        except RuntimeError as error:
            return Verdict("refused", str(error).replace(path, "config.json"))
        except AssertionError as error:
            return Verdict("WRONG", str(error))
        layers = layers_of(config)
        problems = [difference(found, dict(map(tuple, wanted)), ignored, layers) for wanted in layouts]
        if all(problems):
            return Verdict("WRONG", problems[0])
        if split:
            try:
                run(f"{tools}/autopar-translate", "--import-hf", path, "-o", f"{folder}/m.mlir")
                run(f"{tools}/autopar-opt", "--shard-tp=2", "--estimate=json", "-o", os.devnull, f"{folder}/m.mlir")
            except (RuntimeError, AssertionError) as error:
                return Verdict("split", str(error)[:300], found)
        return Verdict("exact", "", found)


def check(path, tools, split):
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    verdicts = []
    for variant in record["variants"]:
        if "error" in variant:
            verdicts.append(Verdict("-", variant["error"]))
        else:
            verdicts.append(judge(tools, variant["config"], variant["layouts"], record["ignored"], split))
    return record, verdicts


# -- Records ----------------------------------------------------------------------


def relevant(value):
    if isinstance(value, dict):
        return {key: relevant(inner) for key, inner in value.items() if not IRRELEVANT.search(key)}
    return value


def changes(base, other):
    """The merge patch (RFC 7386) from one to the other."""
    patch = {key: None for key in base if key not in other}
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            inner = changes(base[key], value)
            if inner:
                patch[key] = inner
        elif key not in base or base[key] != value:
            patch[key] = value
    return patch


def expectation(record, verdicts):
    """What test/validation/type_lists.py checks without Python packages."""
    base, variants = None, []
    for variant, verdict in zip(record["variants"], verdicts):
        if "error" in variant:
            continue
        config = relevant(variant["config"])
        entry = {"changes": changes(base, config)} if base else {"config": config}
        base = base or config
        # An exact list is recorded as autopar has it: a part of it may be what
        # `transformers` ignores.
        exact = verdict.found is not None
        entry.update(summary(verdict.found.items() if exact else variant["layouts"][0]))
        entry["verdict"] = "exact" if exact else "refused"
        variants.append(entry)
    return {"type": record["type"], "class": record["class"], "variants": variants}


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="what oracle.py has written")
    parser.add_argument("types", nargs="*", help="only these")
    parser.add_argument("--bin", default=os.path.join(root, "build", "bin"), help="folder of the tools")
    parser.add_argument("--tp", action="store_true", help="split each over tp=2 and price it, too")
    parser.add_argument("--record", help="write expectations to this file")
    parser.add_argument("--lists", action="store_true", help="print wanted and found tensors of the default config")
    options = parser.parse_intermixed_args()
    paths = sorted(glob.glob(f"{glob.escape(options.folder)}/*/*.json"))
    if options.types:
        paths = [path for path in paths if os.path.basename(os.path.dirname(path)) in options.types]
    lines, words, exact, known = [], collections.Counter(), set(), set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for record, verdicts in pool.map(lambda p: check(p, options.bin, options.tp), paths):
            words.update(verdict.word for verdict in verdicts)
            known.add(record["type"])
            if verdicts[0].word == "exact":
                exact.add(record["type"])
            reason = next((v.reason for v in verdicts if v.word not in ("exact", "-")), "") or next(
                (v.reason for v in verdicts if v.word == "-"), "")  # fmt: skip
            print(f"{record['type']:28} {record['class']:44} {' '.join(f'{v.word:7}' for v in verdicts)} {reason[:240]}")
            if options.lists and "layouts" in record["variants"][0]:
                for name, shape in record["variants"][0]["layouts"][0]:
                    print(f"  {name}\t{shape}")
            if options.record:
                lines.append(json.dumps(expectation(record, verdicts), separators=(",", ":")))
    if options.record:
        with open(options.record, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    print(f"{len(exact)} of {len(known)} types exact by default; configs: {dict(words.most_common())}")
    return 1 if words["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares FLOPs of a prefill with those that torch's counter sees when the
classes of `transformers` run a small random config on the CPU.

The counter has whole squares of scores, so does this comparison; experts run
one by one there, since the counter does not know grouped products. Known
differences: a causal convolution pads, and LFM's computes kernel - 1 tokens
more than it keeps.

usage: flops.py FOLDER AUTOPAR TYPE ...

FOLDER is what oracle.py has written, AUTOPAR the tool.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile
import warnings

import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

TOKENS = 16
# Their heads read all tokens here, and in autopar.
ALL_TOKENS = ("bert", "ernie", "data2vec", "roberta", "electra")


def counted_by_torch(kind, architecture, values):
    config = CONFIG_MAPPING[kind](**{key: value for key, value in values.items() if key != "model_type"})
    config._attn_implementation = config._experts_implementation = "eager"
    model = getattr(transformers, architecture)(config).eval().float()
    ids = torch.randint(3, 40, (1, TOKENS))
    reads_all = kind != "bert-generation" and any(word in kind for word in ALL_TOKENS)
    kept = {} if reads_all else {"logits_to_keep": 1}
    with torch.no_grad():
        for arguments in (kept, {}):
            with FlopCounterMode(display=False) as counter:
                try:
                    model(input_ids=ids, use_cache=False, **arguments)
                    return counter.get_total_flops()
                except TypeError:
                    if not arguments:
                        raise


def counted_by_autopar(tool, values):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(values, file)
        done = subprocess.run(
            [tool, "estimate", path, "--phase=prefill", "--batch=1", f"--prompt={TOKENS}", "--json"],
            capture_output=True, text=True, check=True)  # fmt: skip
    flops = json.loads(done.stdout)["flops"]
    return flops["total"] - flops["attention"] + flops.get("attention_full_square", flops["attention"])


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    warnings.filterwarnings("ignore")
    folder, tool, *kinds = sys.argv[1:]
    passed = failed = 0
    for kind in kinds:
        with open(sorted(glob.glob(f"{glob.escape(folder)}/{kind}/*ForCausalLM.json")
                         or glob.glob(f"{glob.escape(folder)}/{kind}/*.json"))[0], encoding="utf-8") as file:  # fmt: skip
            record = json.load(file)
        # Some random configs have the right tensors and do not run.
        for variant in record["variants"][1:]:
            try:
                wanted = counted_by_torch(kind, record["class"], variant["config"])
                found = counted_by_autopar(tool, variant["config"])
            except Exception as error:  # noqa: BLE001
                problem = f"{type(error).__name__} {str(error)[:100]}"
                continue
            passed, failed = passed + (wanted == found), failed + (wanted != found)
            print(f"{'PASS' if wanted == found else 'FAIL'} {kind}: torch {wanted:,}, autopar {found:,}", flush=True)
            break
        else:
            print(f"SKIP {kind}: {problem}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

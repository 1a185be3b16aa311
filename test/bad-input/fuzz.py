#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds the tools good input with random damage. They must exit with 0 or 1,
within ten seconds, and explain every 1.

usage: fuzz.py --bin DIR [--data DIR] [--seconds N] [--seed N]
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

NUMBERS = (b"0", b"-1", b"1", b"2147483648", b"9223372036854775807", b"9223372036854775808",
           b"99999999999999999999999", b"1e308", b"1e999", b"-0.0", b"NaN", b"1e-320", b"0x10")  # fmt: skip
PIECES = (b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\u0000", b"\xff", b"\0", b"null", b"true",
          b"#", b"%", b"<", b">", b"(", b")", b"tensor<", b"partial [tp]", b"by tp", b"?")  # fmt: skip


def spans(text, inside):
    """(begin, end) of the runs of characters of `inside`."""
    result, begin = [], None
    for i, char in enumerate(text + b"\n"):
        if char in inside and begin is None:
            begin = i
        elif char not in inside and begin is not None:
            result.append((begin, i))
            begin = None
    return result


def damage(text, random):
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        kind = random.randrange(7)
        at = random.randrange(len(text) + 1)
        if kind == 0:  # another number
            found = spans(text, b"0123456789.")
            if found:
                begin, end = random.choice(found)
                text = text[:begin] + random.choice(NUMBERS) + text[end:]
        elif kind == 1:  # a line goes, or comes twice
            lines = text.splitlines(keepends=True)
            if lines:
                i = random.randrange(len(lines))
                lines[i : i + 1] = [] if random.random() < 0.5 else [lines[i]] * 2
            text = b"".join(lines)
        elif kind == 2:  # a word for another
            found = spans(text, b"abcdefghijklmnopqrstuvwxyz_")
            if found:
                (a, b), (c, d) = random.choice(found), random.choice(found)
                text = text[:a] + text[c:d] + text[b:]
        elif kind == 3:
            text = text[:at] + random.choice(PIECES) + text[at:]
        elif kind == 4:
            text = text[:at] + text[at + random.choice((1, 1, 2, 8, 64)) :]
        elif kind == 5:
            text = text[:at]
        elif text:
            at = random.randrange(len(text))
            text = text[:at] + bytes([random.randrange(256)]) + text[at + 1 :]
    return text


def targets(tools, data, folder):
    """(good text, name of the file it goes to, command) of what there is."""

    def read(*path):
        with open(os.path.join(data, *path), "rb") as file:
            return file.read()

    translate, opt, autopar = (
        os.path.join(tools, tool) for tool in ("autopar-translate", "autopar-opt", "autopar")
    )
    result = []
    model = os.path.join(folder, "model.mlir")
    if os.path.exists(translate):
        for name in ("llama-3.1-8b", "qwen3-235b-a22b", "mixtral-8x7b"):
            config = read("models", name, "config.json")
            result.append((config, "config.json", [translate, "--import-hf", "config.json"]))
        result.append((config, "config.json", [translate, "--import-hf", "config.json", "--list-tensors"]))
        subprocess.run([translate, "--import-hf", os.path.join(data, "models", "mixtral-8x7b"), "-o", model],
                       check=True, stdin=subprocess.DEVNULL)  # fmt: skip
    if os.path.exists(opt) and os.path.exists(model):
        sharded = subprocess.run([opt, "--shard-tp=8", model], check=True, capture_output=True).stdout
        for text, flags in ((read(model), ["--shard-tp=8"]), (sharded, [])):
            result.append((text, "in.mlir", [opt, *flags, "--estimate=json", "in.mlir"]))
            result.append((text, "in.mlir", [opt, *flags, "in.mlir"]))
        estimate = [opt, "--estimate=json", model]
        plan = b'{"schema": "autopar.plan/1", "axes": [{"name": "tp", "size": 8}],\n"dtype": "bf16", "memory_utilization": 0.9}'
        result.append((plan, "plan.json", estimate + ["--plan=plan.json"]))
        result.append((read("hardware", "systems", "h100-sxm-8.json"), "system.json",
                       estimate + ["--shard-tp=8", "--hardware=./system.json"]))  # fmt: skip
        result.append((read("runtimes", "vllm.json"), "runtime.json",
                       estimate + ["--shard-tp=8", "--runtime=./runtime.json"]))  # fmt: skip
    if os.path.exists(autopar):
        for path in (("chips", "h100-sxm.json"), ("systems", "h100-sxm-8.json")):
            result.append((read("hardware", *path), "hardware.json", [autopar, "hardware", "show", "./hardware.json"]))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--bin", required=True)
    parser.add_argument("--data", default=os.path.join(here, "..", ".."))
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tools, data = os.path.abspath(options.bin), os.path.abspath(options.data)
    generator = random.Random(options.seed)
    environment = os.environ | {"AUTOPAR_DATA": data}
    runs = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        kinds = targets(tools, data, folder)
        if not kinds:
            print(f"error: no tools in {tools}")
            return 1
        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            good, name, command = kinds[runs % len(kinds)]
            text = damage(good, generator)
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(text)
            wrong, message = "", b""
            try:
                done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                      capture_output=True, timeout=10)  # fmt: skip
                message = done.stderr
                refused += done.returncode == 1
                if done.returncode not in (0, 1):
                    wrong = f"exit code {done.returncode}"
                elif done.returncode and not message.strip():
                    wrong = "exit code 1 without a message"
            except subprocess.TimeoutExpired:
                wrong = "longer than ten seconds"
            runs += 1
            if wrong:
                kept = os.path.join(tempfile.gettempdir(), f"autopar-fuzz-{options.seed}-{runs}-{name}")
                with open(kept, "wb") as file:
                    file.write(text)
                print(f"error: {wrong}, run {runs}: {' '.join(command)}\n  with {name} = {kept}")
                print("  " + message.decode("utf-8", "replace")[:2000].replace("\n", "\n  "))
                return 1
    print(f"{runs} runs, {refused} of them refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes launches of random plans with `autopar launch`, and reads them back
with `autopar read`.

Engines, their recorded versions, targets (a command, a Slurm job, a compose
file, manifests) and models, dense and with experts, are drawn with the plan.
Each one must be refused with a reason, or:

  devices    the file asks for as many devices as the plan has, replicas
             included: counted here, from the file alone
  plan       reading the file gives the plan that was written, and its devices
  written    a third of the plans are written, so that the two checks above are
             not empty

Ends with a line `N passed, N failed, N skipped`.

usage: launch_plans.py [--bin DIR] [--count N] [--seed N] [--quick]
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

import launches

# Bundled models, by whether they have experts.
MODELS = {False: ["llama-3.1-8b", "qwen3-32b"], True: ["qwen3-30b-a3b", "deepseek-v3"]}
ENGINES = ["vllm", "sglang", "trtllm"]
TARGETS = ["command", "slurm", "compose", "kubernetes", "dynamo"]
SUFFIXES = {"command": ".sh", "slurm": ".sbatch"}
DEVICES_PER_NODE = 8

# Knobs beside degrees; None: a flag without a value.
LIMITS = {"kv-format": ["fp8", "bf16"], "memory-utilization": [0.8, 0.85], "max-num-seqs": [64, 100, 512],
          "prefill-chunk": [2048, 8192], "enforce-eager": [None]}


def tables():
    for engine in ENGINES:
        path = launches.ROOT / "runtimes" / "launch" / f"{engine}.json"
        yield engine, json.loads(path.read_text(encoding="utf-8"))["versions"]


def draw(rng, versions):
    """A question: what is asked of `autopar launch`."""
    engine, moe = rng.choice(ENGINES), rng.random() < 0.6
    size = lambda most: 2 ** rng.randint(0, most)
    flags = {"shard-tp": size(4), "stage-pp": rng.choice([1, 1, 1, 2, 4]), "shard-dp": rng.choice([1, 1, 2, 4, 8, 16]),
             "shard-cp": rng.choice([1] * 8 + [2])}
    stage = flags["shard-tp"] * flags["shard-dp"] * flags["shard-cp"]
    if moe and rng.random() < 0.7:
        flags["shard-ep"] = rng.choice([stage, stage, flags["shard-tp"], size(5)])
        if rng.random() < 0.1:
            flags["shard-etp"] = rng.choice([1, flags["shard-tp"]])
    if rng.random() < 0.1 and flags["shard-tp"] > 1:
        flags["shard-attention-tp"] = rng.choice([1, flags["shard-tp"] // 2])
    if rng.random() < 0.08 and flags["shard-tp"] > 2:
        flags["shard-dcp"] = 2
    for name, values in LIMITS.items():
        if rng.random() < 0.3:
            flags[name] = rng.choice(values)
    arguments = [f"--{name}" if value is None else f"--{name}={value}" for name, value in flags.items()
                 if value != 1 or name == "shard-attention-tp"]
    devices = stage * flags["stage-pp"]
    return {"engine": engine, "version": rng.choice(versions[engine]), "model": rng.choice(MODELS[moe]), "arguments": arguments,
            "target": rng.choice(TARGETS + ["command"]), "devices": devices, "nodes": max(1, -(-devices // DEVICES_PER_NODE))}


#===---------------------------------------------------------------------===#
# Devices that a file asks for
#===---------------------------------------------------------------------===#

def flag(words, *names):
    """The number of a flag in a command's words."""
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            return int(value if equals else words[i + 1])
    return None


def product(words, *flags):
    result = 1
    for names in flags:
        result *= flag(words, *names) or 1
    return result


def of_vllm(words):
    """Followers have no server, and their leader says the same."""
    if "serve" not in words or "--headless" in words:
        return 0
    return product(words, ("--tensor-parallel-size", "-tp"), ("--pipeline-parallel-size", "-pp"), ("--data-parallel-size", "-dp"),
                   ("--prefill-context-parallel-size", "-pcp"))


def of_sglang(words):
    """Attention-dp lies inside --tp-size; other replicas do not."""
    if "sglang.launch_server" not in words or (flag(words, "--node-rank") or 0) > 0:
        return 0
    replicas = [] if "--enable-dp-attention" in words else [("--dp-size",)]
    return product(words, ("--tp-size",), ("--pp-size",), *replicas)


def of_trtllm(text):
    """Each command has a file of settings in front of it."""
    devices = 0
    for settings in re.split(r"\btrtllm-serve\b", text)[:-1]:
        keys = ("tensor_parallel_size", "pipeline_parallel_size", "context_parallel_size")
        found = [re.findall(rf"\b{key}\W+(\d+)", settings) for key in keys]
        devices += math.prod(int(values[-1]) if values else 1 for values in found)
    return devices


def of_command(engine, text):
    if engine == "trtllm":
        return of_trtllm(text)
    count = of_vllm if engine == "vllm" else of_sglang
    lines = re.sub(r"\\\n", " ", text).splitlines()
    return sum(count(shlex.split(line, comments=True)) for line in lines)


def of_file(question, text):
    """Devices that the file asks for, by its own numbers."""
    target = question["target"]
    if target == "command":
        return of_command(question["engine"], text)
    if target == "slurm":
        return int(re.search(r"--nodes=(\d+)", text).group(1)) * int(re.search(r"--gpus-per-node=(\d+)", text).group(1))
    import yaml
    tree = yaml.safe_load(text)
    if target == "compose":
        reserved = [service["deploy"]["resources"]["reservations"]["devices"] for service in tree["services"].values()]
        return sum(int(device["count"]) for devices in reserved for device in devices)
    if target == "dynamo":
        workers = [service for service in tree["spec"]["services"].values() if service["componentType"] == "worker"]
        return sum(worker["replicas"] * worker.get("multinode", {}).get("nodeCount", 1) * int(worker["resources"]["limits"]["gpu"])
                   for worker in workers)

    def gpus(pod):
        return sum(int(container["resources"]["limits"]["nvidia.com/gpu"]) for container in pod["spec"]["containers"])

    spec = tree["spec"]
    if tree["kind"] == "LeaderWorkerSet":
        group = spec["leaderWorkerTemplate"]
        leader = group.get("leaderTemplate", group["workerTemplate"])
        return spec["replicas"] * (gpus(leader) + (group["size"] - 1) * gpus(group["workerTemplate"]))
    return spec["replicas"] * gpus(spec["template"])


#===---------------------------------------------------------------------===#
# Writing and reading
#===---------------------------------------------------------------------===#

def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def text_of(question):
    return " ".join([question["engine"], question["version"], question["target"], question["model"], *question["arguments"]])


def meaning(plan):
    """A plan without what names of axes and absent members leave open: degrees
    by their sizes; one virtual stage is none."""
    sizes = {axis["name"]: axis["size"] for axis in plan.get("axes", [])}
    axes = {name: [name] for name in sizes} | plan.get("degrees", {})
    degrees = {name: math.prod(sizes[axis] for axis in parts) for name, parts in axes.items() if not re.fullmatch("dp[oi]|edp|tp[oi]", name)}
    rest = {key: value for key, value in plan.items() if key not in ("axes", "degrees")}
    pipeline = {key: value for key, value in rest.pop("pipeline", {}).items() if (key, value) != ("interleave", 1)}
    return {name: size for name, size in degrees.items() if size != 1 or name in ("etp", "attention_tp")}, pipeline, rest


def judge(tools, question):
    """The verdict on a question, and why."""
    written = run([f"{tools}/autopar", "launch", question["model"], *question["arguments"], f"--engine={question['engine']}",
                   f"--engine-version={question['version']}", f"--target={question['target']}", "--hardware=h200-sxm-8",
                   f"--nodes={question['nodes']}", "--json"])
    if written.returncode == 1 and "error: " in written.stderr:
        return "refused", written.stderr.split("error: ", 1)[1].splitlines()[0]
    if written.returncode:
        return "WRONG", f"launch: exit code {written.returncode}: {written.stderr[:200]}"
    launch = json.loads(written.stdout)
    text = launch["files"][0]["text"]
    if (counted := of_file(question, text)) != question["devices"]:
        return "WRONG", f"the file asks for {counted} devices, the plan has {question['devices']}"
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for file in launch["files"]:
            path = pathlib.Path(folder) / pathlib.Path(file["path"]).name
            path.write_text(file["text"], encoding="utf-8")
            paths.append(str(path))
        done = run([f"{tools}/autopar", "read", *paths, "--json", f"--version={question['version']}", f"--model={question['model']}"])
    if done.returncode:
        return "WRONG", f"read: {done.stderr[:200]}"
    reading = json.loads(done.stdout)
    if reading["devices"] != question["devices"]:
        return "WRONG", f"{question['devices']} devices are written, {reading['devices']} read"
    if reading["unknown"]:
        return "WRONG", f"unknown: {' '.join(reading['unknown'])}"
    if meaning(reading["plan"]) != meaning(launch["plan"]):
        return "WRONG", f"plan {json.dumps(launch['plan'])}, read {json.dumps(reading['plan'])}"
    return "same", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a fifth of the plans")
    options = parser.parse_args()
    if not launches.can_read(options.bin):
        print("skipped: this autopar writes no launches\n0 passed, 0 failed, 1 skipped")
        return 0
    rng, versions = random.Random(options.seed), dict(tables())
    questions = [draw(rng, versions) for _ in range(options.count // (5 if options.quick else 1))]
    counts, verdicts = launches.Counts(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda question: judge(options.bin, question), questions)
        for question, (verdict, why) in zip(questions, results):
            verdicts[verdict] += 1
            counts.check(verdict != "WRONG", f"{text_of(question)}: {why}")
            if verdict == "refused" and not why:
                counts.check(False, f"{text_of(question)}: refused without a reason")
    print(", ".join(f"{verdicts[verdict]} {verdict}" for verdict in sorted(verdicts)))
    counts.check(verdicts["same"] * 3 >= len(questions), "fewer than a third of the plans are written")
    print(f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped")
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes small models over pipeline stages, on simulated devices, against the
unsplit model: each stage runs its layers alone, on what it was sent.

Each model by each plan by each load. Values must be the same, weights of a stage
and what it sends as many bytes as the estimate says, and stages together keep
what the model does. What is refused must be refused for the reason expected.
Ends with a line `N passed, N failed`.

usage: staged_runs.py [--bin DIR] [--count N] [--seed N] [--quick] [--show N]
"""

import itertools
import json
import os
import random
import re
import sys
import tempfile

import drawn
from executed import MODELS, SKEWED, run

VISION = {
    "model_type": "mllama_vision_model", "hidden_size": 16, "attention_heads": 2, "intermediate_size": 32, "image_size": 28,
    "patch_size": 14, "num_channels": 3, "max_num_tiles": 2, "num_hidden_layers": 5, "num_global_layers": 1,
    "intermediate_layers_indices": [0, 1, 2, 3, 4], "vision_output_dim": 96, "supported_aspect_ratios": [[1, 1], [1, 2]],
    "hidden_act": "gelu", "norm_eps": 1e-5, "torch_dtype": "bfloat16",
}  # fmt: skip
LONGER = {
    "llama": {"num_hidden_layers": 4}, "gemma2": {"num_hidden_layers": 4}, "gpt2": {"n_layer": 4},
    "mixtral": {"num_hidden_layers": 4}, "gpt_oss": {"num_hidden_layers": 4, "layer_types":
    ["sliding_attention", "full_attention"] * 2}, "deepseek_v3": {"num_hidden_layers": 4},
    "lfm2": {"num_hidden_layers": 4, "full_attn_idxs": [1]}, "mamba2": {"num_hidden_layers": 4},
    "jamba": {"num_hidden_layers": 4}, "qwen3_next": {"num_hidden_layers": 4}, "t5": {"num_decoder_layers": 4},
    "deepseek_v32": {"num_hidden_layers": 4}, "cohere2": {}, "mistral": {"num_hidden_layers": 5},
}  # fmt: skip
STAGED = {name: {**MODELS[name], **fields} for name, fields in LONGER.items()}
# Cross-attention behind every second layer but the last ones.
STAGED["mllama"] = {
    "architectures": ["MllamaForConditionalGeneration"], "model_type": "mllama", "image_token_index": 99,
    "torch_dtype": "bfloat16", "vision_config": VISION, "text_config": {
        "model_type": "mllama_text_model", "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 6,
        "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 100, "cross_attention_layers": [1, 3],
        "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "max_position_embeddings": 64, "torch_dtype": "bfloat16",
        "tie_word_embeddings": False, "hidden_act": "silu"},
}  # fmt: skip

PLANS = [
    "--stage-pp=2 --microbatches=1", "--stage-pp=2 --microbatches=8", "--stage-pp=3 --microbatches=2",
    "--stage-pp=4 --microbatches=4", "--stage-pp=2 --shard-tp=2 --microbatches=4",
    "--stage-pp=2 --shard-tp=2 --map=tp,pp --microbatches=2", "--stage-pp=3 --shard-tp=4 --shard-sp --microbatches=2",
    "--stage-pp=4 --shard-tp=2 --shard-sp --microbatches=2", "--stage-pp=2 --shard-dp=2 --microbatches=4",
    "--stage-pp=2 --shard-dp=3 --microbatches=2", "--stage-pp=3 --shard-dp=2 --fsdp --microbatches=2",
    "--stage-pp=2 --shard-tp=2 --shard-dp=2 --fsdp --microbatches=2", "--stage-pp=2 --shard-cp=2 --microbatches=2",
    "--stage-pp=3 --shard-cp=2 --cp-kind=all-to-all --microbatches=4",
    "--stage-pp=2 --shard-tp=4 --shard-dcp=2 --microbatches=2",
    "--stage-pp=2 --shard-tp=4 --shard-attention-tp=2 --microbatches=2",
    "--stage-pp=2 --shard-ep=2 --shard-dp=2 --microbatches=2", "--stage-pp=4 --shard-ep=4 --shard-tp=4 --shard-sp",
    "--stage-pp=2 --shard-ep=2 --shard-etp=2 --shard-tp=4 --microbatches=4",
    f"--stage-pp=2 --shard-ep=2 --shard-dp=2 --microbatches=2 {SKEWED}=balanced --redundant-experts=4",
    "--stage-pp=2 --interleave=2 --microbatches=2", "--stage-pp=2 --interleave=2 --microbatches=4 --shard-tp=2",
    "--stage-pp=2 --interleave=2 --microbatches=8 --shard-dp=2", "--stage-pp=2 --schedule=gpipe --microbatches=4",
    "--stage-pp=3 --schedule=one_f_one_b --microbatches=4 --shard-tp=2",
    "--stage-pp=4 --schedule=zero_bubble --microbatches=8", "--stage-pp=2 --schedule=dual_pipe --microbatches=4",
    "--stage-pp=4 --schedule=dual_pipe --microbatches=8 --shard-tp=2",
    "--stage-pp=2 --microbatches=3", "--stage-pp=2 --interleave=2 --microbatches=1", "--stage-pp=16 --microbatches=2",
]  # fmt: skip
# Ranges that are not equal, for models of so many layers.
UNEVEN = {
    4: ["0-0,1-3", "0-2,3-3", "embedding,0-3", "0-3,head", "embedding,0,1-3,head"],
    5: ["0-0,1-4", "0-3,4-4", "embedding,0-4", "0-4,head", "embedding,0-1,2-4,head"],
    6: ["0-4,5-5", "0-1,2-5", "embedding,0-5", "0-5,head", "embedding,0-4,5,head"],
}  # fmt: skip
PLANS += [f"--stage-pp=2 --stages=uneven{i} --shard-tp=2 --microbatches=2" for i in range(4)]
PLANS += ["--stage-pp=4 --stages=uneven4 --microbatches=4", "--stage-pp=2 --interleave=2 --stages=uneven4 --microbatches=2"]

REASONS = [
    r"a batch of 8 does not divide into 3 microbatches", r"schedule interleaved of 1 microbatch over 2 stages",
    r"16 stages are 16 virtual stages, but the model has \d layers", r"the model has no routed experts to split over",
    r"tp = (ep = )?4 does not divide 2, dimension 1 of", r"--shard-dcp cannot split what it selects from",
]  # fmt: skip

# New tokens of each step: the step of the estimate, then a prompt in chunks and decodes.
LOADS = ["6", "4,2,1,1"]
BATCH, SOURCE = 8, 3
HELD = re.compile(r"device (\d+): weights (\d+), caches (\d+), states (\d+), sent (\d+)")


def layers_of(config):
    config = config.get("text_config", config)
    return config.get("num_decoder_layers") or config.get("num_hidden_layers") or config["n_layer"]


def held(said):
    return [[int(number) for number in match.groups()[1:]] for match in HELD.finditer(said)]


class Checker:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.wholes, self.kept = {}, {}

    def prepare(self, name):
        """The unsplit module, and what it keeps after each load."""
        config, whole = f"{self.folder}/{name}.json", f"{self.folder}/{name}.mlir"
        with open(config, "w", encoding="utf-8") as file:
            json.dump(STAGED[name], file)
        code, said = run([f"{self.tools}/autopar-translate", "--import-hf", config, "-o", whole])
        if code:
            raise SystemExit(f"{name}: {said}")
        self.wholes[name] = whole
        for load in LOADS:
            self.kept[name, load] = held(self.execute(whole, load)[1])[0]

    def execute(self, module, load, *flags):
        return run([f"{self.tools}/autopar-run", module, f"--batch={BATCH}", f"--encoder-tokens={SOURCE}",
                    f"--query={load}", "--holdings", *flags])  # fmt: skip

    def check(self, case):
        """("passed" or "refused", "") or ("failed", why)."""
        name, plan = case
        layers = layers_of(STAGED[name])
        flags = re.sub(r"uneven(\d)", lambda match: UNEVEN[layers][int(match[1])], plan)
        module = f"{self.folder}/{name}.{PLANS.index(plan)}.mlir"
        with open(self.wholes[name], encoding="utf-8") as file:
            encodes = "encoder_tokens" in file.read()
        step = ["--phase=prefill", f"--batch={BATCH}", "--prompt=6", "--nodes=8", "--runtime=ideal"]
        step += [f"--encoder-tokens={SOURCE}"] * encodes
        command = [f"{self.tools}/autopar-opt", *flags.split(), *step, self.wholes[name], "-o", module]
        code, said = run([*command, "--estimate=json", f"--report-output={module}.json"])
        where = f"{name} {flags}"
        if code:
            known = "error:" in said and any(re.search(reason, said) for reason in REASONS)
            return ("refused", "") if known else ("failed", f"{where}: {said[:200]}")
        with open(f"{module}.json", encoding="utf-8") as file:
            report = json.load(file)
        why = next(self.problems(name, flags, module, report), "")
        for path in [module, f"{module}.json"]:
            os.remove(path)
        return ("failed", f"{where}: {why}") if why else ("passed", "")

    def problems(self, name, flags, module, report):
        stages = report["memory"]["per_stage"]
        for load in LOADS:
            code, said = self.execute(module, load, f"--check={self.wholes[name]}")
            if code or "the same on" not in said:
                yield f"steps of {load}: " + next((line for line in said.splitlines() if "error" in line), said[:200])
                return
            devices = held(said)
            each = len(devices) // len(stages)
            # The places of pp, whose devices are neighbours or strides apart.
            groups = [devices[at * each : (at + 1) * each] for at in range(len(stages))]
            if "--map" in flags:
                groups = [devices[at :: len(stages)] for at in range(len(stages))]
            alone = not re.search("shard", flags)
            for index, what in [(1, "caches"), (2, "states")]:
                total = sum(own[index] for own in devices)
                if alone and total != self.kept[name, load][index]:
                    yield f"{what} of {total} bytes, the model has {self.kept[name, load][index]}"
            yield from self.compare(report, groups, load)

    @staticmethod
    def compare(report, groups, load):
        """What the estimate says of a stage's weights and transfers: of its fullest device."""
        for stage, (group, memory) in enumerate(zip(groups, report["memory"]["per_stage"])):
            weights = max(own[0] for own in group)
            if weights != memory["weight_bytes"]:
                yield f"stage {stage} has weights of {weights} bytes, the estimate says {memory['weight_bytes']}"
        if load != LOADS[0]:
            return
        schedule = report["schedule"]
        folded = schedule["kind"] == "dual_pipe"
        for stage, group in enumerate(groups):
            sent = max(own[3] for own in group)
            said = 0
            for move in schedule["transfers"]:
                places = [move["from"] % len(groups)]
                if folded:
                    places.append(len(groups) - 1 - places[0])
                said += places.count(stage) * move["bytes"] * schedule["microbatches"] // len(places)
            if sent != said:
                yield f"stage {stage} sends {sent} bytes, the estimate says {said}"


def main():
    options = drawn.parse(__doc__, None, 24)
    cases = list(itertools.product(STAGED, PLANS))
    if options.count:
        cases = random.Random(options.seed).sample(cases, options.count)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(options.bin, folder)
        for name in dict.fromkeys(name for name, _ in cases):
            checker.prepare(name)
        said = "{passed} plans executed, {refused} refused with a reason"
        return drawn.examine(checker.check, cases, ["passed"], said, options.show)


if __name__ == "__main__":
    sys.exit(main())

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as plans see them: what each tensor of a checkpoint is, which of its
dimensions a strategy splits, and over how many devices. Read off config.json
and the names of the tensors; shares no code with autopar."""

import collections
import json
import math
import os
import re

WIDTHS = {"BF16": 2, "F32": 4, "U8": 1, "F8_E4M3": 1}

# What a tensor is, by its name without layer and expert: the first that matches.
#   heads, keys    dimension 0 (o: 1) counts query or key-value heads
#   width          split by tp: the output of the first product, the input of the second
#   expert...      one matrix of each expert, split over ep; width as above, by etp
#   whole          every device has it; a matrix multiplies the device's own tokens
CLASSES = [(re.compile(pattern), *rest) for pattern, *rest in (
    (r"(embed_tokens|lm_head|embeddings)\.weight$", "vocabulary", 0),
    (r"experts\.N\.(w1|w3|gate_proj|up_proj)\.", "expert", 0),
    (r"experts\.N\.(w2|down_proj)\.", "expert", 1),
    (r"experts\.gate_up_proj_", "experts", 1),
    (r"experts\.down_proj_bias", "experts", None),
    (r"experts\.down_proj_", "experts", 2),
    (r"norm|shared_expert_gate|(mlp|block_sparse_moe)\.(gate|router)\.", "whole", None),
    (r"\.(q_a_proj|kv_a_proj_with_mqa)\.", "whole", None),
    (r"self_attn\.(o_proj|out_proj)\.weight", "heads", 1),
    (r"self_attn\.o_proj\.bias|(down_proj|c_proj)\.bias", "whole", None),
    (r"self_attn\.(q_proj|q_b_proj|sinks)", "heads", 0),
    (r"self_attn\.kv_b_proj", "latent", 0),
    (r"self_attn\.[kv]_proj", "keys", 0),
    (r"linear_attn\.out_proj", "linear", 1),
    (r"linear_attn\.", "linear", 0),
    (r"conv\.out_proj", "width", 1),
    (r"conv\.(in_proj|conv)", "width", 0),
    (r"(gate_proj|up_proj|c_fc|w1|w3)\.", "width", 0),
    (r"(down_proj|c_proj|w2)\.", "width", 1),
)]  # fmt: skip

Tensor = collections.namedtuple("Tensor", "name kind dim shape width count")
Workload = collections.namedtuple("Workload", "phase batch query context")

# The bundled models, with changes that make another kind of one.
MODELS = {
    "llama-3.1-8b": {},
    "llama-mqa": {"of": "llama-3.1-8b", "num_key_value_heads": 1},
    "qwen2.5-7b": {},
    "starcoder2-7b": {},
    "mistral-7b-v0.1": {},
    "gemma-2-27b": {},
    "mixtral-8x7b": {},
    "qwen3-30b-a3b": {},
    "gpt-oss-20b": {},
    "deepseek-v3": {},
    "deepseek-v2-lite": {},
    "qwen3-next-80b-a3b": {},
    "lfm2-1.2b": {},
    "nemotron-3-nano-30b-a3b": {},
    "t5": {"of": None, "model_type": "t5", "architectures": ["T5ForConditionalGeneration"],
           "d_model": 512, "d_ff": 2048, "d_kv": 64, "num_heads": 8, "num_layers": 6,
           "num_decoder_layers": 6, "vocab_size": 32128, "relative_attention_num_buckets": 32,
           "relative_attention_max_distance": 128, "feed_forward_proj": "relu",
           "tie_word_embeddings": True, "layer_norm_epsilon": 1e-6, "torch_dtype": "bfloat16"},
}  # fmt: skip
# Held to the invariants only: no closed forms here.
EXOTIC = ("nemotron-3-nano-30b-a3b", "t5", "lfm2-1.2b", "qwen3-next-80b-a3b")


def ceil_div(value, by):
    return -(-value // by)


class Model:
    def __init__(self, name, models, scratch, tools):
        changes = dict(MODELS[name])
        source = changes.pop("of", name)
        config = {}
        if source:
            with open(os.path.join(models, source, "config.json"), encoding="utf-8") as file:
                config = json.load(file)
        config.update(changes)
        self.name, self.config = name, config
        folder = os.path.join(scratch, name)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "config.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        self.path = os.path.join(folder, "model.mlir")
        tools.check("autopar-translate", "--import-hf", path, "-o", self.path)
        self.read()
        self.tensors = self.list(tools.check("autopar-translate", "--import-hf", path, "--list-tensors"))
        self.bytes = sum(math.prod(t.shape) * t.width * t.count for t in self.tensors)

    def first(self, *keys, default=0):
        return next((self.config[key] for key in keys if self.config.get(key) is not None), default)

    def read(self):
        first = self.first
        self.hidden = first("hidden_size", "d_model")
        self.layers = first("num_hidden_layers", "num_layers")
        self.heads = first("num_attention_heads", "num_heads")
        self.kv_heads = first("num_key_value_heads", default=self.heads)
        self.head_dim = first("head_dim", "d_kv", default=self.hidden // self.heads)
        self.vocabulary = first("vocab_size")
        self.experts = first("num_experts", "n_routed_experts", "num_local_experts")
        self.top_k = first("num_experts_per_tok") if self.experts else 0
        self.expert_groups = first("n_group") or 1, first("topk_group") or 1
        self.latent = first("kv_lora_rank")
        self.rotary = first("qk_rope_head_dim") if self.latent else 0
        self.exotic = self.name in EXOTIC
        self.dense_layers = self.layers if not self.experts else first("first_k_dense_replace")
        self.expert_width = first("moe_intermediate_size", "intermediate_size") if self.experts else 0
        # Everything that tp must divide besides heads.
        self.widths = []
        if not self.experts or self.dense_layers:
            self.widths.append(first("intermediate_size", "d_ff"))
        if self.name == "lfm2-1.2b":
            self.widths = [8192, self.hidden]
        self.shared_width = first("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                                  default=first("n_shared_experts") * self.expert_width)  # fmt: skip
        if self.shared_width:
            self.widths.append(self.shared_width)
        # Heads of linear attention and state spaces: split as query heads are.
        heads = first("linear_num_key_heads"), first("linear_num_value_heads"), first("mamba_num_heads")
        self.other_heads = [count for count in heads if count]
        self.encoder = self.name == "t5"
        # Products whose sum has a bias on top.
        self.biased = {"starcoder2-7b": ("attention", "mlp"), "gpt-oss-20b": ("attention", "mlp")}.get(self.name, ())

    def window(self, layer):
        if self.name in ("gpt-oss-20b", "gemma-2-27b"):
            return self.config["sliding_window"] if layer % 2 == 0 else 0
        if self.name in ("mistral-7b-v0.1", "starcoder2-7b"):
            return self.config["sliding_window"]
        return 0

    def list(self, text):
        counts = collections.Counter()
        for line in text.splitlines():
            name, shape, dtype, _ = line.split("\t")
            layer = re.search(r"\.layers\.(\d+)\.", name)
            if name.startswith("mtp.") or (layer and int(layer.group(1)) >= self.layers and not self.encoder):
                continue  # only stored
            stem = re.sub(r"\.\d+(?=\.)", ".N", re.sub(r"\.layers\.\d+\.", ".", name))
            counts[stem, tuple(json.loads(shape)), dtype] += 1
        return [self.classify(*key, count) for key, count in counts.items()]

    def classify(self, name, shape, dtype, count):
        for pattern, kind, dim in CLASSES:
            if pattern.search(name):
                return Tensor(name, kind, dim, shape, WIDTHS[dtype], count)
        if not self.exotic:
            raise ValueError(f"{self.name}: what is {name}?")
        return Tensor(name, "whole", None, shape, WIDTHS[dtype], count)

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs small models through `transformers` on the CPU and records their logits:
FAMILY.json beside this file, which test/validation/anchors.py compares with
what autopar-run computes.

Each is made from a config.json. Its checkpoint, as `save_pretrained` lays it
out, is filled by rule.py and loaded with `from_pretrained`; then come a prefill
and decodes with the cache. Needs what requirements.txt lists, from a package
index; no other test does.

usage: record.py [FAMILY ...]
"""

import inspect
import json
import os
import platform
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file

import rule

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH, STEPS = 2, [8, 1, 1, 1]
COMMON = {
    "hidden_size": 64, "vocab_size": 48, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 2,
    "head_dim": 8, "intermediate_size": 96, "max_position_embeddings": 64, "rms_norm_eps": 1e-6, "rope_theta": 1000.0,
    "torch_dtype": "float32", "tie_word_embeddings": False, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": None,
}  # fmt: skip
MLA = {
    "num_hidden_layers": 3, "num_key_value_heads": 8, "head_dim": None, "q_lora_rank": 24, "kv_lora_rank": 16,
    "qk_nope_head_dim": 12, "qk_rope_head_dim": 8, "v_head_dim": 10, "first_k_dense_replace": 1, "n_routed_experts": 8,
    "n_shared_experts": 2, "n_group": 4, "topk_group": 2, "num_experts_per_tok": 3, "moe_intermediate_size": 24,
    "scoring_func": "sigmoid", "topk_method": "noaux_tc", "norm_topk_prob": True, "routed_scaling_factor": 1.7,
    "rope_interleave": True,
}  # fmt: skip
NO_ATTENTION = {"num_attention_heads": None, "num_key_value_heads": None, "intermediate_size": None}


def model(architecture, kind, **fields):
    config = {**COMMON, "architectures": [architecture], "model_type": kind, **fields}
    return {key: value for key, value in config.items() if value is not None}


MODELS = {
    "llama": model("LlamaForCausalLM", "llama"),
    "qwen3": model("Qwen3ForCausalLM", "qwen3", tie_word_embeddings=True),
    "gemma3": model("Gemma3ForCausalLM", "gemma3_text", num_hidden_layers=4, sliding_window=4, sliding_window_pattern=2,
                    layer_types=["sliding_attention", "full_attention"] * 2, query_pre_attn_scalar=12,
                    rope_local_base_freq=100.0, hidden_activation="gelu_pytorch_tanh", tie_word_embeddings=True),
    "gpt_oss": model("GptOssForCausalLM", "gpt_oss", attention_bias=True, num_local_experts=8, num_experts_per_tok=3,
                     intermediate_size=32, sliding_window=4, layer_types=["sliding_attention", "full_attention"],
                     swiglu_limit=0.8, rope_theta=None, rope_parameters={"rope_type": "default", "rope_theta": 1000.0}),
    "mixtral": model("MixtralForCausalLM", "mixtral", num_local_experts=8, num_experts_per_tok=3),
    "deepseek_v3": model("DeepseekV3ForCausalLM", "deepseek_v3", **MLA),
    "deepseek_v32": model("DeepseekV32ForCausalLM", "deepseek_v32", index_n_heads=4, index_head_dim=16, index_topk=3,
                          **MLA),
    "mamba2": model("Mamba2ForCausalLM", "mamba2", num_heads=8, head_dim=16, state_size=12, n_groups=2, conv_kernel=4,
                    expand=2, use_conv_bias=True, chunk_size=4, layer_norm_epsilon=1e-5, **NO_ATTENTION),
    "nemotron_h": model("NemotronHForCausalLM", "nemotron_h", num_hidden_layers=4, hybrid_override_pattern="M*ME",
                        mamba_head_dim=8, mamba_num_heads=8, ssm_state_size=12, n_groups=2, conv_kernel=4, chunk_size=4,
                        n_routed_experts=8, n_shared_experts=1, num_experts_per_tok=3, moe_intermediate_size=24,
                        moe_shared_expert_intermediate_size=40, n_group=1, topk_group=1, mlp_hidden_act="relu2",
                        norm_topk_prob=True, routed_scaling_factor=1.7, use_conv_bias=True, layer_norm_epsilon=1e-5),
    "qwen3_next": model("Qwen3NextForCausalLM", "qwen3_next", num_hidden_layers=4, full_attention_interval=2,
                        head_dim=16, linear_conv_kernel_dim=4, linear_key_head_dim=8, linear_value_head_dim=8,
                        linear_num_key_heads=4, linear_num_value_heads=8, moe_intermediate_size=24,
                        shared_expert_intermediate_size=40, num_experts=8, num_experts_per_tok=3, norm_topk_prob=True,
                        partial_rotary_factor=0.5, decoder_sparse_step=1, mlp_only_layers=[]),
}  # fmt: skip


def load(config, folder):
    """The model of `config`, with the weights of the rule, in double precision."""
    with open(f"{folder}/config.json", "w", encoding="utf-8") as file:
        json.dump(config, file)
    read = transformers.AutoConfig.from_pretrained(folder)
    transformers.AutoModelForCausalLM.from_config(read).save_pretrained(folder)
    path = f"{folder}/model.safetensors"
    filled = {
        name: torch.from_numpy(rule.weight(name, tensor.shape)).contiguous() for name, tensor in load_file(path).items()
    }
    save_file(filled, path, metadata={"format": "pt"})
    loaded, info = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float64, attn_implementation="eager", experts_implementation="eager",
        output_loading_info=True,
    )  # fmt: skip
    wrong = {key: value for key, value in info.items() if value and key.endswith("keys")}
    if wrong:
        raise SystemExit(f"the checkpoint was not loaded as it is: {wrong}")
    return loaded.eval()


def run(loaded, vocabulary):
    """The logits of each step's last tokens."""
    takes = inspect.signature(loaded.forward).parameters
    cache_name = "cache_params" if "cache_params" in takes else "past_key_values"
    cache, context, results = None, 0, []
    for query in STEPS:
        context += query
        ids = torch.from_numpy(rule.tokens(BATCH, query, context, vocabulary))
        with torch.no_grad():
            out = loaded(input_ids=ids, use_cache=True, **{cache_name: cache})
        cache = out[cache_name]
        results.append([float(f"{x:.9g}") for x in out.logits[:, -1].double().flatten()])
    return results


def main():
    transformers.logging.set_verbosity_error()
    for name in sys.argv[1:] or MODELS:
        config = MODELS[name]
        with tempfile.TemporaryDirectory() as folder:
            loaded = load(config, folder)
        record = {
            "made_with": {
                "python": platform.python_version(),
                "torch": torch.__version__.split("+")[0],
                "transformers": transformers.__version__,
            },
            "config": config,
            "batch": BATCH,
            "steps": STEPS,
            "logits": run(loaded, config["vocab_size"]),
        }
        with open(f"{HERE}/{name}.json", "w", encoding="utf-8") as file:
            json.dump(record, file)
            file.write("\n")
        print(name, "largest", max(abs(x) for step in record["logits"] for x in step))


if __name__ == "__main__":
    main()

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
import re
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file

import rule

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH, STEPS = 2, [8, 1, 1, 1]
# What transformers 5.23 saves MLPs of kimi_linear and hy_v4 as, and checkpoints do not.
SAVED_AS = {
    r"\.block_sparse_moe\.(gate|up|down)_proj\.": r".mlp.\1_proj.",
    r"\.mlp\.(shared_experts\.)?linear_gate\.": r".mlp.\1gate_proj.",
}
# What transformers 5.24 saves of a type under other names than published ones.
PUBLISHED_AS = {
    "deepseek_v4": {
        r"^model\.embed_tokens\.": "embed.", r"^model\.hc_head\.hc_": "hc_head_", r"\.attn\.norm\.": ".attn.kv_norm.",
        r"^model\.": "",
    },
}  # fmt: skip
# Tensors that follow from the config.
DERIVED = ("slope_rate", "query_decay", "key_decay", "diagonal_decay")
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
    "deepseek_v4": model("DeepseekV4ForCausalLM", "deepseek_v4", num_hidden_layers=4, num_key_value_heads=1,
                         intermediate_size=None, head_dim=8, partial_rotary_factor=0.5, q_lora_rank=24, o_lora_rank=6,
                         o_groups=4, sliding_window=4, compress_rates={"compressed_sparse_attention": 2,
                                                                       "heavily_compressed_attention": 4},
                         layer_types=["sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention",
                                      "compressed_sparse_attention"], mlp_layer_types=["hash_moe", "moe", "moe", "hash_moe"],
                         compress_rope_theta=500.0, index_n_heads=4, index_head_dim=8, index_topk=2, n_routed_experts=8,
                         num_experts_per_tok=3, moe_intermediate_size=24, routed_scaling_factor=1.7, swiglu_limit=0.3,
                         hc_mult=3, hc_eps=1e-3, hc_sinkhorn_iters=5),
    "minimax_m3": model("MiniMaxM3VLForCausalLM", "minimax_m3_vl_text", num_hidden_layers=3, intermediate_size=24,
                        dense_intermediate_size=96, shared_intermediate_size=40, num_local_experts=8,
                        num_experts_per_tok=3, routed_scaling_factor=1.7, swiglu_limit=0.8, rotary_dim=4, rope_theta=None,
                        rope_parameters={"rope_type": "default", "rope_theta": 1000.0, "partial_rotary_factor": 0.5},
                        index_n_heads=2, index_head_dim=8, index_block_size=2, index_topk_blocks=2,
                        layer_types=["full_attention", "minimax_m3_sparse", "minimax_m3_sparse"],
                        mlp_layer_types=["dense", "sparse", "sparse"]),
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
    "kimi_linear": model("KimiLinearForCausalLM", "kimi_linear", num_hidden_layers=4, num_key_value_heads=8,
                         head_dim=None,
                         linear_attn_config={"kda_layers": [1, 3, 4], "full_attn_layers": [2], "head_dim": 12,
                                             "num_heads": 4, "short_conv_kernel_size": 4},
                         kv_lora_rank=16, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10, mla_use_nope=True,
                         first_k_dense_replace=1, num_experts=8, num_shared_experts=2, num_experts_per_token=3,
                         num_expert_group=4, topk_group=2, moe_intermediate_size=24, moe_renormalize=True,
                         routed_scaling_factor=1.7, pad_token_id=0),
    "qwen2_moe": model("Qwen2MoeForCausalLM", "qwen2_moe", head_dim=None, num_experts=8, num_experts_per_tok=3,
                       moe_intermediate_size=24, shared_expert_intermediate_size=40, norm_topk_prob=False,
                       decoder_sparse_step=1, mlp_only_layers=[]),
    "qwen3_moe": model("Qwen3MoeForCausalLM", "qwen3_moe", num_experts=8, num_experts_per_tok=3,
                       moe_intermediate_size=24, norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[]),
    "gemma2": model("Gemma2ForCausalLM", "gemma2", sliding_window=4, attn_logit_softcapping=5.0,
                    final_logit_softcapping=3.0, query_pre_attn_scalar=12, hidden_activation="gelu_pytorch_tanh",
                    tie_word_embeddings=True),
    "deepseek_v2": model("DeepseekV2ForCausalLM", "deepseek_v2", **{
        **MLA, "q_lora_rank": None, "scoring_func": "softmax", "topk_method": "greedy", "n_group": 1, "topk_group": 1,
        "norm_topk_prob": False, "rope_interleave": None}),
    "glm_moe_dsa": model("GlmMoeDsaForCausalLM", "glm_moe_dsa", index_n_heads=4, index_head_dim=16, index_topk=3,
                         **MLA),
    "hy_v4": model("HYV4ForCausalLM", "hy_v4", num_key_value_heads=8, head_dim=None, q_lora_rank=24, kv_lora_rank=16,
                   qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10, index_n_heads=4, index_head_dim=16,
                   index_topk=3, indexer_types=["full", "full"], n_routed_experts=8, n_shared_experts=2,
                   num_experts_per_tok=3, moe_intermediate_size=24, routed_scaling_factor=1.7, swiglu_limit=0.3,
                   hc_mult=3, hc_magnitude=1.5, hc_eps=1e-3, pad_token_id=0),
    "glm4": model("Glm4ForCausalLM", "glm4", attention_bias=True, partial_rotary_factor=0.5, pad_token_id=0),
    "glm4_moe": model("Glm4MoeForCausalLM", "glm4_moe", attention_bias=True, partial_rotary_factor=0.5,
                      n_routed_experts=8, n_shared_experts=1, num_experts_per_tok=3, moe_intermediate_size=24,
                      first_k_dense_replace=1, n_group=1, topk_group=1, use_qk_norm=True, norm_topk_prob=True,
                      routed_scaling_factor=1.7),
    "cohere": model("CohereForCausalLM", "cohere", logit_scale=0.25, tie_word_embeddings=True, use_qk_norm=True,
                    rms_norm_eps=None, layer_norm_eps=1e-5),
    "cohere2": model("Cohere2ForCausalLM", "cohere2", sliding_window=4, sliding_window_pattern=2, num_hidden_layers=4,
                     logit_scale=0.25, tie_word_embeddings=True, rms_norm_eps=None, layer_norm_eps=1e-5),
    "helium": model("HeliumForCausalLM", "helium"),
    "ernie4_5": model("Ernie4_5ForCausalLM", "ernie4_5", tie_word_embeddings=True),
    "ernie4_5_moe": model("Ernie4_5_MoeForCausalLM", "ernie4_5_moe", head_dim=None, moe_num_experts=8, moe_k=3,
                          moe_intermediate_size=24, moe_num_shared_experts=1, moe_layer_start_index=1,
                          moe_layer_end_index=1, moe_layer_interval=1),
    "granite": model("GraniteForCausalLM", "granite", head_dim=None, attention_multiplier=0.3, residual_multiplier=0.5,
                     embedding_multiplier=2.0, logits_scaling=3.0),
    "granitemoe": model("GraniteMoeForCausalLM", "granitemoe", head_dim=None, attention_multiplier=0.3,
                        residual_multiplier=0.5, embedding_multiplier=2.0, logits_scaling=3.0, num_local_experts=8,
                        num_experts_per_tok=3),
    "hyperclovax": model("HyperCLOVAXForCausalLM", "hyperclovax"),
    "olmo2": model("Olmo2ForCausalLM", "olmo2", head_dim=None, num_key_value_heads=8),
    "olmoe": model("OlmoeForCausalLM", "olmoe", head_dim=None, num_experts=8, num_experts_per_tok=3,
                   num_key_value_heads=8, norm_topk_prob=True),
    "minimax_m2": model("MiniMaxM2ForCausalLM", "minimax_m2", num_local_experts=8, num_experts_per_tok=3, rotary_dim=4,
                        use_qk_norm=True, use_routing_bias=True, scoring_func="sigmoid"),
    "dots1": model("Dots1ForCausalLM", "dots1", n_routed_experts=8, n_shared_experts=1, num_experts_per_tok=3,
                   moe_intermediate_size=24, first_k_dense_replace=1, n_group=1, topk_group=1, norm_topk_prob=True,
                   routed_scaling_factor=1.7),
    "lfm2": model("Lfm2ForCausalLM", "lfm2", head_dim=None, num_hidden_layers=3, full_attn_idxs=[1], conv_L_cache=3,
                  conv_bias=False, block_ff_dim=96, block_auto_adjust_ff_dim=False, norm_eps=1e-5, rms_norm_eps=None,
                  tie_word_embeddings=True),
    "mamba": model("MambaForCausalLM", "mamba", head_dim=None, state_size=8, conv_kernel=4, expand=2, time_step_rank=4,
                   **NO_ATTENTION),
    "jamba": model("JambaForCausalLM", "jamba", head_dim=None, num_experts=4, num_experts_per_tok=2,
                   attn_layer_period=2, attn_layer_offset=1, expert_layer_period=2, expert_layer_offset=1,
                   mamba_d_state=8, mamba_d_conv=4, mamba_expand=2, mamba_dt_rank=4, use_mamba_kernels=False),
    "exaone4": model("Exaone4ForCausalLM", "exaone4", sliding_window=4, sliding_window_pattern=2,
                     layer_types=["sliding_attention", "full_attention"]),
    "phi3": model("Phi3ForCausalLM", "phi3", head_dim=None, pad_token_id=0),
    "starcoder2": model("Starcoder2ForCausalLM", "starcoder2", head_dim=None, use_bias=True),
    "gptj": model("GPTJForCausalLM", "gptj", n_embd=64, n_head=8, n_layer=2, n_positions=64, n_inner=96, rotary_dim=4,
                  hidden_size=None, num_hidden_layers=None, head_dim=None, **NO_ATTENTION),
    "mpt": model("MptForCausalLM", "mpt", d_model=48, n_heads=6, n_layers=2, expansion_ratio=4, max_seq_len=64,
                 attn_config={"attn_type": "multihead_attention", "alibi": True, "alibi_bias_max": 8},
                 tie_word_embeddings=True, hidden_size=None, num_hidden_layers=None, head_dim=None, rope_theta=None,
                 **NO_ATTENTION),
    "opt": model("OPTForCausalLM", "opt", ffn_dim=96, word_embed_proj_dim=64, do_layer_norm_before=True,
                 tie_word_embeddings=True, head_dim=None, num_key_value_heads=None, intermediate_size=None),
    "minimax": model("MiniMaxForCausalLM", "minimax", num_hidden_layers=4, num_local_experts=8, num_experts_per_tok=3,
                     # transformers 5.23 counts the tokens of a step before by the cache of the first layer.
                     layer_types=["full_attention", "linear_attention", "linear_attention", "full_attention"],
                     block_size=4, full_attn_alpha_factor=3.5, full_attn_beta_factor=1.0, linear_attn_alpha_factor=3.5,
                     linear_attn_beta_factor=1.0, mlp_alpha_factor=3.5, mlp_beta_factor=1.0),
    "gemma4_text": model("Gemma4ForCausalLM", "gemma4_text", num_hidden_layers=4, sliding_window=4, rope_theta=None,
                         layer_types=["sliding_attention", "full_attention"] * 2, tie_word_embeddings=True,
                         hidden_size_per_layer_input=12, vocab_size_per_layer_input=48, final_logit_softcapping=3.0,
                         hidden_activation="gelu_pytorch_tanh", per_layer_config={"1": {"head_dim": 16},
                         "3": {"head_dim": 16}}, pad_token_id=0, rope_parameters={
                             "full_attention": {"rope_type": "proportional", "rope_theta": 1000.0,
                                                "partial_rotary_factor": 1.0},
                             "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}}),
    "gemma4_shared": model("Gemma4ForCausalLM", "gemma4_text", num_hidden_layers=7, sliding_window=4, rope_theta=None,
                           layer_types=["sliding_attention", "full_attention", "sliding_attention",
                                        "sliding_attention", "sliding_attention", "sliding_attention",
                                        "full_attention"], num_kv_shared_layers=3, use_double_wide_mlp=True,
                           tie_word_embeddings=True, hidden_size_per_layer_input=12, vocab_size_per_layer_input=48,
                           final_logit_softcapping=3.0, hidden_activation="gelu_pytorch_tanh",
                           per_layer_config={"1": {"head_dim": 16}, "6": {"head_dim": 16}}, pad_token_id=0,
                           rope_parameters={"full_attention": {"rope_type": "proportional", "rope_theta": 1000.0,
                                                               "partial_rotary_factor": 1.0},
                                            "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}}),
    "granite_swa": model("GraniteSWAForCausalLM", "granite_swa", head_dim=None, attention_multiplier=0.3,
                         residual_multiplier=0.5, embedding_multiplier=2.0, logits_scaling=3.0, sliding_window=4,
                         layer_types=["sliding_attention", "full_attention"], rope_theta=None,
                         rope_parameters={"rope_type": "default", "rope_theta": 1000.0},
                         layer_rope_theta=[100.0, 1000.0]),
    "exaone_moe": model("ExaoneMoeForCausalLM", "exaone_moe", head_dim=None, sliding_window=4, sliding_window_pattern=2,
                        layer_types=["sliding_attention", "full_attention"], num_experts=8, num_experts_per_tok=3,
                        num_shared_experts=1, moe_intermediate_size=24, mlp_layer_types=["dense", "sparse"], n_group=1,
                        topk_group=1),
    "hy_v3": model("HYV3ForCausalLM", "hy_v3", num_experts=8, num_experts_per_tok=3, num_shared_experts=1,
                   moe_intermediate_size=24, mlp_layer_types=["dense", "sparse"]),
    "mellum": model("MellumForCausalLM", "mellum", num_experts=8, num_experts_per_tok=3, moe_intermediate_size=24,
                    norm_topk_prob=True, sliding_window=4, layer_types=["sliding_attention", "full_attention"],
                    mlp_layer_types=["sparse", "sparse"], rope_theta=None, rope_parameters={
                        "full_attention": {"rope_type": "default", "rope_theta": 1000.0},
                        "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}}),
    "axk1": model("AXK1ForCausalLM", "axk1", **{**MLA, "scoring_func": None, "topk_method": None}),
    "cohere2_moe": model("Cohere2MoeForCausalLM", "cohere2_moe", sliding_window=4, sliding_window_pattern=2,
                         num_hidden_layers=4, logit_scale=0.25, tie_word_embeddings=True, rms_norm_eps=None,
                         layer_norm_eps=1e-5, num_experts=8, num_experts_per_tok=3, num_shared_experts=1),
    "aria_text": model("AriaTextForCausalLM", "aria_text", head_dim=None, moe_num_experts=8, moe_topk=3,
                       moe_num_shared_experts=2),
    "gpt_neox_japanese": model("GPTNeoXJapaneseForCausalLM", "gpt_neox_japanese", intermediate_multiple_size=2,
                               intermediate_size=None, num_key_value_heads=None, head_dim=None, rope_theta=None,
                               rope_parameters={"rope_type": "default", "rope_theta": 1000.0,
                                                "partial_rotary_factor": 1.0}),
    "gpt_neox": model("GPTNeoXForCausalLM", "gpt_neox", rotary_pct=0.5, rotary_emb_base=1000, rope_theta=None,
                      layer_norm_eps=1e-5, use_parallel_residual=True, num_key_value_heads=None, head_dim=None),
}  # fmt: skip


def numbers(saved, tensor, config):
    """Those of the rule, by the name that checkpoints have for what is saved as `saved`."""
    for pattern, name in (SAVED_AS | PUBLISHED_AS.get(config["model_type"], {})).items():
        saved = re.sub(pattern, name, saved)
    drawn = torch.from_numpy(rule.weight(saved, tensor.shape)).contiguous()
    return drawn if tensor.is_floating_point() else rule.experts(drawn, config["n_routed_experts"])


def load(config, folder):
    """The model of `config`, with the weights of the rule, in double precision."""
    with open(f"{folder}/config.json", "w", encoding="utf-8") as file:
        json.dump(config, file)
    read = transformers.AutoConfig.from_pretrained(folder)
    transformers.AutoModelForCausalLM.from_config(read).save_pretrained(folder)
    path = f"{folder}/model.safetensors"
    filled = {
        name: tensor if name.endswith(DERIVED) else numbers(name, tensor, config)
        for name, tensor in load_file(path).items()
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

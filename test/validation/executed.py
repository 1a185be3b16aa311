#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes small models whole and split, on simulated devices, and compares
every value: `autopar-run split.mlir --check=whole.mlir`.

Each model by each plan by each load: a prefill, a prompt in two chunks, decodes.
What autopar-opt refuses must say why; what it splits must compute the same.
Ends with a line `N passed, N failed`.

usage: executed.py [--bin DIR] [--quick] [--only NAME] [--show N]
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import subprocess
import sys
import tempfile

COMMON = {
    "hidden_size": 32, "vocab_size": 100, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 2,
    "head_dim": 4, "intermediate_size": 64, "max_position_embeddings": 64, "torch_dtype": "bfloat16",
}  # fmt: skip
MLA = {
    "num_key_value_heads": 8, "q_lora_rank": 16, "kv_lora_rank": 12, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4,
    "v_head_dim": 8, "first_k_dense_replace": 1, "n_routed_experts": 8, "n_shared_experts": 1, "n_group": 4,
    "topk_group": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "scoring_func": "sigmoid",
    "topk_method": "noaux_tc", "num_hidden_layers": 3,
}  # fmt: skip


def model(architecture, kind, **fields):
    config = {**COMMON, "architectures": [architecture], "model_type": kind, **fields}
    return {key: value for key, value in config.items() if value is not None}


MODELS = {
    "llama": model("LlamaForCausalLM", "llama", num_hidden_layers=3),
    "qwen2": model("Qwen2ForCausalLM", "qwen2"),
    "qwen3": model("Qwen3ForCausalLM", "qwen3", num_key_value_heads=4),
    "mistral": model("MistralForCausalLM", "mistral", sliding_window=3),
    "gemma2": model("Gemma2ForCausalLM", "gemma2", sliding_window=3, attn_logit_softcapping=5.0,
                    final_logit_softcapping=3.0, query_pre_attn_scalar=4),
    "gemma": model("GemmaForCausalLM", "gemma", num_key_value_heads=8),
    "cohere2": model("Cohere2ForCausalLM", "cohere2", sliding_window=3, sliding_window_pattern=2,
                     num_hidden_layers=4, logit_scale=0.25),
    "olmo2": model("Olmo2ForCausalLM", "olmo2", num_key_value_heads=8),
    "starcoder2": model("Starcoder2ForCausalLM", "starcoder2", use_bias=True),
    "gpt2": model("GPT2LMHeadModel", "gpt2", n_embd=32, n_head=8, n_layer=2, n_positions=64, hidden_size=None,
                  num_hidden_layers=None, num_attention_heads=None, num_key_value_heads=None, head_dim=None,
                  intermediate_size=None),
    "falcon": model("FalconForCausalLM", "falcon", multi_query=True, new_decoder_architecture=True, num_kv_heads=2,
                    parallel_attn=True, bias=False, alibi=False, num_key_value_heads=None, head_dim=None,
                    intermediate_size=None),
    "phi3": model("Phi3ForCausalLM", "phi3"),
    "gpt_oss": model("GptOssForCausalLM", "gpt_oss", attention_bias=True, num_local_experts=8, num_experts_per_tok=2,
                     experts_per_token=2, sliding_window=3, layer_types=["sliding_attention", "full_attention"],
                     intermediate_size=32),
    "mixtral": model("MixtralForCausalLM", "mixtral", num_local_experts=8, num_experts_per_tok=2),
    "qwen3_moe": model("Qwen3MoeForCausalLM", "qwen3_moe", num_experts=8, num_experts_per_tok=2,
                       moe_intermediate_size=16, decoder_sparse_step=1, mlp_only_layers=[]),
    "glm4_moe": model("Glm4MoeForCausalLM", "glm4_moe", attention_bias=True, partial_rotary_factor=0.5,
                      n_routed_experts=8, n_shared_experts=1, num_experts_per_tok=2, moe_intermediate_size=16,
                      first_k_dense_replace=1, n_group=1, topk_group=1, use_qk_norm=True, head_dim=8),
    "minimax_m2": model("MiniMaxM2ForCausalLM", "minimax_m2", num_local_experts=8, num_experts_per_tok=2,
                        rotary_dim=2, use_qk_norm=True, use_routing_bias=True, scoring_func="sigmoid"),
    "deepseek_v2": model("DeepseekV2ForCausalLM", "deepseek_v2", **{**MLA, "q_lora_rank": None,
                         "scoring_func": "softmax", "topk_method": "greedy", "n_group": 1, "topk_group": 1}),
    "deepseek_v3": model("DeepseekV3ForCausalLM", "deepseek_v3", **MLA),
    "deepseek_mtp": model("DeepseekV3ForCausalLM", "deepseek_v3", num_nextn_predict_layers=2, **MLA),
    "kimi_k2": model("DeepseekV3ForCausalLM", "kimi_k2", **{**MLA, "n_group": 1, "topk_group": 1}),
    "deepseek_v32": model("DeepseekV32ForCausalLM", "deepseek_v32", index_n_heads=4, index_head_dim=8, index_topk=3,
                          **MLA),
    "lfm2": model("Lfm2ForCausalLM", "lfm2", num_hidden_layers=3, full_attn_idxs=[1], conv_L_cache=3, conv_bias=False,
                  block_ff_dim=64, block_auto_adjust_ff_dim=False, block_multiple_of=8, norm_eps=1e-5),
    "mamba2": model("Mamba2ForCausalLM", "mamba2", num_heads=8, head_dim=8, state_size=4, n_groups=2, conv_kernel=4,
                    expand=2, num_attention_heads=None, num_key_value_heads=None, intermediate_size=None),
    "mamba": model("MambaForCausalLM", "mamba", state_size=4, conv_kernel=4, expand=2, time_step_rank=4,
                   num_attention_heads=None, num_key_value_heads=None, head_dim=None, intermediate_size=64),
    "minimax": model("MiniMaxForCausalLM", "minimax", num_local_experts=8, num_experts_per_tok=2,
                     layer_types=["linear_attention", "full_attention"]),
    "nemotron_h": model("NemotronHForCausalLM", "nemotron_h", num_hidden_layers=4, hybrid_override_pattern="M*ME",
                        mamba_head_dim=8, mamba_num_heads=8, ssm_state_size=4, n_groups=2, conv_kernel=4,
                        n_routed_experts=8, n_shared_experts=1, num_experts_per_tok=2, moe_intermediate_size=16,
                        moe_shared_expert_intermediate_size=16, n_group=1, topk_group=1, mlp_hidden_act="relu2",
                        use_conv_bias=True),
    "qwen3_next": model("Qwen3NextForCausalLM", "qwen3_next", num_hidden_layers=2, full_attention_interval=2,
                        linear_conv_kernel_dim=4, linear_key_head_dim=4, linear_value_head_dim=4,
                        linear_num_key_heads=4, linear_num_value_heads=8, moe_intermediate_size=16,
                        shared_expert_intermediate_size=16, num_experts=8, num_experts_per_tok=2,
                        partial_rotary_factor=0.5, decoder_sparse_step=1, mlp_only_layers=[]),
    "kimi_linear": model("KimiLinearForCausalLM", "kimi_linear", head_dim=None, num_hidden_layers=3,
                         linear_attn_config={"kda_layers": [1, 3], "full_attn_layers": [2], "head_dim": 6, "num_heads": 8,
                                             "short_conv_kernel_size": 4},
                         kv_lora_rank=8, qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=6, first_k_dense_replace=1,
                         num_experts=8, num_shared_experts=1, num_experts_per_token=2, moe_intermediate_size=16),
    "hy_v4": model("HYV4ForCausalLM", "hy_v4", head_dim=None, num_key_value_heads=8, q_lora_rank=16, kv_lora_rank=12,
                   qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=8, index_n_heads=4, index_head_dim=8, index_topk=3,
                   indexer_types=["full", "full"], n_routed_experts=8, num_experts_per_tok=2, moe_intermediate_size=16,
                   hc_mult=3),
    "deepseek_v4": model("DeepseekV4ForCausalLM", "deepseek_v4", num_key_value_heads=1, head_dim=8, intermediate_size=None,
                         qk_rope_head_dim=4, q_lora_rank=16, o_lora_rank=6, o_groups=4, sliding_window=3,
                         num_hidden_layers=4, compress_ratios=[0, 2, 4, 2],
                         compress_rates={"compressed_sparse_attention": 2, "heavily_compressed_attention": 4},
                         index_n_heads=4, index_head_dim=8, index_topk=2, num_hash_layers=2, n_routed_experts=8,
                         num_experts_per_tok=2, moe_intermediate_size=16, hc_mult=3),
    "minimax_m3": model("MiniMaxM3ForCausalLM", "minimax_m3", intermediate_size=16, dense_intermediate_size=64,
                        shared_intermediate_size=16, num_local_experts=8, num_experts_per_tok=2, rotary_dim=2,
                        num_hidden_layers=3, mlp_layer_types=["dense", "sparse", "sparse"],
                        layer_types=["full_attention", "minimax_m3_sparse", "minimax_m3_sparse"], index_head_dim=6,
                        index_block_size=2, index_topk_blocks=2),
    "gemma3": model("Gemma3ForCausalLM", "gemma3_text", sliding_window=3, query_pre_attn_scalar=4,
                    layer_types=["sliding_attention", "full_attention"], rope_local_base_freq=10000.0),
    "granite": model("GraniteForCausalLM", "granite", attention_multiplier=0.3, residual_multiplier=0.5,
                     embedding_multiplier=2.0, logits_scaling=3.0),
    "granitemoe": model("GraniteMoeForCausalLM", "granitemoe", attention_multiplier=0.3, residual_multiplier=0.5,
                        embedding_multiplier=2.0, logits_scaling=3.0, num_local_experts=8, num_experts_per_tok=2),
    "olmoe": model("OlmoeForCausalLM", "olmoe", num_experts=8, num_experts_per_tok=2, num_key_value_heads=8),
    "stablelm": model("StableLmForCausalLM", "stablelm", partial_rotary_factor=0.5),
    "seed_oss": model("SeedOssForCausalLM", "seed_oss", attention_bias=True),
    "exaone4": model("Exaone4ForCausalLM", "exaone4", sliding_window=3, sliding_window_pattern=2),
    "bloom": model("BloomForCausalLM", "bloom", n_layer=2, n_head=8, num_attention_heads=None, head_dim=None,
                   num_key_value_heads=None, intermediate_size=None, num_hidden_layers=None),
    "gptj": model("GPTJForCausalLM", "gptj", n_embd=32, n_head=8, n_layer=2, n_positions=64, rotary_dim=2,
                  hidden_size=None, num_hidden_layers=None, num_attention_heads=None, num_key_value_heads=None,
                  head_dim=None, intermediate_size=None),
    "gpt_neox": model("GPTNeoXForCausalLM", "gpt_neox", rotary_pct=0.5, num_key_value_heads=None, head_dim=None),
    "opt": model("OPTForCausalLM", "opt", ffn_dim=64, word_embed_proj_dim=32, do_layer_norm_before=True,
                 num_key_value_heads=None, head_dim=None, intermediate_size=None),
    "llama4": model("Llama4ForCausalLM", "llama4_text", num_local_experts=8, num_experts_per_tok=1,
                    intermediate_size_mlp=64, interleave_moe_layer_step=2, attention_chunk_size=4,
                    num_hidden_layers=4),
    "phimoe": model("PhimoeForCausalLM", "phimoe", num_local_experts=8, num_experts_per_tok=2),
    "dots1": model("Dots1ForCausalLM", "dots1", n_routed_experts=8, n_shared_experts=1, num_experts_per_tok=2,
                   moe_intermediate_size=16, first_k_dense_replace=1, n_group=1, topk_group=1),
    "ernie4_5_moe": model("Ernie4_5_MoeForCausalLM", "ernie4_5_moe", moe_num_experts=8, moe_k=2,
                          moe_intermediate_size=16, moe_num_shared_experts=1, moe_layer_start_index=1,
                          moe_layer_end_index=1, moe_layer_interval=1),
    "bamba": model("BambaForCausalLM", "bamba", attn_layer_indices=[1], mamba_n_heads=8, mamba_d_head=8,
                   mamba_d_state=4, mamba_n_groups=2, mamba_d_conv=4, mamba_expand=2),
    "jamba": model("JambaForCausalLM", "jamba", num_experts=8, num_experts_per_tok=2, attn_layer_period=2,
                   attn_layer_offset=1, expert_layer_period=2, expert_layer_offset=1, mamba_d_state=4,
                   mamba_d_conv=4, mamba_expand=2, mamba_dt_rank=4),
    # Images, too, where a step has any.
    "nemotron_nas": model("DeciLMForCausalLM", "nemotron-nas", num_key_value_heads=None, intermediate_size=None,
                          num_hidden_layers=3, block_configs=[
                              {"attention": {"no_op": attends, "replace_with_linear": linear, "n_heads_in_group": 4,
                                             "window_length": None},
                               "ffn": {"no_op": False, "replace_with_linear": linear, "ffn_mult": 1.0}}
                              for attends, linear in ((False, False), (True, False), (False, True))]),
    "laguna": model("LagunaForCausalLM", "laguna", sliding_window=3, num_experts=8, num_experts_per_tok=2,
                    moe_intermediate_size=16, shared_expert_intermediate_size=16, num_hidden_layers=2,
                    num_attention_heads_per_layer=[8, 4], layer_types=["sliding_attention", "full_attention"],
                    rope_parameters={"full_attention": {"rope_theta": 500000, "partial_rotary_factor": 0.5},
                                     "sliding_attention": {"rope_theta": 10000}}),
    "flint": model("FlintForCausalLM", "flint", sliding_window=3, num_experts=8, num_experts_per_tok=2,
                   moe_intermediate_size=16, shared_expert_intermediate_size=16, num_hidden_layers=3,
                   layer_types=["full_attention", "sliding_attention", "full_attention"]),
    "lara_mini": model("LaraMiniForCausalLM", "lara_mini", sliding_window=3, num_experts=8, num_experts_per_tok=2,
                       moe_intermediate_size=16, shared_expert_intermediate_size=16, linear_num_key_heads=4,
                       linear_num_value_heads=8, linear_key_head_dim=4, linear_value_head_dim=4, num_hidden_layers=4,
                       layer_types=["linear_attention", "sliding_attention", "linear_attention", "full_attention"]),
    "olmo_hybrid": model("OlmoHybridForCausalLM", "olmo_hybrid", linear_num_key_heads=4, linear_num_value_heads=8,
                         linear_key_head_dim=4, linear_value_head_dim=4, num_hidden_layers=3,
                         layer_types=["linear_attention", "full_attention", "linear_attention"]),
    "doge": model("DogeForCausalLM", "doge"),
    "bailing_hybrid": model("BailingHybridForCausalLM", "bailing_hybrid", num_hidden_layers=3, layer_group_size=3,
                            **{key: value for key, value in MLA.items()
                               if key not in ("num_hidden_layers", "n_routed_experts", "scoring_func", "topk_method")},
                            num_experts=8, linear_num_heads=8, linear_head_dim=4),
    "kimi_k3": model("KimiK3ForConditionalGeneration", "kimi_k3", tie_word_embeddings=False,
                     vision_config={"vt_hidden_size": 32, "vt_intermediate_size": 64, "vt_num_attention_heads": 8,
                                    "vt_num_hidden_layers": 1, "qkv_hidden_size": 32, "patch_size": 2,
                                    "init_pos_emb_height": 4, "init_pos_emb_width": 4, "mm_hidden_size": 32},
                     text_config={
                         **COMMON, "model_type": "kimi_linear", "hidden_act": "situ", "num_key_value_heads": 8,
                         "num_hidden_layers": 3, "moe_intermediate_size": 16, "first_k_dense_replace": 1,
                         "num_experts": 8, "num_experts_per_token": 2, "num_shared_experts": 1,
                         "routed_expert_hidden_size": 16, "latent_moe_use_norm": True, "q_lora_rank": 16,
                         "kv_lora_rank": 12, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 8,
                         "attn_res_block_size": 2, "num_expert_group": 1, "topk_group": 1,
                         "linear_attn_config": {"full_attn_layers": [3], "kda_layers": [1, 2], "head_dim": 4,
                                                "num_heads": 8, "use_full_rank_gate": True}}),
    "gemma4_towers": model("Gemma4ForConditionalGeneration", "gemma4", text_config={
        **COMMON, "model_type": "gemma4_text", "sliding_window": 3, "hidden_size_per_layer_input": 8,
        "vocab_size_per_layer_input": 100, "global_head_dim": 8, "num_kv_shared_layers": 0,
        "layer_types": ["sliding_attention", "full_attention"], "num_global_key_value_heads": 2},
        vision_config={"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8,
                       "num_key_value_heads": 8, "head_dim": 4, "patch_size": 2, "pooling_kernel_size": 2,
                       "position_embedding_size": 8, "standardize": True, "use_clipped_linears": True},
        audio_config={"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 8,
                      "subsampling_conv_channels": [32, 8], "output_proj_dims": 24}),
    "gemma4_shared": model("Gemma4ForCausalLM", "gemma4_text", num_hidden_layers=6, sliding_window=3,
                           hidden_size_per_layer_input=8, vocab_size_per_layer_input=100, global_head_dim=8,
                           num_kv_shared_layers=3, use_double_wide_mlp=True,
                           layer_types=["sliding_attention", "full_attention", "sliding_attention"] * 2),
    "muse_glimmer": model("MuseGlimmerForConditionalGeneration", "muse_glimmer", projector_hidden_size=48, text_config={
        **COMMON, "model_type": "muse_glimmer_text", "hidden_act": "silu", "sliding_window": 3, "num_hidden_layers": 2,
        "layer_types": ["sliding_attention", "full_attention"], "layer_rope_theta": [10000, 0]},
        vision_config={"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8,
                       "patch_size": 2, "pos_emb_height": 2, "pos_emb_width": 2}),
    "muse_spark": model("MuseSparkForConditionalGeneration", "muse_spark", projector_hidden_size=48, text_config={
        **COMMON, "model_type": "muse_spark_text", "sliding_window": 3, "num_hidden_layers": 2, "num_local_experts": 8,
        "num_experts_per_tok": 2, "moe_intermediate_size": 16, "moe_hidden_size": 16,
        "layer_types": ["sliding_attention", "full_attention"], "layer_rope_theta": [10000, 0],
        "mlp_layer_types": ["dense", "sparse"]},
        vision_config={"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 8,
                       "patch_size": 2, "pos_emb_height": 2, "pos_emb_width": 2},
        audio_config={"hidden_sizes": [8, 8, 16, 16], "patch_sizes": [2, 2, 2, 2], "depths": [1, 1, 1, 1],
                      "out_hidden_size": 32}),
    "llama4_vision": model("Llama4ForConditionalGeneration", "llama4", text_config={
        **COMMON, "model_type": "llama4_text", "num_local_experts": 8, "num_experts_per_tok": 1,
        "intermediate_size_mlp": 64, "interleave_moe_layer_step": 2, "attention_chunk_size": 4},
        vision_config={
            "model_type": "llama4_vision_model", "hidden_act": "gelu", "hidden_size": 16, "image_size": 8,
            "intermediate_size": 64, "norm_eps": 1e-5, "num_attention_heads": 4, "num_channels": 3,
            "num_hidden_layers": 2, "patch_size": 2, "pixel_shuffle_ratio": 0.5, "projector_input_dim": 24,
            "projector_output_dim": 24, "rope_theta": 10000, "vision_output_dim": 24}),
    "t5": model("T5ForConditionalGeneration", "t5", d_model=32, d_kv=4, d_ff=64, num_layers=2, num_heads=8),
}  # fmt: skip

# Queries that are not compressed; `model` leaves out what is none.
MODELS["deepseek_v2"]["q_lora_rank"] = None

PLANS = [
    "--shard-tp=2", "--shard-tp=4", "--shard-tp=8", "--shard-tp=2 --shard-sp", "--shard-tp=4 --shard-sp",
    "--shard-dp=2", "--shard-dp=4", "--shard-dp=2 --fsdp", "--shard-dp=4 --fsdp --shard-tp=2",
    "--shard-tp=2 --shard-dp=2", "--shard-cp=2", "--shard-cp=4", "--shard-cp=2 --cp-kind=all-to-all",
    "--shard-cp=2 --shard-tp=2", "--shard-cp=2 --cp-kind=all-to-all --shard-tp=2", "--shard-tp=4 --shard-dcp=2",
    "--shard-tp=8 --shard-dcp=4", "--shard-tp=4 --shard-dcp=2 --shard-dp=2", "--shard-tp=4 --shard-attention-tp=2",
    "--shard-tp=4 --shard-attention-tp=1", "--shard-ep=2 --shard-dp=2", "--shard-ep=4 --shard-dp=4",
    "--shard-ep=4 --shard-tp=2 --shard-dp=2", "--shard-ep=2 --shard-tp=4", "--shard-ep=2 --shard-etp=2 --shard-tp=4",
    "--shard-ep=2 --shard-etp=2 --shard-tp=2 --shard-dp=2", "--shard-ep=4 --shard-tp=4 --shard-sp",
    "--shard-ep=2 --shard-dp=2 --shard-cp=2", "--shard-tp=2 --shard-dp=2 --shard-cp=2",
    "--shard-tp=4 --shard-attention-tp=2 --shard-ep=4", "--shard-dp=3", "--shard-tp=2 --shard-cp=3",
    "--shard-ep=4 --shard-dp=4 --dispatch-by-node --dispatch-dtype=fp8",
    "--shard-ep=4 --shard-tp=2 --shard-dp=2 --dispatch-by-node",
]  # fmt: skip
# Experts in slots that tables fill, some in several.
SKEWED = "--expert-load=zipf:1.0 --place-experts"
PLANS += [
    f"--shard-ep=2 --shard-dp=2 {SKEWED}=balanced", f"--shard-ep=4 --shard-dp=4 {SKEWED}=balanced --redundant-experts=4",
    f"--shard-ep=4 --shard-tp=2 --shard-dp=2 {SKEWED}=balanced --redundant-experts=8",
    f"--shard-ep=2 --shard-tp=4 {SKEWED}=balanced --redundant-experts=2",
    f"--shard-ep=2 --shard-etp=2 --shard-tp=4 {SKEWED}=round_robin --redundant-experts=4",
    f"--shard-ep=4 --shard-tp=4 --shard-sp {SKEWED}=round_robin --redundant-experts=4",
]  # fmt: skip

# New tokens of each step: a prefill, a prompt in chunks, decodes, all three.
LOADS = ["6", "5,4", "3,1,1", "4,3,1"]
QUICK_MODELS = ["llama", "gpt_oss", "deepseek_v3", "qwen3_next"]


def run(command):
    """The exit code, and what was printed: errors of a failure, else the answer
    without warnings."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    texts = [done.stdout.strip(), done.stderr.strip()]
    first, second = texts if done.returncode == 0 else reversed(texts)
    return done.returncode, first or second


class Cases:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder

    def whole(self, name):
        config, module = f"{self.folder}/{name}.json", f"{self.folder}/{name}.mlir"
        with open(config, "w", encoding="utf-8") as file:
            json.dump(MODELS[name], file)
        code, said = run([f"{self.tools}/autopar-translate", "--import-hf", config, "-o", module])
        return module, said if code else ""

    def split(self, name, whole, number):
        """How a plan went: its loads that passed, those that did not, why it was refused."""
        module = f"{self.folder}/{name}.{number}.mlir"
        flags = PLANS[number].split()
        step = ["--phase=prefill", "--batch=4", "--prompt=6"]
        code, said = run([f"{self.tools}/autopar-opt", *flags, *step, whole, "-o", module])
        if code:
            located = "error:" in said
            return 0, [] if located else [("split", said)], said
        failed = []
        for load in LOADS:
            code, said = run([f"{self.tools}/autopar-run", module, f"--check={whole}", "--batch=4", f"--query={load}"])
            if code or "the same on" not in said:
                failed.append((load, said))
        return len(LOADS) - len(failed), failed, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--quick", action="store_true", help="four models, a third of the plans")
    parser.add_argument("--only", help="one model")
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args()
    names = [options.only] if options.only else QUICK_MODELS if options.quick else list(MODELS)
    numbers = range(0, len(PLANS), 3) if options.quick else range(len(PLANS))
    passed, failures, refused = 0, [], 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        cases = Cases(options.bin, folder)
        wholes = {}
        for name in names:
            wholes[name], said = cases.whole(name)
            if said:
                failures.append((name, "import", "", said))
        pairs = [pair for pair in itertools.product(names, numbers) if os.path.exists(wholes[pair[0]])]
        results = pool.map(lambda pair: cases.split(pair[0], wholes[pair[0]], pair[1]), pairs)
        for (name, number), (right, wrong, why) in zip(pairs, results):
            passed += right
            refused += bool(why)
            failures += [(name, PLANS[number], load, said) for load, said in wrong]
    for name, plan, load, said in failures[: options.show]:
        first = next((line for line in said.splitlines() if "error" in line), said[:200])
        print(f"FAIL {name} {plan} steps of {load}: {first}")
    print(f"{refused} plans refused with a reason")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

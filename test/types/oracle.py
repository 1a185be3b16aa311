#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists the tensors that `transformers` saves for every model type that
generates text: of its default config, and of small configs drawn at random.

Models are built on the meta device: no weights, no downloads. Needs what
test/anchors/requirements.txt lists; scripts/check_types makes an environment.

usage: oracle.py FOLDER [TYPE ...]

Writes FOLDER/TYPE/CLASS.json: {"type", "class", "variants": [{"config",
"layouts": [[[name, shape], ...], ...]} or {"error": why it cannot be built}],
"ignored": [patterns of names that a checkpoint may have besides]}.
"""

import copy
import json
import os
import random
import re
import sys
import warnings

import torch
import transformers
from transformers import modeling_utils
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import revert_weight_conversion
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

VARIANTS, ATTEMPTS = 3, 12
MAPPINGS = ("MULTIMODAL_LM", "IMAGE_TEXT_TO_TEXT", "SEQ_TO_SEQ_CAUSAL_LM", "CAUSAL_LM")

# The least that classes need whose bare defaults cannot be built.
REQUIRED = {
    "chameleon": {"vocabulary_map": {"<image>": 8711}},
    "emu3": {"vocabulary_map": {"<image>": 151851}},
    "aya_vision": {"vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152, "num_attention_heads": 16}},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128},
    "hunyuan_vl": {"text_config": {"model_type": "hunyuan_vl_text", "head_dim": 128}},
    "ministral": {"head_dim": 128},
    "nemotron": {"num_key_value_heads": 8},
    "deepseek_v2": {"num_experts_per_tok": 6},
    "glm4_moe": {"head_dim": 128},
    "glm4v_moe": {"text_config": {"head_dim": 128}},
    "dots1": {"n_routed_experts": 128, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1},
    "lfm2_moe": {"layer_types": ["conv", "conv", "full_attention", "conv"] * 8},
    "dbrx": {"attn_config": {"rope_theta": 500000.0, "kv_n_heads": 8, "clip_qkv": 8}},
    "deepseek_ocr2": {
        "text_config": {"num_experts_per_tok": 6, "n_group": 1, "topk_group": 1, "num_key_value_heads": 32,
                        "mlp_layer_types": ["dense"] + ["sparse"] * 31}},
    "granite4_vision": {"deepstack_layer_map": [[-1, 0], [-2, 4]], "spatial_target_layers": [8], "downsample_rate": "4/8"},
    "reformer": {"is_decoder": True},
    "qwen3_omni_moe": {
        "thinker_config": {"text_config": {"num_attention_heads": 32, "vocab_size": 151936}},
        "talker_config": {"spatial_merge_size": 2, "text_config": {"shared_expert_intermediate_size": 768}},
    },
    "qwen3_omni_moe_thinker": {"text_config": {"num_attention_heads": 32, "vocab_size": 151936}},
}  # fmt: skip

# Gemma 4 E2B: the last layers read the keys and values of earlier ones.
SHARED_KEYS = {
    "hidden_size": 1536, "intermediate_size": 6144, "num_hidden_layers": 35, "num_attention_heads": 8,
    "num_key_value_heads": 1, "num_kv_shared_layers": 20, "use_double_wide_mlp": True,
    "layer_types": (["sliding_attention"] * 4 + ["full_attention"]) * 7,
}  # fmt: skip
# What published models of a type have, beside the default and drawn configs.
PUBLISHED = {"gemma4_text": [SHARED_KEYS], "gemma4": [{"text_config": {"model_type": "gemma4_text", **SHARED_KEYS}}]}

# Audio models that stack frames until they are as wide as the encoder's MLP.
STACKED_FRAMES = ("voxtral", "glmasr")

# Names that a conversion was not meant for.
RENAMED = {
    "qianfan_ocr": [(r"^language_model\.model\.encoder\.layers\.", "language_model.model.layers.")],
    "kimi_k25": [
        (r"^language_model\.model\.blocks\.", "language_model.model.layers."),
        (r"^model\.(mm_projector|vision_tower)\.", r"\1."),
        (r"^vision_tower\.encoder\.patch_embed\.", "vision_tower.patch_embed."),
    ],
    "hy_v4": [(r"\.mlp\.(shared_experts\.)?linear_gate\.", r".mlp.\1gate_proj.")],
    "deepseek_v4": [
        (r"^model\.embed_tokens\.", "embed."),
        (r"^model\.hc_head\.hc_", "hc_head_"),
        (r"\.attn\.norm\.", ".attn.kv_norm."),
        (r"^model\.", ""),
    ],
    "kimi_linear": [(r"\.block_sparse_moe\.(gate|up|down)_proj\.", r".mlp.\1_proj.")],
}


def unequal_parts(config):
    """Tensors that loading joins into one and saving cuts into equal parts,
    though checkpoints have unequal ones: the sizes by name."""
    if config.model_type == "olmo_hybrid":
        keys = config.linear_num_key_heads * config.linear_key_head_dim
        parts = {"q": keys, "k": keys, "v": config.linear_num_value_heads * config.linear_value_head_dim}
        return {
            f"model.layers.{layer}.linear_attn.{part}_conv1d.weight": [width, 1, config.linear_conv_kernel_dim]
            for layer in range(config.num_hidden_layers)
            for part, width in parts.items()
        }
    if config.model_type != "molmo2":
        return {}
    table, text = "model.transformer.wte.", config.text_config
    return {
        f"{table}embedding": [text.vocab_size, text.hidden_size],
        f"{table}new_embedding": [text.additional_vocab_size, text.hidden_size],
    }


def is_phantom(name, config):
    """Halves of experts that return their input and have no weights: a class
    makes room for them, and checkpoints have none."""
    expert = re.search(r"\.experts\.(\d+)\.", name)
    return config.model_type == "longcat_flash" and expert and int(expert.group(1)) >= config.n_routed_experts


# Experts that checkpoints may have either way round; saved as they were loaded.
TRANSPOSED = {"qwen3_vl_moe": r"mlp\.experts\.(gate_up|down)_proj$"}

# Keys of a config that a random variant changes, by what they count.
LAYERS = re.compile(
    r"^(num_hidden_layers|num_layers|n_layers?|(encoder|decoder)_layers|num_(decoder|encoder|local)_?layers|depth"
    r"|num_(encoder|decoder)_hidden_layers)$"
)
WIDTH = re.compile(r"^(hidden_size|d_model|n_embd|embed_dim|dim|out_hidden_size|projection_dim|encoder_hidden_size)$")
HEADS = re.compile(r"^(num_attention_heads|n_heads?|num_heads|(encoder|decoder)_attention_heads)$")
INNER = re.compile(
    r"(intermediate_size|ffn_dim|ffn_hidden_size|d_ff|n_inner|mlp_dim|ffn_size)$|^(intermediate_size_\w+|\w+_intermediate_size_?\w*)$"
)
COUNTS = {
    "vocab_size": (96, 128, 160),
    "max_position_embeddings": (64, 96),
    "n_positions": (64, 96),
    "num_experts": (4, 8),
    "num_local_experts": (4, 8),
    "n_routed_experts": (4, 8),
    "moe_num_experts": (4, 8),
    "n_shared_experts": (1, 2),
    "num_shared_experts": (1, 2),
    "q_lora_rank": (16, 24),
    "kv_lora_rank": (16, 24),
    "qk_nope_head_dim": (8, 16),
    "qk_rope_head_dim": (8, 16),
    "v_head_dim": (8, 16),
    "first_k_dense_replace": (0, 1, 2),
    "n_group": (1, 2),
    "topk_group": (1,),
    "rotary_dim": (4, 8),
}
TOP_K = {
    "num_experts_per_tok": 2, "num_experts_per_token": 2, "moe_topk": 2, "moe_k": 2, "moe_top_k": 2, "top_k_experts": 2,
}  # fmt: skip
FLAG = re.compile(r"bias$|^tie_word_embeddings$|qk_norm|^qk_layernorm$|^use_qk|qkv_bias")


def classes():
    """(type, class), each once, in the order of the mappings."""
    seen = []
    for mapping in MAPPINGS:
        names = getattr(modeling_auto, f"MODEL_FOR_{mapping}_MAPPING_NAMES")
        for kind, found in names.items():
            for name in (found,) if isinstance(found, str) else found:
                # The text of a composite type is a type of its own.
                if (kind, name) not in seen and (mapping != "CAUSAL_LM" or is_whole(kind, name)):
                    seen.append((kind, name))
    return seen


def is_whole(kind, name):
    """Whether the class reads the config of the type itself."""
    config = getattr(getattr(transformers, name, None), "config_class", None)
    return not CONFIG_MAPPING[kind].sub_configs or config in (None, CONFIG_MAPPING[kind])


# -- Random configs -------------------------------------------------------------


class Drawing:
    """Overrides of one config, and of those in it. Widths that agree go on
    agreeing."""

    def __init__(self, rng, chance):
        self.rng, self.chance, self.widths = rng, chance, {}
        self.tie = rng.random() < 0.3

    def happens(self):
        return self.rng.random() < self.chance

    def width(self, old):
        return self.widths.setdefault(old, self.rng.choice((64, 96, 128, 192)))

    def heads(self, values, changes):
        """Heads that divide the width, and key-value heads that divide them."""
        width = next((changes[key] for key in changes if WIDTH.match(key)), None)
        old_width = next((values[key] for key in values if WIDTH.match(key)), None)
        for key in [key for key in values if HEADS.match(key) and isinstance(values[key], int)]:
            size = self.rng.choice((8, 16))
            fits = [heads for heads in (4, 8, 2) if width is None or width % (heads * 8) == 0]
            changes[key] = self.rng.choice(fits or [1])
            for other in ("num_key_value_heads", "num_kv_heads", "n_head_kv"):
                if isinstance(values.get(other), int):
                    same = values[other] == values[key]
                    some = [n for n in (1, 2, 4, 8) if changes[key] % n == 0]
                    changes[other] = changes[key] if same and self.happens() else self.rng.choice(some)
            if isinstance(values.get("head_dim"), int):
                tied = old_width == values[key] * values["head_dim"]
                changes["head_dim"] = width // changes[key] if tied and width else size

    def draw(self, config):
        values = {key: value for key, value in vars(config).items() if not key.startswith("_")}
        changes = {}
        for key, value in values.items():
            if isinstance(value, bool):
                if key == "tie_word_embeddings":
                    changes[key] = self.tie
                elif FLAG.search(key) and self.happens():
                    changes[key] = not value
            elif not isinstance(value, int):
                continue
            elif LAYERS.match(key):
                changes[key] = self.rng.randint(1, 4)
            elif WIDTH.match(key):
                changes[key] = self.width(value)
            elif INNER.search(key):
                changes[key] = self.rng.choice((48, 64, 80, 112))
            elif key in COUNTS and value > 0:
                changes[key] = self.rng.choice(COUNTS[key])
            elif key in TOP_K:
                changes[key] = min(value, TOP_K[key])
        self.heads(values, changes)
        for key, value in values.items():
            if isinstance(value, transformers.PretrainedConfig):
                inner = self.draw(value)
                changes[key] = {"model_type": value.model_type, **inner} if value.model_type else inner
        # Fewer changes on later attempts: some keys only go together.
        return {key: value for key, value in changes.items() if self.chance > 0.3 or self.rng.random() < 0.7}


def variants(kind, architecture):
    """The default config, random ones, then published ones; each a function that
    makes it."""
    required = REQUIRED.get(kind, {})

    def base(**changes):
        merged = copy.deepcopy(required)
        for key, value in changes.items():
            both = isinstance(value, dict) and isinstance(merged.get(key), dict)
            merged[key] = {**merged[key], **value} if both else value
        return CONFIG_MAPPING[kind](**merged)

    yield base

    for number in range(1, VARIANTS + 1):
        def attempt(number=number, tries=[0]):
            tries[0] += 1
            rng = random.Random(f"{kind}/{architecture}/{number}/{tries[0]}")
            drawing = Drawing(rng, max(0.1, 0.5 - 0.04 * tries[0]))
            return base(**drawing.draw(base()))

        yield attempt

    for changes in PUBLISHED.get(kind, []):
        yield lambda changes=changes: base(**changes)


def agree(config):
    """Makes parts that are read into each other as wide as each other: of some
    types, the default configs of the parts were not made for each other, and a
    random one seldom is."""
    if hasattr(config, "thinker_config"):
        agree(config.thinker_config)
    vision, audio, text = (getattr(config, f"{part}_config", None) for part in ("vision", "audio", "text"))
    if config.model_type in STACKED_FRAMES:
        audio.intermediate_size = 4 * audio.hidden_size
    if hasattr(vision, "sam_config"):
        vision.sam_config.downsample_channels = [512, vision.encoder_config.hidden_size]
        text.mlp_layer_types = text.mlp_layer_types[: text.num_hidden_layers]
    if config.model_type == "pix2struct":
        text.d_kv = text.hidden_size // text.num_heads
    if config.model_type == "phi4_multimodal":
        audio.ext_pw_out_channel = audio.depthwise_separable_out_channel = audio.hidden_size
    if not hasattr(text, "hidden_size"):
        return config
    if config.model_type == "molmo2":
        config.adapter_config.hidden_size = vision.hidden_size
        config.adapter_config.text_hidden_size = text.hidden_size
    if config.model_type == "janus":
        vision.projection_dim = text.hidden_size
    if config.model_type in ("granite_speech", "granite_speech_plus"):
        config.projector_config.encoder_hidden_size = config.encoder_config.hidden_dim
    if hasattr(config, "projection_hidden_size"):
        config.projection_hidden_size = vision.hidden_size
    if hasattr(config, "mm_tokens_per_image"):
        config.mm_tokens_per_image = (vision.image_size // vision.patch_size // 2) ** 2
    if hasattr(vision, "projector_output_dim"):
        vision.vision_output_dim = vision.projector_output_dim
        vision.intermediate_size = 4 * vision.hidden_size
    if hasattr(audio, "output_dim"):
        audio.output_dim = text.hidden_size
    if config.model_type == "ovis2":
        config.hidden_size = text.hidden_size
    if hasattr(vision, "out_hidden_size"):
        vision.out_hidden_size = text.hidden_size
    elif hasattr(vision, "embed_dim") and hasattr(vision, "depth") and hasattr(vision, "hidden_size"):
        vision.hidden_size = text.hidden_size
    return config


# -- Models ---------------------------------------------------------------------


def saved_config(config, architecture):
    """config.json as `save_pretrained` writes it."""
    config = copy.deepcopy(config)
    config.architectures = [architecture]
    config.dtype = "bfloat16"
    return json.loads(config.to_json_string())


def layouts(model):
    """Names and shapes: as in published checkpoints, which name parts as older
    releases did, and where that differs as `save_pretrained` lays them out."""
    state = model.state_dict()
    for name in model._keys_to_ignore_on_save or ():
        state.pop(name, None)
    state = modeling_utils.remove_tied_weights_from_state_dict(state, model)
    found = [listing(revert_weight_conversion(model, dict(state)))]
    # It leaves prefixes alone unless the model was loaded from such a checkpoint.
    model._weight_conversions = get_model_conversion_mapping(model, add_legacy=False) or None
    try:
        published = listing(revert_weight_conversion(model, dict(state)))
        if published != found[0]:
            found.insert(0, published)
    except Exception as problem:  # noqa: BLE001: some conversions only load
        print("published layout:", type(problem).__name__, str(problem)[:100], flush=True)
    for pattern, replacement in RENAMED.get(model.config.model_type, ()):
        found[0] = [[re.sub(pattern, replacement, name), shape] for name, shape in found[0]]
    unequal = unequal_parts(model.config)
    found[0] = [[name, unequal.get(name, shape)] for name, shape in found[0] if not is_phantom(name, model.config)]
    if turned := TRANSPOSED.get(model.config.model_type):
        found.insert(0, [[name, [shape[0], *shape[:0:-1]] if re.search(turned, name) else shape]
                         for name, shape in found[0]])  # fmt: skip
    # `from_pretrained` also takes the names of the modules, and those without
    # the name that the class has for its base.
    prefix = f"{model.base_model_prefix}."
    found += [listing(state), listing({name.removeprefix(prefix): tensor for name, tensor in state.items()})]
    return [layout for number, layout in enumerate(found) if layout not in found[:number]]


def listing(state):
    return sorted([name, list(tensor.shape)] for name, tensor in state.items())


def build(config, architecture):
    cls = getattr(transformers, architecture)
    with torch.device("meta"):
        model = cls(config)
    ignored = [getattr(p, "pattern", p) for p in model._keys_to_ignore_on_load_unexpected or ()]
    return layouts(model), ignored


def build_variant(make, architecture):
    """The first attempt that can be built."""
    error = None
    for _ in range(ATTEMPTS):
        try:
            config = agree(make())
            record = {"config": saved_config(config, architecture)}
            record["layouts"], ignored = build(config, architecture)
            return record, ignored
        except Exception as problem:  # noqa: BLE001: a class may raise anything
            text = str(problem).strip() or type(problem).__name__
            error = error or f"{type(problem).__name__}: {text.splitlines()[0][:160]}"
        if make.__name__ == "base":
            break
    return {"error": error}, []


def record(kind, architecture):
    result = {"type": kind, "class": architecture, "variants": [], "ignored": []}
    for make in variants(kind, architecture):
        found, ignored = build_variant(make, architecture)
        result["variants"].append(found)
        result["ignored"] = ignored or result["ignored"]
    return result


def main():
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    folder, wanted = sys.argv[1], sys.argv[2:]
    for kind, architecture in classes():
        path = os.path.join(folder, kind, f"{architecture}.json")
        if (wanted and kind not in wanted) or os.path.exists(path):
            continue
        found = record(kind, architecture)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.part", "w", encoding="utf-8") as file:
            json.dump(found, file)
        os.replace(f"{path}.part", path)
        errors = [variant["error"] for variant in found["variants"] if "error" in variant]
        print(kind, architecture, *(errors[:1]), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad input of every kind. Each case: a command, its files, and what standard
error must say. The exit code must be 1, and standard output empty.

Under lit each case is a test (lit.local.cfg). By hand:

usage: cases.py --bin DIR [--data DIR] [--show] [PATTERN]
"""

import argparse
import copy
import hashlib
import io
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import warnings
import zipfile

# In commands and files, {name} is a path: {model} an imported Llama-3.1-8B.
IMPORT = "autopar-translate --import-hf {path}"
ESTIMATE = "autopar-opt --shard-tp=8 --estimate {flags} {model}"
CASES = {}


def case(name, command, stderr, files=None, edit=None):
    """`files`: {name: text, bytes, or a value for JSON}. `edit`: (pattern,
    replacement), applied to the text of {model}; must change it."""
    assert name not in CASES, name
    CASES[name] = (command, stderr, files or {}, edit)


# -- JSON ---------------------------------------------------------------------

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "rms_norm_eps": 1e-5,
    "rope_theta": 500000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
MIXTRAL = LLAMA | {
    "model_type": "mixtral",
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
}
QWEN3_MOE = LLAMA | {
    "model_type": "qwen3_moe",
    "head_dim": 128,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 1536,
    "norm_topk_prob": True,
}
GOOD = json.dumps(LLAMA, indent=2)


def bad_json(name, text, stderr):
    case(f"json-{name}", IMPORT.format(path="config.json"), stderr, {"config.json": text})


AT = r"config\.json:\d+:\d+: "
bad_json("truncated", GOOD[:100], AT)
bad_json("trailing-comma", GOOD[:-2] + ",\n}", r"config\.json:1[456]:\d+: ")
bad_json("duplicate-key", GOOD.replace("{", '{"vocab_size": 1,', 1), r'config\.json.*duplicate key "vocab_size"')
bad_json("bad-utf-8", GOOD.encode().replace(b"bfloat16", b"bfl\xff\xfeat"), AT)
bad_json("nan", GOOD.replace("4096", "NaN"), r"/hidden_size.*NaN")
bad_json("infinity", GOOD.replace("4096", "-Infinity"), r"/hidden_size.*-Infinity")
bad_json("nested-300-deep", "[" * 300 + "]" * 300, r"config\.json.*nested deeper than 256")
bad_json("nested-300-objects", '{"a":' * 300 + "1" + "}" * 300, r"config\.json.*nested deeper than 256")
bad_json("25-mib", '{"a": "' + "x" * (25 << 20) + '"}', r"config\.json: is a JSON document of 26214409 bytes, expected at most 25165824")
bad_json("nested-a-million-deep", "[" * 1_000_000, r"config\.json.*nested deeper than 256")
bad_json("empty-file", "", r"config\.json")
bad_json("blank-file", " \n\t\n", r"config\.json")
bad_json("huge-number", GOOD.replace("4096", "1e999"), r"config\.json.*1e999")
bad_json("single-quotes", GOOD.replace('"', "'"), AT)
bad_json("comment", "// a model\n" + GOOD, AT)
bad_json("two-values", GOOD + GOOD, AT)
bad_json("nul-byte", GOOD.replace("llama", "lla\0ma"), AT)
bad_json("array-at-the-root", "[1, 2]", r"config\.json.*expected an object")
bad_json("string-at-the-root", '"llama"', r"config\.json.*expected an object")
bad_json("binary", bytes(range(256)) * 16, AT)

# -- config.json --------------------------------------------------------------


def bad_config(name, changes, stderr, base=LLAMA):
    """`changes`: {key: value}; None takes the key out."""
    config = copy.deepcopy(base) | changes
    config = {key: value for key, value in config.items() if value is not None}
    case(f"config-{name}", IMPORT.format(path="config.json"), r"config\.json.*" + stderr,
         {"config.json": config})  # fmt: skip


for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
            "vocab_size"):  # fmt: skip
    bad_config(f"without-{key}", {key: None}, f'"?{key}')
bad_config("without-dtype", {"torch_dtype": None, "model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"]},
           r'missing field "dtype"\n.*or torch_dtype')
bad_config("without-type-and-class", {"model_type": None, "architectures": None}, r'missing field "model_type"\n.*class')
bad_config("without-type-of-unknown-class", {"model_type": None, "architectures": ["NoneForCausalLM"]},
           r'missing field "model_type"\n.*class')
bad_config("unknown-type-of-known-class", {"model_type": "none"}, r'unknown model type "none"\n.*--assume model_type=llama')
for key in ("num_local_experts", "num_experts_per_tok", "intermediate_size"):
    bad_config(f"mixtral-without-{key}", {key: None}, f'"?{key}', MIXTRAL)
for key in ("num_experts", "num_experts_per_tok", "moe_intermediate_size"):
    bad_config(f"qwen3-moe-without-{key}", {key: None}, f'"?{key}', QWEN3_MOE)

for key, value, name in (
    ("hidden_size", "4096", "string"),
    ("hidden_size", [4096], "array"),
    ("num_hidden_layers", 2.5, "fraction"),
    ("num_hidden_layers", True, "true"),
    ("tie_word_embeddings", "yes", "string"),
    ("model_type", 7, "number"),
    ("torch_dtype", {"a": 1}, "object"),
    ("hidden_size", -4096, "negative"),
    ("num_hidden_layers", -1, "negative"),
    ("vocab_size", -1, "negative"),
    ("num_hidden_layers", 0, "zero"),
    ("hidden_size", 0, "zero"),
    ("num_attention_heads", 0, "zero"),
    ("num_key_value_heads", 0, "zero"),
    ("intermediate_size", 0, "zero"),
    ("vocab_size", 0, "zero"),
    ("vocab_size", 1e30, "1e30"),
    ("hidden_size", 10**30, "10-to-the-30"),
    ("num_hidden_layers", 10**9, "a-billion"),
    ("num_hidden_layers", 10001, "too-many"),
    ("head_dim", -128, "negative"),
    ("rms_norm_eps", "small", "string"),
):
    bad_config(f"{key}-{name}", {key: value}, key)

bad_config("products-overflow", {"hidden_size": 2**40, "intermediate_size": 2**40}, r"\S")
bad_config("layers-times-sizes-overflow",
           {"num_hidden_layers": 10**6, "vocab_size": 2**40, "hidden_size": 2**20}, r"\S")  # fmt: skip
bad_config("unknown-model-type", {"model_type": "lama"}, "lama")
bad_config("unknown-dtype", {"torch_dtype": "bfloat17"}, "bfloat17")
bad_config("heads-not-a-multiple-of-kv-heads", {"num_key_value_heads": 5}, r"num_(key_value|attention)_heads.*")
bad_config("more-kv-heads-than-heads", {"num_key_value_heads": 64}, r"num_(key_value|attention)_heads.*")
bad_config("hidden-not-a-multiple-of-heads",
           {"hidden_size": 4097, "num_key_value_heads": 32}, r"(hidden_size|head_dim)")  # fmt: skip
bad_config("more-experts-per-token-than-experts", {"num_experts_per_tok": 9}, "num_experts_per_tok", MIXTRAL)
bad_config("no-experts", {"num_local_experts": 0}, "num_local_experts", MIXTRAL)
for name, settings, message in (
    ("unknown-method", {"quant_method": "aqlm"}, 'quant_method: unknown quantization method "aqlm"\n.*awq, bitnet, bitsandbytes'),
    ("no-method", {"ignore": []}, 'missing field "quant_method"'),
    ("method-number", {"quant_method": 4}, "quant_method: expected a string"),
    ("list", [4], "expected an object"),
    ("gptq-without-bits", {"quant_method": "gptq", "group_size": 128}, 'missing field "bits"'),
    ("gptq-many-bits", {"quant_method": "gptq", "bits": 64}, "bits: expected an integer from 2 to 8, found 64"),
    ("gptq-group-of-0", {"quant_method": "gptq", "bits": 4, "group_size": 0}, "from 1 to"),
    ("fp8-block-of-3", {"quant_method": "fp8", "weight_block_size": [1, 2, 3]}, "weight_block_size: has 3 entries"),
    ("fp8-block-of-0", {"quant_method": "fp8", "weight_block_size": [0, 128]}, "from 1 to"),
    ("fp8-block-of-text", {"quant_method": "fp8", "weight_block_size": ["a", "b"]}, "expected an integer"),
    ("fp8-names", {"quant_method": "fp8", "modules_to_not_convert": [7]}, "names of modules"),
    ("fp8-names-text", {"quant_method": "fp8", "modules_to_not_convert": "lm_head"}, "expected a list"),
    ("modelopt-algorithm", {"quant_method": "modelopt", "quant_algo": "INT1"}, 'form of quantization method "modelopt"'),
    ("modelopt-layers", {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"}, 'missing field "quantized_layers"'),
    ("regex-open", {"quant_method": "fp8", "modules_to_not_convert": ["re:a("]}, r"a \( without a \)"),
    ("regex-repeat", {"quant_method": "fp8", "modules_to_not_convert": ["re:*"]}, "nothing to repeat"),
    ("regex-look", {"quant_method": "fp8", "modules_to_not_convert": ["re:(?!a)"]}, "not supported"),
    ("regex-long", {"quant_method": "fp8", "modules_to_not_convert": ["re:" + "a" * 5000]}, "too long"),
    ("regex-large", {"quant_method": "fp8", "modules_to_not_convert": ["re:((a{999}){999}){999}"]}, "states"),
    ("groups-list", {"quant_method": "compressed-tensors", "config_groups": [1]}, "config_groups"),
    ("group-number", {"quant_method": "compressed-tensors", "config_groups": {"a": 1}}, "config_groups/a: expected an object"),
    ("group-empty", {"quant_method": "compressed-tensors", "config_groups": {"a": {"targets": []}}}, "num_bits"),
):
    bad_config(f"quantization-{name}", {"quantization_config": settings}, message)
# Fast, though every attempt to go back would double the time.
bad_config("quantization-regex-hostile",
           {"num_hidden_layers": 10**4, "quantization_config": {
               "quant_method": "fp8", "modules_to_not_convert": ["re:" + "(a*)*" * 50 + "[a-z.]*(x+x+)+y"] * 99}},
           "too many modules")  # fmt: skip

bad_config("list-too-long", {"mlp_only_layers": [1] * 10001, "decoder_sparse_step": 1},
           "mlp_only_layers.*10001 entries", QWEN3_MOE)  # fmt: skip
case("config-pattern-not-ascii", IMPORT.format(path="config.json"), "unknown letter",
     {"config.json": LLAMA | {"model_type": "nemotron_h", "architectures": ["NemotronHForCausalLM"],
                              "num_hidden_layers": 3, "hybrid_override_pattern": "M\u00e9"}})  # fmt: skip

case("config-directory-without-config", IMPORT.format(path="empty"), r"empty.*config\.json|config\.json",
     {"empty/other.txt": "x"})  # fmt: skip
ADAPTER = {"peft_type": "LORA", "r": 16, "base_model_name_or_path": "meta-llama/Llama-3.1-8B"}
case("config-adapter", IMPORT.format(path="adapter"),
     r"an adapter of meta-llama/Llama-3\.1-8B \(LORA, rank 16\).*\n.*give the model itself: meta-llama/Llama-3\.1-8B",
     {"adapter/adapter_config.json": ADAPTER})  # fmt: skip
case("config-adapter-file", IMPORT.format(path="adapter_config.json"), r"an adapter of a model \(LORA, rank 8\)",
     {"adapter_config.json": {"peft_type": "LORA", "r": 8}})
case("config-adapter-without-object", IMPORT.format(path="adapter_config.json"), r"adapter_config\.json",
     {"adapter_config.json": "[1]"})
case("config-missing-path", IMPORT.format(path="nowhere/config.json"), r"nowhere")
case("config-list-tensors-of-bad-config",
     IMPORT.format(path="config.json") + " --list-tensors", r"config\.json.*hidden_size",
     {"config.json": {k: v for k, v in LLAMA.items() if k != "hidden_size"}})  # fmt: skip
case("config-output-to-nowhere", IMPORT.format(path="config.json") + " -o nowhere/model.mlir", r"nowhere",
     {"config.json": LLAMA})  # fmt: skip

# -- MLIR ---------------------------------------------------------------------


def bad_mlir(name, text, stderr, flags=""):
    case(f"mlir-{name}", f"autopar-opt {flags} bad.mlir", stderr, {"bad.mlir": text})


bad_mlir("nested-300-deep", 'module attributes {a = ' + "[" * 300 + "]" * 300 + "} {}", r"bad\.mlir:1:\d+.*256")
bad_mlir("nested-a-million-deep", "[" * 1_000_000, r"bad\.mlir:1:\d+.*256")
bad_mlir("nested-tuples", "func.func private @f(" + "tuple<" * 300 + "i1" + ">" * 300 + ")", r"bad\.mlir:1:\d+.*256")
bad_mlir("signs", "#m = affine_map<(d0) -> (" + "-" * 8000 + "d0)>\nmodule {}", r"bad\.mlir:1:\d+: signs.*256")
bad_mlir("signs-apart", "#m = affine_map<(d0) -> (" + "- " * 8000 + "d0)>\nmodule {}", r"bad\.mlir:1:\d+: signs.*256")
for _operator in (" + s0", "-s0", " mod 2"):
    bad_mlir(f"affine-of{_operator.replace(' ', '-')}", "#m = affine_map<(d0)[s0] -> (d0" + _operator * 100_000 + ")>\nmodule {}",
             r"bad\.mlir:1:\d+: an affine expression.*1000")  # fmt: skip
bad_mlir("digits", "module attributes {a.b = 0x" + "f" * 400_000 + " : i1600000} {}", r"bad\.mlir:1:\d+: a number.*400002 digits")


def bad_aliases(name, first, rule, count, stderr):
    """Each alias made of the one before, the last of them in an op."""
    lines = [f"{first[0]}a0 = {first[1:]}", *(f"{first[0]}a{i} = {rule.format(f'{first[0]}a{i - 1}')}" for i in range(1, count))]
    last = f"{first[0]}a{count - 1}"
    use = f"func.func private @f({last})" if first[0] == "!" else f"module attributes {{a.b = {last}}} {{}}"
    bad_mlir(f"aliases-{name}", "\n".join([*lines, use]), r"bad\.mlir:\d+:\d+: aliases.*" + stderr)


bad_aliases("chain", "#1 : i64", "[{}]", 20_000, "deeper than 256")
bad_aliases("chain-dict", "#1 : i64", "{{x = {}}}", 20_000, "deeper than 256")
bad_aliases("chain-tuple", "!i1", "tuple<{}>", 20_000, "deeper than 256")
bad_aliases("chain-function", "!i1", "() -> {}", 20_000, "deeper than 256")
bad_aliases("chain-apart", "!i1", "()\n  ->\n  {}", 20_000, "deeper than 256")
bad_aliases("doubling", "#1 : i64", "[{0}, {0}]", 40, "1048576 tokens in another")
bad_aliases("doubling-type", "!i1", "tuple<{0}, {0}>", 40, "1048576 tokens in another")
bad_aliases("doubling-function", "!i1", "({0}) -> {0}", 40, "1048576 tokens in another")
bad_aliases("tenfold", "#1 : i64", "[" + ", ".join(["{0}"] * 10) + "]", 10, "1048576 tokens in another")
bad_mlir("aliases-used-often", "#a = [" + "1, " * 50_000 + "1]\n"
         + "\n".join(f"module @m{i} attributes {{a.b = #a}} {{}}" for i in range(300)),
         r"bad\.mlir:\d+:\d+: aliases.*16777216 tokens in all")  # fmt: skip
bad_mlir("large", "module {\n" + "// of comments\n" * 1_200_000 + "}", r"bad\.mlir: has 17 MiB of MLIR, expected at most 16 MiB")


def attribute(text):
    return "module attributes {a.b = " + text + "} {}"


# Parts of MLIR that take what a text says, or fail without a word.
bad_mlir("array-of-index", attribute("array<index: 1>"), r"bad\.mlir:1:26: an array has a type")
bad_mlir("array-of-alias", "!i = index\n" + attribute("[array <\n  !i: 1>]"), r"bad\.mlir:2:\d+: an array has a type")
bad_mlir("result-four-billion", "func.func @f() {\n  %0 = func.call @f(%x#4294967290) : (i1) -> i1\n}",
         r"bad\.mlir:2:\d+: numbers of results add up")  # fmt: skip
bad_mlir("results-of-many", "func.func @f() {\n" + "".join(f"func.call @f(%x{i}#1000000)\n" for i in range(1000)) + "}",
         r"bad\.mlir:6:\d+: numbers of results add up")  # fmt: skip
bad_mlir("integers-of-2-mib", attribute("[" + ", ".join(f"{i} : i{16_777_215 - i}" for i in range(1000)) + "]"),
         r"bad\.mlir:1:\d+: an integer type has more than 4096 bits")  # fmt: skip
bad_mlir("integers-in-a-shape", attribute("dense<1> : tensor<1000x?xsi16777215>"), r"bad\.mlir:1:\d+: an integer type")
for _alignment in ("00000000", "00000080", "03000000"):
    bad_mlir(f"resource-aligned-{_alignment}", 'module {}\n{-# dialect_resources: {builtin: {x: "0x' + _alignment + 'FF"}} #-}',
             r"bad\.mlir:2:\d+: .*(alignment|power-of-2)")  # fmt: skip
bad_mlir("affine-dimensions", "#m = affine_map<(" + ",\n".join(f"d{i}" for i in range(500_000)) + ") -> ()>\nmodule {}",
         r"bad\.mlir:257:\d+: an affine map or set has more than 256")  # fmt: skip
bad_mlir("affine-symbols", "#m = affine_set<()[" + ",\n".join(f"s{i}" for i in range(500_000)) + "] : (1 == 0)>\nmodule {}",
         r"bad\.mlir:257:\d+: an affine map or set has more than 256")  # fmt: skip
# Text that is only much.
for _name, _text, _count in (
    ("modules", "module {}\n", 1_500_000),
    ("functions", "func.func private @f()\n", 500_000),
    ("equal-functions", "func.func @f() { return }\n", 400_000),
    ("blocks", "^bb:\n", 3_000_000),
    ("arrays", "[" * 200 + "]" * 200 + "\n", 20_000),
    ("attributes", "distinct[0]<1>,\n", 500_000),
    ("locations", 'loc("a":1:1)\n', 500_000),
    ("signs", "+\n", 3_000_000),
    ("strings", '"\\00"\n', 2_000_000),
):
    bad_mlir(f"many-{_name}", _text * _count, r"bad\.mlir:\d+:\d+: there are more than 524288 words")
for _name, _text in (("string", 'module attributes {a.b = "' + '\\"' * 7_000_000), ("spaces", " " * 15_000_000 + "x"),
                     ("name", "func.func @" + "a" * 15_000_000), ("comment", "// " + "/" * 15_000_000 + "\nx"),
                     ("dimensions", "func.func @f(tensor<" + "1x" * 4_000_000 + "i1>)"),
                     ("symbols", attribute("@a" + "::@a" * 3_000_000))):  # fmt: skip
    bad_mlir(f"line-of-{_name}", "\n" + _text, r"bad\.mlir:2:1: a line is longer than 1048576 bytes")
bad_mlir("locations-ahead", "module {} loc(#l)\n" * 3000 + "#l = loc(fused[" + '"a",\n' * 10_000 + '"a"])\n',
         r"bad\.mlir:\d+:\d+: aliases stand for more than 16777216 tokens in all")  # fmt: skip
bad_mlir("locations-nested", "module {} loc(" + '"a"(' * 300 + "unknown" + ")" * 301, r"bad\.mlir:1:\d+: brackets.*256")
bad_mlir("locations-of-callers", "module {} loc(" + 'callsite("a" at ' * 300 + "unknown" + ")" * 301, r"bad\.mlir:1:\d+: brackets.*256")
bad_aliases("chain-location", "#loc(unknown)", "loc(\"a\"({}))", 20_000, "deeper than 256")
bad_aliases("chain-dense", "!i1", "tensor<1x{}>", 20_000, "deeper than 256")
bad_mlir("aliases-in-a-circle", "#a = [#b]\n#b = [#a]\n" + attribute("#a"), r"bad\.mlir:1:\d+: error: undefined symbol alias")
bad_mlir("alias-of-itself", "#a = [#a]\n" + attribute("#a"), r"bad\.mlir:1:\d+: error: undefined symbol alias")
bad_mlir("alias-twice", "#a = 1\n#a = 2\n" + attribute("#a"), r"bad\.mlir:2:\d+: error: redefinition")
bad_mlir("distinct-twice", attribute("distinct[0]<1>, a.c = distinct[0]<2>"), r"bad\.mlir:1:\d+: error: ")
bad_mlir("sparse-outside", attribute("sparse<[[9, 9]], [1]> : tensor<1x1xi64>"), r"bad\.mlir:1:\d+: error: sparse index")
bad_mlir("nested-regions", "module {" * 300 + "}" * 300, r"bad\.mlir:1:\d+.*256")
bad_mlir("unbalanced", "module {\n  func.func @f() {\n    return\n  }\n", r"bad\.mlir:\d+:\d+: error")
bad_mlir("unterminated-string", 'module attributes {a = "x} {}', r"bad\.mlir:1:\d+: error")
bad_mlir("binary", bytes(range(256)) * 16, r"bad\.mlir")
bad_mlir("bytecode-garbage", b"ML\xefR" + bytes(range(255, -1, -1)), r"bad\.mlir|bytecode")
bad_mlir("unknown-op", "transformer.teleport", r"bad\.mlir:1:1: error.*teleport")
bad_mlir("unknown-dialect", "x.y", r"bad\.mlir:1:1: error")
bad_mlir("empty-module", "module {}", r"\S", "--shard-tp=8 --estimate")
bad_mlir("no-file", "", r"\S", "--estimate nowhere.mlir")

MESH = "parallel.mesh(tp = 8)\n"


def bad_sharding(name, sharding, stderr, before=MESH):
    bad_mlir(
        f"sharding-{name}",
        before + "func.func private @f() {\n"
        f'  %w = transformer.weight "w" : tensor<64x64xbf16, #parallel.sharding<{sharding}>>\n'
        "  return\n}\n",
        r"bad\.mlir:\d+:\d+: error: .*" + stderr,
    )


bad_sharding("unknown-axis", "[_ by dp, _]", "dp")
bad_sharding("axis-twice", "[_ by tp, _ by tp]", "tp")
bad_sharding("axis-twice-in-one-dimension", "[_ by tp*tp, _]", "tp")
bad_sharding("axis-split-and-partial", "[_ by tp, _] partial [tp]", "tp")
bad_sharding("wrong-rank", "[_ by tp]", "")
bad_sharding("unknown-rule", "[_ by tp stretch, _]", "")
bad_sharding("without-mesh", "[_ by tp, _]", "", before="")
bad_sharding("two-meshes", "[_ by tp, _]", "", before=MESH + "parallel.mesh(tp = 4)\n")
bad_sharding("does-not-divide", "[_ by tp, _]", "64", before="parallel.mesh(tp = 7)\n")
for name, axes in (
    ("axis-of-size-0", "tp = 0"),
    ("axis-of-negative-size", "tp = -8"),
    ("axis-of-huge-size", "tp = 99999999999999999999"),
    ("axis-twice", "tp = 2, tp = 4"),
    ("axis-without-size", "tp ="),
):
    bad_mlir(f"mesh-{name}", f"parallel.mesh({axes})\n", r"bad\.mlir:1:\d+: error: ")
bad_mlir("mesh-degree-of-unknown-axis", "parallel.mesh(tp = 8) {ep = dp*tp}\n", r"bad\.mlir:1:\d+: error: .*dp")

for name, step in (
    ("batch-0", "phase = decode, batch = 0, query = 1, context = 8"),
    ("query-beyond-context", "phase = prefill, batch = 1, query = 9, context = 8"),
    ("source-negative", "phase = decode, batch = 1, query = 1, context = 8, encoder_tokens = -1"),
    ("memory-overflow", "phase = decode, batch = 1, query = 1, context = 8, cross_tokens = 9223372036854775808"),
    ("source-twice", "phase = decode, batch = 1, query = 1, context = 8, encoder_tokens = 1, encoder_tokens = 1"),
    ("unknown-phase", "phase = sleep, batch = 1, query = 1, context = 8"),
    ("overflow", "phase = decode, batch = 9223372036854775808, query = 1, context = 8"),
):
    bad_mlir(f"workload-{name}", f"transformer.workload({step})\n", r"bad\.mlir:1:\d+: error: ")
bad_mlir("two-workloads", "transformer.workload(phase = decode, batch = 1, query = 1, context = 8)\n"
         "transformer.workload(phase = decode, batch = 1, query = 1, context = 8)\n",
         r"bad\.mlir:\d+:\d+: error: ", "--estimate")  # fmt: skip

for name, count in (("0", "0"), ("negative", "-1"), ("huge", "99999999999999999999"), ("too-many", "1000001")):
    case(f"mlir-repeat-{name}", "autopar-opt --shard-tp=8 --estimate edited.mlir", r"edited\.mlir:\d+:\d+: error: ",
         edit=(r"transformer\.repeat 32\b", f"transformer.repeat {count}"))  # fmt: skip
case("mlir-weight-of-other-shape", "autopar-opt --shard-tp=8 --estimate edited.mlir",
     r"edited\.mlir:\d+:\d+: error: ", edit=(r"tensor<14336x4096xbf16|tensor<4096x14336xbf16", "tensor<9x9xbf16"))  # fmt: skip

# -- Flags --------------------------------------------------------------------


def bad_flags(name, flags, stderr, files=None, shard="--shard-tp=8"):
    case(f"flag-{name}", f"autopar-opt {shard} --estimate {flags} {{model}}", stderr, files)


bad_flags("tp-does-not-divide", "", r"3", shard="--shard-tp=3")
bad_flags("tp-does-not-divide-kv-heads", "--nodes=4", r"\b8\b", shard="--shard-tp=12")
for name, value in (("0", "0"), ("negative", "-1"), ("word", "abc"), ("fraction", "2.5"), ("empty", ""),
                    ("huge", "99999999999999999999")):  # fmt: skip
    bad_flags(f"tp-{name}", "", r"shard-tp", shard=f"--shard-tp={value}")
bad_flags("tp-16-on-8-devices", "--hardware=h100-sxm-8", r"(?s)\b16\b.*--nodes", shard="--shard-tp=16")
bad_flags("unknown-hardware", "--hardware=h100-smx-8", r"(?s)h100-smx-8.*h100-sxm-8")
bad_flags("unknown-runtime", "--runtime=vlm", r"(?s)vlm.*vllm")
bad_flags("missing-hardware-file", "--hardware=./nowhere.json", r"nowhere\.json")
bad_flags("unknown-phase", "--phase=training-wheels", r"training-wheels")
TRAIN = "--phase=train --runtime=megatron --batch=64 --context=512"
bad_flags("zero-4", f"{TRAIN} --zero=4", r"zero=4.*0 to 3")
bad_flags("optimizer", f"{TRAIN} --optimizer=adam8", r"adam8.*adamw-8bit")
bad_flags("master-format", f"{TRAIN} --master-format=fp33", r"fp33.*or none")
bad_flags("state-format-none", f"{TRAIN} --state-format=none", r"state-format=none")
for name, value in (("0", "0"), ("negative", "-1"), ("word", "some"), ("huge", "99999999999999999999")):
    bad_flags(f"fsdp-{name}", f"{TRAIN} --shard-fsdp={value}", r"shard-fsdp", shard="--shard-dp=8")
bad_flags("fsdp-of-nobody", f"{TRAIN} --shard-fsdp=2", r"fsdp.*dp or cp", shard="--shard-tp=2")
bad_flags("fsdp-does-not-divide", f"{TRAIN} --shard-fsdp=3", r"fsdp that works: 1, 2, 4, 8", shard="--shard-dp=8")
bad_flags("fsdp-of-open-size", f"{TRAIN} --shard-fsdp=2", r"dp = \?", shard="--shard-dp=?")
bad_flags("fsdp-outer", f"{TRAIN} --fsdp", r"fsdp = dpo is no inner part", shard="--mesh=dpo=2,dpi=4,fsdp=dpo")
bad_flags("fsdp-of-nothing", TRAIN, r"(?s)fsdp = dpi.*needs fsdp or zero", shard="--mesh=dpo=2,dpi=4,fsdp=dpi")
bad_flags("stages-head-first", "--stages=head,0-31", r"'head' is no range", shard="--stage-pp=2")
bad_flags("stages-embedding-twice", "--stages=embedding,embedding,0-31", r"is no range|stands between", shard="--stage-pp=3")
bad_flags("stages-embedding-alone", "--stages=embedding", r"model has 32", shard="--stage-pp=1")
bad_flags("batch-0", "--batch=0", r"batch")
bad_flags("batch-negative", "--batch=-1", r"batch")
bad_flags("batch-word", "--batch=many", r"many")
bad_flags("batch-overflow", "--batch=9223372036854775808", r"batch")
bad_flags("batch-too-many", "--batch=9223372036854775807", r"\S")
bad_flags("batch-times-context-overflow", "--phase=decode --batch=1000000000000 --context=1000000000000", r"\S")
bad_flags("prompt-0", "--phase=prefill --prompt=0", r"prompt")
bad_flags("context-0", "--phase=decode --context=0", r"context")
bad_flags("context-below-prompt", "--phase=prefill --prompt=2048 --context=1024", r"context")
bad_flags("nodes-0", "--nodes=0", r"node")
bad_flags("set-unknown-path", "--set chips.h100-sxm.memory_bandwith=1e12", r"memory_bandwith")
bad_flags("set-unknown-chip", "--set chips.h100-smx.memory_bandwidth=1e12", r"h100-smx")
bad_flags("set-unknown-root", "--set cheaps.h100-sxm.memory_bandwidth=1e12", r"cheaps")
bad_flags("set-word", "--set chips.h100-sxm.memory_bandwidth=fast", r"fast")
bad_flags("set-negative", "--set chips.h100-sxm.memory_bandwidth=-1", r"memory_bandwidth")
bad_flags("set-nan", "--set chips.h100-sxm.memory_bandwidth=nan", r"nan")
bad_flags("set-without-value", "--set chips.h100-sxm.memory_bandwidth", r"memory_bandwidth")
bad_flags("unknown-dtype", "--dtype=float7", r"float7")
bad_flags("unknown-kv-dtype", "--kv-dtype=float7", r"float7")
bad_flags("memory-utilization-above-1", "--memory-utilization=1.5", r"1\.5")
bad_flags("memory-utilization-negative", "--memory-utilization=-0.5", r"-0\.5")
bad_flags("unknown-report-format", "--estimate=xml", r"xml|estimate")
bad_flags("unknown-flag", "--estimait", r"estimait")
bad_flags("report-output-to-nowhere", "--report-output=nowhere/report.txt", r"nowhere")

for name, mesh in (("without-size", "tp="), ("without-name", "=8"), ("axis-twice", "tp=8,tp=4"), ("size-0", "tp=0"),
                   ("negative", "tp=-1"), ("word", "tp=abc"), ("empty", ""), ("huge", "tp=99999999999999999999"),
                   ("product-overflows", "tp=1073741824,dp=1073741824,pp=1073741824")):  # fmt: skip
    bad_flags(f"mesh-{name}", f"--mesh={mesh}", r"mesh|axis|device|tp", shard="")

# -- Plans --------------------------------------------------------------------

PLAN = {"schema": "autopar.plan/1", "axes": [{"name": "tp", "size": 8}]}
for name, plan, stderr in (
    ("truncated", json.dumps(PLAN)[:20], r"plan\.json:1:\d+: "),
    ("without-schema", {"axes": PLAN["axes"]}, r'plan\.json.*"schema"'),
    ("other-schema", PLAN | {"schema": "autopar.plan/9"}, r"plan\.json: /schema: .*autopar\.plan/9"),
    ("unknown-key", PLAN | {"tensor_parallel": 8}, r"plan\.json: /tensor_parallel: "),
    ("axes-of-wrong-type", PLAN | {"axes": 8}, r"plan\.json: /axes: "),
    ("axis-of-size-0", PLAN | {"axes": [{"name": "tp", "size": 0}]}, r"plan\.json: /axes/0/size: "),
    ("axis-twice", PLAN | {"axes": PLAN["axes"] * 2}, r"plan\.json: /axes"),
    ("axis-without-name", PLAN | {"axes": [{"size": 8}]}, r"plan\.json: /axes/0.*name"),
    ("degree-of-unknown-axis", PLAN | {"degrees": {"ep": ["dp"]}}, r"plan\.json: /degrees/ep"),
    ("degree-that-is-no-part", PLAN | {"axes": PLAN["axes"] + [{"name": "dp"}], "degrees": {"dcp": ["dp"]}},
     r"plan\.json: /degrees: .*dcp"),
    ("experts-over-other-devices", PLAN | {"degrees": {"ep": ["tp"], "edp": ["tp"]}}, r"plan\.json: /degrees: .*tp"),
    ("context-kind", PLAN | {"context_kind": 1}, r"plan\.json: /context_kind: "),
    ("fsdp-without-replicas", PLAN | {"fsdp": True}, r"fsdp.*dp"),
    ("unknown-dtype", PLAN | {"dtype": "float7"}, r"plan\.json: /dtype: .*float7"),
    ("memory-utilization-2", PLAN | {"memory_utilization": 2}, r"plan\.json: /memory_utilization: "),
):
    bad_flags(f"plan-{name}", "--plan=plan.json", stderr, {"plan.json": plan}, shard="")
for flag, value in (("shard-dp", "0"), ("shard-cp", "-1"), ("shard-ep", "99999999999999999999"), ("shard-etp", "x"),
                    ("shard-dcp", "3"), ("shard-attention-tp", "16"), ("cp-kind", "star"), ("map", "dp"),
                    ("shard-dp", "1073741824"), ("shard-ep", "1073741823")):
    bad_flags(f"degree-{flag}-{value}", f"--{flag}={value}", flag.removeprefix("shard-").replace("-", "[-_]"))
bad_flags("plan-missing", "--plan=nowhere.json", r"nowhere\.json", shard="")

# -- Hardware and runtime files -----------------------------------------------


def library(name):
    """A function that changes the library's file `name` (at a path of keys)."""
    return lambda keys, value: ("library", name, keys, value)


SYSTEM, CHIP = library("hardware/systems/h100-sxm-8"), library("hardware/chips/h100-sxm")
RUNTIME = library("runtimes/vllm")
DROP = object()
for name, change, stderr in (
    ("wrong-type", SYSTEM("devices_per_node", "eight"), r"bad\.json: /devices_per_node: "),
    ("missing-field", SYSTEM("tiers", DROP), r'bad\.json.*missing field "tiers"'),
    ("no-tiers", SYSTEM("tiers", []), r"bad\.json: /tiers"),
    ("unknown-field", SYSTEM("colour", "green"), r"bad\.json: /colour: "),
    ("negative-bandwidth", SYSTEM("tiers/0/bandwidth/value", -1), r"bad\.json: /tiers/0/bandwidth"),
    ("zero-devices", SYSTEM("devices_per_node", 0), r"bad\.json: /devices_per_node: "),
    ("unknown-chip", SYSTEM("chip", "h100-smx"), r"h100-smx"),
    ("other-schema", SYSTEM("schema", "autopar.system/9"), r"bad\.json: /schema: "),
    ("without-source", SYSTEM("tiers/0/bandwidth/source", DROP), r"bad\.json: /tiers/0/bandwidth.*source"),
    ("is-a-plan", PLAN, r"bad\.json"),
    ("syntax", '{"schema": ', r"bad\.json:1:\d+: "),
):
    bad_flags(f"hardware-{name}", "--hardware=./bad.json", stderr, {"bad.json": change})
MY_SYSTEM = {"system.json": SYSTEM("chip", "bad")}
for name, change, stderr in (
    ("negative-bandwidth", CHIP("memory_bandwidth/value", -1), r"bad\.json: /memory_bandwidth"),
    ("zero-memory", CHIP("memory_usable/value", 0), r"bad\.json: /memory_usable"),
    ("missing-peaks", CHIP("peak_flops", DROP), r'bad\.json.*"peak_flops"'),
    ("unknown-field", CHIP("memory_bandwith", 1), r"bad\.json: /memory_bandwith: "),
    ("bandwidth-string", CHIP("memory_bandwidth/value", "fast"), r"bad\.json: /memory_bandwidth/value: "),
):
    bad_flags(f"chip-{name}", "--hardware=./system.json", stderr,
              MY_SYSTEM | {"bad.json": CHIP("name", "bad") + (change,)})  # fmt: skip
for name, change, stderr in (
    ("unknown-field", RUNTIME("colour", "green"), r"bad\.json: /colour: "),
    ("without-schema", RUNTIME("schema", DROP), r'bad\.json.*"schema"'),
    ("syntax", "{]", r"bad\.json:1:\d+: "),
):
    bad_flags(f"runtime-{name}", "--runtime=./bad.json", stderr, {"bad.json": change})

# -- autopar ------------------------------------------------------------------

for name, arguments, stderr in (
    ("unknown-command", "fly", r"fly"),
    ("no-command", "", r"\S"),
    ("hardware-unknown-command", "hardware fly", r"fly"),
    ("hardware-show-unknown", "hardware show h100-smx", r"(?s)h100-smx.*h100-sxm"),
    ("hardware-show-nothing", "hardware show", r"\S"),
    ("hardware-diff-one", "hardware diff h100-sxm", r"\S"),
    ("hardware-diff-unknown", "hardware diff h100-sxm b300-smx", r"b300-smx"),
    ("hardware-show-missing-file", "hardware show ./nowhere.json", r"nowhere\.json"),
    ("hardware-list-extra", "hardware list now", r"now"),
):
    case(f"autopar-{name}", f"autopar {arguments}", stderr)
for name, text, stderr in (
    ("syntax", '{"schema": "autopar.chip/1",}', r"bad\.json:1:\d+: "),
    ("empty", "", r"bad\.json"),
    ("nested-300-deep", "[" * 300, r"bad\.json.*256"),
    ("negative-bandwidth", CHIP("memory_bandwidth/value", -1), r"bad\.json: /memory_bandwidth"),
):
    case(f"autopar-hardware-show-{name}", "autopar hardware show ./bad.json", stderr, {"bad.json": text})


# -- Bundles ------------------------------------------------------------------

TEXTS = {"module.mlir": "module {}\n", "report.json": "{}\n", "report.txt": "\n"}


def zipped(entries):
    """`entries`: (name, text or bytes), in this order; a name may come twice."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in entries:
                info = zipfile.ZipInfo("x")
                # Kept as it is, where the constructor would mend it.
                info.filename, info.compress_type = name, zipfile.ZIP_DEFLATED
                archive.writestr(info, text)
    return buffer.getvalue()


def bundle(entries=TEXTS, more=(), **changes):
    """A bundle of `entries`, with a manifest that has `changes`, and of `more`."""
    files = [{"name": name, "bytes": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
             for name, text in entries.items()]  # fmt: skip
    manifest = {
        "schema": "autopar.bundle/1", "model": "m", "versions": {"autopar": "0.1.0", "llvm": "22.1.0"}, "flags": [],
        "estimate": {"explain": False, "impact": False, "verbose": False, "simulate": 0, "seed": 1, "requests": ""},
        "files": files,
    }  # fmt: skip
    manifest |= changes
    return zipped([("manifest.json", json.dumps(manifest)), *entries.items(), *more])


def bad_bundle(name, content, stderr):
    case(f"bundle-{name}", "autopar replay bad.zip", r"error: bad\.zip.*" + stderr, {"bad.zip": content})


GOOD_FILES = [{"name": name, "bytes": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
              for name, text in TEXTS.items()]  # fmt: skip
WHOLE = bundle()
bad_bundle("empty", b"", r"cannot be read as a zip|has no manifest")
bad_bundle("text", "not a zip", r"cannot be read as a zip")
bad_bundle("truncated", WHOLE[: len(WHOLE) // 2], r"cannot be read as a zip")
bad_bundle("without-its-end", WHOLE[:-10], r"cannot be read as a zip")
bad_bundle("bytes-before-it", b"x" * 100 + WHOLE[:-30], r"cannot be read as a zip")
bad_bundle("damaged", WHOLE[:200] + bytes([WHOLE[200] ^ 0xFF]) + WHOLE[201:], r"is damaged|cannot be read as a zip")
bad_bundle("no-entries", zipped([]), r"has no manifest\.json")
bad_bundle("of-zeros", bundle(more=[("big.json", b"\0" * (100 << 20))]), r'"big\.json": is packed to less than 1/200')
bad_bundle("of-bombs", bundle(more=[(f"{i}.json", b"ab" * (20 << 20)) for i in range(3)]), r"is packed to less than 1/200")
bad_bundle("many-entries", bundle(more=[(f"{i}.json", "{}") for i in range(300)]), r"has 304 entries, at most 256")
for i, path in enumerate(("../../etc/passwd", "/etc/passwd", "a/../../b", "a//b", "a/", ".hidden", "a\\b", "c:/b", "a\x1b[2Jb", "")):
    bad_bundle(f"path-{i}", bundle(more=[(path, "x")]), r"is no plain name|has no name|cannot be read as a zip")
bad_bundle("entry-twice", bundle(more=[("report.txt", "other")]), r'"report\.txt": is there twice|cannot be read as a zip: File already exists')
bad_bundle("without-manifest", zipped(TEXTS.items()), r"has no manifest\.json")
bad_bundle("manifest-of-text", zipped([("manifest.json", "{"), *TEXTS.items()]), r"manifest\.json:1:\d+")
bad_bundle("manifest-nested", zipped([("manifest.json", "[" * 300), *TEXTS.items()]), r"nested deeper")
bad_bundle("other-schema", bundle(schema="autopar.bundle/2"), r'/schema: expected "autopar\.bundle/1"')
bad_bundle("unknown-key", bundle(extra=1), r"extra")
bad_bundle("flags-of-numbers", bundle(flags=[1]), r"/flags/0")
bad_bundle("no-files-listed", bundle(files=[]), r'does not list the entry "module\.mlir"')
bad_bundle("without-module", bundle({key: TEXTS[key] for key in ("report.json", "report.txt")}), r"lists no module\.mlir")
bad_bundle("listed-and-missing", bundle(files=GOOD_FILES + [GOOD_FILES[0] | {"name": "x"}]), r'/files/3/name: "x" is no entry')
bad_bundle("listed-twice", bundle(files=GOOD_FILES + GOOD_FILES[:1]), r"is listed twice")
bad_bundle("entry-that-is-not-listed", bundle(more=[("hardware/chips/x.json", "{}")]), r'does not list the entry "hardware/chips/x\.json"')
bad_bundle("wrong-hash", bundle(files=[GOOD_FILES[0] | {"sha256": "0" * 64}] + GOOD_FILES[1:]), r"/files/0/sha256.*has the hash")
bad_bundle("wrong-size", bundle(files=[GOOD_FILES[0] | {"bytes": 7}] + GOOD_FILES[1:]), r"/files/0/bytes.*has 10 bytes, not 7")
bad_bundle("negative-size", bundle(files=[GOOD_FILES[0] | {"bytes": -1}] + GOOD_FILES[1:]), r"/files/0/bytes")
case("bundle-of-no-model", "autopar replay bad.zip", r"no runtime files here", {"bad.zip": WHOLE})
case("bundle-of-no-module", "autopar replay bad.zip", r"module\.mlir:1:1: ", {"bad.zip": bundle(TEXTS | {"module.mlir": "%"})})
case("bundle-of-laughs", "autopar replay bad.zip", r"aliases stand for more than",
     {"bad.zip": bundle(TEXTS | {"module.mlir": "#a0 = 1\n" + "".join(f"#a{i + 1} = [#a{i},#a{i}]\n" for i in range(40)) + "module {}\n"})})  # fmt: skip
case("bundle-without-hardware", "autopar replay bad.zip", r"no system files here|unknown system|no runtime files here|unknown runtime",
     {"bad.zip": bundle(TEXTS | {"module.mlir": "func.func @m() { return }\n"})})  # fmt: skip


# -- Running ------------------------------------------------------------------


def changed(data, spec):
    """The library's file, changed as `spec` says."""
    _, name, keys, value, *more = spec
    with open(os.path.join(data, name + ".json"), encoding="utf-8") as file:
        root = json.load(file)
    for keys, value in [(keys, value)] + [step[2:] for step in more]:
        parent = root
        *path, last = [int(key) if key.isdigit() else key for key in keys.split("/")]
        for key in path:
            parent = parent[key]
        if value is DROP:
            del parent[last]
        else:
            parent[last] = value
    return root


def write(data, folder, name, content):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if isinstance(content, tuple):
        content = changed(data, content)
    if not isinstance(content, (str, bytes)):
        content = json.dumps(content, indent=2)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


# What a case may take. Of processor time, as machines are busy; memory counts
# where it is asked for.
SECONDS, BYTES = 2, 512 << 20


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def run_case(name, tools, data):
    """Returns (what is wrong, or ""; the transcript)."""
    command, stderr, files, edit = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        for path, content in files.items():
            write(data, folder, path, content)
        missing = [
            tool
            for tool in {shlex.split(command)[0], "autopar-translate" if edit or "{model}" in command else ""}
            if tool and not os.path.exists(os.path.join(tools, tool))
        ]
        if missing:
            return f"there is no {missing[0]} in {tools}", ""
        if edit or "{model}" in command:
            model = os.path.join(folder, "model.mlir")
            source = os.path.join(data, "models", "llama-3.1-8b")
            made = subprocess.run(
                [os.path.join(tools, "autopar-translate"), "--import-hf", source, "-o", model],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
            )  # fmt: skip
            if made.returncode:
                return "the model could not be imported", made.stderr
        if edit:
            with open(model, encoding="utf-8") as file:
                before = file.read()
            after, count = re.subn(edit[0], edit[1], before, count=1)
            if not count:
                return f"the model has nothing like {edit[0]}", before
            write(data, folder, "edited.mlir", after)
        words = shlex.split(command.replace("{model}", "model.mlir"))
        words[0] = os.path.join(tools, words[0])
        environment = os.environ | {"AUTOPAR_DATA": data}
        try:
            done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=60, preexec_fn=limit)  # fmt: skip
        except subprocess.TimeoutExpired:
            return "it ran for longer than 60 seconds", command
    out, err = (s.decode("utf-8", "replace") for s in (done.stdout, done.stderr))
    transcript = f"$ {command}\n[exit code {done.returncode}]\n{out[:2000]}{err[:4000]}"
    if done.returncode < 0:
        return f"killed by signal {-done.returncode}", transcript
    if done.returncode != 1:
        return f"exit code {done.returncode}, expected 1", transcript
    if out.strip():
        return "something on standard output", transcript
    if not err.strip():
        return "nothing on standard error", transcript
    if "Stack dump" in err or "PLEASE submit a bug report" in err:
        return "a crash", transcript
    if not re.search(stderr, err):
        return f"standard error has nothing like {stderr}", transcript
    return "", transcript


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--bin", required=True, help="folder of the tools")
    parser.add_argument("--data", default=os.path.join(here, "..", ".."), help="folder of hardware/")
    parser.add_argument("--show", action="store_true", help="print the messages of all cases")
    parser.add_argument("pattern", nargs="?", default="", help="run the cases that match this")
    options = parser.parse_args()
    passed = failed = 0
    for name in CASES:
        if not re.search(options.pattern, name):
            continue
        wrong, transcript = run_case(name, os.path.abspath(options.bin), os.path.abspath(options.data))
        print(f"FAIL: {name}: {wrong}" if wrong else f"PASS: {name}")
        if wrong or options.show:
            print("  " + transcript.strip().replace("\n", "\n  "))
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what the fuzzers start from, beside the files of fuzz/corpus: for each
target a folder DIR/seeds/<target> of small inputs made from the repository's
own data, and a dictionary DIR/<target>.dict.

usage: seeds.py DIR
"""

import glob
import json
import os
import re
import struct
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAX_BYTES = 8192


def texts(*patterns):
    """The texts of files of the repository, by pattern."""
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            with open(path, "rb") as file:
                yield file.read()


# Configs: what a field of each type may be in a model of toy size.
TOY = {"width": 64, "layers": 2, "count": 4, "experts": 4, "tokens": 32, "integer": 1, "number": 1.5,
       "flag": True, "activation": "silu", "text": "default", "list": [1, 1], "list_or_integer": [2, 2]}  # fmt: skip


def merge(base, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        merged[key] = merge(merged.get(key), value)
    return {key: value for key, value in merged.items() if value is not None}


def family(name):
    with open(os.path.join(ROOT, "models", "families", name + ".json")) as file:
        description = json.load(file)
    base = description.pop("base", None)
    return merge(family(base), description) if base else description


def families():
    names = sorted(os.listdir(os.path.join(ROOT, "models", "families")))
    return {name[:-5]: family(name[:-5]) for name in names if name.endswith(".json")}


def keys(field, name):
    key = field.get("key", name) if isinstance(field, dict) else name
    return key if isinstance(key, list) else [key]


def put(config, key, value):
    *outer, last = key.split(".")
    for part in outer:
        config = config.setdefault(part, {})
        if not isinstance(config, dict):
            return
    config.setdefault(last, value)


def toy_config(name, description, all_fields):
    """A config with the required fields of a family, or with all of them."""
    config = {"model_type": name, "architectures": description.get("architectures", [])[:1], "torch_dtype": "bfloat16"}
    for field_name, field in description.get("fields", {}).items():
        if all_fields or "default" not in field:
            choices = field.get("choices") or [TOY.get(field.get("type"))]
            for key in keys(field, field_name)[:1]:
                put(config, key, choices[0])
    return config


def config_seeds():
    yield from texts("models/*/config.json")
    for name, description in families().items():
        for all_fields in (False, True):
            config = toy_config(name, description, all_fields)
            for part in description.get("parts", {}).values():
                inner = part.get("config")
                if inner and isinstance(inner, str):
                    put(config, inner, {"model_type": re.sub(r"_config$", "", inner), **TOY})
            yield json.dumps(config).encode()


def config_words():
    for name, description in families().items():
        yield name
        yield from description.get("architectures", [])
        for field_name, field in description.get("fields", {}).items():
            for key in keys(field, field_name):
                yield from key.split(".")
            yield from (choice for choice in field.get("choices", []) if isinstance(choice, str))


def expressions(value):
    """Every text of a family file: most are expressions."""
    if isinstance(value, str):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from expressions(child)


# Checkpoints.
def safetensors(header, data=0):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(data)


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


SHARD = safetensors({"model.norm.weight": tensor("BF16", [8], 0, 16), "lm_head.weight": tensor("F8_E4M3", [4, 2], 16, 24)}, 24)  # fmt: skip


def safetensors_seeds():
    yield SHARD
    yield safetensors({"__metadata__": {"format": "pt"}, "w": tensor("F32", [], 0, 4)}, 4)
    yield safetensors({"a": tensor("U8", [2, 0], 0, 0), "b": tensor("I64", [1], 0, 8)}, 8)
    yield safetensors({f"h.{i}.w": tensor("F16", [1], 2 * i, 2 * i + 2) for i in range(5)}, 10)
    yield safetensors(b'{"w": {"dtype": "F4", "shape": [4], "data_offsets": [0, 2]}}  ', 2)


def string(text):
    return struct.pack("<Q", len(text)) + text.encode()


def pair(key, kind, value):
    return string(key) + struct.pack("<I", kind) + value


def gguf_tensor(name, sizes, kind, offset):
    shape = struct.pack(f"<I{len(sizes)}Q", len(sizes), *sizes)
    return string(name) + shape + struct.pack("<IQ", kind, offset)


def gguf(version, pairs, tensors, data):
    header = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs)) + b"".join(pairs + tensors)
    return header + bytes(-len(header) % 32 + data)


def gguf_seeds():
    yield gguf(3, [], [], 0)
    name = pair("general.architecture", 8, string("llama"))
    alignment = pair("general.alignment", 4, struct.pack("<I", 32))
    yield gguf(3, [name, alignment], [gguf_tensor("blk.0.w", [256, 2], 12, 0), gguf_tensor("norm", [3], 0, 288)], 300)
    array = pair("tokens", 9, struct.pack("<IQ", 8, 2) + string("a") + string("bc"))
    nested = pair("nested", 9, struct.pack("<IQIQ", 9, 1, 0, 2) + b"xy")
    numbers = [pair(f"n{kind}", kind, bytes(size)) for kind, size in ((0, 1), (5, 4), (6, 4), (7, 1), (10, 8), (12, 8))]
    yield gguf(2, [array, nested, *numbers], [], 0)


def index_seeds():
    def index(total, names, file="model-00001-of-00001.safetensors"):
        return json.dumps({"metadata": {"total_size": total}, "weight_map": dict.fromkeys(names, file)}).encode()

    names = ["model.norm.weight", "lm_head.weight"]
    yield index(24, names)
    yield index(24, names) + b"\0" + SHARD
    yield index(7.5, [f"model.layers.{i}.w" for i in range(4)], "a.bin")
    yield index(24, names) + b"\0version https://git-lfs.github.com/spec/v1\n"


# Hardware, plans, runtimes.
def with_table(text):
    """A chip with a small table of shapes: those of the library are longer than
    what fuzzers are given."""
    chip = json.loads(text)
    curve = next(iter(chip["kernels"]["matmul"].values()))
    curve["shapes"] = {
        "coordinates": [{"of": "rows", "at": [1, 8]}, {"of": "columns", "at": [512, 4096]}, {"of": "contraction", "at": [1024]}],
        "percent": ["100 120", "90 80"],
        "fit": {"median_error": 0.02, "p90_error": 0.1, "rows": 9},
    }  # fmt: skip
    return json.dumps(chip).encode()


def hardware_seeds():
    yield from texts("hardware/chips/*.json", "hardware/systems/*.json")
    yield from map(with_table, texts("hardware/chips/v100-32gb-sxm.json"))
    for text in texts("hardware/chips/l4.json", "hardware/chips/tpu-v4.json"):
        yield b"chips.l4.memory_bandwidth=1e12 chips.l4.kernels.matmul.bf16.exponent=2 " + text
    for text in texts("hardware/systems/l4-8.json", "hardware/systems/tpu-v4-4x4x4.json"):
        yield b"systems.l4-8.tiers.0.bandwidth=4e9 systems.l4-8.devices_per_node=4 chips.l4.memory_bandwidth.value=1 " + text


def plan_seeds():
    yield from texts("runtimes/*.json")
    yield b"pp=4,dp=?,tp=8"
    plan = {"schema": "autopar.plan/1", "axes": [{"name": "pp", "size": 4}, {"name": "tp"}],
            "degrees": [{"name": "tp", "axes": ["tp"]}], "dtype": "bf16", "kv_dtype": "fp8_e4m3",
            "memory_utilization": 0.9}  # fmt: skip
    yield json.dumps(plan).encode()
    yield b'{"schema": "autopar.plan/1", "axes": [{"name": "tp", "size": 8}]}'


def placement_seeds():
    row = [0, 1, 2, 3, 0, 1]
    rows = [row, row, row]
    devices = [{"device_id": i, "device_expert": row[3 * i : 3 * i + 3]} for i in range(2)]
    layer = {"layer_id": 0, "device_count": 2, "device_list": devices}
    yield from (json.dumps(value).encode() for value in (
        {"schema": "autopar.load/1", "layers": {"1": [4, 3, 2, 1], "2": [1, 1, 5.5, 0]}},
        [[4, 3, 2, 1], [0, 0, 0, 0]],
        {"physical_to_logical_map": rows},
        rows[:2],
        {"moe_layer_count": 2, "layer_list": [layer, layer]},
        {"layer": 1, "experts": [0, 2], "tokens": 3},
    ))  # fmt: skip
    yield b"layer,expert,tokens\n1,0,4\n1,1,0\n1,2,2.5\n1,3,0\n2,3,1\n2,2,0\n2,0,1\n2,1,3\n"
    yield b"layer,experts,tokens\n1,0 2,4\n2,1 3,1\n"
    yield b'{"layer": 1, "experts": [0, 2]}\n\n{"layer": 2, "experts": [3, 1], "tokens": 2}\n'


def json_words(*patterns):
    for text in texts(*patterns):
        for word in re.findall(rb'"([A-Za-z][\w.*/-]{0,30})"', text):
            yield word.decode()


def mlir_seeds():
    for text in texts("test/Dialect/**/*.mlir", "test/Transforms/**/*.mlir"):
        yield from re.split(rb"^// -----.*\n", text, flags=re.MULTILINE)


def mlir_words():
    for text in texts("test/Dialect/**/*.mlir"):
        yield from (word.decode() for word in re.findall(rb"[a-z_]+\.[a-z_]+|[a-z_]{3,}\(?|#\w+\.\w+<", text))


def http_seeds():
    for more in ("", "Connection: close\r\n", "Origin: http://localhost\r\nSec-Fetch-Site: none\r\n", "Cookie: autopar-token=0123456789abcdef\r\n"):
        yield f"GET /models?model=a%20b HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode()
        yield f"POST /estimate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{more}Content-Length: 2\r\n\r\n{{}}GET / HTTP/1.0\r\nHost: a\r\n\r\n".encode()


def json_seeds():
    yield from texts("runtimes/*.json", "hardware/systems/*.json", "hardware/names.json", "models/families/*.json")
    numbers = ["-0", "0.784", "1e-7", "-1.5E+300", "5e-324", "1e400", "9223372036854775807", "9223372036854775808",
               "-9223372036854775809", "18446744073709551616", "01", "1.", ".5", "-"]  # fmt: skip
    for number in numbers:
        yield f"[{number}]".encode()
    yield json.dumps({f"key {i}": {"a/b~c": [None, True, "\u20ac", "\n"]} for i in range(40)}).encode()
    yield '{"a": "\u20ac", "a": 1}'.encode()


def launch_seeds():
    for name in ("vllm serve org/m -tp 8 -pp=2 --enable-expert-parallel --speculative-config '{\"method\": \"mtp\"}'",
                 "export TP=8\npython3 -m sglang.launch_server --model-path m --tp $TP --dp 8 --enable-dp-attention \\\n  --x > log 2>&1 &",
                 "cat > c.yaml <<'END'\ntensor_parallel_size: 4\nkv_cache_config: {dtype: fp8}\nEND\ntrtllm-serve m --config c.yaml",
                 "docker run --gpus all vllm/vllm-openai:v0.11.0 --model m --tensor-parallel-size ${TP:-4}",
                 "INFO non-default args: {'model': 'm', 'tensor_parallel_size': 2, 'x': None}\nINFO GPU KV cache size: 8,208 tokens",
                 "server_args=ServerArgs(model_path='m', tp_size=2)\nDecode batch. #running-req: 1, #token: 5, gen throughput (token/s): 8.0"):
        yield name.encode()
    for kind in ("Deployment", "LeaderWorkerSet", "DynamoGraphDeployment", "LLMInferenceService"):
        yield (f"kind: {kind}\nspec: &s\n  replicas: 2\n  model: {{uri: hf://a/b}}\n  parallelism: {{tensor: 2}}\n"
               "  services: {w: {replicas: 1, extraPodSpec: {mainContainer: {args: [vllm, serve, m]}}}}\n"
               "  template: {spec: {containers: [{command: [sh, -c], args: ['vllm serve m -tp 2']}]}}\n"
               "  leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{args: [vllm, serve, m]}]}}}\n").encode()


def calibrate_seeds():
    served = {"backend": "vllm", "model_id": "m", "max_concurrency": 8, "completed": 80, "duration": 60.0,
              "total_input_tokens": 81920, "total_output_tokens": 20480, "median_ttft_ms": 60.0, "median_tpot_ms": 9.0}
    call = {"size": 1024, "type": "float", "redop": "sum", "experiment_name": "all_reduce", "out_of_place": {"time": 9.5},
            "in_place": {"time": 9.0}}
    yield json.dumps(served).encode()
    yield (json.dumps(served) + "\n" + json.dumps(served)).encode()
    yield json.dumps({"devices": [{"rank": 0}, {"rank": 1}], "results": [call]}).encode()
    yield b"model,tp,Mean TPOT (ms),ITL\nm,8,9.5,9.1\n"
    yield (b"# Rank  0 Group  0 Pid  1 on n device  0 [0x1] NVIDIA H100\n"
           b"  1048576  262144   float     sum    -1   30.0   34.95   34.95      0   29.0   36.16   36.16      0\n")


TARGETS = {
    "calibrate": (calibrate_seeds, lambda: json_words("runtimes/measurements/*.json", "runtimes/measurements/text/*.json")),
    "launch": (launch_seeds, lambda: json_words("runtimes/launch/*.json", "runtimes/logs/*.json", "runtimes/manifests/*.json")),
    "json": (json_seeds, lambda: ["true", "false", "null", "1e", "\\\\u00", "}}", "]]", ": "]),
    "config": (config_seeds, config_words),
    "family_expression": (
        lambda: (text.encode() for description in families().values() for text in expressions(description)),
        lambda: ["if", "else", "and", "or", "not", "in", "None", "True", "len(", "min(", "max(", "ceil_div(",
                 "round_up(", "int(", "starts_with(", "is_list(", "has(", "//", "<=", "hidden_size", "text.heads",
                 "kinds", "most", "least", "huge", "none", "flag"]),  # fmt: skip
    "safetensors": (safetensors_seeds, lambda: ["dtype", "shape", "data_offsets", "__metadata__", "BF16", "F8_E8M0"]),
    "gguf": (gguf_seeds, lambda: ["GGUF", "general.alignment", "general.architecture"]),
    "index": (index_seeds, lambda: ["metadata", "total_size", "total_parameters", "weight_map", "dtype", "shape"]),
    "hardware": (hardware_seeds, lambda: json_words("hardware/*/*.json")),
    "plan": (plan_seeds, lambda: json_words("runtimes/*.json", "lib/Plan/*.cpp")),
    "placement": (placement_seeds, lambda: ["schema", "autopar.load/1", "layers", "layer,expert,tokens",
                  "layer,experts,tokens", "tokens", "experts", "layer"]),
    "http": (http_seeds, lambda: ["GET ", "POST ", " HTTP/1.1", "Host: ", "Content-Length: ", "Transfer-Encoding: chunked",
             "Authorization: Bearer ", "Expect: 100-continue", "/estimate", "/models/", "%2e"]),
    "mlir": (mlir_seeds, mlir_words),
}  # fmt: skip


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().splitlines()[-1])
    for target, (seeds, words) in TARGETS.items():
        small = sorted({seed for seed in seeds() if len(seed) <= MAX_BYTES})
        for number, seed in enumerate(small):
            write(os.path.join(sys.argv[1], "seeds", target, str(number)), seed)
        lines = (f'"{word}"\n' for word in sorted(set(words())))
        write(os.path.join(sys.argv[1], target + ".dict"), "".join(lines).encode())


if __name__ == "__main__":
    main()

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a checkpoint with the tensors of standard input, which are lines as
`autopar-translate --list-tensors` prints them. The data is a hole in the file.

usage: checkpoint.py safetensors FILE
       checkpoint.py index FOLDER SHARDS [--index-only]
       checkpoint.py gguf FILE
"""

import json
import os
import struct
import sys

GGML = {"F32": 0, "F16": 1, "BF16": 30, "Q4_0": 2, "Q8_0": 8}


def read_tensors():
    for line in sys.stdin:
        name, shape, dtype, size = line.rstrip("\n").split("\t")
        yield name, json.loads(shape), dtype, int(size)


def write(path, header, data):
    with open(path, "wb") as file:
        file.write(header)
        file.truncate(len(header) + data)


def safetensors(path, tensors):
    entries, offset = {}, 0
    for name, shape, dtype, size in tensors:
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    header = json.dumps(entries).encode()
    write(path, struct.pack("<Q", len(header)) + header, offset)


def index(folder, shards, tensors, index_only):
    os.makedirs(folder, exist_ok=True)
    weight_map = {}
    for i in range(shards):
        file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
        mine = tensors[i::shards]
        weight_map.update((tensor[0], file) for tensor in mine)
        if not index_only:
            safetensors(os.path.join(folder, file), mine)
    total = sum(tensor[3] for tensor in tensors)
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as file:
        json.dump({"metadata": {"total_size": total}, "weight_map": weight_map}, file)


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def gguf(path, tensors):
    pairs = {"general.architecture": "llama", "general.name": "tiny"}
    header = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(pairs) + 2)
    for key, value in pairs.items():
        header += text(key) + struct.pack("<I", 8) + text(value)
    header += text("llama.context_length") + struct.pack("<II", 4, 8192)
    header += text("llama.block_count") + struct.pack("<II", 4, 2)
    offset = 0
    for name, shape, dtype, size in tensors:
        header += text(name) + struct.pack("<I", len(shape))
        header += struct.pack(f"<{len(shape)}Q", *reversed(shape))
        header += struct.pack("<IQ", GGML[dtype], offset)
        offset += -(-size // 32) * 32
    header += bytes(-len(header) % 32)
    write(path, header, offset)


def main(kind, path, *rest):
    tensors = list(read_tensors())
    if kind == "safetensors":
        safetensors(path, tensors)
    elif kind == "index":
        index(path, int(rest[0]), tensors, "--index-only" in rest)
    else:
        gguf(path, tensors)


main(*sys.argv[1:])

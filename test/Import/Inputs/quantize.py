# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes one model folder per entry of a file of quantization settings.

usage: quantize.py BASE METHODS FOLDER
"""

import json
import os
import sys

base, methods, folder = sys.argv[1:]
for name, settings in json.load(open(methods)).items():
    path = os.path.join(folder, name)
    os.makedirs(path, exist_ok=True)
    config = json.load(open(base))
    # Those that ModelOpt keeps in a file of their own.
    if "quantization" in settings:
        json.dump(settings, open(os.path.join(path, "hf_quant_config.json"), "w"))
    else:
        config["quantization_config"] = settings
    json.dump(config, open(os.path.join(path, "config.json"), "w"))

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes an entry of a bundle: replaces text, and writes the right hash.

usage: rezip.py FROM TO NAME OLD NEW
"""

import hashlib
import json
import sys
import zipfile

source, target, changed, old, new = sys.argv[1:]
with zipfile.ZipFile(source) as archive:
    entries = {name: archive.read(name) for name in archive.namelist()}
assert old.encode() in entries[changed], f"no {old} in {changed}"
entries[changed] = entries[changed].replace(old.encode(), new.encode(), 1)
manifest = json.loads(entries["manifest.json"])
for file in manifest["files"]:
    text = entries[file["name"]]
    file["bytes"], file["sha256"] = len(text), hashlib.sha256(text).hexdigest()
entries["manifest.json"] = json.dumps(manifest).encode()
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, text in entries.items():
        archive.writestr(name, text)

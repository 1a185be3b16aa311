#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts a page together: styles, chart libraries with their licences, and our
scripts in one file, in which nothing else may run. What differs between pages
stands behind the markers `autopar:title`, `autopar:body` and `autopar:data`.

usage: page.py --output FILE --packages DIR --styles FILE... --scripts FILE...
"""

import argparse
import base64
import hashlib
from pathlib import Path

LIBRARIES = (
    ("d3", "dist/d3.min.js"),
    ("@observablehq/plot", "dist/plot.umd.min.js"),
)


def library(packages, name, script):
    folder = packages / name
    licence = (folder / "LICENSE").read_text(encoding="utf-8").replace("*/", "* /")
    text = (folder / script).read_text(encoding="utf-8")
    return f"/* {name}\n\n{licence}*/\n{text}\n"


def hashed(text):
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def page(styles, libraries, scripts):
    for text in (libraries, scripts):
        assert "</script" not in text, "a script would end early"
    # Of scripts and styles, only these; nothing from elsewhere.
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {hashed(libraries)} {hashed(scripts)}",
            f"style-src {hashed(styles)}",
            "img-src data: blob:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title><!--autopar:title--></title>
<style>{styles}</style>
</head>
<body>
<main>
<!--autopar:body-->
</main>
<script type="application/json" id="data"><!--autopar:data--></script>
<script>{libraries}</script>
<script>{scripts}</script>
</body>
</html>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--packages", required=True, type=Path)
    parser.add_argument("--styles", required=True, nargs="+", type=Path)
    parser.add_argument("--scripts", required=True, nargs="+", type=Path)
    args = parser.parse_args()
    read = lambda path: path.read_text(encoding="utf-8")
    styles = "".join(map(read, args.styles))
    libraries = "".join(library(args.packages, *one) for one in LIBRARIES)
    # One scope, in the order of the list.
    scripts = "(() => {\n'use strict';\n" + "\n".join(map(read, args.scripts)) + "})();\n"
    args.output.write_text(page(styles, libraries, scripts), encoding="utf-8")


if __name__ == "__main__":
    main()

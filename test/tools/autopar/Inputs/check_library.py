# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares models/README.md with what `autopar models list` printed.

usage: check_library.py README.md LIST

Every bundled model must be in both tables of the README (dimensions and
sources), and its parameters, the last column of the first, must be those of
the list.
"""

import sys


def rows(path):
    """The cells of each line of a table that begins with a `name`."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) > 1 and cells[0].startswith("`"):
                yield cells[0].strip("`"), cells[1:]


def main():
    readme, listing = sys.argv[1:]
    with open(listing, encoding="utf-8") as file:
        listed = {name: rest[0] for name, *rest in map(str.split, list(file)[1:])}
    parameters = {name: cells[-1] for name, cells in rows(readme) if len(cells) > 2}
    sources = {name for name, cells in rows(readme) if len(cells) == 2}
    wrong = [
        f"{name}: the README says {parameters.get(name)}, autopar {listed.get(name)}"
        for name in sorted(parameters.keys() | listed.keys())
        if parameters.get(name) != listed.get(name)
    ]
    wrong += [f"{name}: only in one of README's sources and the library" for name in sources ^ listed.keys()]
    print("\n".join(wrong))
    return 1 if wrong or len(listed) < 30 else 0


if __name__ == "__main__":
    sys.exit(main())

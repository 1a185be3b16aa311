#!/usr/bin/env python3
"""Fits hardware/ to measured kernels and collectives, and says how well.

Parts, in the order in which they rest on each other:

  curves       kernel curves of the measured chips (scripts/fit_kernels.py)
  tables       what kernels take over them by shape (fit_shapes.py), and
               recurrences (fit_scans.py)
  left-out     curves of chips that nobody measured, and errors of measured
               chips by the same rule
  collectives  systems: collectives by backend (fit_collectives.py)
  families     kernels without a curve of their own, by the one that prices them
               (family_errors.py)

  scripts/fit.py                   prints errors on shapes that the fits do not
                                   see, of all parts (a minute)
  scripts/fit.py left-out          of one part; it rests on hardware/ as it is
  scripts/fit.py --write           and writes hardware/
  scripts/fit.py --check           and exits with 1 where hardware/ has others

Runtimes are fitted to served points by scripts/fit_runtime.py.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import pathlib
import sys

import family_errors
import fit_collectives
import fit_kernels
import fit_scans
import fit_shapes
import hardware_files as files

CHIPS = files.ROOT / "hardware/chips"
SYSTEMS = files.ROOT / "hardware/systems"


def tables(data, chips, _):
    fit_shapes.add_tables(data, chips)
    fit_scans.add_tables(data, chips)


def left_out(data, chips, _):
    kin = fit_shapes.errors_of_kin(data, chips)
    fit_kernels.report_left_out(fit_kernels.borrow(data, chips, kin))
    fit_kernels.report_kin(kin)
    fit_scans.copy_tables(chips)


def collectives(data, _, systems):
    fit_collectives.report(data)
    fit_collectives.report_exchanges(data)
    fit_collectives.fit_all(data, systems)


PARTS = {
    "curves": lambda data, chips, _: fit_kernels.fit_curves(data, chips),
    "tables": tables,
    "left-out": left_out,
    "collectives": collectives,
    "families": lambda data, chips, _: family_errors.report_families(
        data, chips),
}


def read_all(folder):
    return {path.stem: files.read(path) for path in sorted(folder.glob("*.json"))}


def write_all(folder, made):
    for name, value in made.items():
        files.write(folder / f"{name}.json", value)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("part", nargs="?", choices=PARTS, help="this one alone")
    parser.add_argument("--data", type=pathlib.Path,
                        default=files.ROOT / "../shared/data/measured/ops",
                        help="folder of the measurements")
    parser.add_argument("--write", action="store_true", help="write hardware/")
    parser.add_argument("--check", action="store_true",
                        help="exit with 1 where hardware/ has others")
    arguments = parser.parse_args()
    if not (arguments.data / "gemm.csv").exists():
        print(f"skipped: no gemm.csv in {arguments.data}")
        return 0
    chips, systems = read_all(CHIPS), read_all(SYSTEMS)
    for name, fit in PARTS.items():
        if arguments.part in (None, name):
            print(f"== {name}", flush=True)
            fit(arguments.data, chips, systems)
    if arguments.write:
        write_all(CHIPS, chips)
        write_all(SYSTEMS, systems)
    if arguments.check:
        return max(files.check(CHIPS, chips), files.check(SYSTEMS, systems))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Fits hardware/ to measured kernels and collectives, and says how well.

Parts, in the order in which they rest on each other:

  curves       kernel curves of the measured chips (scripts/calibration/fit_kernels.py)
  tables       what kernels take over them by shape (fit_shapes.py), and
               recurrences (fit_scans.py)
  left-out     curves of chips that nobody measured, and errors of measured
               chips by the same rule
  collectives  systems: collectives by backend (fit_collectives.py)
  families     kernels without a curve of their own, by the one that prices them
               (family_errors.py)

  scripts/calibration/fit.py                   prints errors on shapes that the fits do not
                                   see, of all parts (a minute)
  scripts/calibration/fit.py left-out          of one part; it rests on hardware/ as it is
  scripts/calibration/fit.py --write           and writes hardware/
  scripts/calibration/fit.py --check           and exits with 1 where hardware/ has others

Runtimes are fitted to served points by scripts/calibration/fit_runtime.py.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import collections
import pathlib
import sys

import family_errors
import fit_collectives
import fit_kernels
import fit_scans
import fit_shapes
import hardware_files as files

HARDWARE = files.ROOT / "hardware"
CHIPS = HARDWARE / "chips"
SYSTEMS = HARDWARE / "systems"


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


def spreads(chips):
    """The file that says how far apart what measured chips reach is."""
    reached = collections.defaultdict(list)
    for chip in chips.values():
        for kernel, curves in chip["kernels"].items():
            for key, curve in curves.items():
                if ("compute_efficiency" in curve and
                        curve["source"]["kind"] == "measured"):
                    reached[f"{kernel}.{key}"].append(curve)
    return {
        "schema": "autopar.spreads/1",
        "title": "The least and the most of their peak and bandwidth that the measured chips reach",
        "spreads": {use: {efficiency: range_of(curves, efficiency)
                          for efficiency in ("compute_efficiency", "memory_efficiency")}
                    for use, curves in sorted(reached.items()) if len(curves) > 1},
    }


def range_of(curves, efficiency):
    values = [curve[efficiency]["value"] for curve in curves]
    return {"least": min(values), "most": max(values)}


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
    made = {CHIPS: chips, SYSTEMS: systems, HARDWARE: {"spreads": spreads(chips)}}
    if arguments.write:
        for folder, values in made.items():
            write_all(folder, values)
    if arguments.check:
        return max(files.check(folder, values) for folder, values in made.items())
    return 0


if __name__ == "__main__":
    sys.exit(main())

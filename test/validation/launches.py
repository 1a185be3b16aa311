#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads public launches of engines with `autopar read`.

../shared/data/launch has launch lines of public recipes as tokens, manifests,
files of settings, and readings that were made by hand. Checks:

  forms      launch lines, written as shell text in several ways, manifests and
             files of settings: read without a crash, and 95 % of the lines
             without an unknown flag
  readings   settings, devices and roles are those of the readings made by hand

A recorded line names its file of settings, but has it not. For a reading made
by hand the test writes that file, from the values that the line leaves out.

Ends with a line `N passed, N failed, N skipped`.

usage: launches.py [--bin DIR] [--data DIR] [--quick] [TEXT ...]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "launch"

# The least share of launch lines whose flags are all known.
LEAST_KNOWN = 0.95

# Members of a reading made by hand that are no settings.
NOT_SETTINGS = {"id", "engine", "framework", "model", "devices", "devices_of_this_process", "devices_of_replica", "role",
                "roles", "points", "defaults", "unresolved", "note", "precision", "image", "disaggregated", "chunked_prefill"}

# Where a table's file of settings has what a reading made by hand says.
KEYS = {"kv_dtype": "kv_cache_config.dtype", "memory_fraction": "kv_cache_config.free_gpu_memory_fraction",
        "max_num_batched_tokens": "max_num_tokens", "max_model_len": "max_seq_len", "spec_method": "speculative_config.decoding_type",
        "spec_tokens": "speculative_config.num_nextn_predict_layers"}


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, good, text):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAIL {text}"[:600])
        return good


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


#===---------------------------------------------------------------------===#
# Launches as text
#===---------------------------------------------------------------------===#

def quoted(word):
    """As a recipe writes it: variables stay open to the shell."""
    return word if re.fullmatch(r"[\w@%+=:,./$-]+", word) else shlex.quote(word)


def pairs(argv):
    """Flags with the words up to the next flag."""
    group = []
    for word in argv:
        if word.startswith("-") and group:
            yield group
            group = []
        group.append(word)
    if group:
        yield group


def one_line(env, argv):
    return " ".join([f"{key}={quoted(value)}" for key, value in env.items()] + [quoted(word) for word in argv])


def continued(env, argv):
    exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in env.items())
    return exports + " \\\n  ".join(" ".join(map(quoted, group)) for group in pairs(argv)) + "\n"


def joined(env, argv):
    """--x=y wherever one word follows a flag."""
    words = []
    for group in pairs(argv):
        one = len(group) == 2 and group[0].startswith("--") and "=" not in group[0]
        words += [f"{group[0]}={quoted(group[1])}"] if one else map(quoted, group)
    return " ".join([f"{key}={quoted(value)}" for key, value in env.items()] + words)


def all_quoted(env, argv):
    words = ['"' + re.sub(r'(["\\`])', r"\\\1", word) + '"' if word.startswith("-") else quoted(word) for word in argv]
    return one_line(env, []) + " " + " ".join(words)


def script(env, argv):
    return ("#!/usr/bin/env bash\n#SBATCH --nodes=1\nset -euo pipefail\n# The server of this node.\n" + continued(env, argv).rstrip() +
            " > server.log 2>&1 &\nwait\n")


FORMS = [one_line, continued, joined, all_quoted, script]


def text_of(record, form):
    """A launch line of a record in a form; the text of the others."""
    if record["kind"] != "command":
        return record["text"]
    parts = [form({**record["env"], **command["env"]}, command["argv"]) for command in record["commands"]]
    return "\n".join(parts) + "\n"


def read(tools, text, arguments=(), folder=None):
    """The reading, or an error's text; a crash is neither."""
    path = pathlib.Path(folder) / "launch.sh" if folder else "-"
    if folder:
        path.write_text(text, encoding="utf-8")
    done = subprocess.run([f"{tools}/autopar", "read", str(path), "--json", *arguments], input=None if folder else text,
                          stdin=subprocess.DEVNULL if folder else None, capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        try:
            return json.loads(done.stdout), None
        except json.JSONDecodeError:
            return None, "its output is not JSON"
    if done.returncode == 1 and "error: " in done.stderr:
        return None, done.stderr.split("error: ", 1)[1].splitlines()[0]
    return None, None


def check_forms(tools, records, counts):
    """Each record in one form, the forms in turn."""
    texts = [text_of(record, FORMS[i % len(FORMS)]) for i, record in enumerate(records)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        readings = list(pool.map(lambda text: read(tools, text), texts))
    lines = known = 0
    for record, (reading, error) in zip(records, readings):
        counts.check(reading or error, f"{record['id']}: crashes")
        if record["kind"] == "command":
            lines += 1
            known += bool(reading) and not reading["unknown"]
            if error or (reading and reading["unknown"]):
                print(f"{record['id']}: {error or 'unknown: ' + ' '.join(reading['unknown'])}"[:300])
    print(f"{known} of {lines} launch lines are read without an unknown flag")
    if lines:
        counts.check(known >= LEAST_KNOWN * lines, f"fewer than {LEAST_KNOWN:.0%} of the launch lines")


#===---------------------------------------------------------------------===#
# Readings made by hand
#===---------------------------------------------------------------------===#

def settings_file(record, wanted):
    """Name and text of the file of settings that a line names; its values are
    those of the reading made by hand."""
    words = [word for command in record["commands"] for word in command["argv"]]
    flags = [i for i, word in enumerate(words) if re.match(r"--(config|extra_llm_api_options)(=|$)", word)]
    if not flags:
        return None, None
    name = words[flags[0]].partition("=")[2] or words[flags[0] + 1]
    values = {key: wanted[setting] for setting, key in KEYS.items() if wanted.get(setting) is not None}
    if wanted.get("attention_dp", 1) > 1:
        values["enable_attention_dp"] = True
    tree = {}
    for key, value in values.items():
        *path, last = key.split(".")
        node = tree
        for part in path:
            node = node.setdefault(part, {})
        node[last] = value
    return name, json.dumps(tree, indent=1) + "\n"  # JSON is YAML.


def value_of(settings, name):
    """A setting that the launch gives or that follows; None where it is a default."""
    setting = settings.get(name)
    return setting["value"] if setting and "default" not in setting["from"] else None


# Settings that a reading made by hand says also where they are a default.
DEGREES = {"tp", "pp", "dp", "attention_dp", "ep", "etp"}


def differences(wanted, reading):
    """Members that are not the reading's."""
    for name, value in wanted.items():
        if name in NOT_SETTINGS or (isinstance(value, (dict, list)) and name not in reading["settings"]):
            continue
        found = value_of(reading["settings"], name)
        if found is None and (name in DEGREES or value is not None) and name in reading["settings"]:
            found = reading["settings"][name]["value"]
        if found != value and not (value is None and found in (False, 0)) and not (found is None and value is False):
            yield f"{name} {value}, read {found}"


def check_whole(wanted, reading):
    for name in ("engine", "model", "devices"):
        if wanted.get(name) is not None and name in reading and reading[name] != wanted[name]:
            yield f"{name} {wanted[name]}, read {reading[name]}"


def check_roles(wanted, reading):
    roles = {role["role"]: role for role in reading.get("roles") or reading.get("launches", []) if role.get("role")}
    for role in wanted:
        found = roles.get(role["role"]) or (reading if len(wanted) == 1 else None)
        if not found:
            yield f"no role {role['role']}"
            continue
        settings = {key: value for key, value in role.items() if key not in ("role", "workers", "devices", "nodes_of_role") and value is not None}
        yield from (f"{role['role']}: {text}" for text in differences(settings, found))
        workers = found.get("workers") or found.get("copies") or found.get("replicas")
        if workers != role["workers"]:
            yield f"{role['role']}: {role['workers']} workers, read {workers}"


def check_points(wanted, reading):
    """A benchmark entry: each of its points is a launch."""
    launches = reading.get("launches") or [reading]
    for i, point in enumerate(wanted):
        found = launches[i] if i < len(launches) else None
        if not found:
            yield f"point {i} is not read"
            continue
        roles = {role["role"]: role for role in found.get("roles") or []}
        for name, part in [("prefill", point.get("prefill")), ("decode", point.get("decode"))]:
            if part:
                settings = {key: value for key, value in part.items() if key != "workers"}
                yield from (f"point {i}, {name}: {text}" for text in differences(settings, roles.get(name, {"settings": {}})))
        if "tp" in point:
            settings = {key: point[key] for key in ("tp", "pp", "ep", "attention_dp") if key in point}
            yield from (f"point {i}: {text}" for text in differences(settings, found))
        if found["devices"] != point["devices"]:
            yield f"point {i}: {point['devices']} devices, read {found['devices']}"


def check_reading(tools, record, wanted):
    """How the reading differs from the one made by hand."""
    arguments = ["--moe=" + ("false" if wanted.get("ep", 1) is None else "true")]
    if version := re.search(r"v?(\d+\.\d+(\.\d+)?)", (record.get("version") or "").split(":")[-1]):
        arguments.append("--version=" + version.group(1))
    with tempfile.TemporaryDirectory() as folder:
        if record["kind"] == "command":
            name, text = settings_file(record, wanted)
            if name:
                config = pathlib.Path(folder) / pathlib.Path(name).name
                config.write_text(text, encoding="utf-8")
                arguments.insert(0, str(config))
        reading, error = read(tools, text_of(record, script), arguments, folder)
    if not reading:
        return [error or "crashes"]
    found = list(check_whole(wanted, reading))
    if "roles" in wanted:
        return found + list(check_roles(wanted["roles"], reading))
    if "points" in wanted:
        return [text for text in found if not text.startswith("devices")] + list(check_points(wanted["points"], reading))
    return found + list(differences(wanted, reading))


def check_readings(tools, records, readings, counts):
    by_id = {record["id"]: record for record in records}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda wanted: (wanted, check_reading(tools, by_id[wanted["id"]], wanted)), readings)
        for wanted, found in results:
            # An entry of a benchmark says what to try, in words of its own: it starts nothing.
            if by_id[wanted["id"]].get("form") == "inferencex-entry":
                counts.skipped += 1
                continue
            counts.check(not found, f"{wanted['id']}: {'; '.join(found)}")


def can_read(tools):
    done = subprocess.run([f"{tools}/autopar", "read", "--help"], capture_output=True, text=True)
    return done.returncode == 0 and "autopar read" in done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    parser.add_argument("--quick", action="store_true", help="read every fifth record")
    parser.add_argument("only", nargs="*", metavar="TEXT", help="only records whose id has one of these")
    options = parser.parse_args()
    counts = Counts()
    if not (options.data / "inference.jsonl").exists():
        print(f"skipped: {options.data} is not there\n0 passed, 0 failed, 1 skipped")
        return 0
    if can_read(options.bin):
        records = lines_of(options.data / "inference.jsonl")
        chosen = [record for record in records if not options.only or any(text in record["id"] for text in options.only)]
        check_forms(options.bin, chosen[:: 5 if options.quick else 1], counts)
        ids = {record["id"] for record in chosen}
        wanted = [reading for reading in lines_of(options.data / "expected.jsonl") if reading["id"] in ids]
        check_readings(options.bin, records, wanted, counts)
    else:
        print("skipped: this autopar reads no launches")
        counts.skipped += 1
    print(f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped")
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())

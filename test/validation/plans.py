#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws plans at random, legal and illegal by rules of its own, and compares
what autopar says about them with closed forms of its own.

Shares no code with autopar. Ends with a line `N passed, N failed`; a plan that
fails is printed with its command.

usage: plans.py [--bin DIR] [--models DIR] [--legal N] [--illegal N] [--seed N]
                [--quick] [--show N] [--keep DIR]

With --keep the models that the printed commands name stay in DIR.
"""

import argparse
import collections
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile

from plan_forms import Forms
from plan_models import MODELS, Model, Workload
from plan_rules import FLAGS, Plan, broken_rules, draw_illegal, draw_legal

MACHINE = "--hardware=h100-sxm-8"
WHOLE = "--prefill-chunk=none"  # chunks.py is about those
# Experts lie as the checkpoint has them; what kernels make of 4-bit ones is
# for kv_pools.py.
AS_STORED = (WHOLE, *(f"--set=runtimes.vllm.expert_{extent}_multiple=1" for extent in ("hidden", "intermediate", "contraction")))
NODE = 8  # devices of it
# As long a text as the parallel IR of any of the models may be.
LINES = 400


class Tools:
    def __init__(self, folder):
        self.folder = folder

    def run(self, tool, *arguments):
        return subprocess.run([os.path.join(self.folder, tool), *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)  # fmt: skip

    def check(self, tool, *arguments):
        done = self.run(tool, *arguments)
        if done.returncode:
            raise SystemExit(f"{tool} {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout


class Tally:
    """Counts, and the first failures of each kind."""

    def __init__(self, shown):
        self.passed, self.failed, self.shown = 0, 0, shown
        self.kinds = collections.defaultdict(list)

    def add(self, problems, command):
        if not problems:
            self.passed += 1
            return
        self.failed += 1
        for kind, text in problems:
            self.kinds[kind].append((len(command), command, text))

    def print(self):
        for kind, cases in sorted(self.kinds.items(), key=lambda item: -len(item[1])):
            print(f"FAIL {kind}: {len(cases)}")
            for _, command, text in sorted(cases)[: self.shown]:
                print(f"  autopar-opt {command}\n    {text}")


class Checker:
    def __init__(self, tools, models, scratch, shown):
        self.tools, self.scratch = tools, scratch
        self.models = [Model(name, models, scratch, tools) for name in MODELS]
        self.tally = Tally(shown)
        self.closed = collections.Counter()
        self.times, self.wholes = [], {}

    def model(self, name):
        return next(model for model in self.models if model.name == name)

    def estimate(self, model, plan, output=os.devnull):
        before = cpu_seconds()
        done = self.tools.run("autopar-opt", *plan.flags(), MACHINE, f"--nodes={nodes_of(plan)}", *AS_STORED, "--estimate=json",
                              "-o", output, model.path)  # fmt: skip
        return done, cpu_seconds() - before

    def command(self, model, plan):
        return f"{' '.join(plan.flags())} {MACHINE} --nodes={nodes_of(plan)} {' '.join(AS_STORED)} --estimate=json {model.path}"

    def whole(self, model, workload):
        key = model.name, workload
        if key not in self.wholes:
            done, _ = self.estimate(model, Plan(workload=workload))
            self.wholes[key] = json.loads(done.stdout)
        return self.wholes[key]

    # -- Legal plans -----------------------------------------------------------

    def check_legal(self, model, plan):
        problems = list(self.legal_problems(model, plan))
        self.tally.add(problems, self.command(model, plan))

    def legal_problems(self, model, plan):
        output = os.path.join(self.scratch, "plan.mlir")
        done, seconds = self.estimate(model, plan, output)
        if done.returncode:
            yield f"legal plan refused, exit code {done.returncode}", done.stderr.strip().split("\n")[0][-300:]
            return
        self.times.append((seconds, self.command(model, plan)))
        again = self.tools.run("autopar-opt", output, "-o", os.devnull)
        if again.returncode:
            yield "its own output does not verify", again.stderr[:300]
        with open(output, encoding="utf-8") as file:
            lines = sum(1 for _ in file)
        if lines > LINES:
            yield "long IR", f"{lines} lines"
        report = json.loads(done.stdout)
        yield from self.check_invariants(model, plan, report)
        yield from self.check_forms(model, plan, report)

    def check_invariants(self, model, plan, report):
        whole = self.whole(model, plan.workload)
        memory, flops, devices = report["memory"]["per_device"], report["flops"], plan.devices
        if report["mesh"]["devices"] != devices:
            yield "devices", f"{report['mesh']['devices']}, not {devices}"
        if model.bytes != whole["memory"]["per_device"]["weight_bytes"]:
            yield "bytes of the whole model", f"{whole['memory']['per_device']['weight_bytes']}, not {model.bytes}"
        for name in FLAGS:
            if getattr(plan, name) and report["mesh"][name] != getattr(plan, name):
                yield "degrees", f"{name} = {report['mesh'][name]}"
        if plan.ep and report["mesh"]["edp"] * plan.ep * plan.of("etp") != devices:
            yield "edp", f"{report['mesh']['edp']}"
        for key in ("total", "layers_linear", "attention", "recurrence", "logits"):
            if flops[key] != whole["flops"][key]:
                yield f"flops.{key} of the model", f"{flops[key]}, not {whole['flops'][key]}"
        if flops["per_device"] * devices < flops["total"]:
            yield "FLOPs got lost", f"{flops['per_device']} x {devices} < {flops['total']}"
        for key in ("weight_bytes", "kv_cache_bytes", "state_bytes"):
            if memory[key] * devices < whole["memory"]["per_device"][key]:
                yield f"{key} got lost", f"{memory[key]} x {devices} < {whole['memory']['per_device'][key]}"
        for row in report["communication"]["collectives"]:
            n, size = row["group_size"], row["bytes"]
            wire = size * {"all_reduce": 2 * (n - 1), "permute": n}.get(row["kind"], n - 1) // n
            if "nodes_per_token" not in row and abs(row["wire_bytes_per_device"] - wire) > 2:
                yield "wire bytes", f"{row['kind']} of {size} over {n}: {row['wire_bytes_per_device']}, not {wire}"

    def check_forms(self, model, plan, report, always=False):
        self.closed["plans"] += 1
        forms, memory = Forms(model, plan), report["memory"]["per_device"]
        if model.exotic:
            return
        if not plan.fsdp:
            self.closed["weights"] += 1
            yield from differ("weight bytes", memory["weight_bytes"], forms.weight_bytes())
        else:
            yield from near("weight bytes of fsdp", memory["weight_bytes"], forms.weight_bytes(forms.copies))
        self.closed["caches"] += 1
        yield from differ("KV bytes", memory["kv_cache_bytes"], forms.kv_bytes())
        if not forms.even() and not always:
            return
        if not model.latent or plan.of("dcp") == 1:
            self.closed["FLOPs"] += 1
            whole = self.whole(model, plan.workload)
            found, wanted = report["flops"]["per_device"], forms.flops(whole)
            if abs(found - wanted) > 1e-9 * wanted:
                yield "FLOPs of a device", f"{found}, not {wanted:.0f}: {found / wanted:.4f}x"
        if forms.has_collectives():
            self.closed["collectives"] += 1
            yield from self.check_collectives(forms, report)
            yield from self.check_tiers(forms, report)

    def check_tiers(self, forms, report):
        """What of routed rows leaves a node, and to how many a token goes."""
        if not forms.plan.ep or not forms.expert_members(NODE):
            return
        for row in report["communication"]["collectives"]:
            tiers = row.get("wire_bytes_by_tier")
            if row["kind"] != "all_to_all" or not tiers or row["group_size"] != forms.expert_group:
                continue
            self.closed["tiers"] += 1
            inside, across, nodes = forms.tier_bytes(row["bytes"], NODE)
            for name, wanted in (("scale_up", inside), ("scale_out", across)):
                if abs(tiers.get(name, 0) - wanted) > 1:
                    yield "bytes on a tier", f"{name} of {row['bytes']} over {row['group_size']}: {tiers.get(name, 0)}, not {wanted:.1f}"
            if nodes and abs(row["nodes_per_token"] - nodes) > 1e-9 * nodes:
                yield "nodes of a token", f"{row['nodes_per_token']}, not {nodes}"

    def check_collectives(self, forms, report):
        wanted = forms.collectives()
        found = collections.Counter()
        for row in report["communication"]["collectives"]:
            if row["group_size"] > 1 and row["bytes"]:
                found[row["kind"], row["group_size"], row["bytes"]] += row["count"]
        logits, gathered = wanted.pop("logits", 0), 0
        for key in sorted(set(found) | set(wanted)):
            kind, group, size = key
            more = found[key] - wanted[key]
            if forms.plan.fsdp and kind == "all_gather" and more > 0:
                gathered += more * size
            elif more < 0 or (more > 0 and not logits):
                yield f"collectives: {kind}", f"{found[key]} of {size} B over {group}, not {wanted[key]}"
        if forms.plan.fsdp and not logits:
            yield from near("gathered by fsdp", gathered, forms.gathered_bytes())

    # -- Illegal plans ---------------------------------------------------------

    def check_illegal(self, model, plan, flag):
        self.tally.add(list(self.illegal_problems(model, plan, flag)), self.command(model, plan))

    def refusal(self, model, plan):
        return self.tools.run("autopar-opt", *plan.flags(), "-o", os.devnull, model.path)

    def illegal_problems(self, model, plan, flag):
        rules = ", ".join(broken_rules(model, plan))
        done = self.refusal(model, plan)
        if done.returncode == 0:
            yield "illegal plan accepted", f"breaks: {rules}"
            return
        if done.returncode != 1 or "error: " not in done.stderr:
            yield "not refused as it should be", f"exit code {done.returncode}: {done.stderr[:300]}"
            return
        text = done.stderr
        first = first_error(text)
        if re.search(r"\b(tp|cp|dp)(o|m|i|\d)\b", text.replace("--mesh=dpo=2,dpi=8,tp=8,ep=dpi*tp", "")):
            yield "the message names axes that nobody gave", f"{rules}: {first}"
        value = getattr(plan, flag)
        if "needs" not in rules and isinstance(value, int) and not isinstance(value, bool) and not re.search(rf"\b{value}\b", text):
            product = [plan.of("etp") * plan.of("ep"), plan.attention * plan.ulysses, plan.keys * plan.ulysses,
                       plan.expert_tp]  # fmt: skip
            if not any(re.search(rf"\b{number}\b", text) for number in product):
                yield "the message lacks the numbers", f"{rules}: {first}"
        yield from self.check_advice(model, plan, rules, text, first)

    def check_advice(self, model, plan, rules, text, first):
        """Of the least and the largest value that the message says work, one does: the other may break another rule."""
        advice = re.search(r"(\S+) that works?[^:]*: ([0-9., ]+)", text)
        if not advice:
            if not re.search(r"give --\S+|drop --\S+|without --\S+|leave out --\S+", text):
                yield "the message names no value that works", f"{rules}: {first}"
            return
        name = advice.group(1).removeprefix("--shard-").replace("-", "_")
        values = [int(value) for value in re.findall(r"\d+", advice.group(2))]
        if name not in FLAGS:
            return
        errors = []
        for value in values[:1] + values[-1:]:
            other = self.refusal(model, plan.copy(**{name: value}))
            # Another rule may be broken beside the one that the message is about.
            if other.returncode == 0 or not re.search(rf"\b{name} = {value}\b", first_error(other.stderr)):
                return
            errors.append(f"{name} = {value} of {values[:20]}: {first_error(other.stderr)}")
        yield "no value that works does", f"{rules}: {'; '.join(errors)}"

    def check_machine(self, model, plan):
        """A machine with a node too few is refused, and the advice works."""
        nodes, problems = nodes_of(plan), []
        call = ("autopar-opt", *plan.flags(), MACHINE, "--estimate=json", "-o", os.devnull, model.path)
        done = self.tools.run(*call, f"--nodes={nodes - 1}")
        advice = re.search(r"--nodes=(\d+)", done.stderr)
        if done.returncode != 1 or not re.search(rf"\b{plan.devices}\b", done.stderr) or not advice:
            problems.append(("too small a machine", f"exit code {done.returncode}: {first_error(done.stderr)}"))
        elif int(advice.group(1)) != nodes or self.tools.run(*call, advice.group(0)).returncode:
            problems.append(("too small a machine", f"{advice.group(0)} does not work"))
        self.tally.add(problems, self.command(model, plan).replace(f"--nodes={nodes}", f"--nodes={nodes - 1}"))

    # -- Sizes, and the plan of the issue ---------------------------------------

    def check_sizes(self, rng, sets):
        """IR but for the mesh, and cost program, of `sets` sets of sizes: the same where the same axes have one device,
        and then those of the plan without such axes."""
        for name, names, changes in STRATEGIES:
            model, texts, problems = self.model(name), collections.defaultdict(set), []
            for index in range(sets):
                smallest = 1 + index % 2
                sizes = {axis: rng.choice((smallest, 2, 4, 8, 16, 64)) for axis in names}
                sizes["tp"] = rng.choice((smallest, 2, 4))
                plan = changes(sizes)
                done, program = self.sharded(model, plan)
                if done.returncode:
                    problems.append(("sizes refused", first_error(done.stderr)))
                    break
                ones = tuple(axis for axis in sizes if sizes[axis] == 1)
                texts[ones].add((without_mesh(done.stdout), program))
                if ones and (done.stdout, program) != self.text(model, plan.without_neutral()):
                    problems.append(("axes of size 1", f"{ones} differ from none"))
            if not (plan.ep or plan.dcp):
                done, program = self.sharded(model, changes({axis: "?" for axis in sizes}))
                texts[()].add((without_mesh(done.stdout), program))
            problems += [("sizes", f"{len(found)} programs, {ones} of size 1") for ones, found in texts.items() if len(found) > 1]
            self.tally.add(problems, self.command(model, plan))

    def sharded(self, model, plan):
        """The IR of a plan, and the cost program of what was printed."""
        done = self.tools.run("autopar-opt", *plan.flags(), model.path)
        path = os.path.join(self.scratch, "sizes.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(done.stdout)
        return done, self.tools.run("autopar-opt", "--autopar-print-cost-program", path, "-o", os.devnull).stderr

    def text(self, model, plan):
        done, program = self.sharded(model, plan)
        return done.stdout, program

    def check_issue(self):
        """The plans of DeepSeek-V3 that the issue names, by its own numbers."""
        model = self.model("deepseek-v3")
        for plan in ISSUE:
            output = os.path.join(self.scratch, "issue.mlir")
            done, _ = self.estimate(model, plan, output)
            problems = [] if done.returncode == 0 else [("refused", done.stderr[:300])]
            if not problems:
                report = json.loads(done.stdout)
                problems += self.check_invariants(model, plan, report)
                problems += self.check_forms(model, plan, report, always=True)
                mesh, kv = report["mesh"], report["memory"]
                for key, wanted in (("devices", 64), ("etp", 1), ("edp", 1), ("ep", 64)):
                    problems += differ(key, mesh[key], wanted)
                problems += differ("experts here", Forms(model, plan).experts_here, 4)
                problems += differ("KV per token", kv["kv_bytes_per_token"], 70272)
                problems += differ("KV per token and device", kv["kv_bytes_per_token_per_device"], 70272)
                with open(output, encoding="utf-8") as file:
                    lines = len(file.readlines())
                if lines >= 200:
                    problems.append(("long IR", f"{lines} lines"))
            self.tally.add(problems, self.command(model, plan))


def draw_and_check(description, plans, checker_of):
    """The command of a script that checks plans drawn at random: `checker_of(tools, models, scratch, shown)` has a
    `tally`, `check(rng)`, which may draw in vain, and `summary()`."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--bin", default=os.path.join(root, "build", "bin"), help="folder of the tools")
    parser.add_argument("--models", default=os.path.join(root, "models"), help="folder of the bundled models")
    parser.add_argument("--plans", type=int, default=plans, help="plans to draw")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--quick", action="store_true", help="a tenth of the plans")
    parser.add_argument("--show", type=int, default=3, help="failures to print of each kind")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        checker = checker_of(Tools(options.bin), options.models, scratch, options.show)
        tally = checker.tally
        while tally.passed + tally.failed < options.plans // (10 if options.quick else 1):
            checker.check(rng)
    tally.print()
    print(checker.summary())
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


def without_mesh(text):
    return re.sub(r"(?m)^ *parallel\.mesh.*\n", "", text)


def cpu_seconds():
    """What child processes took so far: unlike wall time, not what others on the machine do."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def near(what, found, wanted):
    """Parts that fsdp splits unevenly: a little more than their share."""
    return [] if wanted * 0.999 <= found <= wanted * 1.06 + 1000 else differ(what, found, wanted)


def nodes_of(plan):
    return -(-plan.devices // NODE)


def first_error(text):
    return text[max(text.find("error: "), 0) :].split("\n")[0]


def differ(what, found, wanted):
    return [] if found == wanted else [(what, f"{found}, not {wanted}: {found - wanted:+} or {found / max(wanted, 1):.4f}x")]


def with_experts(sizes):
    """Experts over tp and an inner part of dp."""
    return Plan(tp=sizes["tp"], dp=sizes["dpo"] * sizes["dpi"], ep=sizes["tp"] * sizes["dpi"], sp=True)


STRATEGIES = (
    ("llama-3.1-8b", ("dp", "cp"), lambda s: Plan(tp=s["tp"], dp=s["dp"], cp=s["cp"], sp=True)),
    ("llama-3.1-8b", ("dp",), lambda s: Plan(tp=s["tp"], dp=s["dp"], fsdp=True)),
    ("gpt-oss-20b", ("dp",), lambda s: Plan(tp=s["tp"], dp=s["dp"], cp=2, kind="all-to-all")),
    ("qwen3-next-80b-a3b", ("dp",), lambda s: Plan(tp=s["tp"], dp=s["dp"])),
    ("deepseek-v2-lite", ("dpo", "dpi"), lambda s: with_experts({**s, "dpi": min(s["dpi"], 16)})),
    ("llama-3.1-8b", ("dp",), lambda s: Plan(tp=2 * s["tp"], dcp=2, dp=s["dp"])),
)  # fmt: skip
ISSUE = [
    Plan(tp=8, dp=8, ep=64, sp=True, workload=Workload("prefill", batch, 2048, 2048)) for batch in (1, 8, 64)
] + [
    Plan(tp=tp, dp=64 // tp, ep=64, by_node=by_node, fp8=by_node, workload=Workload("decode", batch, 1, 4096))
    for batch in (64, 4096) for tp in (1, 2) for by_node in (False, True)
]  # fmt: skip


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=os.path.join(root, "build", "bin"), help="folder of the tools")
    parser.add_argument("--models", default=os.path.join(root, "models"), help="folder of the bundled models")
    parser.add_argument("--legal", type=int, default=2000, help="legal plans to draw")
    parser.add_argument("--illegal", type=int, default=500, help="illegal plans to draw")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--quick", action="store_true", help="a tenth of the plans")
    parser.add_argument("--show", type=int, default=3, help="failures to print of each kind")
    parser.add_argument("--keep", metavar="DIR", help="folder for the models")
    options = parser.parse_args()
    scale = 10 if options.quick else 1
    print(f"seed {options.seed}")
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        scratch = options.keep or folder
        checker = Checker(Tools(options.bin), options.models, scratch, options.show)
        checker.check_issue()
        checker.check_sizes(rng, 20 if scale == 1 else 5)
        for _ in range(options.legal // scale):
            model = rng.choice(checker.models)
            checker.check_legal(model, draw_legal(rng, model, Workload))
        for index in range(options.illegal // scale):
            model = rng.choice(checker.models)
            plan = draw_legal(rng, model, Workload)
            if index % 20 == 0 and plan.devices > 8:
                checker.check_machine(model, plan)
            else:
                checker.check_illegal(model, *draw_illegal(rng, model, Workload))
    checker.tally.print()
    closed = checker.closed
    print(f"closed forms for {closed['weights']} weights, {closed['caches']} caches, {closed['FLOPs']} FLOPs, "
          f"{closed['tiers']} exchanges over nodes and {closed['collectives']} collectives of {closed['plans']} plans; invariants for all")  # fmt: skip
    if checker.times:
        slowest, command = max(checker.times)
        print(f"an estimate took, in CPU time, {statistics.median(seconds for seconds, _ in checker.times) * 1e3:.1f} ms (median), "
              f"{slowest * 1e3:.1f} ms at most:\n  autopar-opt {command}")  # fmt: skip
    print(f"{checker.tally.passed} passed, {checker.tally.failed} failed")
    return 1 if checker.tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
